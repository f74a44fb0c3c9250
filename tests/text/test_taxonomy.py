"""TaxonomyClusterer beside a slow version, its records of categories, new documents, and bad input."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink import Constraints, TaxonomyClusterer
from mustlink.errors import NegativeNumberError, NumberTooLargeError, OptionError
from reference import taxonomy as slow
from text.test_parts import as_vectors, random_counts

SEEDS = st.integers(0, 2**32 - 1)
SMALL = {"min_df": 1, "gini_drop": 0, "words_init": 6, "words_final": 4, "min_cluster_size": 2}
# Two topics with terms of their own and common ones; one document of each is in the other's folder.
TEXTS = [
    *["song band drums the", "band drums song of", "drums song band the", "band song drums of the"],
    *["goal team match the", "team goal goal of", "match team goal the", "team match of the"],
]
FOLDERS = ["rock", "rock", "rock", "sport", "sport", "sport", "sport", "rock"]


def counted(texts: list[str]) -> tuple[Any, list[str]]:
    counter = CountVectorizer()
    return counter.fit_transform(texts), counter.get_feature_names_out().tolist()


def topics(n: int, k: int, seed: int, n_terms: int = 60) -> tuple[Any, Any]:
    """Documents of k topics, each with a few terms that are frequent in it."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    rate = np.where(np.arange(n_terms) % (k + 1) == y[:, None], 1.2, 0.1)
    return csr_matrix(rng.poisson(rate)), y


# ---- the whole beside the slow version


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(SEEDS, st.booleans(), st.booleans())
def test_the_fit_is_that_of_the_slow_version(seed: int, damp_queries: bool, use_idf: bool) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 25)), int(rng.integers(2, 5))
    X, y = random_counts(rng, n, 12, rng.uniform(0.1, 0.6)), rng.integers(-1, k, size=n)
    given_codes = np.unique(y[y >= 0])
    assume(1 < len(given_codes) < np.count_nonzero(y >= 0))
    damping = str(rng.choice(list(slow.DAMPINGS)))
    options: dict[str, Any] = {
        "words_init": 8,
        "words_final": 3,
        "theta": float(rng.choice([0.5, 0.7])),
        "merge_threshold": float(rng.choice([0.6, 0.8, 0.95, 1.0])),
        "min_cluster_size": int(rng.integers(1, 4)),
        "outlier_threshold": float(rng.choice([0.0, 0.3])),
    }
    model = TaxonomyClusterer(
        min_df=1, gini_drop=2, damping=damping, damp_queries=damp_queries, use_idf=use_idf, **options
    )
    try:
        model.fit(X, y)
    except OptionError:
        model.categories_ = []
    assume(hasattr(model, "feature_mask_"))

    used = X * model.feature_mask_
    idf = 1 / np.maximum((X > 0).sum(axis=0), 1) if use_idf else np.ones(12)
    function = np.vectorize(slow.DAMPINGS[damping], otypes=[float])
    damped = as_vectors(np.where(used > 0, function(used), 0.0) * idf)
    queries = damped if damp_queries else as_vectors(used * idf)
    code = np.where(y < 0, -1, np.searchsorted(given_codes, y)).tolist()
    state, labels = slow.cluster(damped, queries, code, len(given_codes), **options)
    if not labels:
        assert model.categories_ == []
        return
    assert model.labels_.tolist() == labels
    assert [tuple(one.values()) for one in model.history_] == state.history
    unit = normalize([[seed.get(term, 0.0) for term in range(12)] for seed in state.seeds])
    np.testing.assert_allclose(model.seeds_.toarray(), unit, atol=1e-9)
    assert [set(one.seeds) for one in model.categories_] == [{given_codes[c] for c in own} for own in state.origins]
    check_records(model, y)


