"""ExistentialKMeans: validity, monotone dispersion, exact assignments, aggregates, micro-clusters, bad input."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import ExistentialKMeans
from mustlink.errors import InfeasibleError, TooLargeError
from mustlink.sizes._existential import _placement
from mustlink.sizes._existential._aggregates import parse_aggregate
from mustlink.sizes._existential._micro import allot, micro_clusters
from mustlink.sizes._existential._placement import (
    ExactPlacement,
    MovedPivots,
    assign_kinds,
    find_unstable,
    repair,
    solve_program,
)
from mustlink.sizes._existential._requirements import Requirements, parse_aggregates, read_requirements
from reference.existential import best_assignment, best_clustering, dispersion, is_valid

METHODS: list[dict[str, Any]] = [
    {"method": "flow"},
    {"method": "pivot", "heuristic": "random"},
    {"method": "pivot", "heuristic": "lookahead"},
    {"method": "pivot", "heuristic": "random", "deadlocks": False},
]
ids = [" ".join(map(str, method.values())) for method in METHODS]


def table(seed: int, n_rows: int = 60, share: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Blobs of unequal size, and marked rows, most of them in one blob."""
    rng = np.random.RandomState(seed)
    X, blob = make_blobs([n_rows // 2, n_rows // 4, n_rows - n_rows // 2 - n_rows // 4], 2, random_state=seed)
    return X, rng.random_sample(n_rows) < np.where(blob == 0, share, share / 3)


def needs(pivots: np.ndarray, minimum: Any, n_clusters: int, aggregates: Any = None, columns: Any = None) -> Any:
    marks = None if pivots is None else np.asarray(pivots, dtype=bool).reshape(len(pivots), -1)
    columns = {} if columns is None else columns
    parsed = parse_aggregates(aggregates, list(columns))
    n_rows = len(pivots) if pivots is not None else len(next(iter(columns.values())))
    return read_requirements(marks, minimum, parsed, n_clusters, n_rows, lambda name: np.asarray(columns[name], float))


@pytest.mark.parametrize("options", METHODS, ids=ids)
@pytest.mark.parametrize("seed", range(4))
def test_the_result_is_valid_and_the_dispersion_never_rises(options: Any, seed: int) -> None:
    X, pivots = table(seed)
    t = int(pivots.sum()) // 4
    model = ExistentialKMeans(4, pivot_min=t, tol=0.0, random_state=seed, **options).fit(X, pivots=pivots)
    assert (model.pivot_counts_ >= t).all()
    assert model.pivot_counts_.tolist() == np.bincount(model.labels_[pivots], minlength=4).tolist()
    assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[0])
    assert model.inertia_ == pytest.approx(dispersion(X, model.labels_))
    others = ~pivots
    np.testing.assert_array_equal(model.labels_[others], model.predict(X[others]))


@pytest.mark.parametrize("seed", range(5))
def test_the_chain_of_the_theorem(seed: int) -> None:
    """Moves at fixed centers lower the dispersion about these, and new centers lower it again."""
    rng = np.random.RandomState(seed)
    X, pivots = table(seed)
    t = int(pivots.sum()) // 3 - 1
    rule = MovedPivots(needs(pivots, t, 3), rng, heuristic="random", depth=2, deadlocks=True)
    labels = rng.randint(3, size=len(X))
    labels[np.flatnonzero(pivots)] = np.arange(pivots.sum()) % 3
    for _ in range(4):
        centers = np.array([X[labels == c].mean(axis=0) for c in range(3)])
        costs = np.square(X[:, None] - centers).sum(axis=2)
        before = costs[np.arange(len(X)), labels].sum()
        moved = labels.copy()
        moved[rule.rows] = rule.place(costs[rule.rows], labels[rule.rows])
        at_old_centers = costs[np.arange(len(X)), moved].sum()
        assert dispersion(X, moved) <= at_old_centers + 1e-9 <= before + 2e-9
        assert (np.bincount(moved[pivots], minlength=3) >= t).all()
        labels = moved


def test_each_move_of_a_pivot_goes_to_a_strictly_nearer_center() -> None:
    costs = np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 5.0], [1.0 + 1e-15, 1.0]])
    rows, nearest, gain = find_unstable(costs, np.array([1, 0, 1, 0]))
    assert rows.tolist() == [1, 2]
    assert nearest.tolist() == [1, 0]
    assert gain.tolist() == [1.0, 4.0]


