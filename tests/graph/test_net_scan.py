"""NetScan and ConnectedKMeans: growth beside slow versions, connectedness, outliers, several parts, difficult rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.metrics.pairwise import cosine_distances

from graph.problems import check_clusters, distances_between, random_graph, random_points
from mustlink import ConnectedKCenter, ConnectedKMeans, NetScan
from mustlink.errors import InfeasibleError
from mustlink.graph._adjacency import check_graph
from mustlink.graph._growth import N_ORDERS, grow_in_rounds, grow_smoothly
from mustlink.graph._outliers import find_outliers
from reference import connected as slow

SEEDS = st.integers(0, 2**32 - 1)
STEPS = ("continuous", "published")
BOTH = (NetScan, ConnectedKMeans)


@given(SEEDS, st.integers(2, 20), st.integers(1, 5))
def test_continuous_growth_is_that_of_one_queue(seed: int, n: int, k: int) -> None:
    k = min(k, n)
    rng = np.random.default_rng(seed)
    X, graph = random_points(rng, n), random_graph(rng, n)
    seeds = rng.choice(n, k, replace=False)
    # Around means, a seed is not at distance zero.
    lines = distances_between(X)[seeds] if rng.random() < 0.5 else rng.integers(1, 6, size=(k, n)).astype(float)
    labels, keys = grow_smoothly(check_graph(graph, n), lines, seeds)
    expected = slow.grow_with_heap(graph, lines, seeds.tolist())
    assert (labels.tolist(), keys.tolist()) == expected
    check_clusters(graph, labels, seeds)


@given(SEEDS, st.integers(2, 16), st.integers(1, 4), st.sampled_from([0.125, 0.5, 2.0]))
def test_growth_by_rounds_is_that_of_the_algorithm(seed: int, n: int, k: int, step: float) -> None:
    k = min(k, n)
    rng = np.random.default_rng(seed)
    # Few more edges: many rows with one neighbor, by which bridges are decided.
    X, graph = random_points(rng, n), random_graph(rng, n, n_more=int(rng.integers(3)))
    seeds = rng.choice(n, k, replace=False)
    # Multiples of an eighth, so that sums of steps are exact.
    lines = np.round(distances_between(X)[seeds] * 8) / 8
    first = 0.25
    labels, thresholds = grow_in_rounds(check_graph(graph, n), lines, seeds, first, step, np.random.RandomState(3))
    same = np.random.RandomState(3)
    orders = [same.permutation(k) for _ in range(N_ORDERS)]
    expected = slow.grow_by_rounds(graph, lines, seeds.tolist(), first, step, orders)
    assert labels.tolist() == expected[0]
    np.testing.assert_allclose(thresholds, expected[1])
    check_clusters(graph, labels, seeds)


def test_the_look_ahead_follows_a_neighbor_without_another_edge() -> None:
    # Row 2 is nearer to the center 0, but 4 can be reached through it alone and is nearer to the center 1.
    X = np.array([[0.0], [10.0], [4.5], [5.0], [7.0]])
    graph = np.zeros((5, 5))
    for a, b in [(0, 2), (2, 1), (2, 4), (0, 3)]:
        graph[a, b] = graph[b, a] = 1
    lines = distances_between(X)[:2]
    labels, _ = grow_in_rounds(check_graph(graph, 5), lines, np.array([0, 1]), 6.0, 1.0, np.random.RandomState(0))
    assert labels.tolist() == [0, 1, 1, 0, 1]
    # If that neighbor has another edge, row 2 goes to the nearest center, whichever cluster has the first turn.
    graph[3, 4] = graph[4, 3] = 1
    for seed in range(4):
        labels, _ = grow_in_rounds(
            check_graph(graph, 5), lines, np.array([0, 1]), 6.0, 1.0, np.random.RandomState(seed)
        )
        assert labels[2] == 0


GRAPHS: dict[str, Any] = {
    "star": lambda n: sparse.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n)),
    "path": lambda n: sparse.diags_array(np.ones(n - 1), offsets=1),
    "grid": lambda n: sparse.triu(grid_to_graph(6, n // 6), 1),
}


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("clusterer", BOTH)
@pytest.mark.parametrize("rows", ["random", "equal", "two values"])
def test_runs_end_with_connected_clusters(clusterer: Any, step: str, kind: str, rows: str) -> None:
    n = 36
    half = GRAPHS[kind](n)
    graph = (half + half.T).toarray()
    rng = np.random.default_rng(0)
    X = {"random": rng.normal(size=(n, 2)), "equal": np.ones((n, 2)), "two values": rng.integers(2, size=(n, 1))}[rows]
    model = clusterer(5, step=step, random_state=0).fit(X, graph=graph)
    assert len(np.unique(model.labels_)) == 5
    check_clusters(graph, model.labels_)
    assert model.n_iter_ == len(model.objective_) <= 100


@settings(max_examples=20)
@given(SEEDS, st.integers(6, 40), st.sampled_from(STEPS), st.sampled_from(["euclidean", "cosine"]))
def test_results_are_what_they_say(seed: int, n: int, step: Any, metric: Any) -> None:
    rng = np.random.default_rng(seed)
    X, graph = np.abs(random_points(rng, n)) + 0.01, random_graph(rng, n, n_parts=2)
    table = distances_between(X) if metric == "euclidean" else cosine_distances(X)
    scan = NetScan(3, step=step, metric=metric, random_state=seed).fit(X, graph=graph)
    check_clusters(graph, scan.labels_, scan.centers_)
    radii = [table[center, scan.labels_ == label].max() for label, center in enumerate(scan.centers_)]
    np.testing.assert_allclose(scan.radii_, radii, atol=1e-12)
    assert scan.radius_ == scan.radii_.max() <= min(scan.objective_) + 1e-12
    exact = slow.radius_of(table, scan.labels_)
    assert scan.radius_ == pytest.approx(exact, abs=1e-9)
    means = ConnectedKMeans(3, step=step, metric=metric, random_state=seed).fit(X, graph=graph)
    check_clusters(graph, means.labels_)
    assert means.inertia_ == min(means.objective_)
    rows = X if metric == "euclidean" else X / np.linalg.norm(X, axis=1, keepdims=True)
    centers = np.array([rows[means.labels_ == label].mean(axis=0) for label in range(3)])
    if metric == "cosine":
        centers /= np.linalg.norm(centers, axis=1, keepdims=True)
        inertia = (1 - (rows * centers[means.labels_]).sum(axis=1)).sum()
    else:
        inertia = np.square(rows - centers[means.labels_]).sum()
    np.testing.assert_allclose(means.cluster_centers_, centers)
    assert means.inertia_ == pytest.approx(inertia, abs=1e-9)


@settings(max_examples=20)
@given(SEEDS)
def test_the_lower_bound_of_the_exact_problem_holds_for_the_heuristic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, graph = rng.normal(size=(40, 2)), random_graph(rng, 40)
    bound = ConnectedKCenter(4, random_state=0).fit(X, graph=graph).lower_bound_
    for step in STEPS:
        assert NetScan(4, step=step, random_state=0).fit(X, graph=graph).radius_ >= bound - 1e-12


@pytest.mark.parametrize("step", STEPS)
def test_outliers_are_left_out_and_the_rest_stays_connected(step: Any) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), [[40.0, 0], [0, 60.0]]])
    graph = random_graph(rng, 62)
    model = NetScan(3, step=step, outlier_jump=1.5, init=[0, 1, 2], random_state=0).fit(X, graph=graph)
    assert {60, 61} <= set(model.outliers_)
    assert np.array_equal(np.flatnonzero(model.labels_ == -1), model.outliers_)
    assert model.assign_threshold_[model.outliers_].min() > model.assign_threshold_[model.labels_ >= 0].max()
    check_clusters(graph, model.labels_, model.centers_)
    assert model.radius_ < 20
    without = NetScan(3, step=step, init=[0, 1, 2], random_state=0).fit(X, graph=graph)
    assert not len(without.outliers_)
    assert without.radius_ > 20


def test_outliers_begin_at_the_largest_jump_of_the_last_rows() -> None:
    thresholds = np.concatenate([[0.0, 5.0], np.linspace(6, 7, 94), [8.0, 16.0, 17.0, 40.0]])
    assert find_outliers(thresholds, 1.5).tolist() == [99]
    assert find_outliers(thresholds[:-1], 1.5).tolist() == [97, 98]
    assert find_outliers(thresholds, 3.0).tolist() == []
    assert find_outliers(thresholds, None).tolist() == []
    assert find_outliers(np.zeros(3), 2.0).tolist() == []
    # Of so few rows none is among the last 5 %.
    assert find_outliers(np.array([0.0, 0.0, 1.0]), 2.0).tolist() == []
    assert find_outliers(np.array([0.0] * 20 + [1.0]), 2.0).tolist() == [20]


@pytest.mark.parametrize("clusterer", BOTH)
def test_clusters_are_distributed_over_connected_parts(clusterer: Any) -> None:
    # A part that is 100 times as wide gets all further clusters.
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(0, 100, 20)])[:, None]
    path = sparse.diags_array([np.ones(19), np.ones(19)], offsets=[1, -1])
    graph = sparse.block_diag([path, path])
    model = clusterer(5, random_state=0).fit(X, graph=graph)
    assert (len(np.unique(model.labels_[:20])), len(np.unique(model.labels_[20:]))) == (1, 4)
    check_clusters(graph.toarray(), model.labels_)
    with pytest.raises(InfeasibleError, match=r"2 connected parts, .* but 1 cluster was asked for; use n_clusters=2"):
        clusterer(1).fit(X, graph=graph)


def test_rows_without_an_edge_are_clusters_of_their_own() -> None:
    X = np.arange(6.0)[:, None]
    model = NetScan(4, random_state=0).fit(
        X, graph=sparse.csr_array(np.diag([1, 0, 1, 0, 0], 1) + np.diag([1, 0, 1, 0, 0], -1))
    )
    assert len(np.unique(model.labels_)) == 4
    assert model.labels_[0] == model.labels_[1]


@pytest.mark.parametrize("clusterer", BOTH)
def test_containers_precisions_and_seeds(clusterer: Any) -> None:
    rng = np.random.default_rng(0)
    X, graph = rng.normal(size=(80, 3)), random_graph(rng, 80)
    model = clusterer(4, random_state=0)
    expected = model.fit(X, graph=graph).labels_
    for given_graph in (sparse.csr_array(graph), sparse.coo_matrix(graph), sparse.lil_array(graph), graph.tolist(),
                        graph.astype(bool), 0.5 * graph + np.eye(80)):  # fmt: skip
        np.testing.assert_array_equal(clone(model).fit(X, graph=given_graph).labels_, expected)
    np.testing.assert_array_equal(clone(model).fit(sparse.csr_array(X), graph=graph).labels_, expected)
    narrow = clone(model).fit(X.astype(np.float32), graph=graph)
    check_clusters(graph, narrow.labels_)
    if clusterer is ConnectedKMeans:
        assert narrow.cluster_centers_.dtype == np.float32


@pytest.mark.parametrize(("clusterer", "name"), [(ConnectedKMeans, "inertia_"), (NetScan, "radius_")])
def test_automatic_starts_are_ten_for_few_rows_and_three_for_many(clusterer: Any, name: str, monkeypatch: Any) -> None:
    # Five stripes on a map.
    rng = np.random.default_rng(1)
    X = (np.repeat(np.arange(5.0), 4) + rng.normal(scale=0.3, size=(20, 20))).reshape(-1, 1)

    def fit(**options: Any) -> float:
        model = clusterer(5, random_state=0, **options).fit(X, graph=grid_to_graph(20, 20))
        return float(getattr(model, name))

    # Three starts can all be poor ones.
    assert fit() == fit(n_init=10) < 0.8 * fit(n_init=3)
    monkeypatch.setattr("mustlink.graph._scan.MAX_SMALL_ROWS", 399)
    assert fit() == fit(n_init=3)


def test_without_a_graph_connected_k_means_is_lloyd_from_the_same_rows() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = ConnectedKMeans(4, init=[0, 1, 2, 3]).fit(X)
    lloyd = KMeans(4, init=X[:4], n_init=1, tol=0.0, max_iter=300).fit(X)
    assert model.inertia_ == pytest.approx(lloyd.inertia_, rel=0.05)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ([0, 1], r"row numbers of 3 first centers, got an array of the shape \(2,\)"),
        ([0.0, 1.0, 2.0], "type float64"),
        ([0, 1, 1], r"different row numbers from 0 to 8, got \[0, 1, 1\]"),
        ([0, 1, 9], "from 0 to 8"),
        ([0, 1, 2], "no row of the connected part of row 5"),
    ],
)
def test_bad_starts_are_refused(init: Any, message: str) -> None:
    graph = sparse.block_diag([np.ones((5, 5)), np.ones((4, 4))])
    with pytest.raises(ValueError, match=message):
        NetScan(3, init=init).fit(np.arange(9.0)[:, None], graph=graph)


def test_a_number_is_a_step_of_so_many_average_distances() -> None:
    rng = np.random.default_rng(0)
    X, graph = rng.normal(size=(60, 2)), random_graph(rng, 60)
    published, one, small = (
        NetScan(3, step=step, init=[0, 1, 2], max_iter=1, random_state=0).fit(X, graph=graph)
        for step in ("published", 1.0, 0.01)
    )
    np.testing.assert_array_equal(published.labels_, one.labels_)
    smooth = NetScan(3, init=[0, 1, 2], max_iter=1).fit(X, graph=graph)
    assert len(np.unique(small.assign_threshold_)) > len(np.unique(one.assign_threshold_))
    assert (small.labels_ == smooth.labels_).mean() > (one.labels_ == smooth.labels_).mean()