def check_records(model: TaxonomyClusterer, y: Any) -> None:
    """Records agree with labels and given categories, and every document is counted once."""
    assert model.n_clusters_ == len(model.categories_) == model.seeds_.shape[0]
    assert len({category.name for category in model.categories_}) == model.n_clusters_
    for number, category in enumerate(model.categories_):
        assert category.rows.tolist() == np.flatnonzero(model.labels_ == number).tolist()
        known = y[category.rows][y[category.rows] >= 0]
        assert category.composition == {one: np.count_nonzero(known == one) for one in np.unique(known)}
        assert list(category.composition.values()) == sorted(category.composition.values(), reverse=True)
        weights = [weight for _, weight in category.terms]
        assert weights == sorted(weights, reverse=True)
        assert category.given is None or category.given in category.seeds
    for one in model.given_:
        counts = {number: np.count_nonzero((model.labels_ == number) & (y == one.name)) for number in one.counts}
        assert one.counts == counts
        assert one.n_documents == np.count_nonzero(y == one.name) == sum(counts.values()) + one.n_outliers
        has_seed = [number for number, category in enumerate(model.categories_) if one.name in category.seeds]
        assert has_seed == ([] if one.status == "killed" else [one.into])
        assert (one.in_pass is not None) == (one.status in ("merged", "killed"))
        if one.status == "merged":
            assert len(model.categories_[one.into].seeds) > 1 if one.into is not None else False


def test_one_pass_is_spherical_k_means_from_the_sums_of_the_classes() -> None:
    X, y = topics(60, 4, 0)
    model = TaxonomyClusterer(
        min_df=1,
        gini_drop=0,
        damping="identity",
        words_init=60,
        words_final=60,
        merge_threshold=2,
        min_cluster_size=1,
    )
    model.fit(X, y)
    rows = X.toarray().astype(float)
    centers = normalize([rows[y == label].sum(axis=0) for label in range(4)])
    label = (normalize(rows) @ centers.T).argmax(axis=1)
    centers = normalize([rows[label == one].sum(axis=0) for one in range(4)])
    np.testing.assert_allclose(model.seeds_.toarray(), centers)
    assert model.labels_.tolist() == (normalize(rows) @ centers.T).argmax(axis=1).tolist()
    assert model.n_iter_ == 1


def test_a_fit_with_the_schedule_of_the_chapter() -> None:
    X, y = topics(400, 5, 1, n_terms=700)
    model = TaxonomyClusterer(gini_drop=0).fit(X, y)
    assert [one["words"] for one in model.history_] == [500, 350, 245, 200]
    assert np.diff(model.seeds_.indptr).max() <= 200
    np.testing.assert_allclose(model.seeds_.multiply(model.seeds_).sum(axis=1), 1.0)
    inside = model.labels_ >= 0
    cosines = np.round(normalize(np.log1p(X[inside].toarray())) @ model.seeds_.T.toarray(), 12)
    assert model.labels_[inside].tolist() == cosines.argmax(axis=1).tolist()
    plain = clone(model).set_params(n_candidates=1).fit(X, y)
    assert plain.predict(X).tolist() == plain.labels_.tolist()
    assert plain.n_reranked_ == plain.domination_.nnz == 0


# ---- what became of the given categories


def test_documents_move_to_the_category_of_their_words() -> None:
    X, names = counted(TEXTS)
    model = TaxonomyClusterer(**{**SMALL, "gini_drop": 2}).fit(X, FOLDERS)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [category.composition for category in model.categories_] == [
        {"rock": 3, "sport": 1},
        {"sport": 3, "rock": 1},
    ]
    assert [set(terms) for terms in model.category_terms(names)] == [
        {"band", "drums", "song"},
        {"goal", "match", "team"},
    ]
    assert [one.status for one in model.given_] == ["kept", "kept"]
    assert not model.feature_mask_[[names.index("the"), names.index("of")]].any()


def test_equal_categories_are_merged() -> None:
    X = np.array([[9, 1, 0], [8, 2, 0], [9, 2, 0], [0, 2, 9], [0, 3, 7]])
    model = TaxonomyClusterer(min_df=1, words_init=2, words_final=2, min_cluster_size=1, gini_drop=0)
    model.fit(X, ["jazz", "rock", "rock", "sport", "sport"])
    assert [(one.status, one.into, one.in_pass) for one in model.given_] == [("merged", 0, 1)] * 2 + [("kept", 1, None)]
    assert model.categories_[0].name == "rock + jazz"
    assert (model.categories_[0].given, model.categories_[0].seeds) == ("rock", ("rock", "jazz"))
    assert model.history_[0]["n_merged"] == 1
    assert (
        clone(model).set_params(merge_threshold=1.0).fit(X, ["jazz", "rock", "rock", "sport", "sport"]).n_clusters_ == 3
    )