@pytest.mark.parametrize("options", METHODS, ids=ids)
@pytest.mark.parametrize("seed", range(3))
def test_without_a_threshold_it_is_the_algorithm_of_lloyd(options: Any, seed: int) -> None:
    X, _ = make_blobs(80, 3, centers=5, random_state=seed)
    start = X[:4]
    plain = KMeans(4, init=start, n_init=1, tol=0.0).fit(X)
    model = ExistentialKMeans(4, pivot_min=0, init=start, tol=0.0, **options).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, model.predict(X))  # every row is with its nearest representative
    assert model.inertia_ == pytest.approx(plain.inertia_)


@given(st.integers(0, 10_000), st.integers(2, 3), st.integers(0, 2))
def test_the_flow_is_the_best_assignment_and_the_moves_cost_at_least_as_much(seed: int, k: int, t: int) -> None:
    rng = np.random.RandomState(seed)
    n_rows = 7
    costs = rng.randint(0, 20, size=(n_rows, k)).astype(float)
    pivots = np.zeros(n_rows, dtype=bool)
    pivots[: k * t] = True
    pivots |= rng.random_sample(n_rows) < 0.3
    if not pivots.any():
        return
    wanted = needs(pivots, t, k)
    best = best_assignment(costs[pivots], [[True]] * int(pivots.sum()), [t])
    exact = assign_kinds(costs[wanted.rows], wanted.take(wanted.rows), {}) if t else costs[pivots].argmin(axis=1)
    rows = np.flatnonzero(pivots)
    assert costs[rows, exact].sum() == pytest.approx(best)
    assert is_valid(exact, [[True]] * len(rows), [t], k)
    if t:
        program = solve_program(costs[rows], wanted.take(rows))
        assert costs[rows, program].sum() == pytest.approx(best)
        start = np.arange(len(rows)) % k
        for heuristic, deadlocks in itertools.product(("random", "lookahead"), (True, False)):
            rule = MovedPivots(wanted, rng, heuristic=heuristic, depth=2, deadlocks=deadlocks)
            moved = rule.place(costs[rows], start)
            assert best - 1e-9 <= costs[rows, moved].sum() <= costs[rows, start].sum() + 1e-9
            assert is_valid(moved, [[True]] * len(rows), [t], k)


