"""Collective relational clustering of names: the chapter's example, blocking, thresholds, queries, bad input."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mustlink import CollectiveRelationalClustering, Constraints, CorrelationClustering
from mustlink.errors import InfeasibleError, OptionError, TooLargeError
from mustlink.metrics import pairwise_f1
from mustlink.relational import candidate_recall, default_threshold, make_references
from mustlink.relational._blocking import block, choose_blocking
from mustlink.relational._records import normalize, read_records, split_name
from mustlink.relational._similarity import compare_records
from reference import relational as reference

NAMES = ["W. Wang", "C. Chen", "A. Ansari", "W. Wang", "A. Ansari", "L. Li", "C. Chen", "W. Wang", "W. W. Wang"]
NAMES.append("A. Ansari")
PAPERS = [1, 1, 1, 2, 2, 3, 3, 3, 4, 4]
TRUTH = np.array([0, 1, 2, 0, 2, 3, 4, 5, 0, 2])
ANSARI = Constraints(must_link=[(2, 4), (2, 9)])


def example_similarity() -> Any:
    """1 for equal names, 0.9 for W. Wang and W. W. Wang, else 0."""
    names = np.array(NAMES)
    S = (names[:, None] == names).astype(float)
    wang, other = names == "W. Wang", names == "W. W. Wang"
    S[np.outer(wang, other) | np.outer(other, wang)] = 0.9
    return S


@pytest.mark.parametrize("threshold", [0.55, 0.6, 0.65, 0.7])
def test_the_running_example(threshold: float) -> None:
    model = CollectiveRelationalClustering(threshold, alpha=0.5, similarity="precomputed")
    S = example_similarity()
    np.testing.assert_array_equal(model.fit(S, groups=PAPERS, constraints=ANSARI).labels_, TRUTH)


def test_the_running_example_without_bootstrapping_and_by_attributes() -> None:
    S = example_similarity()
    alone = CollectiveRelationalClustering(0.55, alpha=0.5, similarity="precomputed").fit(S, groups=PAPERS)
    assert alone.n_clusters_ == 10
    wrong = CollectiveRelationalClustering(0.85, similarity="precomputed", method="a*", group_cannot_link=False)
    assert len(set(wrong.fit(S).labels_[[0, 3, 7, 8]])) == 1


def test_labels_are_those_of_the_example_with_names() -> None:
    model = CollectiveRelationalClustering(0.6, alpha=0.5, bootstrap=False)
    model.fit(NAMES, groups=PAPERS, constraints=ANSARI)
    np.testing.assert_array_equal(model.labels_, TRUTH)
    assert model.blocking_ == "names+qgram"
    assert model.ambiguous_relations_ == 0.5


def test_initials_alone_are_not_joined_at_the_start() -> None:
    # Both C. Chen are different people, although no other Chen occurs.
    model = CollectiveRelationalClustering(0.6, alpha=0.5).fit(NAMES, groups=PAPERS)
    assert len(set(model.bootstrap_labels_)) == 10
    model.fit(NAMES, groups=PAPERS, constraints=ANSARI)
    np.testing.assert_array_equal(model.labels_, TRUTH)
    names = ["C. Chen", "C. Chen", "Carla Chen", "Carla Chen", "D. J. Dorn", "D. J. Dorn", "Smith", "Smith"]
    told = CollectiveRelationalClustering(1.0, alpha=0.5).fit(names).bootstrap_labels_
    # One written-out name explains the initial.
    np.testing.assert_array_equal(told, [0, 0, 1, 1, 2, 3, 4, 4])
    other = CollectiveRelationalClustering(1.0, alpha=0.5).fit([*names, "Dora Chen"]).bootstrap_labels_
    np.testing.assert_array_equal(other, [0, 1, 2, 3, 4, 5, 6, 6, 7])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Aamodt, A.,", "a aamodt"),
        ("Lin L.-J.", "l j lin"),
        ("Kaplan RM", "r m kaplan"),
        ("A.F.M. Smith", "a f m smith"),
        ("P. van Beek", "p van beek"),
        ("Dvořák, Antonín", "antonin dvorak"),
        ("John Smith, Jr.", "john smith jr"),
        ("", ""),
        ("???", ""),
    ],
)
def test_names_are_normalized(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_last_names() -> None:
    assert split_name("john smith jr") == ("smith", "john")
    assert split_name("smith") == ("smith", "")
    assert split_name("") == ("", "")


def test_soft_tfidf_beside_the_formula() -> None:
    from rapidfuzz.distance import JaroWinkler

    texts = ["Wei Wang", "W. Wang", "W. Wong", "Anna Wang", "Anne Wang Smith", "Smith, A."]
    records = read_records(texts)
    words = [text.split() for text in records.columns[0]]
    df = {word: sum(word in own for own in words) for own in words for word in own}

    def weight(text: str) -> dict[str, float]:
        mass = {w: np.log(text.split().count(w) + 1) * np.log(1 + len(texts) / df[w]) for w in set(text.split())}
        norm = np.sqrt(sum(value**2 for value in mass.values()))
        return {word: value / norm for word, value in mass.items()}

    def close(one: str, other: str) -> float:
        if one != other and one[0] == other[0] and min(len(one), len(other)) == 1:
            return 0.95
        return float(JaroWinkler.normalized_similarity(one, other))

    left, right = np.triu_indices(len(texts), 1)
    found = compare_records(records, left, right, ["soft_tfidf"], np.ones(1), 0.9, 0.95)
    for one, other, score in zip(left, right, found, strict=True):
        a, b = records.columns[0][one], records.columns[0][other]
        both = [reference.soft_tfidf(*pair, weight, close, 0.9) for pair in ((a, b), (b, a))]
        assert score == pytest.approx(min(1.0, np.mean(both)))


def test_columns_are_averaged_over_those_that_both_have() -> None:
    table = [["W. Wang", "biology"], ["W. Wang", "chemistry"], ["W. Wang", None]]
    records = read_records(table)
    left, right = np.array([0, 0]), np.array([1, 2])
    found = compare_records(records, left, right, ["soft_tfidf", "tfidf"], np.array([3.0, 1.0]), 0.9, 0.95)
    np.testing.assert_allclose(found, [0.75, 1.0])


OPTIONS = {"qgram_size": 3, "qgram_similarity": 0.4, "window": 10, "canopy": (0.3, 0.6), "max_pairs": 10**6}


@pytest.mark.parametrize(
    "blocking", ["names", "key", "qgram", "names+qgram", "sorted", "canopy", lambda text: text[-3:]]
)
def test_blocking_finds_most_true_pairs(blocking: Any) -> None:
    made = make_references(400, typos=0.02, random_state=3)
    records = read_records(made.names)
    left, right = block(records, blocking, **OPTIONS)
    assert (left < right).all()
    assert len(set(zip(left.tolist(), right.tolist(), strict=True))) == len(left) < records.n_values**2 / 8
    model = CollectiveRelationalClustering(blocking=blocking).fit(made.names)
    recall = candidate_recall(model.candidates_, made.target)
    assert recall > (0.85 if blocking in ("names", "key", "qgram", "names+qgram") else 0.5)


@pytest.mark.parametrize("similarity", [0.1, 0.25, 0.4, 0.75])
def test_qgram_blocking_has_every_similar_pair(similarity: float) -> None:
    texts = make_references(120, typos=0.3, random_state=1).names + products(40, np.random.RandomState(1))[0]
    records = read_records(texts)
    grams = []
    for text in records.columns[0]:
        own: set[str] = set()
        for word in text.split():
            padded = f"##{word}##"
            own |= {padded[start : start + 3] for start in range(len(padded) - 2)}
        grams.append(own)
    n = len(grams)
    expected = {
        (i, j) for j in range(n) for i in range(j) if len(grams[i] & grams[j]) >= similarity * len(grams[i] | grams[j])
    }
    left, right = block(records, "qgram", **{**OPTIONS, "qgram_similarity": similarity})
    assert set(zip(left.tolist(), right.tolist(), strict=True)) == expected


SIMILAR = {
    "names+qgram": [["C. Li", "Christopher Li"], ["J. Smith", "John Smith", "Dr. John Smith"], NAMES],
    "qgram": [
        ["Nikon D282 black TV", "TV D282 Nikon", "black D282 TV Nikon"],
        ["Acme Corp", "Acme Corporation", "The Acme Corp."],
        ["John Smith", "Dr. John Smith", "Smith, John"],
        ["a study of the names of cats", "study of names of the cats", "the names of cats: a study"],
    ],
}


@pytest.mark.parametrize(
    ("expected", "texts"), [(blocking, texts) for blocking, kinds in SIMILAR.items() for texts in kinds], ids=str
)
def test_blocking_is_chosen_by_initials_and_length(expected: str, texts: list[str]) -> None:
    records = read_records(texts)
    assert choose_blocking(records) == expected
    if texts is not NAMES:
        # All of them are compared.
        assert len(block(records, expected, **OPTIONS)[0]) == records.n_values * (records.n_values - 1) // 2


def test_similar_names_with_other_initials_are_no_candidates() -> None:
    records = read_records(["A. Zhukovsky", "B. Zhukovsky", "Dr. Anna Zhukovsky", "Zhukovsky"])
    left, right = block(records, "names+qgram", **OPTIONS)
    assert set(zip(left.tolist(), right.tolist(), strict=True)) == {(0, 2), (0, 3), (1, 3), (2, 3)}
    assert len(block(records, "qgram", **OPTIONS)[0]) > 4


def products(n_entities: int, random: np.random.RandomState) -> tuple[list[str], list[int]]:
    """Draw titles of products, the words in any order and sometimes with a color."""
    titles, target = [], []
    for entity in range(n_entities):
        brand, kind, color = (random.choice(pool) for pool in (("Nikon", "Sony"), ("TV", "lens"), ("red", "black")))
        for _ in range(random.randint(1, 4)):
            words = [brand, f"{'ABCD'[entity % 4]}{100 + entity}", kind, *([color] if random.randint(2) else [])]
            titles.append(" ".join(random.permutation(words)))
            target.append(entity)
    return titles, target


def test_products_are_found_with_the_default() -> None:
    titles, target = products(100, np.random.RandomState(0))
    assert pairwise_f1(target, CollectiveRelationalClustering().fit(titles).labels_) > 0.95


def test_candidates_are_listed_whatever_the_most_pairs_to_merge() -> None:
    model = CollectiveRelationalClustering(max_pairs=50).fit(["Jane Smith"] * 20)
    assert len(model.candidates_) == 190


def test_many_rows_of_few_names_are_merged_at_once() -> None:
    names = [f"{'ABCDEFGHIJ'[row % 10]}. Smith" for row in range(50_000)]
    model = CollectiveRelationalClustering(blocking="sorted").fit(names)
    np.testing.assert_array_equal(model.labels_, np.arange(50_000) % 10)
    assert len(np.unique(model.bootstrap_labels_)) == 50_000
    assert model.labels_at(0.8).max() == 49_999


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), linkage=st.sampled_from(["average", "min", "max"]), links=st.booleans())
def test_merges_of_equal_texts_at_once_are_those_one_by_one(seed: int, linkage: Any, links: bool) -> None:
    rng = np.random.default_rng(seed)
    pool = ["A. Smith", "Anna Smith", "B. Smith", "A. Smyth", "Bo Carter", "B. Carter", ""]
    names = ["A. Smith", *(pool[place] for place in rng.integers(len(pool), size=20))]
    known = {"constraints": Constraints(must_link=[(0, 20), (1, 2)])} if links else {}
    model = CollectiveRelationalClustering(attribute_linkage=linkage, curve_to=0.0)
    at_once = model.fit(names, **known).merges_
    # Groups of one record each say nothing, but are groups.
    one_by_one = clone(model).fit(names, groups=range(21), **known).merges_
    assert at_once[["left", "right"]].tolist() == one_by_one[["left", "right"]].tolist()
    np.testing.assert_allclose(at_once["similarity"], one_by_one["similarity"])


def test_blocks_that_explode_are_refused() -> None:
    names = [f"John{letter} Smith" for letter in "abcdefghijklmnop"]
    with pytest.raises(TooLargeError, match=r"the largest block, 'smith j', has 16 records.*blocking=\"sorted\""):
        CollectiveRelationalClustering(blocking="key", max_pairs=50).fit(names)
    with pytest.raises(TooLargeError, match=r"pairs of clusters are candidates.*leave out the commonest texts"):
        CollectiveRelationalClustering(bootstrap=False, max_pairs=50).fit(["J. Smith"] * 20, sources=range(20))
    with pytest.raises(TooLargeError, match="The groups have 190 pairs"):
        CollectiveRelationalClustering(max_pairs=50).fit(NAMES * 2, groups=[1] * 20)


def test_bootstrapping_joins_unambiguous_names_and_names_in_common_company() -> None:
    names = ["Ali Ansari", "Bo Blum", "C. Chen", "Ali Ansari", "Bo Blum", "C. Chen", "C. Chen", "D. Chen"]
    model = CollectiveRelationalClustering(1.0, alpha=0.5).fit(names, groups=[1, 1, 1, 2, 2, 2, 3, 3])
    # C. Chen is ambiguous, and the third has other company.
    np.testing.assert_array_equal(model.bootstrap_labels_, [0, 1, 2, 0, 1, 2, 3, 4])
    apart = Constraints(cannot_link=[(0, 3)])
    kept = CollectiveRelationalClustering(1.0, alpha=0.5).fit(names, groups=[1, 1, 1, 2, 2, 2, 3, 3], constraints=apart)
    assert kept.bootstrap_labels_[0] != kept.bootstrap_labels_[3]
    off = CollectiveRelationalClustering(1.0, alpha=0.5, bootstrap=False).fit(names)
    assert off.n_clusters_ == 8


def test_equal_names_of_a_group_may_be_one() -> None:
    names, groups = ["J. Kolodner", "J. Kolodner", "J. L. Kolodner"], [1, 1, 2]
    entities = {
        rule: CollectiveRelationalClustering(0.1, group_cannot_link=rule).fit(names, groups=groups).n_clusters_
        for rule in ("unequal", True, False)
    }
    assert entities == {"unequal": 1, True: 2, False: 1}


def test_sources() -> None:
    names = ["A. Ansari"] * 4
    one = CollectiveRelationalClustering().fit(names, sources=["x", "x", "y", None])
    assert one.labels_[0] != one.labels_[1]
    two = CollectiveRelationalClustering(max_per_source=2).fit(names, sources=["x", "x", "y", None])
    assert two.n_clusters_ == 1


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, "", " "])
def test_missing_cells_are_read_alike_in_names_groups_and_sources(missing: Any) -> None:
    names = ["Ann Ansari", missing, "Ann Ansari", missing]
    model = CollectiveRelationalClustering(group_cannot_link=True)
    np.testing.assert_array_equal(model.fit(names).labels_, [0, 1, 0, 2])
    model.fit(["Ann Ansari"] * 4, groups=["p", missing, "p", missing])
    assert model.labels_[0] != model.labels_[2]
    assert model.n_clusters_ == 2
    model.fit(pd.Series(["Ann Ansari"] * 4), sources=pd.Series(["p", missing, "p", missing], dtype=object))
    assert model.labels_[0] != model.labels_[2]
    assert model.n_clusters_ == 2


@pytest.mark.parametrize(
    "sources", [[-1, 0, -1, 0], [[""], ["a"], [" "], ["a"]], pd.DataFrame({"s": [None, 2, None, 2]})]
)
def test_sources_mean_the_same_to_both_clusterers(sources: Any) -> None:
    expected = [0, 0, 0, 1]
    names = ["Ann Ansari"] * 4
    np.testing.assert_array_equal(CollectiveRelationalClustering().fit(names, sources=sources).labels_, expected)
    signs = CorrelationClustering(random_state=0).fit(np.ones((4, 4)), sources=sources).labels_
    assert signs[1] != signs[3]
    assert len(set(signs)) == 2


@pytest.mark.parametrize("groups", [[1, 1, 2, 2, None], [[1], [1, 2], 2, 2, []], ["a", "a", "b", "b", np.nan]])
def test_groups_may_be_missing_or_several(groups: Any) -> None:
    names = ["A. Ansari", "W. Wang", "A. Ansari", "W. Wang", "A. Ansari"]
    labels = CollectiveRelationalClustering().fit(names, groups=groups).labels_
    assert labels[0] == labels[2] == labels[4] != labels[1]
    frame = pd.DataFrame({"name": names})
    np.testing.assert_array_equal(CollectiveRelationalClustering().fit(frame, groups=groups).labels_, labels)


def test_empty_names_are_alone_unless_linked() -> None:
    names = ["", None, "A. Ansari", "A. Ansari", np.nan]
    assert CollectiveRelationalClustering().fit(names).n_clusters_ == 4
    linked = CollectiveRelationalClustering(0.5).fit(names, constraints=Constraints(must_link=[(0, 1)]))
    assert linked.labels_[0] == linked.labels_[1] != linked.labels_[4]
    with pytest.raises(ValueError, match="All 2 records of X are empty"):
        CollectiveRelationalClustering().fit(["", None])


BAD = [
    ({"groups": [1, 2]}, ValueError, "X has 10 records, and groups has 2 entries"),
    ({"groups": "paper"}, TypeError, "groups is one text"),
    ({"groups": [{}] * 10}, TypeError, "record 0 is a dict"),
    ({"sources": [1]}, ValueError, r"X has 10 rows, and sources has the shape \(1,\)"),
    ({"sources": "shop"}, ValueError, r"sources has the shape \(\)"),
    ({"sources": [*"abcdefghi", 1]}, ValueError, "sources mix text and numbers"),
    ({"constraints": [(0, 1)]}, TypeError, "constraints must be a mustlink.Constraints"),
    ({"constraints": Constraints(must_link=[(0, 99)])}, ValueError, "0 and 99"),
    ({"constraints": Constraints([(0, 1), (1, 3)], [(0, 3)])}, InfeasibleError, "0 - 1 - 3"),
    ({"groups": PAPERS, "constraints": Constraints([(0, 1)])}, InfeasibleError, "Rows 0 and 1 have a must-link, but"),
    ({"sources": [1] * 10, "constraints": Constraints([(0, 1)])}, InfeasibleError, "of one source"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD, ids=[message for *_, message in BAD])
def test_bad_input(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CollectiveRelationalClustering(0.5).fit(NAMES, **options)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"similarity": ["soft_tfidf", "tfidf"]}, "one for each of the 1 columns"),
        ({"column_weights": [0.0]}, "not all 0"),
        ({"alpha": 1.5}, "alpha"),
        ({"blocking": "soundex"}, "blocking"),
        ({"threshold": 80}, r"'threshold' parameter.*range \[0.0, 1.0\].* Got 80"),
        ({"canopy": (0.9,)}, "canopy must be two numbers from 0 to 1"),
        ({"canopy": ("x", 1)}, "canopy must be two numbers from 0 to 1"),
        ({"canopy": (0.6, 0.3)}, "canopy must be two numbers from 0 to 1"),
        ({"similarity": "precomputed"}, "must hold similarities.*got texts"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CollectiveRelationalClustering(**parameters).fit(NAMES)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 0.5], [0.4, 0]], "symmetric"),
        ([[0, 2.0], [2.0, 0]], "from 0 to 1"),
        ([[0, -0.1], [-0.1, 0]], "from 0 to 1"),
        ([[0.0, 0.5, 0.1]], "square"),
    ],
)
def test_bad_similarities(matrix: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CollectiveRelationalClustering(similarity="precomputed").fit(np.array(matrix))


def test_keys_of_a_function_are_text_or_numbers() -> None:
    with pytest.raises(TypeError, match=r"must return a key, a list of keys, or None.*got \[\['w'\]\]"):
        CollectiveRelationalClustering(blocking=lambda text: [[text[0].lower()]]).fit(NAMES)


@pytest.mark.parametrize("X", [None, 5, np.array(5)], ids=str)
def test_what_is_no_table_is_refused(X: Any) -> None:
    with pytest.raises(TypeError, match="X must be a list of names or a table of texts, one row per record; got"):
        CollectiveRelationalClustering().fit(X)


def test_candidate_recall_takes_the_candidates_first() -> None:
    model = CollectiveRelationalClustering().fit(NAMES)
    with pytest.raises(TypeError, match=r"is the first argument: candidate_recall\(model.candidates_, labels_true\)"):
        candidate_recall(TRUTH, model.candidates_)
    with pytest.raises(TypeError, match="candidates is the number of pairs only, 2,000,000"):
        candidate_recall(2_000_000, TRUTH)  # type: ignore[arg-type]


def test_every_pair_is_compared_once_at_the_start() -> None:
    S = np.triu(np.full((5, 5), 0.3), 1)
    model = CollectiveRelationalClustering(0.9, similarity="precomputed").fit(S + S.T)
    assert model.n_similarity_evaluations_ == 10


def test_rapidfuzz_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(OptionError, match=r'pip install "mustlink\[relational\]"'):
        CollectiveRelationalClustering().fit(["A. Ansari", "Anna Ansari"])


def test_labels_below_the_recorded_merges_are_refused() -> None:
    model = CollectiveRelationalClustering(0.5).fit(NAMES, groups=PAPERS)
    with pytest.raises(OptionError, match=r"down to a threshold of 0.5, and 0.2 is below; fit with curve_to=0.2"):
        model.labels_at(0.2)
    with pytest.raises(OptionError, match="threshold must be a number; got nan"):
        model.labels_at(float("nan"))
    with pytest.raises(OptionError, match="n_pairs must be a whole number from 0 on; got -1"):
        model.unsure(-1)


def test_the_threshold_is_chosen_by_links() -> None:
    made = make_references(600, ambiguity=0.1, group_size=4.0, random_state=5)
    base = CollectiveRelationalClustering(0.0, bootstrap=False).fit(made.names, groups=made.groups)
    drawn = np.random.RandomState(0).choice(base.candidates_, 200, replace=False)
    pairs = np.column_stack([drawn["left"], drawn["right"]])
    is_same = made.target[drawn["left"]] == made.target[drawn["right"]]
    links = Constraints(must_link=pairs[is_same], cannot_link=pairs[~is_same])
    chosen = CollectiveRelationalClustering("links", bootstrap=False)
    chosen.fit(made.names, groups=made.groups, constraints=links)

    # No other threshold satisfies more of the links in the run without them.
    def satisfied(t: float) -> float:
        return float(links.satisfied(base.labels_at(t)).mean())

    best = max(satisfied(t) for t in np.unique(base.merges_["similarity"]))
    assert satisfied(chosen.threshold_) == pytest.approx(best)
    assert len(chosen.violations_) == 0
    few = Constraints(must_link=links.must_link[:5])
    only_must = CollectiveRelationalClustering("links").fit(made.names, groups=made.groups, constraints=few)
    assert 0 < only_must.threshold_ <= default_threshold()


def test_links_that_say_to_merge_nothing_choose_a_threshold_above_all_similarities() -> None:
    S = np.ones((4, 4))
    apart = Constraints(cannot_link=[(0, 1), (0, 2), (1, 2)])
    model = CollectiveRelationalClustering("links", alpha=0.0, similarity="precomputed").fit(S, constraints=apart)
    assert model.threshold_ > 1
    assert model.n_clusters_ == 4


def test_the_default_threshold_does_not_move_with_links() -> None:
    for method, alpha, expected in (("cr", 0.3, 0.56), ("nr*", 0.5, 0.4), ("a*", 0.3, 0.8)):
        model = CollectiveRelationalClustering(method=method, alpha=alpha)
        for links in (None, ANSARI):
            model.fit(NAMES, groups=PAPERS, constraints=links)
            assert model.threshold_ == default_threshold(alpha, method) == pytest.approx(expected)
    # Without links there is nothing to choose by.
    unlinked = CollectiveRelationalClustering("links").fit(NAMES, groups=PAPERS)
    assert unlinked.threshold_ == default_threshold()
    with pytest.raises(OptionError, match="With alpha=1 names do not count"):
        CollectiveRelationalClustering(alpha=1.0).fit(NAMES, groups=PAPERS)


def test_equal_company_alone_does_not_reach_the_default_threshold() -> None:
    # The first two have no word in common but occur with the same entity.
    S = np.zeros((4, 4))
    S[0, 1] = S[1, 0] = 0.1
    same = Constraints(must_link=[(2, 3)])
    model = CollectiveRelationalClustering(similarity="precomputed").fit(S, groups=[1, 2, 1, 2], constraints=same)
    np.testing.assert_array_equal(model.labels_, [0, 1, 2, 2])
    assert model.unsure()["relational"].tolist() == [1.0]


def test_partial_labels_are_links() -> None:
    y = np.full(10, -1)
    y[[2, 4, 9]] = 7
    model = CollectiveRelationalClustering(0.6, alpha=0.5).fit(NAMES, y, groups=PAPERS)
    np.testing.assert_array_equal(model.labels_, TRUTH)


def test_unsure_pairs_are_nearest_the_threshold() -> None:
    made = make_references(300, ambiguity=0.2, random_state=2)
    model = CollectiveRelationalClustering(0.45).fit(made.names, groups=made.groups)
    pairs = model.unsure(20)
    distance = np.abs(pairs["similarity"] - 0.45)
    assert (np.diff(distance) >= -1e-9).all()
    together = model.labels_[pairs["left"]] == model.labels_[pairs["right"]]
    np.testing.assert_array_equal(together, pairs["merged"])
    assert pairs["merged"].any()
    assert not pairs["merged"].all()
    assert len({(left, right) for left, right, *_ in pairs.tolist()}) == len(pairs)


def test_a_query_is_resolved_with_the_records_nearby() -> None:
    made = make_references(400, ambiguity=0.2, random_state=4)
    model = CollectiveRelationalClustering(0.45).fit(made.names, groups=made.groups)
    deep = model.resolve(made.names[0], depth=50)
    assert deep.rows[0] == 0
    assert (np.diff(deep.n_records) >= 0).all()
    # All records that can matter were resolved: the entities are those of the whole.
    whole = model.labels_[deep.rows]
    assert len(set(zip(whole, deep.labels, strict=True))) == len(set(whole)) == len(set(deep.labels))
    near = model.resolve(0, depth=0)
    assert near.n_records == [len(near.rows)]
    capped = model.resolve(0, depth=3, max_frontier=2)
    assert capped.n_records[-1] < deep.n_records[3]
    unfitted = clone(model).resolve(made.names[0], made.names, groups=made.groups, depth=50)
    np.testing.assert_array_equal(unfitted.labels, deep.labels)


def test_a_query_keeps_must_links_through_other_records() -> None:
    # The first two are one only through the third, which has another name and occurs with neither.
    names = ["Anna Carter", "Anna Carter", "Zoe Quill"]
    links = Constraints(must_link=[(0, 2), (1, 2)])
    model = CollectiveRelationalClustering(1.0).fit(names, groups=[1, 2, 3], constraints=links)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0])
    found = model.resolve("Anna Carter", depth=0)
    np.testing.assert_array_equal(found.labels, [0, 0])
    assert found.n_records == [3]


def test_bad_queries() -> None:
    model = CollectiveRelationalClustering(0.45).fit(NAMES, groups=PAPERS)
    with pytest.raises(ValueError, match=r"No record has the name 'Z\. Zorn'"):
        model.resolve("Z. Zorn")
    with pytest.raises(ValueError, match="There is no row 10"):
        model.resolve(10)
    with pytest.raises(TypeError, match=r"query must be a name or the row of a record; got 0\.5"):
        model.resolve(0.5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="depth must be a whole number from 0 on; got -1"):
        model.resolve(0, depth=-1)


def test_relations_help_where_names_are_ambiguous() -> None:
    scores: dict[str, list[float]] = {"cr": [], "a*": []}
    for seed in range(3):
        made = make_references(800, ambiguity=0.3, group_size=4.0, random_state=seed)
        for method, found in scores.items():
            model = CollectiveRelationalClustering(method=method).fit(made.names, groups=made.groups)
            found.append(pairwise_f1(made.target, model.labels_))
    assert np.mean(scores["cr"]) > np.mean(scores["a*"]) + 0.03


def test_a_large_table_of_candidates_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mustlink.relational._collective.MAX_LISTED", 3)
    assert CollectiveRelationalClustering(0.5).fit(NAMES).candidates_ == 10