def test_seeds_merged_in_the_last_pass_are_projected_once_more() -> None:
    X = np.array([[9, 2, 0, 0], [8, 2, 0, 0], [9, 0, 2, 0], [8, 0, 2, 0], [0, 0, 0, 5], [0, 1, 0, 5]])
    model = TaxonomyClusterer(
        min_df=1, gini_drop=0, words_init=2, words_final=2, min_cluster_size=1, merge_threshold=0.5
    )
    model.fit(X, ["a", "a", "b", "b", "c", "c"])
    assert [one.status for one in model.given_] == ["merged", "merged", "kept"]
    # The second and third term have the same weight.
    assert model.category_terms() == [[0, 1], [3, 1]]
    assert model.seeds_.nnz == 4


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_small_categories_are_killed_and_their_documents_stay() -> None:
    X, _ = counted([*TEXTS, "song band goal", "oven bread"])
    model = TaxonomyClusterer(**SMALL).fit(X, [*FOLDERS, "misc", "baking"])
    statuses = {one.name: one for one in model.given_}
    assert (statuses["misc"].status, statuses["misc"].into, statuses["misc"].counts) == ("killed", 0, {0: 1})
    assert (statuses["baking"].status, statuses["baking"].into, statuses["baking"].n_outliers) == ("killed", None, 1)
    assert model.labels_[8:].tolist() == [0, -1]


def test_a_category_of_others_documents_is_new_and_splits_theirs() -> None:
    X, y = topics(40, 2, 0)
    # The third category has documents of the first topic only, and few of them.
    folders = np.array(["first", "second"], dtype=object)[y]
    folders[[0, 2, 4]] = "third"
    X = X.toarray()
    X[[0, 2, 4, 6, 8, 10, 12, 14], 1] += 40
    model = TaxonomyClusterer(
        min_df=1, gini_drop=0, damping="identity", words_init=60, words_final=50, min_cluster_size=2
    )
    model.fit(X, folders)
    number = next(number for number, one in enumerate(model.categories_) if one.seeds == ("third",))
    category = model.categories_[number]
    assert category.composition == {"first": 5, "third": 3}
    assert (category.name, category.given) == ("first / third", None)
    assert {one.name: one.status for one in model.given_} == {"first": "split", "second": "kept", "third": "kept"}


def test_many_merged_names_are_counted() -> None:
    X = np.array([[5, 1], [5, 1], [5, 1], [5, 1], [5, 2], [0, 7], [1, 6]])
    model = TaxonomyClusterer(min_df=1, gini_drop=0, words_init=2, words_final=2, min_cluster_size=1)
    # Copies of a document all go to the first of equal seeds, so that others are removed or merged.
    X = X + np.array([[0, 0], [0, 0], [1, 0], [2, 0], [3, 0], [0, 0], [0, 0]])
    model.fit(X, [1, 1, 2, 3, 4, 9, 9])
    assert model.categories_[0].name == "1 + 2 + 3 + 1 more"
    assert model.categories_[0].given == 1
    assert model.classes_.tolist() == [1, 2, 3, 4, 9]


# ---- input


def test_documents_without_a_category_are_clustered_too() -> None:
    X, y = topics(90, 3, 2)
    folders = np.array(["a", "b", "c"], dtype=object)[y]
    folders[np.random.default_rng(0).random(90) < 0.7] = None
    unknown = folders == None  # noqa: E711  (of each)
    model = TaxonomyClusterer(words_init=40, words_final=30, min_cluster_size=3).fit(X, folders)
    majority = np.array([one.given for one in model.categories_], dtype=object)[model.labels_]
    assert np.mean(majority[unknown] == np.array(["a", "b", "c"], dtype=object)[y][unknown]) > 0.9
    assert sum(len(one.rows) for one in model.categories_) == 90
    for marker in (np.nan, "", -1):
        same = [marker if name is None else name for name in folders]
        assert clone(model).fit(X, same).labels_.tolist() == model.labels_.tolist()