@given(st.integers(0, 10_000))
def test_kinds_that_share_rows_are_placed_as_brute_force_does(seed: int) -> None:
    rng = np.random.RandomState(seed)
    costs = rng.randint(0, 20, size=(7, 2)).astype(float)
    marks = rng.random_sample((7, 2)) < 0.6
    t = [min(2, int(marks[:, 0].sum()) // 2), min(1, int(marks[:, 1].sum()) // 2)]
    best = best_assignment(costs, marks.tolist(), t)
    wanted = needs(marks, t, 2)
    rows, free = wanted.rows, np.setdiff1d(np.arange(7), wanted.rows)
    rest = costs[free].min(axis=1).sum()
    if np.isinf(best):
        with pytest.raises(InfeasibleError, match="all constraints together"):
            solve_program(costs[rows], wanted.take(rows))
        return
    if rows.size == 0:
        assert t == [0, 0]
        assert rest == pytest.approx(best)
        return
    labels = solve_program(costs[rows], wanted.take(rows))
    assert costs[rows, labels].sum() + rest == pytest.approx(best)


def test_few_entries_are_left_to_the_integer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.RandomState(0)
    costs, values = rng.rand(300, 4), rng.randint(1, 90, (300, 1)).astype(float)
    bound = values.mean(axis=0) * 78
    needs = Requirements(np.empty((300, 0), bool), np.empty((4, 0), int), values, ["<="], bound, [""])
    n_open: list[int] = []

    def count_open(*arguments: Any, **options: Any) -> Any:
        n_open.append(int(options["bounds"].ub.sum()))
        return milp(*arguments, **options)

    monkeypatch.setattr(_placement, "milp", count_open)
    found = solve_program(costs, needs)
    assert not needs.broken(found)
    assert max(n_open) <= 500
    whole = milp(
        costs.ravel(),
        integrality=np.ones(1200),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(np.kron(np.eye(300), np.ones(4)), 1, 1),
            LinearConstraint(np.kron(values.T, np.eye(4)), -np.inf, needs.bound[0]),
        ],
        options={"mip_rel_gap": 0.0},
    )
    np.testing.assert_allclose(costs[np.arange(300), found].sum(), whole.fun)
    # A search without a result leaves the better of the previous placement and moves from the relaxed one.
    monkeypatch.setattr(_placement, "milp", lambda *_, **__: SimpleNamespace(x=None))
    cost = costs[np.arange(300), solve_program(costs, needs)].sum()
    assert cost >= whole.fun
    np.testing.assert_array_equal(solve_program(costs, needs, found), found)


@pytest.mark.parametrize("seed", range(20))
def test_restarts_of_the_moves_find_the_best_clustering_of_eight_points(seed: int) -> None:
    """As in the trial of the specification: n = 8, two clusters, at least three rows each."""
    X = np.random.RandomState(seed).normal(size=(8, 2))
    best = best_clustering(X, [True] * 8, 3, 2)
    runs = [
        ExistentialKMeans(2, pivot_min=3, method="pivot", init="random", n_init=10, tol=0.0, random_state=seed).fit(X),
        ExistentialKMeans(2, pivot_min=3, init="random", n_init=10, tol=0.0, random_state=seed).fit(X),
    ]
    assert min(run.inertia_ for run in runs) >= best - 1e-9
    assert runs[0].inertia_ == pytest.approx(best)


def test_four_customers_on_a_road() -> None:
    """No clustering into 2 + 2 has every customer with the nearest representative; a valid one is returned."""
    X = np.array([[0.0], [1.0], [2.0], [50.0]])
    for labels in itertools.product((0, 1), repeat=4):
        if sorted(np.bincount(labels, minlength=2)) == [2, 2]:
            centers = np.array([X[np.array(labels) == c].mean() for c in (0, 1)])
            assert not np.array_equal(np.abs(X - centers).argmin(axis=1), labels)
    for options in METHODS:
        model = ExistentialKMeans(2, pivot_min=2, random_state=0, **options).fit(X)
        assert model.pivot_counts_.tolist() == [2, 2]


@pytest.mark.parametrize("heuristic", ["random", "lookahead"])
def test_tight_constraints_move_nothing_without_deadlock_resolution(heuristic: str) -> None:
    """c = 5, n = 100, t = 20: phase A makes no move, and all that is gained comes from phase B."""
    rng = np.random.RandomState(0)
    X, _ = make_blobs([60, 25, 15], 2, random_state=1)
    wanted = needs(np.ones(100, dtype=bool), 20, 5)
    labels = rng.permutation(np.arange(100) % 5)
    costs = np.square(X[:, None] - np.array([X[labels == c].mean(axis=0) for c in range(5)])).sum(axis=2)
    stuck = MovedPivots(wanted, rng, heuristic=heuristic, depth=2, deadlocks=False).place(costs, labels)
    np.testing.assert_array_equal(stuck, labels)
    freed = MovedPivots(wanted, rng, heuristic=heuristic, depth=2, deadlocks=True).place(costs, labels)
    assert np.bincount(freed).tolist() == [20] * 5
    assert costs[np.arange(100), freed].sum() < costs[np.arange(100), labels].sum()


def test_thresholds_for_each_cluster_and_kind() -> None:
    X, pivots = table(0)
    start = X[[0, 20, 40]]
    model = ExistentialKMeans(3, pivot_min=[1, 5, 2], init=start).fit(X, pivots=pivots)
    assert (model.pivot_counts_ >= [1, 5, 2]).all()
    marks = np.column_stack([pivots, np.arange(60) % 3 == 0])
    several = ExistentialKMeans(3, pivot_min=[4, 6], random_state=0).fit(X, pivots=marks)
    assert several.pivot_counts_.shape == (3, 2)
    assert (several.pivot_counts_ >= [4, 6]).all()
    moved = ExistentialKMeans(3, pivot_min=[4, 6], method="pivot", random_state=0).fit(X, pivots=marks)
    assert (moved.pivot_counts_ >= [4, 6]).all()
    each = ExistentialKMeans(3, pivot_min=[[4, 3, 2], [6, 6, 7]], random_state=0).fit(X, pivots=marks)
    assert (each.pivot_counts_.T >= [[4, 3, 2], [6, 6, 7]]).all()


def test_kinds_without_common_rows_are_assigned_exactly() -> None:
    X, _ = table(3)
    marks = np.column_stack([np.arange(60) % 3 == 0, np.arange(60) % 3 == 1])
    wanted = needs(marks, [6, 4], 3)
    assert wanted.networks is not None
    costs = np.square(X[:, None] - X[[0, 30, 50]]).sum(axis=2)[wanted.rows]
    own = wanted.take(wanted.rows)
    by_flow, by_program = ExactPlacement(wanted).place(costs, None), solve_program(costs, own)
    rows = np.arange(len(costs))
    assert costs[rows, by_flow].sum() == pytest.approx(costs[rows, by_program].sum())
    assert own.broken(by_flow) == []


@given(st.integers(0, 10_000))
def test_a_kind_inside_another_is_assigned_exactly(seed: int) -> None:
    rng = np.random.RandomState(seed)
    costs = rng.random_sample((30, 3))
    outer = np.arange(30) < 27
    inner = outer & (rng.random_sample(30) < 0.5)
    inner[:6] = True
    marks = np.column_stack([inner, outer, ~outer])
    wanted = needs(marks, [[2, 2, 1], [8, 1, 9], [1, 1, 1]], 3)
    assert wanted.networks == {1: 0, 2: None}
    by_flow, by_program = ExactPlacement(wanted).place(costs, None), solve_program(costs, wanted)
    assert wanted.broken(by_flow) == []
    rows = np.arange(30)
    assert costs[rows, by_flow].sum() == pytest.approx(costs[rows, by_program].sum())


@given(st.integers(0, 10_000), st.sampled_from(["<=", "<", "="]))
def test_a_maximum_of_a_count_is_a_flow_as_cheap_as_the_program(seed: int, operator: str) -> None:
    rng = np.random.RandomState(seed)
    costs = rng.randint(0, 20, size=(12, 3)).astype(float)
    marked = rng.random_sample(12) < 0.4
    t = int(marked.sum()) // 3
    bound = 4 if operator == "=" else rng.randint(5, 12)
    wanted = needs(marked, t, 3, [f"count {operator} {bound}"])
    assert wanted.networks is not None
    labels, program = assign_kinds(costs, wanted, {}), solve_program(costs, wanted)
    assert not wanted.broken(labels)
    assert costs[np.arange(12), labels].sum() == pytest.approx(costs[np.arange(12), program].sum())


def test_a_maximum_of_some_rows_is_a_flow_and_one_inside_another_kind_is_not() -> None:
    marked = np.arange(9) < 6
    columns = {"z": marked.astype(float)}
    alone = needs(None, 1, 3, ["count(z > 0) <= 2"], columns)
    assert alone.networks == {0: None}
    labels = assign_kinds(np.tile([0.0, 1.0, 2.0], (6, 1)), alone.take(alone.rows), {})
    assert np.bincount(labels).tolist() == [2, 2, 2]
    assert needs(None, 1, 3, ["count(z > 0) <= 2", "count >= 3"], columns).networks is None
    assert needs(None, 1, 3, ["count(z > 0) <= 2", "sum(z) >= 1"], columns).networks is None
    # Of no rows, nothing is left to place.
    nothing = needs(np.ones(9, dtype=bool), 2, 3, ["count(z > 5) <= 2"], columns)
    assert nothing.networks == {0: None}
    assert not nothing.broken(assign_kinds(np.tile([0.0, 1.0, 2.0], (9, 1)), nothing, {}))


def test_a_maximum_size_of_a_large_table_is_the_exact_assignment() -> None:
    X = np.random.RandomState(0).normal(size=(4000, 2))
    model = ExistentialKMeans(8, aggregates="count <= 600", max_iter=2, random_state=0).fit(X)
    assert model.aggregates_["count <= 600"].max() <= 600
    with pytest.raises(InfeasibleError, match=r"Cluster 0 needs 9 rows of a kind and may have at most 7 \(pivots"):
        ExistentialKMeans(2, pivot_min=[9, 0], aggregates="count < 8").fit(X[:12], pivots=np.ones(12, dtype=bool))


def test_kinds_that_share_some_rows_are_no_network() -> None:
    marks = np.array([[1, 0], [1, 1], [0, 1], [1, 1]], dtype=bool)
    assert needs(marks, 1, 2).networks is None
    three = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]], dtype=bool)
    assert needs(three, [2, 1, 1], 2).networks == {0: 1}  # the second is left out: the third implies it
    assert needs(np.vstack([three, three]), [4, 3, 2], 2).networks is None  # three, one inside the other


