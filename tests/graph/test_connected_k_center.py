"""ConnectedKCenter beside brute force, the bounds that are proved, and the counter-example to the factor 3."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graph.problems import check_clusters, distances_between, random_graph, random_points
from mustlink import ConnectedKCenter
from mustlink.errors import InfeasibleError, TooLargeError
from mustlink.graph._adjacency import check_graph
from mustlink.graph._centers import Spread, best_centers, farthest_first
from mustlink.graph._disjoint import separate
from mustlink.graph._distances import Distances
from mustlink.graph._growth import reach_of_all
from mustlink.graph._overlapping import least_covering_radius, packing_bound
from reference import connected as slow

SEEDS = st.integers(0, 2**32 - 1)
# For tests that take long with each example.
FEW = settings(max_examples=30)
# A radius is compared with this relative tolerance.
NEAR = 1 + 1e-9


def reach(X: Any, graph: Any) -> Any:
    return reach_of_all(check_graph(graph, len(X)), Distances(X, "euclidean"))


@given(SEEDS, st.integers(2, 7))
def test_the_reach_is_the_minimum_over_all_paths(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, graph = random_points(rng, n), random_graph(rng, n, n_parts=1 + (n > 4))
    distances = distances_between(X)
    found = reach(X, graph)
    expected = [[slow.reach_by_paths(graph, distances, u, v) for v in range(n)] for u in range(n)]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, slow.reach_by_balls(graph, distances))


@given(SEEDS, st.integers(2, 25))
def test_properties_of_the_reach(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, graph = random_points(rng, n), random_graph(rng, n)
    found, distances = reach(X, graph), distances_between(X)
    assert (found >= distances).all()
    assert (2 * found * NEAR >= found.T).all()
    np.testing.assert_array_equal(reach(X, 1 - np.eye(n)), distances)
    np.testing.assert_array_equal(reach_of_all(None, Distances(X, "euclidean")), distances)
    on_line = np.sort(X[:, :1], axis=0)
    path = np.eye(n, k=1) + np.eye(n, k=-1)
    np.testing.assert_array_equal(reach(on_line, path), np.abs(on_line - on_line.T))


@FEW
@given(SEEDS, st.integers(2, 7), st.integers(1, 4))
def test_the_exact_solver_finds_the_optimum_of_brute_force(seed: int, n: int, k: int) -> None:
    k = min(k, n)
    rng = np.random.default_rng(seed)
    X, graph = random_points(rng, n), random_graph(rng, n)
    distances = distances_between(X)
    expected = slow.disjoint_optimum(graph, distances, k)
    model = ConnectedKCenter(k, solver="exact", random_state=0).fit(X, graph=graph)
    assert model.radius_ == pytest.approx(expected, abs=1e-12)
    assert (model.lower_bound_, model.ratio_, model.is_exact_) == (model.radius_, 1.0, True)
    check_clusters(graph, model.labels_, model.centers_)
    assert len(model.centers_) == k
    overlapping, centers = least_covering_radius(reach(X, graph), k)
    assert overlapping == slow.overlapping_optimum(graph, distances, k)
    assert len(centers) <= k
    assert overlapping <= model.radius_ * NEAR


@FEW
@given(SEEDS, st.integers(2, 6), st.integers(1, 3))
def test_the_optimum_without_a_graph_is_that_of_all_edges(seed: int, n: int, k: int) -> None:
    k = min(k, n)
    X = random_points(np.random.default_rng(seed), n)
    model = ConnectedKCenter(k, solver="exact", random_state=0).fit(X)
    every = 1 - np.eye(n)
    assert model.radius_ == pytest.approx(slow.disjoint_optimum(every, distances_between(X), k), abs=1e-12)
    check_clusters(every, model.labels_, model.centers_)
    assert (len(model.centers_), model.ratio_) == (k, 1.0)
    approximate = ConnectedKCenter(k, solver="approx", random_state=0).fit(X)
    assert approximate.lower_bound_ <= model.radius_ * NEAR <= approximate.radius_ * NEAR**2
    assert approximate.radius_ <= 2 * model.radius_ * NEAR


@FEW
@given(SEEDS, st.integers(4, 7), st.integers(2, 3))
def test_the_optimum_in_a_graph_of_several_parts(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X, graph = random_points(rng, n), random_graph(rng, n, n_parts=2)
    model = ConnectedKCenter(k, solver="exact", random_state=0).fit(X, graph=graph)
    assert model.radius_ == pytest.approx(slow.disjoint_optimum(graph, distances_between(X), k), abs=1e-12)
    check_clusters(graph, model.labels_, model.centers_)
    approximate = ConnectedKCenter(k, solver="approx", random_state=0).fit(X, graph=graph)
    check_clusters(graph, approximate.labels_, approximate.centers_)
    assert approximate.lower_bound_ <= model.radius_ * NEAR <= approximate.radius_ * NEAR**2


@pytest.mark.parametrize("seed", range(20))
def test_approximations_of_hundreds_of_problems_never_exceed_the_proved_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(15):
        n, k = int(rng.integers(5, 13)), int(rng.integers(1, 5))
        X, graph = random_points(rng, n), random_graph(rng, n)
        optimum = ConnectedKCenter(k, solver="exact").fit(X, graph=graph).radius_
        model = ConnectedKCenter(k, solver="approx", random_state=seed).fit(X, graph=graph)
        check_clusters(graph, model.labels_, model.centers_)
        assert len(model.centers_) == k
        assert model.lower_bound_ <= optimum * NEAR
        assert optimum <= model.radius_ * NEAR
        assert model.radius_ <= 2 * (2 * k - 1) * optimum * NEAR
        assert model.radius_ <= model.ratio_ * optimum * NEAR or model.ratio_ == np.inf
        overlapping, _ = least_covering_radius(reach(X, graph), k)
        adjacency = check_graph(graph, n)
        spread = farthest_first(adjacency, Distances(X, "euclidean"), k, int(rng.integers(n)))
        assert overlapping <= spread.radius * NEAR <= 2 * overlapping * NEAR**2


@given(SEEDS, st.integers(3, 20), st.integers(1, 6))
def test_farthest_first_is_that_of_the_definition_and_of_gonzalez_without_a_graph(seed: int, n: int, k: int) -> None:
    k = min(k, n)
    rng = np.random.default_rng(seed)
    X, graph = rng.normal(size=(n, 2)), random_graph(rng, n)
    start = int(rng.integers(n))
    for given_graph, table in ((graph, reach(X, graph)), (None, distances_between(X))):
        adjacency = None if given_graph is None else check_graph(graph, n)
        spread = farthest_first(adjacency, Distances(X, "euclidean"), k, start)
        centers, radius = slow.farthest_first(table, k, start)
        assert spread.centers.tolist() == centers
        assert spread.radius == radius


def spread_of(X: Any, graph: Any, centers: list[int]) -> Spread:
    distances = distances_between(X)
    return Spread(np.array(centers), distances[centers], slow.reach_by_balls(graph, distances)[centers])


@pytest.mark.parametrize("k", range(2, 8))
def test_the_factor_of_the_source_is_refuted(k: int) -> None:
    X, graph, centers = slow.caterpillar(k)
    spread = spread_of(X, graph, centers)
    members = [set(np.flatnonzero(line <= 1.0).tolist()) for line in spread.reach]
    assert set().union(*members) == set(range(2 * k))
    adjacency = check_graph(graph, 2 * k)
    forward, backward = list(range(k)), list(range(k))[::-1]
    for order, expected in ((forward, 2 * k - 1), (backward, 1)):
        literal = slow.algorithm_2(graph, members, centers, order)
        assert spread.distances[literal, np.arange(2 * k)].max() == expected
        assert separate(adjacency, spread, np.array(order), 1.0)[1] == expected
    # Around the best center of the cluster it is still k, more than the factor 3 for k > 3.
    labels, _ = separate(adjacency, spread, np.array(forward), 1.0)
    assert best_centers(Distances(X, "euclidean"), labels, np.array(centers))[1].max() == k


def test_the_counter_example_is_solved_in_a_better_order() -> None:
    X, graph, _ = slow.caterpillar(5)
    assert ConnectedKCenter(5, solver="approx", n_init=10, random_state=0).fit(X, graph=graph).radius_ <= 2


@FEW
@given(SEEDS, st.integers(3, 10), st.integers(2, 4))
def test_disjoint_clusters_keep_the_proved_bound_in_every_order(seed: int, n: int, k: int) -> None:
    k = min(k, n)
    rng = np.random.default_rng(seed)
    X, graph = random_points(rng, n), random_graph(rng, n)
    radius, found = least_covering_radius(reach(X, graph), k)
    spread = spread_of(X, graph, found.tolist())
    members = [set(np.flatnonzero(line <= radius).tolist()) for line in spread.reach]
    adjacency = check_graph(graph, n)
    for order in slow.all_orders(len(found)):
        labels, largest = separate(adjacency, spread, np.array(order), radius)
        literal = np.array(slow.algorithm_2(graph, members, found.tolist(), order))
        for chosen in (labels, literal):
            assert (chosen >= 0).all()
            check_clusters(graph, np.unique(chosen, return_inverse=True)[1])
        assert largest == spread.distances[labels, np.arange(n)].max()
        bound = (2 * len(found) - 1) * radius * NEAR
        assert max(largest, spread.distances[literal, np.arange(n)].max()) <= bound


def random_formula(rng: np.random.Generator, n_variables: int, n_clauses: int) -> list[list[int]]:
    return [
        [int(v) * int(rng.choice([-1, 1])) for v in rng.choice(n_variables, 3, replace=False) + 1]
        for _ in range(n_clauses)
    ]


UNSATISFIABLE = [[a * 1, b * 2, c * 3] for a in (1, -1) for b in (1, -1) for c in (1, -1)]


@pytest.mark.parametrize("seed", range(14))
def test_two_clusters_decide_formulas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    formula = UNSATISFIABLE if seed < 2 else random_formula(rng, 3, 4 + seed % 4)
    if seed == 1:
        formula = [*formula, [1, 2, 3]]
    X, graph = slow.gadget(formula, 3)
    model = ConnectedKCenter(2, solver="exact", random_state=0).fit(X, graph=graph)
    assert (model.radius_ <= 1.0) == slow.is_satisfiable(formula, 3)
    assert (seed < 2) == (model.radius_ > 1.0)
    check_clusters(graph, model.labels_, model.centers_)


@given(SEEDS, st.integers(2, 12), st.integers(1, 4))
def test_the_packing_bound_is_a_bound_without_the_triangle_inequality(seed: int, n: int, k: int) -> None:
    k = min(k, n)
    rng = np.random.default_rng(seed)
    half = np.triu(rng.exponential(size=(n, n)), 1)
    graph = random_graph(rng, n)
    table = slow.reach_by_balls(graph, half + half.T)
    bound = packing_bound(table, k, rng.permutation(n)[:k])
    assert bound <= slow.overlapping_optimum(graph, half + half.T, k)


@pytest.mark.parametrize("solver", ["exact", "approx"])
def test_one_cluster_and_as_many_as_rows(solver: Any) -> None:
    rng = np.random.default_rng(0)
    X, graph = rng.normal(size=(9, 2)), random_graph(rng, 9)
    one = ConnectedKCenter(1, solver=solver).fit(X, graph=graph)
    assert one.radius_ == distances_between(X).max(axis=1).min()
    every = ConnectedKCenter(9, solver=solver).fit(X, graph=graph)
    assert (every.radius_, every.ratio_) == (0.0, 1.0)
    assert sorted(every.labels_) == list(range(9))


def test_equal_rows_still_give_as_many_clusters() -> None:
    X, graph = np.zeros((12, 2)), random_graph(np.random.default_rng(3), 12)
    for solver in ("exact", "approx"):
        model = ConnectedKCenter(4, solver=solver, random_state=0).fit(X, graph=graph)
        check_clusters(graph, model.labels_, model.centers_)
        assert (len(np.unique(model.labels_)), model.radius_) == (4, 0.0)


@given(SEEDS, st.integers(2, 60))
def test_the_best_center_is_that_of_all_rows(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, labels = random_points(rng, n), rng.integers(2, size=n)
    labels[:2] = 0, 1
    centers, radii = best_centers(Distances(X, "euclidean"), labels, np.array([0, 1]))
    for c in range(2):
        rows = np.flatnonzero(labels == c)
        assert radii[c] == distances_between(X[rows]).max(axis=1).min()
        assert distances_between(X)[centers[c], rows].max() == radii[c]
        assert labels[centers[c]] == c


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_metrics_and_containers_agree(metric: Any) -> None:
    rng = np.random.default_rng(1)
    X, graph = np.abs(rng.normal(size=(60, 5))), random_graph(rng, 60)
    X[7] = 0.0
    model = ConnectedKCenter(4, metric=metric, random_state=0).fit(X, graph=graph)
    other = ConnectedKCenter(4, metric=metric, random_state=0).fit(sparse.csr_array(X), graph=sparse.coo_array(graph))
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert model.radius_ == pytest.approx(other.radius_)
    if metric == "cosine":
        norm = np.linalg.norm(X, axis=1)
        table = 1 - X @ X.T / np.outer(np.where(norm > 0, norm, 1), np.where(norm > 0, norm, 1))
        np.fill_diagonal(table, 0.0)
    else:
        table = distances_between(X)
    table = np.maximum((table + table.T) / 2, 0.0)
    given_distances = ConnectedKCenter(4, metric="precomputed", random_state=0).fit(table, graph=graph)
    assert given_distances.radius_ == pytest.approx(model.radius_)
    assert given_distances.lower_bound_ == pytest.approx(model.lower_bound_)
    assert model.radii_ == pytest.approx(
        [table[center, model.labels_ == label].max() for label, center in enumerate(model.centers_)]
    )


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_bound_of_the_traversal_holds_where_there_are_too_many_rows_for_another(
    metric: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mustlink.graph._connected_k_center.MAX_BOUND_ROWS", 0)
    rng = np.random.default_rng(0)
    for _ in range(40):
        X, graph = rng.normal(size=(9, 2)), random_graph(rng, 9)
        optimum = ConnectedKCenter(3, metric=metric, solver="exact").fit(X, graph=graph).radius_
        model = ConnectedKCenter(3, metric=metric, solver="approx", random_state=0).fit(X, graph=graph)
        assert 0 < model.lower_bound_ <= optimum * NEAR


def test_the_search_tree_of_auto_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    X, graph = slow.gadget(UNSATISFIABLE, 3)
    monkeypatch.setattr("mustlink.graph._connected_k_center.AUTO_ROWS", 50)
    monkeypatch.setattr("mustlink.graph._connected_k_center.AUTO_NODES", 0)
    model = ConnectedKCenter(2, random_state=0).fit(X, graph=graph)
    check_clusters(graph, model.labels_, model.centers_)
    assert model.lower_bound_ <= 2.0 <= model.radius_


def test_few_clusters_for_the_parts_are_refused_with_the_numbers() -> None:
    graph = sparse.block_array([[np.ones((3, 3)), None, None], [None, np.ones((2, 2)), None], [None, None, [[0]]]])
    message = r"The graph has 3 connected parts \(1 of them is a row without an edge\), .*but 2 clusters were asked for"
    with pytest.raises(InfeasibleError, match=message) as caught:
        ConnectedKCenter(2).fit(np.arange(6.0)[:, None], graph=graph)
    assert "use n_clusters=3 or more" in str(caught.value)


def test_the_exact_solver_refuses_many_rows_with_the_limit() -> None:
    message = 'The exact solver takes at most 200 rows, and X has 300; use solver="approx".'
    with pytest.raises(TooLargeError, match=re.escape(message)):
        ConnectedKCenter(2, solver="exact").fit(np.arange(300.0)[:, None])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((3, 2)), "needs the distances between all rows"),
        ([[0, -1.0], [-1.0, 0]], "-1 from row 0 to row 1 is negative"),
        ([[0, 1.0], [2.0, 0]], "1 from row 0 to row 1 differs from the one back"),
        ([[0, 1.0], [1.0, 3.0]], "3 from row 1 to row 1 is not zero"),
    ],
)
def test_bad_distances_are_refused(table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConnectedKCenter(1, metric="precomputed").fit(table)