@pytest.mark.parametrize("container", [csr_matrix, csr_array, csc_matrix, coo_array, np.asarray, pd.DataFrame])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_every_container_gives_the_same(container: Any, dtype: Any) -> None:
    X, y = topics(60, 3, 3)
    X = X.toarray()
    given_X = container(X.astype(dtype))
    if container is pd.DataFrame:
        given_X.columns = [f"term{column}" for column in range(60)]
    before = copy.deepcopy(given_X)
    model = TaxonomyClusterer(words_init=30, words_final=20).fit(given_X, pd.Series(y))
    expected = TaxonomyClusterer(words_init=30, words_final=20).fit(X, y)
    assert model.labels_.tolist() == expected.labels_.tolist()
    assert model.predict(given_X).tolist() == expected.predict(X).tolist()
    assert (before != given_X).sum().sum() == 0
    if container is pd.DataFrame:
        assert model.category_terms(n_terms=1)[0] == [f"term{expected.category_terms(n_terms=1)[0][0]}"]
        assert model.categories_[0].terms[0][0] == model.category_terms(n_terms=None)[0][0]


def test_explicit_zeros_and_duplicates_do_not_matter() -> None:
    X, y = topics(60, 3, 4)
    X = X.tocoo()
    data = np.concatenate([X.data / 2, X.data / 2, np.zeros(60)])
    row, column = np.concatenate([X.row, X.row, np.arange(60)]), np.concatenate([X.col, X.col, np.arange(60)])
    # scipy sums duplicates when it converts, so that the arrays are made by hand.
    order = np.argsort(row, kind="stable")
    indptr = np.searchsorted(row[order], np.arange(61))
    twice = csr_matrix((data[order], column[order], indptr), shape=(60, 60))
    options = {"words_init": 30, "words_final": 20, "min_df": 5}
    found, expected = (TaxonomyClusterer(**options).fit(one, y) for one in (twice, X))
    np.testing.assert_allclose(found.seeds_.toarray(), expected.seeds_.toarray())


@settings(max_examples=15)
@given(SEEDS)
def test_the_order_of_documents_does_not_matter(seed: int) -> None:
    X, y = topics(50, 3, 5)
    order = np.random.default_rng(seed).permutation(50)
    model = TaxonomyClusterer(words_init=30, words_final=20)
    expected = model.fit(X, y).labels_[order].tolist()
    assert model.fit(X[order], y[order]).labels_.tolist() == expected


def test_it_is_an_estimator() -> None:
    X, y = topics(60, 3, 6)
    model = TaxonomyClusterer(words_init=30, words_final=20)
    with pytest.raises(NotFittedError):
        model.predict(X)
    labels = model.fit_predict(X, y)
    assert labels.dtype == np.int64
    same = pickle.loads(pickle.dumps(model))
    assert same.predict(X).tolist() == model.predict(X).tolist()
    found = cross_val_predict(model, X, y, cv=3)
    assert len(found) == 60
    pipeline = make_pipeline(CountVectorizer(), TaxonomyClusterer(**SMALL)).fit(TEXTS, FOLDERS)
    assert pipeline.predict(["a song with drums", "a goal"]).tolist() == [0, 1]
    with pytest.raises(ValueError, match="X has 3 features, but TaxonomyClusterer is expecting 60"):
        model.predict(np.ones((2, 3)))
    smaller = model._for_predicting()
    assert smaller.predict(X).tolist() == model.predict(X).tolist()