# Aggregates


SALES = pd.DataFrame({"sales": np.arange(1.0, 61.0), "age (years)": np.r_[np.full(20, 70.0), np.full(40, 30.0)]})


@pytest.mark.parametrize("method", ["flow", "pivot"])
@pytest.mark.parametrize(
    "aggregate",
    [
        "count >= 18",
        "count > 17",
        "count <= 22",
        "count(*) < 23",
        "count = 20",
        "count(age (years) >= 65) >= 5",
        "max(sales) >= 50",
        "max(sales) > 49",
        "max(sales) <= 60",
        "min(sales) <= 5",
        "min(sales) >= 1",
        "sum(sales) >= 550",
        "sum(sales) < 700",
        "avg(sales) >= 28",
        "AVG(sales) <= 33",
        "mean(age (years)) > 38",
        "min(age (years)) = 30",
    ],
)
def test_aggregates_hold(aggregate: str, method: str) -> None:
    X, _ = table(1)
    model = ExistentialKMeans(3, aggregates=aggregate, method=method, random_state=0).fit(X, columns=SALES)
    frame = SALES.assign(cluster=model.labels_)
    parsed = parse_aggregate(aggregate)
    groups = frame.groupby("cluster")
    if parsed.condition:
        values = frame[frame["age (years)"] >= 65].groupby("cluster").size()
    elif parsed.function == "count":
        values = groups.size()
    else:
        values = getattr(groups[parsed.column], {"avg": "mean"}.get(parsed.function, parsed.function))()
    np.testing.assert_allclose(model.aggregates_[aggregate], values)
    sides = {"<": "lt", "<=": "le", "=": "eq", ">=": "ge", ">": "gt"}
    assert getattr(values, sides[parsed.operator])(parsed.bound).all()


