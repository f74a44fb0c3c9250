from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mustlink import Constraints
from mustlink.errors import UnmetConstraintsWarning
from mustlink.estimator_checks._expect import same_partition
from mustlink.hierarchy import SeededSingleLink, _spanning_tree
from reference.seeded_link import longest_steps, multi_source_prim


def random_seeds(rng, n_rows, n_groups):
    seeds = np.full(n_rows, -1)
    rows = rng.permutation(n_rows)[: rng.integers(n_groups, n_rows + 1)]
    seeds[rows] = np.arange(len(rows)) % n_groups
    return seeds


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(2, 40), n_groups=st.integers(1, 4))
def test_labels_are_those_of_prim_started_at_all_seeds(seed, n_rows, n_groups):
    rng = np.random.default_rng(seed)
    X, seeds = rng.normal(size=(n_rows, 2)), random_seeds(rng, n_rows, min(n_groups, n_rows))
    found = SeededSingleLink().fit(X).update(seeds=seeds)
    assert same_partition(found.labels_, multi_source_prim(squareform(pdist(X)), seeds))


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(3, 25), n_groups=st.integers(1, 4))
def test_no_other_group_is_reached_by_smaller_steps_despite_ties(seed, n_rows, n_groups):
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(n_rows, 2)).astype(float)
    seeds = random_seeds(rng, n_rows, min(n_groups, n_rows))
    labels = SeededSingleLink().fit(X).update(seeds=seeds).labels_
    steps = longest_steps(squareform(pdist(X)), seeds)
    name = {labels[row]: seeds[row] for row in np.flatnonzero(seeds >= 0)}
    assert len(name) == seeds.max() + 1
    own = np.array([name[label] for label in labels])
    assert np.array_equal(own[seeds >= 0], seeds[seeds >= 0])
    assert np.allclose(steps[np.arange(n_rows), own], steps.min(axis=1))


@pytest.mark.parametrize("algorithm", ["kd_tree", "prim"])
@pytest.mark.parametrize(("n_rows", "n_features"), [(2, 1), (3, 2), (300, 1), (300, 2), (200, 6), (60, 30)])
def test_the_tree_is_a_minimum_spanning_tree(algorithm, n_rows, n_features):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, n_features))
    model = SeededSingleLink(algorithm=algorithm).fit(X)
    expected = np.sort(minimum_spanning_tree(squareform(pdist(X))).data)
    assert np.allclose(model.tree_lengths_, expected)
    ends = X[model.tree_]
    assert np.allclose(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1), model.tree_lengths_)
    assert model.n_clusters_ == 1


@pytest.mark.parametrize("algorithm", ["kd_tree", "prim"])
def test_spanning_tree_of_duplicates_and_grids(algorithm):
    copies = np.repeat(np.arange(20.0)[:, None], 30, axis=0)
    assert SeededSingleLink(algorithm=algorithm).fit(copies).tree_lengths_.sum() == 19.0
    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(11.0)), axis=-1).reshape(-1, 2)
    model = SeededSingleLink(algorithm=algorithm).fit(grid)
    assert model.tree_lengths_.tolist() == [1.0] * 164
    assert model.n_clusters_ == 1


def test_other_metrics_sparse_input_and_precomputed_distances():
    X = np.random.default_rng(0).normal(size=(50, 4))
    X[np.abs(X) < 0.5] = 0.0
    links = Constraints(cannot_link=[(0, 1), (1, 2)])
    expected = SeededSingleLink().fit(X, constraints=links)
    others = {"sparse": (csr_matrix(X), "euclidean"), "rows": (X, "l2"), "given": (squareform(pdist(X)), "precomputed")}
    for table, metric in others.values():
        found = SeededSingleLink(metric=metric).fit(table, constraints=links)
        assert np.allclose(found.tree_lengths_, expected.tree_lengths_)
        assert np.array_equal(found.labels_, expected.labels_)
    streets = SeededSingleLink(metric="manhattan").fit(X)
    tree = minimum_spanning_tree(squareform(pdist(X, "cityblock")))
    assert streets.tree_lengths_.sum() == pytest.approx(tree.sum())


def test_update_equals_a_new_fit():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    first = Constraints([(0, 1)], [(0, 2)])
    second = Constraints([(5, 6), (6, 7)], [(5, 9), (9, 11)])
    model = SeededSingleLink(2).fit(X, constraints=first)
    model.update(constraints=second)
    fresh = SeededSingleLink(2).fit(X, constraints=second)
    assert np.array_equal(model.labels_, fresh.labels_)
    assert np.array_equal(model.seeds_, fresh.seeds_)
    assert model.violations_ == fresh.violations_
    assert np.array_equal(model.update().labels_, SeededSingleLink(2).fit(X).labels_)


def test_one_seed_group_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.full(12, -1)
    y[4] = 3
    with pytest.warns(ConvergenceWarning, match="3 clusters were asked for, and 1 was found"):
        model = SeededSingleLink(3).fit(X, y)
    assert model.labels_.tolist() == [0] * 12
    with pytest.warns(ConvergenceWarning, match="3 clusters were asked for, and 1 was found"):
        assert model.update(constraints=Constraints(must_link=[(0, 7)])).n_clusters_ == 1


def test_seeds_for_all_rows_are_the_labels():
    X = np.random.default_rng(0).normal(size=(9, 2))
    seeds = np.arange(9) % 3
    assert SeededSingleLink().fit(X).update(seeds=seeds).labels_.tolist() == seeds.tolist()


