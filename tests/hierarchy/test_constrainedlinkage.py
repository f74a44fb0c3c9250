from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering
from sklearn.exceptions import ConvergenceWarning

from mustlink import Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning, TooLargeError
from mustlink.estimator_checks._expect import same_partition
from mustlink.hierarchy import ConstrainedLinkage
from reference.linkage import allowed_pairs, between, klein_distances, replay, within_reach

LINKAGES = ["single", "complete", "average", "ward"]


def random_case(seed, *, ties, n_must=2, n_cannot=6):
    """Return a small X and links without contradictions."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(3, 13))
    X = rng.integers(4, size=(n_rows, 2)).astype(float) if ties else rng.normal(size=(n_rows, 2))
    pairs = rng.permutation(list(combinations(range(n_rows), 2)))
    must = Constraints(pairs[: rng.integers(n_must + 1)])
    component = must.components(n_rows)
    cannot = [pair for pair in pairs[: rng.integers(n_cannot + 1)] if component[pair[0]] != component[pair[1]]]
    return X, Constraints(must.must_link, cannot)


def assert_greedy(model, distances, links, may_merge=lambda clusters: True, n_clusters=0):
    """Check every merge against all possible ones."""
    n_rows = len(distances)
    n_given = n_rows - links.closure(n_rows).n_components
    steps = list(replay(model.linkage_, n_rows))
    for number, (clusters, one, other, height) in enumerate(steps):
        if number < n_given:
            assert height == 0.0
            assert len({links.components(n_rows)[row] for row in one | other}) == 1
            continue
        could = [
            pair
            for pair in allowed_pairs(clusters, links)
            if len(clusters) <= n_clusters or may_merge([*(set(clusters) - set(pair)), pair[0] | pair[1]])
        ]
        if number >= len(steps) - model.n_forced_:
            assert not could
            continue
        nearest = min(between(a, b, distances, model.linkage) for a, b in could)
        assert {one, other} in [{a, b} for a, b in could]
        assert height == pytest.approx(between(one, other, distances, model.linkage), abs=1e-7)
        assert height == pytest.approx(nearest, abs=1e-7)


@pytest.mark.parametrize("ties", [False, True])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(LINKAGES))
def test_every_merge_is_the_closest_allowed_one(ties, seed, method):
    X, links = random_case(seed, ties=ties)
    model = ConstrainedLinkage(None, distance_threshold=np.inf, linkage=method).fit(X, constraints=links)
    assert is_valid_linkage(model.linkage_)
    assert_greedy(model, squareform(pdist(X)), links)
    assert np.diff(model.linkage_[:, 2]).min(initial=0.0) >= -1e-9
    assert model.n_clusters_ == model.n_forced_ + 1
    assert links.satisfied(model.labels_).all()


@pytest.mark.parametrize("n_clusters", [2, 3, 4])
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(LINKAGES))
def test_look_ahead_skips_only_merges_that_make_n_clusters_unreachable(n_clusters, seed, method):
    X, links = random_case(seed, ties=False, n_cannot=12)
    model = ConstrainedLinkage(n_clusters, linkage=method)
    if len(X) < n_clusters:
        return
    if not links.feasible(n_clusters, len(X)):
        with pytest.raises(InfeasibleError):
            model.fit(X, constraints=links)
        return
    model.fit(X, constraints=links)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == n_clusters
    assert links.satisfied(model.labels_).all()
    clear = {"may_merge": within_reach(links, len(X), n_clusters), "n_clusters": n_clusters}
    # Above the cut, skipped pairs remain skipped, unlike in the reference.
    distances = squareform(pdist(X))
    model.linkage_ = model.linkage_[: len(X) - n_clusters]
    model.n_forced_ = 0
    assert_greedy(model, distances, links, **clear)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("n_rows", [2, 3, 40, 300])
def test_without_links_linkage_is_that_of_scipy(method, n_rows):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 3))
    model = ConstrainedLinkage(2, linkage=method).fit(X)
    expected = linkage(X, method)
    assert np.allclose(model.linkage_[:, 2:], expected[:, 2:])
    assert np.array_equal(model.linkage_[:, :2], expected[:, :2])
    assert same_partition(model.labels_, AgglomerativeClustering(2, linkage=method).fit(X).labels_)
    assert model.n_forced_ == 0


@pytest.mark.parametrize("method", LINKAGES)
def test_threshold_is_that_of_scikit_learn(method):
    X = np.random.default_rng(0).normal(size=(60, 2))
    for threshold in (0.0, 0.4, 1.5, 100.0):
        found = ConstrainedLinkage(None, distance_threshold=threshold, linkage=method).fit(X)
        expected = AgglomerativeClustering(None, distance_threshold=threshold, linkage=method).fit(X)
        assert found.n_clusters_ == expected.n_clusters_
        assert same_partition(found.labels_, expected.labels_)


def test_linkage_matrix_can_be_drawn_and_cut_by_scipy():
    X = np.random.default_rng(1).normal(size=(30, 2))
    links = Constraints([(0, 1), (2, 3)], [(0, 5), (5, 9), (0, 9)])
    model = ConstrainedLinkage(4).fit(X, constraints=links)
    assert model.n_forced_ == 2
    assert is_valid_linkage(model.linkage_)
    assert np.isfinite(model.linkage_).all()
    assert len(dendrogram(model.linkage_, no_plot=True)["leaves"]) == 30
    real = model.linkage_[:-2, 2]
    assert same_partition(fcluster(model.linkage_, real[25], "distance"), model.labels_)
    assert model.linkage_[-2, 2] == pytest.approx(2 * real.max())


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(["single", "complete", "average"]))
def test_klein_is_the_linkage_of_shortest_paths(seed, method):
    X, links = random_case(seed, ties=False, n_must=4)
    paths = klein_distances(squareform(pdist(X)), links.must_link)
    found = ConstrainedLinkage(None, distance_threshold=np.inf, linkage=method, propagation="klein")
    plain = ConstrainedLinkage(None, distance_threshold=np.inf, linkage=method, metric="precomputed")
    found.fit(X, constraints=links)
    plain.fit(paths, constraints=links)
    assert np.allclose(found.linkage_, plain.linkage_)


def test_klein_brings_neighbors_closer():
    X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    links = Constraints(must_link=[(0, 4)])
    model = ConstrainedLinkage(2, linkage="complete", propagation="klein").fit(X, constraints=links)
    assert model.labels_.tolist() == [0, 0, 1, 0, 0]
    # By the original distances no row is within 2 of both ends.
    assert model.linkage_[2, 2] == 2.0


def test_a_dead_end_raises_with_the_number_of_clusters_reached():
    # The two closest pairs are joined first.
    X = np.array([[0.0], [1.0], [2.1], [3.1]])
    links = Constraints(cannot_link=[(0, 2), (1, 3), (0, 3)])
    greedy = ConstrainedLinkage(2, linkage="single", look_ahead=False)
    assert greedy.fit(X, constraints=links).labels_.tolist() == [0, 0, 1, 1]
    links = Constraints(cannot_link=[(0, 2), (0, 3), (1, 2)])
    X = np.array([[0.0], [5.0], [9.0], [6.0]])
    with pytest.raises(InfeasibleError, match="ended with 3 clusters"):
        greedy.fit(X, constraints=links)
    assert ConstrainedLinkage(2, linkage="single").fit(X, constraints=links).labels_.tolist() == [0, 0, 1, 1]


def test_a_dead_end_can_be_relaxed():
    X = np.array([[0.0], [5.0], [9.0], [6.0]])
    links = Constraints(cannot_link=[(0, 2), (0, 3), (1, 2)], cannot_link_weight=[3.0, 2.0, 4.0])
    model = ConstrainedLinkage(2, linkage="single", look_ahead=False, on_infeasible="relax")
    with pytest.warns(InfeasibleWarning, match="violates 1 of 3 links"):
        model.fit(X, constraints=links)
    assert model.violations_.cannot_link.tolist() == [[0, 3]]


def test_relaxing_violates_links_of_little_weight():
    X = np.random.default_rng(0).normal(size=(20, 2))
    triangle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)], cannot_link_weight=[5.0, 1.0, 5.0])
    with pytest.raises(InfeasibleError, match="odd number"):
        ConstrainedLinkage(2).fit(X, constraints=triangle)
    model = ConstrainedLinkage(2, on_infeasible="relax")
    with pytest.warns(InfeasibleWarning):
        model.fit(X, constraints=triangle)
    assert model.n_clusters_ == 2
    assert model.violations_ == Constraints(cannot_link=[(1, 2)])


def test_contradictions_raise_or_warn():
    X = np.random.default_rng(0).normal(size=(9, 2))
    links = Constraints([(0, 1), (1, 2)], [(0, 2), (3, 4), (4, 5), (3, 5)])
    with pytest.raises(InfeasibleError, match="0 - 1 - 2"):
        ConstrainedLinkage(3).fit(X, constraints=links)
    with pytest.warns(InfeasibleWarning, match="1 of 6 links"):
        model = ConstrainedLinkage(3, on_infeasible="relax").fit(X, constraints=links)
    assert model.n_clusters_ == 3
    assert model.violations_ == Constraints(cannot_link=[(0, 2)])


def test_must_links_may_leave_too_few_components():
    X = np.arange(4.0)[:, None]
    links = Constraints(must_link=[(0, 1), (1, 2)])
    with pytest.raises(InfeasibleError, match="2 components"):
        ConstrainedLinkage(3).fit(X, constraints=links)
    with pytest.warns(ConvergenceWarning, match="3 clusters were asked for, and 2 were found"):
        model = ConstrainedLinkage(3, on_infeasible="relax").fit(X, constraints=links)
    assert model.labels_.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("method", LINKAGES)
def test_distances_can_be_precomputed(method):
    X, links = random_case(11, ties=False)
    expected = ConstrainedLinkage(2, linkage=method).fit(X, constraints=links)
    distances = squareform(pdist(X))
    before = distances.copy()
    found = ConstrainedLinkage(2, linkage=method, metric="precomputed").fit(distances, constraints=links)
    assert np.allclose(found.linkage_, expected.linkage_)
    assert np.array_equal(distances, before)
    named = ConstrainedLinkage(2, linkage=method, metric="l2").fit(X, constraints=links)
    assert np.allclose(named.linkage_, expected.linkage_)


@pytest.mark.parametrize("distances", [np.ones((3, 2)), np.arange(9.0).reshape(3, 3), -np.ones((3, 3))])
def test_invalid_distances_are_refused(distances):
    with pytest.raises(ValueError, match="precomputed"):
        ConstrainedLinkage(2, metric="precomputed").fit(distances)


def test_too_many_rows_are_refused():
    with pytest.raises(TooLargeError, match=r"40,000 x 19,999 numbers \(6\.4 GB\)"):
        ConstrainedLinkage(2).fit(np.zeros((40_000, 1)))


@pytest.mark.parametrize("parameters", [{"n_clusters": None}, {"n_clusters": 2, "distance_threshold": 1.0}])
def test_exactly_one_of_n_clusters_and_distance_threshold_is_required(parameters):
    with pytest.raises(ValueError, match="Exactly one"):
        ConstrainedLinkage(**parameters).fit(np.eye(4))


@pytest.mark.parametrize("method", LINKAGES)
def test_identical_rows(method):
    links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2), (3, 4)])
    model = ConstrainedLinkage(3, linkage=method).fit(np.ones((8, 2)), constraints=links)
    assert model.n_clusters_ == 3
    assert model.violations_.is_empty
    assert is_valid_linkage(model.linkage_)


@pytest.mark.parametrize("method", LINKAGES)
def test_many_links_on_hundreds_of_rows(method):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 4)), rng.integers(5, size=400)
    links = Constraints.sample(y, n_pairs=600, random_state=0)
    model = ConstrainedLinkage(5, linkage=method).fit(X, constraints=links)
    assert model.n_clusters_ == 5
    assert model.violations_.is_empty
    assert np.diff(model.linkage_[:, 2]).min() >= -1e-9