@pytest.mark.parametrize("aggregate", ["count != 20", "sum(sales) != 610", "max(sales) != 50", "min(sales) != 7"])
def test_unequal_is_kept_by_the_moves_and_by_the_flow_where_it_reduces(aggregate: str) -> None:
    X, _ = table(1)
    model = ExistentialKMeans(3, aggregates=aggregate, method="pivot", random_state=0).fit(X, columns=SALES)
    assert (model.aggregates_[aggregate] != parse_aggregate(aggregate).bound).all()
    exact = ExistentialKMeans(3, aggregates=aggregate, random_state=0)
    if aggregate.startswith(("max", "min")):
        assert (exact.fit(X, columns=SALES).aggregates_[aggregate] != parse_aggregate(aggregate).bound).all()
    else:
        with pytest.raises(InfeasibleError, match=r'cannot state .*; pass method="pivot"'):
            exact.fit(X, columns=SALES)


def test_several_aggregates_with_pivots_hold_together() -> None:
    X, pivots = table(1)
    wanted = ["sum(sales) >= 400", "avg(sales) <= 40", "count >= 12"]
    for method in ("flow", "pivot"):
        model = ExistentialKMeans(3, pivot_min=4, aggregates=wanted, method=method, random_state=0)
        model.fit(X, pivots=pivots, columns=SALES)
        sums, means, counts = model.aggregates_.values()
        assert (sums >= 400).all()
        assert (means <= 40).all()
        assert (counts >= 12).all()
        assert (model.pivot_counts_ >= 4).all()
        assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[0])


def test_columns_of_x_are_named_as_scikit_learn_names_them() -> None:
    X, _ = table(1)
    top = float(np.sort(X[:, 0])[-3])
    plain = ExistentialKMeans(3, aggregates=f"max(x0) >= {top}", random_state=0).fit(X)
    frame = pd.DataFrame(X, columns=["east", "north"])
    named = ExistentialKMeans(3, aggregates=f"max(east) >= {top}", random_state=0).fit(frame)
    thin = ExistentialKMeans(3, aggregates=f"max(x0) >= {top}", random_state=0).fit(sparse.csr_matrix(X))
    for model in (named, thin):
        np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_a_constraint_that_another_implies_is_left_out() -> None:
    _, pivots = table(1)
    wanted = needs(pivots, 3, 3, ["count >= 2"], {})
    assert wanted.n_kinds == 1
    assert wanted.networks == {0: None}
    wanted = needs(pivots, 3, 3, ["count >= 9"], {})
    assert wanted.networks == {1: 0}


@given(st.integers(0, 500))
def test_greedy_moves_repair_what_the_nearest_centers_break(seed: int) -> None:
    rng = np.random.RandomState(seed)
    costs = rng.random_sample((40, 3))
    sales = rng.randint(1, 9, size=40).astype(float)
    pivots = np.arange(40) % 2 == 0
    wanted = needs(pivots, 5, 3, ["sum(sales) >= 40", "count <= 16"], {"sales": sales})
    labels = repair(np.zeros(40, dtype=np.intp), costs, wanted)
    assert wanted.broken(labels) == []


def test_larger_tables_begin_with_greedy_moves() -> None:
    """Above the size of an integer program; the moves keep what the greedy start has reached."""
    X, _ = make_blobs(5_000, 2, centers=5, random_state=0)
    columns = pd.DataFrame({"sales": np.random.RandomState(0).gamma(2.0, size=5_000)})
    model = ExistentialKMeans(5, aggregates=["sum(sales) >= 1900", "count >= 950"], method="pivot", random_state=0)
    model.fit(X, columns=columns)
    sums, counts = model.aggregates_.values()
    assert sums.min() >= 1900 - 1e-6
    assert counts.min() >= 950
    with pytest.raises(TooLargeError, match="5,000 rows times 5 clusters"):
        model.set_params(method="flow").fit(X, columns=columns)


# Micro-clusters