# The tables of the checks have few columns, and some classes of few rows.
@pytest.mark.filterwarnings("ignore:.*words_final:UserWarning")
@parametrize_with_checks(
    [TaxonomyClusterer(**{**SMALL, "min_cluster_size": 1})],
    expected_failed_checks=lambda estimator: {"check_clustering": "Its rows are negative."},
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_blocks_of_documents_do_not_matter(monkeypatch: Any) -> None:
    from mustlink.text import _domination, _similarity

    X, y = topics(80, 4, 7)
    model = TaxonomyClusterer(words_init=30, words_final=20, domination_threshold=0.2)
    expected = model.fit(X, y).rank(X)
    domination = model.domination_.toarray()
    monkeypatch.setattr(_similarity, "MAX_SIMILARITIES", 12)
    monkeypatch.setattr(_domination, "MAX_COMPARED_TERMS", 30)
    monkeypatch.setattr(_domination, "MAX_DOMINATIONS", 100)
    found = model.fit(X, y).rank(X)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(model.domination_.toarray(), domination)


def test_dominations_of_the_fit_are_those_of_the_ranks() -> None:
    X, y = topics(80, 4, 8)
    model = TaxonomyClusterer(words_init=30, words_final=20, domination_threshold=0.1, n_report=5).fit(X, y)
    ranking = model.rank(X)
    assert model.n_reranked_ == np.count_nonzero(ranking.is_reranked) > 0
    assert model.domination_.diagonal().sum() == 0
    n_similar = (ranking.categories >= 0).sum(axis=1)
    assert model.domination_.sum() == (n_similar * (n_similar - 1) // 2).sum()
    assert model.predict(X).tolist() == ranking.categories[:, 0].tolist()


@pytest.mark.parametrize(("n_report", "n_candidates", "n_ranked"), [(2, 5, 2), (9, 3, 3), (9, 9, 4)])
def test_as_many_categories_are_ranked_as_there_are(n_report: int, n_candidates: int, n_ranked: int) -> None:
    X, y = topics(40, 4, 9)
    model = TaxonomyClusterer(words_init=30, words_final=20, n_report=n_report, n_candidates=n_candidates)
    ranking = model.fit(X, y).rank(X)
    assert {part.shape for part in ranking[:3]} == {(40, n_ranked)}


# ---- bad input


BAD = [
    (None, ValueError, "TaxonomyClusterer requires y to be passed, but the target y is None"),
    ([-1] * 8, OptionError, r"None of the 8 documents has a category; give y with at least two categories"),
    ([""] * 8, OptionError, "None of the 8 documents has a category"),
    (["a"] * 7 + [""], OptionError, r"All documents with a category have the same, 'a'; give y with at least two"),
    (list("abcdefgh"), OptionError, r"The 8 documents with a category have one each, such as 'a'; give y"),
    (["a", "b"], ValueError, r"y must hold one category per document: X has 8 rows, and y has 2 categories\."),
    (["a", 1] * 4, ValueError, "mix text and numbers"),
    (np.zeros((8, 2)), ValueError, "y should be a 1d array"),
    (Constraints(must_link=[(0, 1)]), TypeError, "TaxonomyClusterer takes no links"),
]


@pytest.mark.parametrize(("y", "error", "message"), BAD)
def test_categories_that_cannot_be_used(y: Any, error: Any, message: str) -> None:
    X, _ = counted(TEXTS)
    model = TaxonomyClusterer(**SMALL)
    with pytest.raises(error, match=message):
        model.fit(X, y)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_texts_are_refused_with_what_counts_them(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"takes counts of terms, and X has texts; .*CountVectorizer\.$"):
        TaxonomyClusterer(**SMALL).fit(kind(TEXTS), FOLDERS)
    X, _ = counted(TEXTS)
    with pytest.raises(ValueError, match="X has texts"):
        TaxonomyClusterer(**SMALL).fit(X, FOLDERS).predict(kind(TEXTS))


def test_terms_and_seeds_that_run_out() -> None:
    X, _ = counted(TEXTS)
    with pytest.raises(OptionError, match=r"No term occurs in 9 documents or more.*; reduce min_df\."):
        TaxonomyClusterer(**{**SMALL, "min_df": 9}).fit(X, FOLDERS)
    with pytest.raises(OptionError, match=r"All 8 terms were dropped by the normalized Gini index; reduce min_df or"):
        TaxonomyClusterer(**{**SMALL, "gini_drop": 8}).fit(X, FOLDERS)
    with pytest.raises(OptionError, match="No term occurs"):
        TaxonomyClusterer(**SMALL).fit(np.zeros((8, 3)), FOLDERS)
    message = (
        r"All categories were removed in pass 1, as none of the last 2 had 5 documents; reduce min_cluster_size\.$"
    )
    with pytest.raises(OptionError, match=message), pytest.warns(UserWarning, match="fewer than 5"):
        TaxonomyClusterer(**{**SMALL, "min_cluster_size": 5}).fit(X, FOLDERS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": 1.0}, "'theta' parameter .* in the range \\(0.0, 1.0\\)"),
        ({"theta": 0}, "'theta' parameter"),
        ({"words_init": 3}, "words_init=3 is less than words_final=4"),
        ({"min_df": 0}, "'min_df' parameter"),
        ({"gini_drop": 1.5}, "'gini_drop' parameter"),
        ({"gini_drop": -1}, "'gini_drop' parameter"),
        ({"min_cluster_size": 0}, "'min_cluster_size' parameter"),
        ({"outlier_threshold": 1.0}, "'outlier_threshold' parameter"),
        ({"damping": "log"}, "'damping' parameter"),
        ({"n_candidates": True}, "'n_candidates' parameter"),
    ],
)
def test_parameters_out_of_range(options: Any, message: str) -> None:
    X, _ = counted(TEXTS)
    with pytest.raises(ValueError, match=message):
        TaxonomyClusterer(**{**SMALL, **options}).fit(X, FOLDERS)


def test_counts_that_are_none() -> None:
    X = counted(TEXTS)[0].toarray().astype(float)
    for value, error, message in [
        (
            -1.0,
            NegativeNumberError,
            r"passed to TaxonomyClusterer, which takes counts: row 2, column 1 is -1; pass counts",
        ),
        (np.nan, ValueError, "NaN"),
        (1e200, NumberTooLargeError, "Row 2, column 1"),
    ]:
        wrong = X.copy()
        wrong[2, 1] = value
        for container in (np.asarray, csr_matrix):
            with pytest.raises(error, match=message):
                TaxonomyClusterer(**SMALL).fit(container(wrong), FOLDERS)
    with pytest.raises(ValueError, match="could not convert string to float"):
        TaxonomyClusterer(**SMALL).fit(np.array(TEXTS, dtype=object)[:, None], FOLDERS)
    model = TaxonomyClusterer(**SMALL).fit(X, FOLDERS)
    with pytest.raises(NegativeNumberError):
        model.predict(-X)


def test_few_documents_or_terms_are_warned_of_by_name() -> None:
    X, _ = counted([*TEXTS, "oven"])
    with pytest.warns(UserWarning, match=r"1 category has fewer than 2 documents and may be removed: 'baking'; reduce"):
        TaxonomyClusterer(**SMALL).fit(X, [*FOLDERS, "baking"])
    with pytest.warns(UserWarning, match=r"words_final=50 is more than the 8 terms that are used.*; reduce words_init"):
        TaxonomyClusterer(**{**SMALL, "words_init": 60, "words_final": 50}).fit(X[:8], FOLDERS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TaxonomyClusterer(**{**SMALL, "min_df": 2}).fit(X, [*FOLDERS, "baking"])
    assert "1 category has no term that is used, and no seed: 'baking'" in str(caught[-1].message)
    many = [f"t{number:02}" for number in range(7)]
    with pytest.warns(UserWarning, match=r"7 categories have fewer.*: 't00', 't01', 't02', 't03', 't04' and 2 more;"):
        TaxonomyClusterer(**SMALL).fit(X[[*range(8), *range(7)]], [*FOLDERS, *many])


def test_empty_documents_are_outliers() -> None:
    X = counted(TEXTS)[0].toarray()
    X = np.vstack([X, np.zeros((2, X.shape[1]), dtype=int)])
    model = TaxonomyClusterer(**SMALL).fit(X, [*FOLDERS, "rock", ""])
    assert model.labels_[8:].tolist() == [-1, -1]
    assert {one.name: one.n_outliers for one in model.given_} == {"rock": 1, "sport": 0}
    assert model.predict(X[[8, 0]]).tolist() == [-1, 0]
    ranking = model.rank(X[[8]])
    assert (ranking.categories.tolist(), ranking.domination.tolist()) == ([[-1, -1]], [[-1, -1]])
    far = clone(model).set_params(outlier_threshold=0.8).fit(X, [*FOLDERS, "rock", ""])
    assert far.predict(np.eye(X.shape[1])[[0]]).tolist() == [-1]
    assert (far.labels_ == -1).sum() > 2


def test_names_of_terms_of_another_number() -> None:
    X, names = counted(TEXTS)
    model = TaxonomyClusterer(**SMALL).fit(X, FOLDERS)
    with pytest.raises(
        ValueError, match="feature_names must have one name per term: the fit had 8 terms, and there are 7"
    ):
        model.category_terms(names[1:])
