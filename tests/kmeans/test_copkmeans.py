"""COPKMeans: never a broken link, the optimum where it can be had, and a reason where it cannot."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from mustlink import Constraints, COPKMeans
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.kmeans._copkmeans import Components
from mustlink.kmeans._copkmeans_kernels import place_by_saturation, place_forest, settle, smallest_last
from mustlink.kmeans._rules import LinkedRows
from reference.copkmeans import cheapest_placement, optimum, published_assignment, valid_labelings
from reference.lloyd import means
from reference.random_links import Case, Pairs, cases

ORDERS = ["saturation", "degeneracy", "given", "random"]
# Three colors are enough, but greedy coloring by degeneracy takes four.
HARD_FOR_GREED = [
    *[(0, 2), (0, 4), (3, 4), (2, 5), (4, 5), (0, 7)],
    *[(1, 7), (4, 7), (1, 8), (2, 8), (5, 8), (7, 8)],
]


def rows(n: int, seed: int, d: int = 2) -> np.ndarray:
    return np.random.RandomState(seed).normal(size=(n, d))


def complete(nodes: list[int]) -> Pairs:
    return list(combinations(nodes, 2))


def components(n: int, edges: Pairs, k: int, order: str = "saturation") -> Components:
    linked = LinkedRows(Constraints(cannot_link=edges), n)
    return Components(linked, k, order=order, relax=False, rng=np.random.RandomState(0))


def graph_of(n: int, edges: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    neighbors = [sorted({j for i, j in edges if i == node} | {i for i, j in edges if j == node}) for node in range(n)]
    indptr = np.cumsum([0, *[len(others) for others in neighbors]])
    indices = np.array([other for others in neighbors for other in others], dtype=np.int64)
    return indptr, indices, np.ones(len(indices), dtype=np.int64)


# ---- never a broken link, and no failure where there is a solution


@given(
    case=cases(max_samples=9, min_samples=3), k=st.integers(1, 3), order=st.sampled_from(ORDERS), seed=st.integers(0, 9)
)
@settings(deadline=None, max_examples=150)
def test_a_result_keeps_all_links_and_there_is_one_whenever_it_exists(
    case: Case, k: int, order: str, seed: int
) -> None:
    links = Constraints(case.must_link, case.cannot_link)
    X = rows(case.n_samples, seed)
    model = COPKMeans(k, order=order, random_state=seed)
    best = optimum(X, k, case.must_link, case.cannot_link)
    if best is None:
        with pytest.raises(InfeasibleError):
            model.fit(X, constraints=links)
        return
    model.fit(X, constraints=links)
    assert links.satisfied(model.labels_).all()
    assert model.violations_.is_empty
    assert model.inertia_ >= best[0] - 1e-9
    assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[0] + 1e-12)


@given(case=cases(max_samples=8, min_samples=4), seed=st.integers(0, 9))
@settings(deadline=None, max_examples=40)
def test_from_the_means_of_the_optimum_it_stays_there(case: Case, seed: int) -> None:
    # Forests of cannot-links are placed exactly, nothing can be better than the labels of the optimum.
    must, cannot = case.must_link, case.cannot_link[:3]
    links = Constraints(must, cannot)
    closure = links.closure(case.n_samples)
    assume(not closure.self_loops.size and len(closure.cannot_link) < 3)
    X = rows(case.n_samples, seed)
    best = optimum(X, 3, must, cannot)
    assume(best is not None)
    assert best is not None
    centers = means(X, best[1], np.ones(len(X)), np.zeros((3, 2)))
    model = COPKMeans(3, init=centers, tol=0).fit(X, constraints=links)
    assert model.inertia_ == pytest.approx(best[0])


def test_many_restarts_find_the_optimum_of_tiny_problems() -> None:
    n_reached = 0
    for seed in range(20):
        X = rows(8, seed)
        must, cannot = [(0, 1)], [(1, 2), (2, 3), (4, 5)]
        best = optimum(X, 3, must, cannot)
        assert best is not None
        links = Constraints(must, cannot)
        model = COPKMeans(3, n_init=30, random_state=seed).fit(X, constraints=links)
        assert model.inertia_ >= best[0] - 1e-9
        n_reached += model.inertia_ <= best[0] + 1e-9
    assert n_reached >= 18


# ---- single steps of the placement


@given(
    n=st.integers(1, 6),
    k=st.integers(2, 3),
    parents=st.lists(st.integers(0, 5), min_size=5, max_size=5),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_forests_are_placed_at_the_least_cost(n: int, k: int, parents: list[int], seed: int) -> None:
    # Node i hangs from an earlier node, or is a root of its own.
    edges = [(parents[i - 1], i) for i in range(1, n) if parents[i - 1] < i]
    costs = np.random.RandomState(seed).uniform(size=(n, k))
    parent = np.full(n, -1)
    parent[[j for _, j in edges]] = [i for i, _ in edges]
    labels = np.full(n, -1)
    place_forest(costs, np.arange(n), parent, labels)
    assert all(labels[i] != labels[j] for i, j in edges)
    assert costs[np.arange(n), labels].sum() == pytest.approx(cheapest_placement(costs, edges))


@pytest.mark.parametrize(
    ("n", "edges"),
    [
        (2, [(0, 1)]),
        (5, [(0, 1), (1, 2), (2, 3), (1, 4)]),
        (3, complete([0, 1, 2])),
        (4, complete([0, 1, 2, 3])),
        (7, [*complete([0, 2, 4]), (1, 3), (3, 5), (5, 6)]),
    ],
    ids=["edge", "tree", "triangle", "clique", "clique and path"],
)
def test_easy_parts_of_the_graph_are_placed_exactly(n: int, edges: Pairs) -> None:
    rule = components(n, edges, k=4)
    for seed in range(10):
        costs = np.random.RandomState(seed).uniform(size=(n, 4))
        labels = rule.place(costs, None)
        assert rule.n_broken(labels) == 0
        assert costs[np.arange(n), labels].sum() == pytest.approx(cheapest_placement(costs, edges))


@pytest.mark.parametrize("order", ORDERS)
def test_hard_parts_of_the_graph_are_placed_without_a_broken_link(order: str) -> None:
    rule = components(9, HARD_FOR_GREED, k=3, order=order)
    everyone = np.arange(rule.n_units)
    for seed in range(20):
        costs = np.random.RandomState(seed).uniform(size=(rule.n_units, 3))
        before = rule.place(costs, None)
        assert rule.n_broken(before) == 0
        # A placement of higher cost never replaces one of lower cost.
        new_costs = costs + 0.1 * np.random.RandomState(seed + 100).uniform(size=costs.shape)
        after = rule.place(new_costs, before)
        assert rule.n_broken(after) == 0
        assert new_costs[everyone, after].sum() <= new_costs[everyone, before].sum()


def test_settling_only_ever_improves() -> None:
    edges = [(i, (i + 1) % 7) for i in range(7)]
    graph = graph_of(7, edges)
    for seed in range(30):
        rng = np.random.RandomState(seed)
        costs, labels = rng.uniform(size=(7, 3)), rng.randint(3, size=7)

        def standing(labels: np.ndarray, costs: np.ndarray = costs) -> tuple[int, float]:
            return sum(labels[i] == labels[j] for i, j in edges), float(costs[np.arange(7), labels].sum())

        before = standing(labels)
        settle(*graph, costs, np.arange(7), labels)
        after = standing(labels)
        assert after <= before
        again = labels.copy()
        settle(*graph, costs, np.arange(7), again)
        np.testing.assert_array_equal(again, labels)


def test_the_path_that_shows_that_order_matters() -> None:
    # a - b - c - d are cannot-linked in a row. If a and d take the same cluster first, b and c have none left to share.
    X = np.array([[0.0], [1.0], [1.1], [0.1]])
    centers = np.array([[0.0], [10.0]])
    path = [(0, 1), (1, 2), (2, 3)]
    assert published_assignment(X, centers, [], path, order=[0, 3, 1, 2]) is None
    indptr, indices, n_links = graph_of(4, path)
    costs = np.square(X - centers.T)
    by_degeneracy = smallest_last(indptr, indices, np.arange(4))
    assert published_assignment(X, centers, [], path, order=by_degeneracy.tolist()) is not None
    by_saturation = np.full(4, -1)
    place_by_saturation(indptr, indices, n_links, costs, np.arange(4), by_saturation)
    assert all(by_saturation[i] != by_saturation[j] for i, j in path)
    # After the greedy round, single moves repair what the bad order broke.
    repaired = np.full(4, -1)
    settle(indptr, indices, n_links, costs, np.array([0, 3, 1, 2]), repaired)
    assert all(repaired[i] != repaired[j] for i, j in path)
    for order in ORDERS:
        model = COPKMeans(2, init=centers, order=order, random_state=0).fit(X, constraints=Constraints(None, path))
        assert model.violations_.is_empty


@given(n=st.integers(1, 10), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=60)
def test_smallest_last_order_never_meets_more_neighbors_than_it_must(n: int, seed: int) -> None:
    rng = np.random.RandomState(seed)
    edges = [pair for pair in combinations(range(n), 2) if rng.uniform() < 0.4]
    indptr, indices, _ = graph_of(n, edges)
    order = smallest_last(indptr, indices, rng.permutation(n)).tolist()
    assert sorted(order) == list(range(n))
    left = list(order)
    while left:
        degree = {i: sum((i in edge) and all(end in left for end in edge) for edge in edges) for i in left}
        assert degree[left[-1]] == min(degree.values())
        left.pop()


def test_a_known_coloring_is_the_last_resort() -> None:
    # Greed in any order may fail on this graph, but a coloring is known.
    X = rows(9, 1)
    links = Constraints(cannot_link=HARD_FOR_GREED)
    assert links.feasible(3, 9)
    for seed in range(30):
        model = COPKMeans(3, init="random", n_init=1, order="random", random_state=seed).fit(X, constraints=links)
        assert links.satisfied(model.labels_).all()


# ---- what cannot be done


def test_conflicting_links_are_refused_with_their_chain() -> None:
    links = Constraints([(0, 1), (1, 2), (4, 5)], [(0, 2)])
    with pytest.raises(InfeasibleError, match="0 - 1 - 2") as caught:
        COPKMeans(2).fit(rows(6, 0), constraints=links)
    assert caught.value.pairs == [(0, 2)]


def test_many_conflicts_are_counted() -> None:
    chain = [(i, i + 1) for i in range(5)]
    links = Constraints(chain, [(0, 2), (0, 3), (0, 4), (0, 5), (1, 5)])
    with pytest.raises(InfeasibleError, match="2 more"):
        COPKMeans(2).fit(rows(6, 0), constraints=links)


def test_fewer_components_than_clusters_are_refused() -> None:
    links = Constraints(must_link=[(0, 1), (2, 3)])
    with pytest.raises(InfeasibleError, match=r"2 components.*3"):
        COPKMeans(3).fit(rows(4, 0), constraints=links)


@pytest.mark.parametrize(
    ("k", "edges", "reason"),
    [
        (1, [(0, 1)], "One cluster"),
        (2, complete([0, 1, 2]), "cycle"),
        (3, complete([0, 1, 2, 3]), "4 must-link components"),
    ],
)
def test_too_few_clusters_for_the_cannot_links(k: int, edges: Pairs, reason: str) -> None:
    with pytest.raises(InfeasibleError, match=reason):
        COPKMeans(k).fit(rows(6, 0), constraints=Constraints(cannot_link=edges))


def test_an_undecided_search_is_reported_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    # Grötzsch's graph needs four colors and has no triangle, only a search can decide.
    ring = [(i, (i + 1) % 5) for i in range(5)]
    edges = [
        *ring,
        *[(i, 5 + j) for i in range(5) for j in ((i + 1) % 5, (i - 1) % 5)],
        *[(5 + i, 10) for i in range(5)],
    ]
    links = Constraints(cannot_link=edges)
    X = rows(11, 0)
    with pytest.raises(InfeasibleError, match="exhaustive search"):
        COPKMeans(3, random_state=0).fit(X, constraints=links)
    whole = Constraints.feasible
    monkeypatch.setattr(Constraints, "feasible", lambda self, k, n: whole(self, k, n, budget=1))
    with pytest.raises(InfeasibleError, match=r"10 runs.*n_init"):
        COPKMeans(3, random_state=0).fit(X, constraints=links)
    with pytest.raises(InfeasibleError, match="3 runs"):
        COPKMeans(3, n_init=3, random_state=0).fit(X, constraints=links)
    with pytest.warns(InfeasibleWarning, match="1 of 20"):
        model = COPKMeans(3, on_infeasible="relax", random_state=0).fit(X, constraints=links)
    assert len(model.violations_) == 1


@pytest.mark.parametrize(
    ("must", "cannot", "k", "n_broken"),
    [
        ([(0, 1), (1, 2)], [(0, 2)], 2, 1),
        ([], complete([0, 1, 2, 3]), 3, 1),
        ([], complete([0, 1, 2, 3, 4, 5]), 2, 6),
        ([(0, 1), (2, 3)], [(0, 2), (1, 3), (3, 4), (0, 4)], 2, 1),
        ([], [(0, 1)], 1, 1),
    ],
)
def test_relaxing_breaks_as_few_links_as_possible(must: Pairs, cannot: Pairs, k: int, n_broken: int) -> None:
    links = Constraints(must, cannot)
    with pytest.warns(InfeasibleWarning, match=f"{n_broken} of {len(cannot)}"):
        model = COPKMeans(k, on_infeasible="relax", random_state=0).fit(rows(8, 0), constraints=links)
    assert len(model.violations_.must_link) == 0
    assert len(model.violations_.cannot_link) == n_broken


def test_relaxing_without_need_breaks_nothing_and_does_not_warn() -> None:
    links = Constraints([(0, 1)], [(1, 2), (2, 3)])
    strict = COPKMeans(3, random_state=0).fit(rows(8, 0), constraints=links)
    relaxed = COPKMeans(3, on_infeasible="relax", random_state=0).fit(rows(8, 0), constraints=links)
    np.testing.assert_array_equal(strict.labels_, relaxed.labels_)


def test_relaxing_with_too_few_groups_leaves_clusters_empty() -> None:
    links = Constraints(must_link=[(0, 1), (2, 3)])
    with pytest.warns(ConvergenceWarning, match="3 clusters were asked for, and 2 w"):
        model = COPKMeans(3, on_infeasible="relax", random_state=0).fit(rows(4, 0), constraints=links)
    assert links.satisfied(model.labels_).all()


# ---- empty clusters, weights


def test_an_empty_cluster_is_restarted_at_the_costliest_component() -> None:
    X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2], [30.0], [30.1]])
    links = Constraints(must_link=[(5, 6)], cannot_link=[(0, 1)])
    far_away = np.array([[0.0], [5.0], [1000.0]])
    model = COPKMeans(3, init=far_away).fit(X, constraints=links)
    assert model.violations_.is_empty
    assert model.labels_[5] == model.labels_[6] == 2
    assert len(set(model.labels_)) == 3


def test_rows_without_weight_are_placed_but_pull_nothing() -> None:
    X = np.array([[0.0], [0.2], [9.0], [9.2], [9.1], [0.1], [100.0]])
    weight = np.array([1.0, 1, 1, 1, 0, 0, 0])
    links = Constraints(must_link=[(4, 6)], cannot_link=[(4, 5)])
    model = COPKMeans(2, init=[[0.0], [9.0]]).fit(X, constraints=links, sample_weight=weight)
    np.testing.assert_allclose(model.cluster_centers_[:, 0], [0.1, 9.1])
    assert model.labels_.tolist() == [0, 0, 1, 1, 1, 0, 1]


def test_a_component_is_one_point_with_a_weight() -> None:
    X = rows(12, 3)
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 5)])
    init = X[[3, 5, 7]]
    model = COPKMeans(3, init=init, tol=0).fit(X, constraints=links)
    merged = np.vstack([X[:3].mean(axis=0), X[3:]])
    weight = np.array([3.0] + [1.0] * 9)
    same = COPKMeans(3, init=init, tol=0).fit(
        merged, constraints=Constraints(cannot_link=[(0, 3)]), sample_weight=weight
    )
    np.testing.assert_array_equal(model.labels_[2:], same.labels_)
    np.testing.assert_allclose(model.cluster_centers_, same.cluster_centers_)
    scatter = np.square(X[:3] - X[:3].mean(axis=0)).sum()
    assert model.inertia_ == pytest.approx(same.inertia_ + scatter)


def test_all_rows_linked_in_pairs() -> None:
    X = rows(200, 5)
    pairs = np.random.RandomState(0).permutation(200).reshape(-1, 2)
    links = Constraints(must_link=pairs[:50], cannot_link=pairs[50:])
    model = COPKMeans(5, random_state=0).fit(X, constraints=links)
    assert links.satisfied(model.labels_).all()
    labels = model.labels_
    expected = sum(np.square(X[labels == c] - model.cluster_centers_[c]).sum() for c in range(5))
    assert model.inertia_ == pytest.approx(expected)


def test_every_valid_labeling_is_found_valid() -> None:
    must, cannot = [(0, 1)], [(1, 2), (2, 3)]
    links = Constraints(must, cannot)
    for labels in valid_labelings(4, 2, must, cannot):
        assert links.satisfied(labels).all()