@pytest.mark.parametrize("options", METHODS, ids=ids)
@pytest.mark.parametrize("seed", range(3))
def test_micro_clusters_of_one_row_are_the_plain_algorithm(options: Any, seed: int) -> None:
    X, pivots = table(seed)
    t = int(pivots.sum()) // 4
    plain, micro = (
        ExistentialKMeans(4, pivot_min=t, micro_radius=radius, tol=0.0, random_state=seed, **options).fit(
            X, pivots=pivots
        )
        for radius in (None, 0.0)
    )
    assert micro.n_micro_clusters_ == len(X)
    np.testing.assert_array_equal(micro.labels_, plain.labels_)
    np.testing.assert_allclose(micro.objective_, plain.objective_)
    np.testing.assert_allclose(micro.cluster_centers_, plain.cluster_centers_)


@pytest.mark.parametrize("options", METHODS, ids=ids)
def test_shared_micro_clusters_keep_the_thresholds(options: Any) -> None:
    X, pivots = table(2, 400)
    t = int(pivots.sum()) // 5
    model = ExistentialKMeans(5, pivot_min=t, micro_radius=0.8, random_state=0, **options).fit(X, pivots=pivots)
    assert model.n_micro_clusters_ < 200
    assert (model.pivot_counts_ >= t).all()
    assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[0])
    assert model.inertia_ == pytest.approx(dispersion(X, model.labels_))


@given(st.integers(0, 10_000), st.floats(0.0, 3.0))
def test_micro_clusters_are_within_the_radius_of_their_first_row(seed: int, radius: float) -> None:
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(40, 2))
    pivots = rng.random_sample(40) < 0.4
    micro = micro_clusters(X, pivots, radius)
    for number in range(len(micro.means)):
        rows = np.flatnonzero(micro.number == number)
        assert np.linalg.norm(X[rows] - X[rows[0]], axis=1).max() <= radius + 1e-12
        np.testing.assert_allclose(micro.means[number], X[rows].mean(axis=0))
        assert (micro.n_pivots[number], micro.n_others[number]) == (pivots[rows].sum(), (~pivots[rows]).sum())
    assert micro.scatter == pytest.approx(np.square(X - micro.means[micro.number]).sum())


def test_the_shares_of_the_chapters_example() -> None:
    """5 other rows and 6 pivots: cluster 2, the nearest, has 5 + 2, cluster 1 has 3 pivots, cluster 3 has one."""
    X = np.linspace(-0.5, 0.5, 11)[:, None]
    pivots = np.arange(11) < 6
    micro = micro_clusters(X, pivots, 2.0)
    assert (micro.n_pivots.tolist(), micro.n_others.tolist()) == ([6], [5])
    centers = np.array([[-3.0], [0.0], [3.0]])
    shares = np.array([[3, 2, 1]])
    labels = allot(X, pivots, micro, shares, centers)
    assert np.bincount(labels[pivots], minlength=3).tolist() == [3, 2, 1]
    assert labels[~pivots].tolist() == [1] * 5
    cost = np.square(X[pivots] - centers[labels[pivots]].reshape(-1, 1)).sum()
    orders = set(itertools.permutations((0, 0, 0, 1, 1, 2)))
    assert cost == pytest.approx(min(np.square(X[pivots, 0] - centers[list(order), 0]).sum() for order in orders))


# The conventions of scikit-learn


def test_a_mask_is_cut_with_the_rows_of_a_fold() -> None:
    X, pivots = table(4)
    columns = pd.DataFrame({"sales": np.arange(60.0)})
    clusterer = ExistentialKMeans(3, pivot_min=3, aggregates="max(sales) >= 20", random_state=0)
    folds = KFold(2, shuffle=True, random_state=0)
    with config_context(enable_metadata_routing=True):
        models = cross_validate(
            clusterer,
            X,
            cv=folds,
            params={"pivots": pivots, "columns": columns},
            scoring=lambda *_: 0.0,
            return_estimator=True,
        )["estimator"]
        pipeline = make_pipeline(StandardScaler(), ExistentialKMeans(3, pivot_min=3)).fit(X, pivots=pivots)
    for model, (train, _) in zip(models, folds.split(X), strict=True):
        alone = ExistentialKMeans(3, pivot_min=3, aggregates="max(sales) >= 20", random_state=0)
        alone.fit(X[train], pivots=pivots[train], columns=columns.iloc[train])
        np.testing.assert_array_equal(model.labels_, alone.labels_)
    assert pipeline[-1].pivot_counts_.min() >= 3


def test_fit_predict_takes_pivots() -> None:
    X, pivots = table(4)
    model = ExistentialKMeans(3, pivot_min=4, random_state=0)
    np.testing.assert_array_equal(model.fit_predict(X, pivots=pivots), model.labels_)