def test_duplicates_in_two_groups_keep_their_seeds():
    X = np.zeros((6, 2))
    seeds = np.array([1, -1, 0, -1, -1, 1])
    labels = SeededSingleLink().fit(X).update(seeds=seeds).labels_
    assert labels[0] == labels[5] != labels[2]
    assert set(labels) == {0, 1}


def test_rows_at_infinite_distance_from_seeds_are_noise():
    distances = np.full((6, 6), np.inf)
    for block in ([0, 1], [2, 3], [4, 5]):
        distances[np.ix_(block, block)] = 1.0
    np.fill_diagonal(distances, 0.0)
    model = SeededSingleLink(metric="precomputed").fit(distances, [0, -1, 1, -1, -1, -1])
    assert model.labels_.tolist() == [0, 0, 1, 1, -1, -1]
    assert len(model.tree_) == 3
    assert model.update().labels_.tolist() == [0, 0, 1, 1, 2, 2]
    joined = SeededSingleLink(1, metric="precomputed").fit(distances, [0, -1, -1, -1, 0, -1])
    assert joined.labels_.tolist() == [0, 0, -1, -1, 0, 0]
    both = SeededSingleLink(1, metric="precomputed").fit(distances)
    both.n_clusters = 2
    apart = Constraints(must_link=[(0, 1), (2, 3), (4, 5)], cannot_link=[(0, 2)])
    assert both.update(constraints=apart).labels_.tolist() in ([0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1])


@pytest.mark.parametrize("n_clusters", [1, 2, 5, 30])
def test_without_seeds_it_is_single_linkage(n_clusters):
    X = np.random.default_rng(2).normal(size=(30, 2))
    found = SeededSingleLink(n_clusters).fit(X)
    expected = AgglomerativeClustering(n_clusters, linkage="single").fit(X)
    assert found.n_clusters_ == n_clusters
    assert same_partition(found.labels_, expected.labels_)


def test_surplus_groups_are_joined_unless_cannot_linked():
    X = np.array([[0.0], [1.0], [3.0], [4.0], [10.0], [11.0]])
    seeds = Constraints(must_link=[(0, 1), (2, 3), (4, 5)])
    assert SeededSingleLink().fit(X, constraints=seeds).n_clusters_ == 3
    assert SeededSingleLink(2).fit(X, constraints=seeds).labels_.tolist() == [0, 0, 0, 0, 1, 1]
    apart = seeds + Constraints(cannot_link=[(1, 2)])
    assert SeededSingleLink(2).fit(X, constraints=apart).labels_.tolist() == [0, 0, 1, 1, 1, 1]
    with pytest.warns(UnmetConstraintsWarning, match="need more than 1 cluster"):
        forced = SeededSingleLink(1).fit(X, constraints=apart)
    assert forced.violations_ == Constraints(cannot_link=[(1, 2)])


def test_contradictions_are_in_the_warning():
    X = np.arange(6.0)[:, None]
    links = Constraints([(0, 1), (1, 2)], [(0, 2)])
    with pytest.warns(UnmetConstraintsWarning, match="0 - 1 - 2"):
        model = SeededSingleLink().fit(X, constraints=links)
    assert model.violations_.cannot_link.tolist() == [[0, 2]]


def test_invalid_updates_are_refused():
    with pytest.raises(NotFittedError):
        SeededSingleLink().update(seeds=[0, 1])
    model = SeededSingleLink().fit(np.eye(4))
    with pytest.raises(ValueError, match="4 rows and 3 labels"):
        model.update(seeds=[0, 1, -1])
    with pytest.raises(ValueError, match="0 and 9"):
        model.update(constraints=Constraints(must_link=[(0, 9)]))


@pytest.mark.parametrize(
    ("distances", "word"),
    [
        (np.ones((3, 2)), "square"),
        (np.full((2, 2), np.nan), "NaN"),
        (-np.ones((2, 2)), "negative"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
    ],
)
def test_invalid_distances_are_refused(distances, word):
    with pytest.raises(ValueError, match=word):
        SeededSingleLink(metric="precomputed").fit(distances)


def test_verbose_shows_a_progress_bar(capsys):
    SeededSingleLink(algorithm="prim", verbose=1).fit(np.random.default_rng(0).normal(size=(20, 2)))
    assert "Spanning tree" in capsys.readouterr().out


def test_one_row_is_one_cluster():
    assert SeededSingleLink().fit([[1.0, 2.0]]).labels_.tolist() == [0]


@pytest.mark.parametrize("n_features", [2, 20])
def test_blocks_do_not_change_the_tree(n_features, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, n_features)).round(1)
    whole = _spanning_tree.spanning_tree(X, "euclidean", "auto", 0)
    monkeypatch.setattr(_spanning_tree, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(_spanning_tree, "DIFFERENCES_AT_ONCE", 5 * X.size)
    in_blocks = _spanning_tree.spanning_tree(X, "euclidean", "auto", 0)
    for one, other in zip(whole, in_blocks, strict=True):
        np.testing.assert_array_equal(one, other)


def test_distances_that_overflow_do_not_loop_for_ever():
    X = np.random.default_rng(0).normal(size=(60, 2)) * 1e200
    X[:30] = X[0]
    edges, lengths = _spanning_tree.spanning_tree(X, "euclidean", "kd_tree", 0)
    # The equal rows are joined, and nothing else can be.
    assert len(edges) == 29
    assert not lengths.any()
