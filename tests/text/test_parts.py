"""The parts of the text clustering beside slow versions: Gini index, seeds, passes, domination, truncation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import cosine_similarity

from mustlink.errors import OptionError
from mustlink.text import truncate_taxonomy
from mustlink.text._domination import dominations, find_candidates, rank_candidates, subtract_seeds
from mustlink.text._gini import choose_terms, normalized_gini
from mustlink.text._passes import SeedHistory, kill, merge, word_schedule
from mustlink.text._seeds import damp, project, sum_rows
from mustlink.text._similarity import Queries
from reference import taxonomy as slow

SEEDS = st.integers(0, 2**32 - 1)


def random_counts(rng: np.random.Generator, n: int, n_terms: int, density: float = 0.4) -> Any:
    return rng.integers(1, 6, size=(n, n_terms)) * (rng.random((n, n_terms)) < density)


def as_vectors(X: Any) -> list[slow.Vector]:
    return [{int(term): float(row[term]) for term in np.flatnonzero(row)} for row in np.asarray(X)]


# ---- the Gini index (check 1)


@given(SEEDS, st.integers(2, 12), st.integers(2, 5))
def test_gini_is_that_of_the_formula(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X, code = random_counts(rng, n, 7), rng.integers(-1, k, size=n)
    found = normalized_gini(csr_array(X.astype(float)), code, k)
    expected = [slow.gini(as_vectors(X), code.tolist(), k, term) for term in range(7)]
    np.testing.assert_allclose(found, [np.nan if one is None else one for one in expected], atol=1e-12)


def test_gini_is_0_for_a_term_of_one_category_and_largest_for_equal_rates() -> None:
    # The rates of the second term are 3 / 5 in all categories, whose numbers of words differ.
    X = csr_array(np.array([[2.0, 3, 0], [4, 6, 0], [0, 9, 6]]))
    found = normalized_gini(X, np.arange(3), 3)
    np.testing.assert_allclose(found[[1, 2]], [1 - 1 / np.sqrt(3), 0.0], atol=1e-12)
    larger = X.copy()
    larger.data[2:4] *= 7
    np.testing.assert_allclose(normalized_gini(larger, np.arange(3), 3), found, atol=1e-12)


def test_terms_of_the_largest_index_and_rare_terms_are_dropped() -> None:
    X = csr_array(np.array([[1.0, 2, 0, 1, 0], [1, 1, 0, 1, 0], [1, 0, 3, 0, 0], [1, 0, 1, 1, 4]]))
    gini = normalized_gini(X, np.array([0, 0, 1, 1]), 2)
    is_frequent, chosen = choose_terms(X, gini, min_df=2, gini_drop=1, gini_max=None)
    assert is_frequent.tolist() == [True, True, True, True, False]
    assert chosen.tolist() == [False, True, True, True, False]
    assert choose_terms(X, gini, min_df=2, gini_drop=0.5, gini_max=None)[1].tolist() == [
        False,
        True,
        True,
        False,
        False,
    ]
    assert choose_terms(X, gini, min_df=1, gini_drop=0, gini_max=0.0)[1].tolist() == [False, True, True, False, True]


# ---- the schedule (check 2)


def test_the_words_of_the_chapter() -> None:
    assert word_schedule(500, 200, 0.7) == [500, 350, 245, 200]
    assert word_schedule(200, 200, 0.7) == [200]
    # 0.7 * 350 is 244.99999999999997 in floating point.
    assert word_schedule(350, 245, 0.7) == [350, 245]


@given(st.integers(1, 900), st.integers(1, 900), st.floats(0.01, 0.99))
def test_every_schedule_ends_at_the_final_number_of_words(a: int, b: int, theta: float) -> None:
    found = word_schedule(max(a, b), min(a, b), theta)
    assert found == slow.schedule(max(a, b), min(a, b), theta)
    assert found[-1] == min(a, b)
    assert all(first > second for first, second in pairwise(found))


# ---- seeds


@given(SEEDS, st.integers(1, 6), st.integers(1, 9))
def test_projection_keeps_the_heaviest_terms_and_of_equal_ones_the_first(seed: int, k: int, n_words: int) -> None:
    X = random_counts(np.random.default_rng(seed), k, 8, 0.7).astype(float)
    found = project(csr_array(X), n_words)
    assert as_vectors(found.toarray()) == [slow.project(vector, n_words) for vector in as_vectors(X)]


def test_counts_are_damped_before_they_are_summed() -> None:
    X = csr_array(np.array([[3.0, 0], [3, 1], [0, 9]]))
    sums = sum_rows(damp(X, "log1p"), np.array([0, 0, -1]), 2)
    np.testing.assert_allclose(sums.toarray(), [[2 * np.log(4), np.log(2)], [0, 0]])
    assert X.data.max() == 9
    for damping, expected in {"sqrt": 3.0, "binary": 1.0, "identity": 9.0}.items():
        assert damp(X, damping).data.max() == expected  # type: ignore[arg-type]


# ---- merge and kill (check 4)


@given(SEEDS, st.integers(1, 9), st.sampled_from([0.0, 0.3, 0.6, 0.8, 0.95, 1.0]))
def test_merging_is_single_linkage_of_cosines(seed: int, k: int, threshold: float) -> None:
    X = random_counts(np.random.default_rng(seed), k, 4, 0.6).astype(float)
    found = merge(csr_array(X), threshold)
    groups = slow.components(as_vectors(X), threshold)
    assert [np.flatnonzero(found == number).tolist() for number in range(len(groups))] == groups
    if threshold < 1:
        edges = csr_array(np.round(cosine_similarity(X), 12) > threshold)
        assert connected_components(edges, directed=False)[0] == len(groups)
    label = np.arange(3 * k) % k
    sizes = np.bincount(found[label], minlength=len(groups))
    assert sizes.tolist() == [3 * len(group) for group in groups]


def test_a_cluster_of_exactly_the_least_size_survives() -> None:
    assert kill(np.array([8, 7, 0, 9]), 8).tolist() == [0, -1, -1, 1]


def test_the_history_of_seeds_has_merged_and_killed_ones() -> None:
    history = SeedHistory.of(5)
    history.renumber(np.array([0, 1, 0, 2, 3]), 1)
    history.renumber(np.array([0, -1, 1, 2]), 1)
    history.renumber(np.array([0, 0, 1]), 2)
    assert history.seed.tolist() == [0, -1, 0, 0, 1]
    assert history.merged_in.tolist() == [1, 0, 1, 2, 0]
    assert history.killed_in.tolist() == [0, 1, 0, 0, 0]


# ---- domination (checks 6 to 8)

WORDS = "business management school university campus presentation student market operations law examination justice "
WORDS += "courts prosecutor"


def school_vector(**weights: float) -> list[float]:
    return [weights.get(word, 0.0) for word in WORDS.split()]


SCHOOLS = csr_array(
    np.array(
        [
            school_vector(
                business=35, management=31, school=22, university=11, campus=15, presentation=12, student=17, market=11,
                operations=10,
            ),
            school_vector(
                law=22, university=11, school=13, examination=15, justice=17, campus=10, courts=15, prosecutor=22,
                student=15,
            ),
        ]
    )
)  # fmt: skip
DOCUMENT = csr_array(np.array([school_vector(school=6, student=2, university=1, campus=1, law=1)]))


def rank_schools(threshold: float, n_candidates: int = 2) -> Any:
    queries = Queries.of(DOCUMENT)
    candidates = find_candidates(queries, SCHOOLS, n_candidates)
    return rank_candidates(candidates, dominations(queries, SCHOOLS, candidates, threshold), 2)


def test_the_example_of_the_chapter() -> None:
    assert cosine_similarity(SCHOOLS)[0, 1] == pytest.approx(0.2782, abs=5e-5)
    plain = rank_schools(0.005)
    assert plain.categories.tolist() == [[0, 1]]
    assert plain.similarity[0].tolist() == pytest.approx([0.4833, 0.4779], abs=5e-5)
    difference = subtract_seeds(SCHOOLS[[1]], SCHOOLS[[0]])
    assert cosine_similarity(difference, DOCUMENT)[0, 0] == pytest.approx(0.0812, abs=5e-5)
    turned = rank_schools(0.025)
    assert (turned.categories.tolist(), turned.domination.tolist()) == ([[1, 0]], [[1, 0]])
    assert turned.is_reranked.tolist() == [True]
    assert plain.is_reranked.tolist() == [False]
    assert rank_schools(0.025, n_candidates=1).categories.tolist() == [[0]]


@given(SEEDS)
def test_differences_of_seeds_have_no_common_terms(seed: int) -> None:
    X = random_counts(np.random.default_rng(seed), 2, 8).astype(float)
    first, second = csr_array(X[[0]]), csr_array(X[[1]])
    support = [set(np.flatnonzero(row).tolist()) for row in X]
    assert set(subtract_seeds(first, second).indices.tolist()) == support[0] - support[1]
    assert set(subtract_seeds(second, first).indices.tolist()) == support[1] - support[0]
    assert subtract_seeds(first, first).nnz == 0


@given(SEEDS, st.integers(1, 7), st.integers(1, 8), st.sampled_from([0.0, 0.025, 0.2, 2.0]))
def test_ranks_are_those_of_the_slow_version(seed: int, k: int, n_candidates: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    seeds, X = random_counts(rng, k, 9).astype(float), random_counts(rng, 6, 9).astype(float)
    queries = Queries.of(csr_array(X))
    candidates = find_candidates(queries, csr_array(seeds), n_candidates)
    wins = dominations(queries, csr_array(seeds), candidates, threshold)
    found = rank_candidates(candidates, wins, k)
    for row, document in enumerate(as_vectors(X)):
        expected = slow.rank(as_vectors(seeds), document, n_candidates, threshold)
        known = [(number, won) for number, won in expected if slow.cosine(as_vectors(seeds)[number], document) > 0]
        shown = [
            pair for pair in zip(found.categories[row], found.domination[row], strict=True) if pair[0] >= 0
        ]  # fmt: skip
        assert shown == known
    n = candidates.seeds.shape[1]
    assert (wins.sum(axis=(1, 2)) == n * (n - 1) // 2).all()
    if threshold == 0:
        assert not found.is_reranked.any()


# ---- hierarchies of categories


def test_small_nodes_go_to_the_node_above() -> None:
    paths = ["a/b/c"] * 3 + ["a/b/d"] * 1 + ["a/e"] * 1 + ["f/g"] * 1 + ["f"] * 1 + ["h"] * 1 + [""]
    found = truncate_taxonomy(paths, min_docs=2)
    assert found.tolist() == ["a/b/c"] * 3 + ["a/b/Other", "a/Other", "f", "f", "Other", None]
    assert truncate_taxonomy(["@x@y", "@x@y"], min_docs=2, separator="@").tolist() == ["x@y", "x@y"]
    assert truncate_taxonomy([None, ""], min_docs=2).tolist() == [None, None]


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=3), min_size=1, max_size=25), st.integers(1, 6))
def test_kept_nodes_have_enough_documents(nodes: list[list[str]], min_docs: int) -> None:
    paths = ["/".join(node) for node in nodes]
    found = truncate_taxonomy(paths, min_docs=min_docs)
    for path, node in zip(paths, found, strict=True):
        if node.split("/")[-1] == "Other":
            assert f"{path}/".startswith(node.removesuffix("Other"))
        else:
            assert f"{path}/".startswith(f"{node}/")
            assert sum(f"{other}/".startswith(f"{node}/") for other in paths) >= min_docs


@pytest.mark.parametrize("options", [{"min_docs": 0}, {"min_docs": 1.5}, {"min_docs": True}, {"separator": ""}])
def test_wrong_options_of_truncation(options: Any) -> None:
    with pytest.raises(OptionError, match="must be"):
        truncate_taxonomy(["a/b"], **options)