@pytest.mark.parametrize("options", METHODS[:2], ids=ids[:2])
def test_float32_and_sparse_rows(options: Any) -> None:
    X, pivots = table(4)
    t = int(pivots.sum()) // 3
    single = ExistentialKMeans(3, pivot_min=t, random_state=0, **options).fit(X.astype(np.float32), pivots=pivots)
    assert single.cluster_centers_.dtype == np.float32
    dense = ExistentialKMeans(3, pivot_min=t, random_state=0, **options).fit(X, pivots=pivots)
    thin = ExistentialKMeans(3, pivot_min=t, random_state=0, **options).fit(sparse.csr_matrix(X), pivots=pivots)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)


# Bad input


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"pivot_min": 30}, {}, "3 clusters need 90 pivots, 30 for each, but there are 60; reduce pivot_min, reduce"),
        ({"pivot_min": 2}, {"pivots": [True] * 5 + [False] * 55}, "need 6 pivots, 2 for each, but there are 5;"),
        ({}, {"pivots": [False] * 60}, "3 clusters need 3 pivots, 1 for each, but there is none"),
        ({"pivot_min": [1, 2, 60]}, {}, "need 63 pivots, all minima together, but there are 60"),
        ({}, {"pivots": [True] * 7}, "one entry per row: the table has 60 rows, pivots 7 entries"),
        ({}, {"pivots": np.ones((5, 2), dtype=bool)}, r"pivots the shape \(5, 2\)"),
        ({}, {"pivots": np.r_[np.nan, np.ones(59)]}, "a mask of True and False, but row 0 has"),
        ({}, {"pivots": ["yes"] * 60}, "a mask of True and False, but row 0 has 'yes'"),
        ({}, {"pivots": [None] + [True] * 59}, "a mask of True and False, but row 0 has None"),
        ({}, {"pivots": np.r_[2, np.ones(59)]}, "a mask of True and False, but row 0 has"),
        ({"pivot_min": -1}, {}, "pivot_min must not be negative, got -1"),
        ({"pivot_min": 1.5}, {}, "pivot_min must be whole numbers of pivots, got 1.5"),
        ({"pivot_min": np.nan}, {}, "whole numbers of pivots, got nan|pivot_min"),
        ({"pivot_min": [1, 2]}, {}, r"pivot_min has the shape \(2,\); expected a number, .*one per cluster \(3,\)"),
        (
            {"pivot_min": [[1, 1, 8], [30, 29, 1]]},
            {"pivots": np.column_stack([np.arange(60) < 20, np.ones(60)])},
            "they need 67 such rows, all minima together, but there are 60",
        ),
        ({"aggregates": "max(income) >= 3"}, {}, "names the column 'income'; the columns are x0, x1"),
        ({"aggregates": "median(x0) >= 3"}, {}, "has the function 'median'; the functions are count, sum"),
        ({"aggregates": "max(x0)"}, {}, "'max\\(x0\\)' is not of the form \"count >= 50\""),
        ({"aggregates": "max >= 3"}, {}, 'names no column; write it in parentheses, as in "max\\(age\\)"'),
        ({"aggregates": "count(x0) >= 3"}, {}, "counts 'x0'; count takes nothing, or a condition"),
        ({"aggregates": "sum(x0) >= many"}, {}, "compares with 'many', which is not a finite number"),
        ({"aggregates": "sum(x0) >= inf"}, {}, "compares with 'inf', which is not a finite number"),
        (
            {"aggregates": "count >= 21"},
            {},
            "^No 3 clusters satisfy 'count >= 21': they need 63 such rows, 21 for each, but there are 60; leave",
        ),
        ({"aggregates": "count <= 19"}, {}, "all rows together have 60, and 3 clusters together have at most 57"),
        (
            {"aggregates": "sum(sales) >= 611"},
            {"columns": SALES},
            "all rows together have 1830, and 3 clusters together have at least 1833",
        ),
        ({"aggregates": "avg(sales) > 31"}, {"columns": SALES}, "'avg.sales. > 31': the average of all rows is 30.5"),
        ({"aggregates": "max(sales) <= 59"}, {"columns": SALES}, "row 59 has 60, and every row is in some cluster"),
        ({"aggregates": "min(sales) > 1"}, {"columns": SALES}, "row 0 has 1, and every row is in some cluster"),
        ({"aggregates": "max(sales) >= 59"}, {"columns": SALES}, "they need 3 such rows, 1 for each, but there are 2"),
        ({"aggregates": "sum(sales) >= 5"}, {"columns": SALES[:50]}, "X has 60 rows, columns 50"),
        ({"micro_radius": 1.0}, {"pivots": np.ones((60, 2), dtype=bool), "_": 0}, "unexpected keyword"),
        ({"micro_radius": 1.0, "aggregates": "sum(x0) <= 1e9"}, {}, "micro_radius needs a dense X and constraints"),
        ({"method": "milp"}, {}, "method"),
        ({"depth": 0}, {}, "depth"),
    ],
)
def test_bad_input_is_answered_with_the_numbers(options: Any, given: Any, message: str) -> None:
    X, _ = table(1)
    with pytest.raises((ValueError, TypeError), match=message):
        ExistentialKMeans(3, **options).fit(X, **given)


@pytest.mark.parametrize("method", ["flow", "pivot"])
@pytest.mark.parametrize(
    ("aggregate", "message"),
    [
        ("sum(z) != 0", "No 3 clusters satisfy 'sum.z. != 0': every cluster needs .* no row adds anything"),
        ("sum(few) != 0", "every cluster needs a row that adds to it, and only 2 rows of the table add anything"),
        ("avg(z) != 0", "No 3 clusters satisfy 'avg.z. != 0': .* no row adds anything"),
        (
            "count(z > 5) != 0",
            "No 3 clusters satisfy .count.z > 5. != 0.: they need 3 such rows, 1 for each, but there is none",
        ),
    ],
)
def test_clusters_without_a_row_that_matters_break_a_constraint(aggregate: str, message: str, method: str) -> None:
    X, _ = table(0)
    columns = pd.DataFrame({"z": np.zeros(60), "few": np.arange(60) < 2})
    with pytest.raises(InfeasibleError, match=message):
        ExistentialKMeans(3, aggregates=aggregate, method=method, random_state=0).fit(X, columns=columns)


@pytest.mark.parametrize("method", ["flow", "pivot"])
def test_a_count_other_than_zero_is_a_minimum_of_one(method: str) -> None:
    X, pivots = table(0)
    wanted = {"aggregates": "count(z > 5) != 0", "method": method, "random_state": 0}
    columns = pd.DataFrame({"z": 10.0 * pivots})
    model = ExistentialKMeans(3, **wanted).fit(X, columns=columns)
    same = ExistentialKMeans(3, **wanted | {"aggregates": None}).fit(X, pivots=pivots)
    np.testing.assert_array_equal(model.labels_, same.labels_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "do not satisfy 'pivots in every cluster': cluster 1 has 0"),
        ({"pivot_min": 0, "aggregates": "sum(x0) <= 1"}, "do not satisfy 'sum.x0. <= 1': cluster 0 has 3"),
    ],
)
def test_a_placement_that_breaks_a_constraint_is_never_returned(
    options: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExactPlacement, "place", lambda self, costs, previous: np.zeros(len(costs), dtype=np.intp))
    X = np.array([[0.0], [1.0], [2.0], [0.0]])
    with pytest.raises(InfeasibleError, match=message):
        ExistentialKMeans(3, random_state=0, **options).fit(X, pivots=[True, True, True, False])


def test_columns_and_aggregates_of_the_wrong_type_are_refused() -> None:
    X, _ = table(1)
    with pytest.raises(TypeError, match="columns must be a data frame with named columns, got ndarray"):
        ExistentialKMeans(3, aggregates="count >= 2").fit(X, columns=X)
    with pytest.raises(TypeError, match="aggregates must be texts such as"):
        ExistentialKMeans(3).set_params(aggregates=[5]).fit(X)
    with pytest.raises(ValueError, match=r"the column 'sales' has others: could not convert string to float: 'many'"):
        ExistentialKMeans(3, aggregates="sum(sales) >= 5").fit(X, columns=pd.DataFrame({"sales": ["many"] * 60}))
    missing = SALES.assign(sales=SALES["sales"].where(SALES.index != 4))
    with pytest.raises(ValueError, match="row 4 of the column 'sales' has nan"):
        ExistentialKMeans(3, aggregates="sum(sales) >= 5").fit(X, columns=missing)


def test_a_mask_in_the_place_of_y_is_refused() -> None:
    X, _ = table(1)
    for mask in (np.arange(60) % 2 == 0, [True, False] * 30):
        with pytest.raises(TypeError, match=r"this is a mask of rows; pass marked rows as pivots="):
            ExistentialKMeans(3).fit(X, mask)
    # Class numbers are what a parameter search passes for its scores.
    assert ExistentialKMeans(3).fit(X, np.arange(60) % 2).labels_.shape == (60,)


def test_nothing_of_an_earlier_fit_is_left_after_one_that_fails() -> None:
    X, _ = table(1)
    model = ExistentialKMeans(3).fit(X)
    with pytest.raises(InfeasibleError):
        model.set_params(pivot_min=50).fit(X)
    assert not hasattr(model, "labels_")


def test_one_row_and_equal_rows() -> None:
    assert ExistentialKMeans(1).fit([[3.0]]).labels_.tolist() == [0]
    model = ExistentialKMeans(2, pivot_min=3, random_state=0).fit(np.ones((6, 2)))
    assert model.pivot_counts_.tolist() == [3, 3]
    assert model.inertia_ == 0.0
