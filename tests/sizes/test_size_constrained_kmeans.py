"""SizeConstrainedKMeans: exact assignments under sizes, prices, medians, pivots, outliers."""

from __future__ import annotations

from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn import clone, config_context
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.sizes import SizeConstrainedKMeans
from mustlink.sizes._assign import _paths
from mustlink.sizes._size_constrained import _polish, _row_costs
from mustlink.sizes._size_constrained._manhattan import cluster_medians, manhattan_distances, weighted_medians
from reference.size_constrained_kmeans import center_of, cheapest, size_constrained_kmeans

METRICS = ["sqeuclidean", "manhattan"]
X, _ = make_blobs(150, n_features=3, centers=4, cluster_std=2.5, random_state=7)

both_metrics = pytest.mark.parametrize("metric", METRICS)


def costs_of(X: Any, model: SizeConstrainedKMeans) -> np.ndarray:
    """The cost of every row in every cluster, by the definition."""
    apart = np.abs(X[:, None, :] - model.cluster_centers_[None])
    return apart.sum(axis=2) if model.metric == "manhattan" else np.square(apart).sum(axis=2)


def never_rises(values: list[float]) -> bool:
    return all(after <= before * (1 + 1e-12) for before, after in pairwise(values))


# ---- the definition


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), metric=st.sampled_from(METRICS), k=st.integers(1, 4))
def test_the_fast_version_is_the_slow_one_and_the_objective_never_rises(seed: int, metric: str, k: int) -> None:
    rng = np.random.RandomState(seed)
    n = rng.randint(k, 25)
    table = rng.normal(size=(n, 2))
    sizes = rng.multinomial(n, np.ones(k) / k)
    bounds = {
        "size_min": np.maximum(sizes - rng.randint(0, 4), 0),
        "size_max": sizes + rng.randint(0, 4) if rng.rand() < 0.5 else None,
    }
    init = table[rng.permutation(n)[:k]]
    labels, centers, objective = size_constrained_kmeans(table, init, metric=metric, **bounds)
    model = SizeConstrainedKMeans(k, init=init, metric=metric, tol=0, **bounds)
    if len(set(labels)) < k:
        with pytest.warns(match="clusters were asked for"):
            model.fit(table)
    else:
        model.fit(table)
    assert never_rises(model.objective_)
    assert (model.sizes_ >= bounds["size_min"]).all()
    # The result is a fixed point of the slow version.
    _, least = cheapest(costs_of(table, model), bounds["size_min"], bounds["size_max"])
    assert model.inertia_ == pytest.approx(least, abs=1e-10)
    for c in set(model.labels_):
        np.testing.assert_allclose(model.cluster_centers_[c], center_of(table[model.labels_ == c], metric), atol=1e-12)
    assert model.objective_[0] == pytest.approx(objective[0], abs=1e-10)
    # Medians are at rows, where absolute differences tie: the two versions may then take different ways.
    if metric == "sqeuclidean":
        np.testing.assert_array_equal(model.labels_, labels)
        np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-12)
        np.testing.assert_allclose(model.objective_[: len(objective)], objective, atol=1e-10)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), metric=st.sampled_from(METRICS))
def test_prices_prove_the_result_best_for_its_centers(seed: int, metric: str) -> None:
    """Check 3: prices of the right sign, zero where no bound binds, and no row cheaper elsewhere at these prices."""
    rng = np.random.RandomState(seed)
    table = rng.normal(size=(60, 3)) * [1, 2, 3]
    lowest, highest = rng.randint(0, 15, size=4), rng.randint(15, 25, size=4)
    highest[0] = 60
    model = SizeConstrainedKMeans(4, size_min=lowest, size_max=highest, metric=metric, tol=0, random_state=seed)
    model.fit(table)
    assert (model.sizes_ >= lowest).all()
    assert (model.sizes_ <= highest).all()
    assert (model.prices_[model.sizes_ > lowest] <= 0).all()
    assert (model.prices_[model.sizes_ < highest] >= 0).all()
    priced = costs_of(table, model) - model.prices_
    own = priced[np.arange(60), model.labels_]
    assert (own - priced.min(axis=1)).max() < 1e-9
    assert model.inertia_ == pytest.approx(costs_of(table, model)[np.arange(60), model.labels_].sum())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_moves", [4, 8_192])
@pytest.mark.parametrize(("size_min", "size_max"), [(60, 600), (100, 100), (0, 120)])
def test_costs_that_are_not_held_give_the_same_result(
    dtype: Any, n_moves: int, size_min: int, size_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The labels of large tables come from one pass over the rows, and costs are computed near the borders alone."""
    rng = np.random.RandomState(3)
    table = (rng.normal(size=(600, 3)) * [1, 2, 3] + rng.randint(4, size=(600, 1)) ** 2).astype(dtype)
    weight = rng.uniform(0.5, 2, size=600)
    model = SizeConstrainedKMeans(6, init=table[:6], size_min=size_min, size_max=size_max, size_by="rows", tol=0)
    held = clone(model).fit(table, sample_weight=weight)
    assert held.prices_.any()
    monkeypatch.setattr(_row_costs, "MAX_HELD", 0)
    limits = {"MIN_MOVES": n_moves, "MIN_MOVES_PER_CLUSTER": 1, "MAX_ROWS_UNSAMPLED": 100, "MIN_SAMPLED_PER_CLUSTER": 8}
    for name, value in limits.items():
        monkeypatch.setattr(_paths, name, value)
    model.fit(table, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, held.labels_)
    np.testing.assert_allclose(model.objective_, held.objective_, rtol=1e-12)
    np.testing.assert_allclose(model.cluster_centers_, held.cluster_centers_, rtol=1e-6)


def test_no_legal_move_of_one_row_lowers_the_cost() -> None:
    model = SizeConstrainedKMeans(4, size_min=30, size_max=45, tol=0, random_state=0).fit(X)
    costs = costs_of(X, model)
    for i, own in enumerate(model.labels_):
        for other in range(4):
            if other != own and model.sizes_[own] > 30 and model.sizes_[other] < 45:
                assert costs[i, other] >= costs[i, own] - 1e-9


# ---- special cases


@both_metrics
@pytest.mark.parametrize("seed", range(4))
def test_bounds_that_hold_anyway_change_nothing(metric: str, seed: int) -> None:
    """Check 2: the same labels, and zero prices."""
    free = SizeConstrainedKMeans(4, metric=metric, init=X[seed : seed + 4], tol=0).fit(X)
    at_least = int(free.sizes_.min())
    for bounds in ({"size_min": 0}, {"size_max": 150}, {"size_min": 1, "size_max": 149}):
        model = SizeConstrainedKMeans(4, metric=metric, init=X[seed : seed + 4], tol=0, **bounds).fit(X)
        np.testing.assert_array_equal(model.labels_, free.labels_)
        assert model.objective_ == free.objective_
        assert not model.prices_.any()
    again = SizeConstrainedKMeans(4, metric=metric, init=free.cluster_centers_, tol=0, size_min=at_least).fit(X)
    np.testing.assert_array_equal(again.labels_, free.labels_)
    assert not again.prices_.any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("max_iter", [1, 3, 300])
def test_a_minimum_of_zero_is_scikit_learns_k_means(dtype: Any, max_iter: int) -> None:
    rng = np.random.RandomState(max_iter)
    for seed in range(5):
        table = (rng.normal(size=(200, 4)) + 50).astype(dtype)
        init = table[rng.permutation(200)[:6]]
        ours = SizeConstrainedKMeans(6, size_min=0, init=init, tol=0, max_iter=max_iter).fit(table)
        theirs = KMeans(6, init=init, n_init=1, tol=0, max_iter=max_iter).fit(table)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_, err_msg=str(seed))
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-5)
        assert ours.n_iter_ == theirs.n_iter_


@both_metrics
def test_sizes_that_add_up_to_all_rows_are_exact(metric: str) -> None:
    sizes = [60, 50, 30, 10]
    model = SizeConstrainedKMeans(4, size_min=sizes, metric=metric, init=X[:4]).fit(X)
    np.testing.assert_array_equal(model.sizes_, sizes)
    np.testing.assert_array_equal(np.bincount(model.labels_), sizes)


def test_one_row_per_cluster_is_a_permutation() -> None:
    model = SizeConstrainedKMeans(10, size_min=1, random_state=0).fit(X[:10])
    assert sorted(model.labels_) == list(range(10))
    assert model.inertia_ == pytest.approx(0)


@both_metrics
def test_an_empty_cluster_keeps_its_center_unless_a_minimum_fills_it(metric: str) -> None:
    table = np.array([[0.0], [0.5], [1.0], [10.0], [11.0], [30.0]])
    init = np.array([[0.5], [10.0], [500.0]])
    with pytest.warns(match="3 clusters were asked for, and 2 were found"):
        model = SizeConstrainedKMeans(3, init=init, metric=metric).fit(table)
    np.testing.assert_array_equal(model.sizes_, [3, 3, 0])
    assert model.cluster_centers_[2, 0] == 500
    filled = SizeConstrainedKMeans(3, size_min=1, init=init, metric=metric).fit(table)
    np.testing.assert_array_equal(filled.labels_, [0, 0, 0, 1, 1, 2])


@both_metrics
def test_equal_rows_are_divided_and_the_run_ends(metric: str) -> None:
    """Ties keep the labels of the iteration before, or equal rows could trade places for ever."""
    table = np.repeat([[0.0, 0.0], [1.0, 1.0]], 12, axis=0)
    model = SizeConstrainedKMeans(4, size_min=6, metric=metric, tol=0, random_state=0).fit(table)
    np.testing.assert_array_equal(model.sizes_, [6, 6, 6, 6])
    assert model.n_iter_ < 10
    again = SizeConstrainedKMeans(4, size_min=6, metric=metric, tol=0, random_state=0).fit(table)
    np.testing.assert_array_equal(model.labels_, again.labels_)


def test_sizes_belong_to_the_given_centers() -> None:
    """Pitfall of section 3: permuting the centers under unequal sizes is another problem."""
    sizes = np.array([70, 40, 30, 10])
    init = X[:4]
    one = SizeConstrainedKMeans(4, size_min=sizes, init=init, tol=0).fit(X)
    turned = SizeConstrainedKMeans(4, size_min=sizes, init=init[::-1], tol=0).fit(X)
    both = SizeConstrainedKMeans(4, size_min=sizes[::-1], init=init[::-1], tol=0).fit(X)
    np.testing.assert_array_equal(both.labels_, 3 - one.labels_)
    assert one.inertia_ == pytest.approx(both.inertia_)
    assert one.inertia_ != pytest.approx(turned.inertia_)


# ---- k-medians


def test_coordinate_wise_medians_minimize_the_sum_of_absolute_differences() -> None:
    """Check 8."""
    rng = np.random.RandomState(0)
    table, weight = rng.normal(size=(9, 3)), rng.randint(1, 4, size=9).astype(float)
    for weights in (np.ones(9), weight):
        center = cluster_medians(table, np.zeros(9, dtype=int), weights, np.zeros((1, 3)))
        least = weights @ manhattan_distances(table, center)[:, 0]
        for column in range(3):
            for value in np.concatenate([table[:, column], rng.normal(size=20)]):
                moved = center.copy()
                moved[0, column] = value
                assert weights @ manhattan_distances(table, moved)[:, 0] >= least - 1e-12


@given(copies=st.lists(st.integers(1, 4), min_size=1, max_size=8), seed=st.integers(0, 999))
def test_weighted_medians_are_medians_of_copies(copies: list[int], seed: int) -> None:
    table = np.round(np.random.RandomState(seed).normal(size=(len(copies), 3)), 1)
    expected = np.median(np.repeat(table, copies, axis=0), axis=0)
    np.testing.assert_allclose(weighted_medians(table, np.array(copies, dtype=float)), expected)
    tenth = weighted_medians(table, 0.1 * np.array(copies))
    np.testing.assert_allclose(tenth, expected)


@given(seed=st.integers(0, 999), density=st.sampled_from([0.1, 0.5, 0.9]), weighted=st.booleans())
@settings(deadline=None, max_examples=40)
def test_medians_and_distances_of_sparse_rows_are_those_of_dense_rows(
    seed: int, density: float, weighted: bool
) -> None:
    rng = np.random.RandomState(seed)
    table = np.where(rng.rand(14, 5) < density, rng.normal(size=(14, 5)), 0.0)
    weight = rng.randint(1, 4, size=14).astype(float) if weighted else np.ones(14)
    labels, centers = rng.randint(3, size=14), rng.normal(size=(3, 5))
    thin = sparse.csr_matrix(table)
    np.testing.assert_allclose(
        cluster_medians(thin, labels, weight, centers), cluster_medians(table, labels, weight, centers)
    )
    np.testing.assert_allclose(manhattan_distances(thin, centers), manhattan_distances(table, centers))


@both_metrics
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_equals_dense(metric: str, form: Any) -> None:
    table = np.where(np.abs(X) < 3, 0.0, X)
    options = {"size_min": 35, "metric": metric, "random_state": 0}
    dense, thin = (SizeConstrainedKMeans(4, **options).fit(t) for t in (table, form(table)))
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    np.testing.assert_allclose(dense.cluster_centers_, thin.cluster_centers_, atol=1e-12)
    np.testing.assert_allclose(dense.objective_, thin.objective_)
    np.testing.assert_allclose(dense.prices_, thin.prices_, atol=1e-6)
    np.testing.assert_array_equal(dense.predict(table), thin.predict(form(table)))
    np.testing.assert_allclose(dense.transform(table), thin.transform(form(table)), atol=1e-6)
    assert dense.score(table) == pytest.approx(thin.score(form(table)))


@both_metrics
def test_float32_stays_float32(metric: str) -> None:
    table = X.astype(np.float32)
    model = SizeConstrainedKMeans(4, size_min=37, metric=metric, random_state=0).fit(table)
    assert model.cluster_centers_.dtype == model.transform(table).dtype == np.float32
    double = SizeConstrainedKMeans(4, size_min=37, metric=metric, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, double.labels_)
    assert np.all(np.diff(model.objective_) <= 1e-6 * model.objective_[0])


# ---- prediction


@both_metrics
def test_predict_transform_and_score_use_nearest_centers(metric: str) -> None:
    model = SizeConstrainedKMeans(4, size_min=35, metric=metric, random_state=0).fit(X)
    costs = costs_of(X, model)
    np.testing.assert_array_equal(model.predict(X), costs.argmin(axis=1))
    distances = costs if metric == "manhattan" else np.sqrt(costs)
    np.testing.assert_allclose(model.transform(X), distances, atol=1e-6)
    assert model.score(X) == pytest.approx(-costs.min(axis=1).sum())
    assert model.score(X, sample_weight=np.full(150, 2.0)) == pytest.approx(-2 * costs.min(axis=1).sum())


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 90), seed=st.integers(0, 99), metric=st.sampled_from(METRICS))
def test_a_batch_keeps_to_the_sizes_in_proportion(n: int, seed: int, metric: str) -> None:
    rng = np.random.RandomState(seed)
    model = SizeConstrainedKMeans(4, size_min=[30, 20, 10, 0], size_max=[60, 60, 60, 30], metric=metric, init=X[:4])
    model.fit(X)
    new = rng.normal(size=(n, 3)) * 8
    labels = model.predict(new, sized=True)
    sizes = np.bincount(labels, minlength=4)
    assert (sizes >= np.floor(np.array([30, 20, 10, 0]) * n / 150 + 1e-6)).all()
    assert (sizes <= np.ceil(np.array([60, 60, 60, 30]) * n / 150 - 1e-6)).all()
    np.testing.assert_array_equal(
        labels,
        model.predict(
            new,
            size_min=np.floor(np.array([30, 20, 10, 0]) * n / 150 + 1e-6),
            size_max=np.ceil(np.array([60, 60, 60, 30]) * n / 150 - 1e-6),
        ),
    )


def test_a_batch_keeps_to_given_sizes() -> None:
    model = SizeConstrainedKMeans(4, size_min=30, random_state=0).fit(X)
    new = X[:20]
    np.testing.assert_array_equal(np.bincount(model.predict(new, size_min=5)), [5, 5, 5, 5])
    labels = model.predict(new, size_max=8)
    assert np.bincount(labels).max() <= 8
    np.testing.assert_array_equal(model.predict(new, size_max=20), model.predict(new))
    with pytest.raises(InfeasibleError, match="add up to 24, but there are 20 rows"):
        model.predict(new, size_min=6)
    far = SizeConstrainedKMeans(4, outlier_cost=1.0, size_max=50, random_state=0).fit(X)
    assert (far.predict(new + 1000, sized=True) == -1).all()


# ---- pivots and outliers


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 9999), metric=st.sampled_from(METRICS))
def test_labeled_rows_and_outliers_at_least_cost(seed: int, metric: str) -> None:
    """The last assignment costs what the linear program of the chapter costs, and its prices prove it."""
    rng = np.random.RandomState(seed)
    n, k = 30, 3
    table = rng.normal(size=(n, 2)) * 2
    pivots = rng.rand(n) < 0.4
    required = rng.multinomial(min(pivots.sum(), 9), np.ones(k) / k)
    lowest = rng.randint(0, 8, size=k)
    outlier_cost = float(rng.choice([0.5, 2.0, 50.0])) if rng.rand() < 0.5 else None
    model = SizeConstrainedKMeans(
        k, size_min=lowest, pivot_min=required, outlier_cost=outlier_cost, metric=metric, random_state=seed, tol=0
    ).fit(table, pivots=pivots)
    inside = model.labels_ >= 0
    assert (model.sizes_ >= lowest).all()
    assert (np.bincount(model.labels_[pivots & inside], minlength=k) >= required).all()
    np.testing.assert_array_equal(model.sizes_, np.bincount(model.labels_[inside], minlength=k))
    assert never_rises(model.objective_)
    costs = np.column_stack([costs_of(table, model), np.full(n, outlier_cost or 1e6)])
    of_row = np.kron(np.eye(n), np.ones(k + 1))
    of_cluster = np.kron(np.ones(n), np.eye(k + 1))[:k]
    of_pivots = np.kron(pivots.astype(float), np.eye(k + 1))[:k]
    program = linprog(
        costs.ravel(),
        A_ub=-np.vstack([of_cluster, of_pivots]),
        b_ub=-np.concatenate([lowest, required]),
        A_eq=of_row,
        b_eq=np.ones(n),
    )
    assert costs[np.arange(n), model.labels_].sum() == pytest.approx(program.fun)
    assert model.objective_[-1] == pytest.approx(program.fun)
    assert (model.pivot_prices_ >= -1e-12).all()
    priced = costs[:, :k] - model.prices_ - pivots[:, None] * model.pivot_prices_
    priced = np.column_stack([priced, costs[:, k]])
    assert (priced[np.arange(n), model.labels_] - priced.min(axis=1)).max() < 1e-8


def test_outliers_are_those_farther_than_the_cost_and_move_no_center() -> None:
    table = np.concatenate([X, [[500.0, 0.0, 0.0], [-400.0, 0.0, 0.0]]])
    model = SizeConstrainedKMeans(4, outlier_cost=300.0, init=X[:4], tol=0).fit(table)
    inside = model.labels_ >= 0
    assert not inside[-2:].any()
    np.testing.assert_array_equal(~inside, costs_of(table, model).min(axis=1) > 300)
    for c in range(4):
        np.testing.assert_allclose(model.cluster_centers_[c], table[model.labels_ == c].mean(axis=0))
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    assert model.score(table) == pytest.approx(-model.objective_[-1])
    assert model.inertia_ == pytest.approx(model.objective_[-1] - 300.0 * (~inside).sum())


@pytest.mark.parametrize("outlier_cost", [None, 9.0])
@pytest.mark.parametrize("size_max", [np.inf, [np.inf] * 3])
def test_an_infinite_maximum_is_none(size_max: Any, outlier_cost: float | None) -> None:
    options: dict[str, Any] = {"size_min": 30, "outlier_cost": outlier_cost, "random_state": 0}
    model = SizeConstrainedKMeans(3, size_max=size_max, **options).fit(X)
    np.testing.assert_array_equal(model.labels_, SizeConstrainedKMeans(3, **options).fit(X).labels_)


def test_with_outliers_maximum_sizes_need_not_hold_all_rows() -> None:
    model = SizeConstrainedKMeans(3, size_max=[20, 10, 5], outlier_cost=1.0, random_state=0).fit(X)
    assert (model.sizes_ <= [20, 10, 5]).all()
    assert (model.labels_ < 0).sum() == 150 - model.sizes_.sum() >= 115


# ---- bad input


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"size_min": 40}, {}, r"minimum sizes of 4 clusters add up to 160, but there are 150 rows; reduce size_min"),
        ({"size_max": 30}, {}, r"maximum sizes of 4 clusters add up to 120, but there are 150 rows"),
        ({"size_min": [1, 9, 1, 1], "size_max": 8}, {}, r"maximum size of cluster 1 is 8, below its minimum of 9"),
        (
            {"size_min": 9, "size_max": 8, "outlier_cost": 1.0},
            {},
            r"maximum size of cluster 0 is 8, below its minimum of 9",
        ),
        ({"pivot_min": 2}, {"pivots": np.arange(150) < 7}, r"pivots of 4 clusters add up to 8, but 7 rows"),
        (
            {"pivot_min": [0, 40, 0, 0], "size_max": 39},
            {"pivots": np.ones(150)},
            r"Cluster 1 needs 40 pivots, and its maximum size is 39",
        ),
        (
            {"pivot_min": [0, 60, 0, 0], "size_min": 35},
            {"pivots": np.ones(150)},
            r"add up to 165, but there are 150 rows; reduce size_min, or reduce pivot_min",
        ),
    ],
)
def test_sizes_that_clash_are_named(options: dict[str, Any], fit: dict[str, Any], message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        SizeConstrainedKMeans(4, **options).fit(X, **fit)


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"size_min": [1, 2]}, {}, r"size_min must be a number or one number for each of 4 clusters"),
        ({"size_min": 1.5}, {}, r"size_min is 1\.5; sizes are numbers of rows: whole, from 0 on"),
        ({"size_min": -1}, {}, r"'size_min' parameter"),
        ({"size_max": "many"}, {}, r"'size_max' parameter"),
        (
            {"size_max": [1, 2], "outlier_cost": 1.0},
            {},
            r"size_max must be a number or one number for each of 4 clusters, got an array of shape \(2,\)",
        ),
        ({"size_max": list("abcd"), "outlier_cost": 1.0}, {}, r"size_max must be a number or one number per cluster"),
        ({"size_max": [1, -2, 3, 4], "outlier_cost": 1.0}, {}, r"size_max is -2 for cluster 1"),
        ({"size_max": [np.nan] * 4, "outlier_cost": 1.0}, {}, r"size_max is nan for cluster 0"),
        ({"metric": "cosine"}, {}, r"'metric' parameter"),
        ({"outlier_cost": 0.0}, {}, r"'outlier_cost' parameter"),
        ({"pivot_min": 1}, {}, r"pivot_min was given without pivots; a minimum number of pivots needs both"),
        ({}, {"pivots": np.ones(150)}, r"pivots was given without pivot_min"),
        ({"pivot_min": 1}, {"pivots": np.ones(149)}, r"there are 150 rows, and it has the shape \(149,\)"),
        ({"pivot_min": 1}, {"pivots": np.arange(150)}, r"True or False for every row"),
        ({"pivot_min": 1.5}, {"pivots": np.ones(150)}, r"'pivot_min' parameter"),
        ({"pivot_min": [1.5] * 4}, {"pivots": np.ones(150)}, r"pivot_min is 1\.5 for cluster 0"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], fit: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SizeConstrainedKMeans(4, **options).fit(X, **fit)


# ---- polish, and the ratio to plain k-means


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 9999), weighted=st.booleans(), with_outliers=st.booleans())
def test_moves_and_swaps_never_raise_the_inertia_and_keep_the_sizes(
    seed: int, weighted: bool, with_outliers: bool
) -> None:
    rng = np.random.RandomState(seed)
    n, k = 40, 4
    table = rng.normal(size=(n, 2)) * [1, 3] + 100
    lowest, highest = rng.randint(0, 10, size=k), rng.randint(10, 16, size=k)
    weight = rng.uniform(0.5, 2.0, size=n) if weighted else None
    options = {
        "size_min": lowest,
        "size_max": highest,
        "size_by": "rows",
        "init": table[:k],
        "tol": 0,
        "outlier_cost": 9.0 if with_outliers else None,
    }
    plain = SizeConstrainedKMeans(k, **options).fit(table, sample_weight=weight)
    model = SizeConstrainedKMeans(k, polish=True, **options).fit(table, sample_weight=weight)
    assert never_rises(model.objective_)
    assert model.objective_[: len(plain.objective_)] == plain.objective_
    assert (model.sizes_ >= lowest).all()
    assert (model.sizes_ <= highest).all()
    if not with_outliers:
        assert model.objective_[-1] == pytest.approx(inertia_of(table, model.labels_, weight), rel=1e-6)
    assert_no_move_helps(table, model, np.ones(n) if weight is None else weight, lowest, highest)


def inertia_of(X: Any, labels: Any, weight: Any = None) -> float:
    """The weighted sum of squared distances to the means of the clusters."""
    weight = np.ones(len(X)) if weight is None else weight
    total = 0.0
    for c in set(labels[labels >= 0]):
        members, w = X[labels == c], weight[labels == c]
        total += float(w @ np.square(members - np.average(members, axis=0, weights=w)).sum(axis=1))
    return total


def assert_no_move_helps(X: Any, model: Any, weight: Any, lowest: Any, highest: Any) -> None:
    """No legal move of one row lowers the sum of squared distances to the means."""
    least = inertia_of(X, model.labels_, weight)
    for i, old in enumerate(model.labels_):
        for new in range(len(lowest)):
            if old in (-1, new) or model.sizes_[old] <= max(1, lowest[old]) or model.sizes_[new] >= highest[new]:
                continue
            moved = model.labels_.copy()
            moved[i] = new
            assert inertia_of(X, moved, weight) >= least * (1 - 1e-9)


def test_polish_finds_what_fixed_centers_hide() -> None:
    """With exact sizes only swaps can help, and on small clusters they often do."""
    gains = []
    for seed in range(20):
        table = np.random.RandomState(seed).normal(size=(24, 2))
        options = {"size_min": 6, "size_max": 6, "init": table[:4], "tol": 0}
        plain = SizeConstrainedKMeans(4, **options).fit(table)
        better = SizeConstrainedKMeans(4, polish=True, **options).fit(table)
        gains.append(plain.inertia_ - better.inertia_)
        np.testing.assert_array_equal(better.sizes_, 6)
    assert min(gains) >= 0
    assert np.count_nonzero(np.array(gains) > 1e-6) >= 5


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 9999), weighted=st.booleans())
def test_no_chain_through_three_clusters_lowers_a_polished_inertia(seed: int, weighted: bool) -> None:
    rng = np.random.RandomState(seed)
    table = rng.normal(size=(18, 2))
    weight = rng.uniform(0.5, 2.0, size=18) if weighted else None
    # In clusters of up to 8 rows, all rows are tried.
    model = SizeConstrainedKMeans(3, size_min=5, size_max=7, size_by="rows", polish=True, init=table[:3], tol=0).fit(
        table, sample_weight=weight
    )
    labels, least = model.labels_, inertia_of(table, model.labels_, weight)
    for a, b, c in permutations(range(3)):
        has_room = model.sizes_[a] > 5 and model.sizes_[c] < 7
        for x, y in product(np.flatnonzero(labels == a), np.flatnonzero(labels == b)):
            moved = labels.copy()
            moved[[x, y]] = b, c
            assert not has_room or inertia_of(table, moved, weight) >= least * (1 - 1e-9)
            for z in np.flatnonzero(labels == c) if a < min(b, c) else []:
                closed = moved.copy()
                closed[z] = a
                assert inertia_of(table, closed, weight) >= least * (1 - 1e-9)


def test_chains_find_what_moves_and_swaps_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [np.random.RandomState(seed).normal(size=(40, 2)) for seed in range(12)]

    def inertias() -> np.ndarray:
        models = [SizeConstrainedKMeans(4, size_min=10, polish=True, init=table[:4], tol=0) for table in tables]
        return np.array([model.fit(table).inertia_ for model, table in zip(models, tables, strict=True)])

    with_chains = inertias()
    monkeypatch.setattr(_polish, "chain_rows", lambda *_: 0.0)
    without = inertias()
    assert with_chains.sum() < without.sum()
    assert np.count_nonzero(with_chains < without * (1 - 1e-9)) >= 2


def test_polish_of_sparse_rows_is_that_of_dense_rows() -> None:
    table = np.where(np.abs(X) < 3, 0.0, X)
    options = {"size_min": 37, "polish": True, "random_state": 0}
    dense, thin = (SizeConstrainedKMeans(4, **options).fit(t) for t in (table, sparse.csr_matrix(table)))
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    assert dense.inertia_ == pytest.approx(thin.inertia_)


@both_metrics
def test_the_ratio_to_plain_k_means_is_taken_at_nearest_centers(metric: str) -> None:
    """Section 3: the same starts, and the objective without sizes for both."""
    for seed in range(4):
        options = {"metric": metric, "init": "random", "n_init": 3, "random_state": seed}
        plain = SizeConstrainedKMeans(4, compare=True, **options).fit(X)
        assert plain.inertia_ratio_ == pytest.approx(1)
        sized = SizeConstrainedKMeans(4, size_min=37, compare=True, **options).fit(X)
        assert sized.inertia_ratio_ == pytest.approx(sized.score(X) / plain.score(X))
    assert not hasattr(SizeConstrainedKMeans(4).fit(X), "inertia_ratio_")
    equal = np.repeat([[0.0], [1.0]], 5, axis=0)
    same = SizeConstrainedKMeans(2, size_min=5, compare=True, random_state=0).fit(equal)
    assert same.inertia_ratio_ == 1
    split = SizeConstrainedKMeans(2, size_min=[7, 3], compare=True, random_state=0).fit(equal)
    assert split.inertia_ratio_ == np.inf


def test_polish_needs_means() -> None:
    with pytest.raises(ValueError, match=r'polish=True needs metric="sqeuclidean"'):
        SizeConstrainedKMeans(4, metric="manhattan", polish=True).fit(X)


# ---- sizes as sums of weights


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 9999), metric=st.sampled_from(METRICS))
def test_sizes_are_sums_of_weights(seed: int, metric: str) -> None:
    rng = np.random.RandomState(seed)
    table, weight = rng.normal(size=(60, 2)), rng.uniform(1, 10, size=60)
    lowest, highest = 0.8 * weight.sum() / 4, 1.3 * weight.sum() / 4
    model = SizeConstrainedKMeans(4, size_min=lowest, size_max=highest, metric=metric, random_state=seed)
    model.fit(table, sample_weight=weight)
    np.testing.assert_allclose(model.sizes_, np.bincount(model.labels_, weight))
    assert model.sizes_.min() >= lowest * (1 - 1e-9)
    assert model.sizes_.max() <= highest * (1 + 1e-9)
    rows = SizeConstrainedKMeans(4, size_min=12, size_by="rows", metric=metric, random_state=seed)
    rows.fit(table, sample_weight=weight)
    np.testing.assert_array_equal(rows.sizes_, np.bincount(rows.labels_))
    assert rows.sizes_.min() >= 12
    assert never_rises(rows.objective_)


def test_weights_of_one_are_no_weights_and_whole_weights_count_like_copies() -> None:
    options = {"size_min": 30, "size_max": 45, "init": X[:4], "tol": 0}
    plain = SizeConstrainedKMeans(4, **options).fit(X)
    ones = SizeConstrainedKMeans(4, **options).fit(X, sample_weight=np.ones(150))
    assert ones.inertia_ == pytest.approx(plain.inertia_)
    np.testing.assert_array_equal(ones.sizes_, plain.sizes_)
    twice = SizeConstrainedKMeans(4, init=X[:4], tol=0, size_min=60, size_max=90).fit(
        X, sample_weight=np.full(150, 2.0)
    )
    np.testing.assert_array_equal(twice.labels_, plain.labels_)
    assert twice.inertia_ == pytest.approx(2 * plain.inertia_)


def test_rows_of_weight_zero_fill_no_size_and_go_to_a_near_cluster() -> None:
    table = np.array([[0.0], [1.0], [9.0], [10.0], [0.5], [9.5]])
    weight = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    model = SizeConstrainedKMeans(2, size_min=2, init=[[0.0], [10.0]]).fit(table, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1, 0, 1])
    np.testing.assert_array_equal(model.sizes_, [2, 2])


def test_sums_that_whole_rows_cannot_make_are_refused_or_warned_of() -> None:
    weight = [5.0, 5.0, 5.0, 1.0]
    model = SizeConstrainedKMeans(2, size_min=8, random_state=0)
    message = r"cluster \d weighs \d+, and its minimum is 8"
    with pytest.raises(InfeasibleError, match=message):
        model.fit(X[:4], sample_weight=weight)
    with pytest.warns(InfeasibleWarning, match=message):
        model.set_params(on_infeasible="relax").fit(X[:4], sample_weight=weight)
    assert sorted(model.sizes_) == [6, 10]


# ---- groups apart


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 9999), apart_max=st.integers(1, 2), metric=st.sampled_from(METRICS))
def test_a_cluster_has_few_rows_of_a_group(seed: int, apart_max: int, metric: str) -> None:
    rng = np.random.RandomState(seed)
    table, groups = rng.normal(size=(40, 2)), np.repeat(np.arange(14), 3)[:40]
    groups[rng.rand(40) < 0.3] = -1
    model = SizeConstrainedKMeans(3, size_min=10, apart_max=apart_max, metric=metric, random_state=seed, tol=0)
    model.fit(table, apart=groups)
    assert model.sizes_.min() >= 10
    assert never_rises(model.objective_)
    for group in range(14):
        assert np.bincount(model.labels_[groups == group], minlength=3).max() <= apart_max


def test_names_of_groups_and_groups_that_are_too_large() -> None:
    families = np.array(["kim", "lee", ""] * 50, dtype=object)
    with pytest.raises(InfeasibleError, match=r"The group kim has 50 rows, and 4 clusters with at most 1 of them"):
        SizeConstrainedKMeans(4).fit(X, apart=families)
    model = SizeConstrainedKMeans(4, apart_max=13, random_state=0).fit(X, apart=families)
    assert np.bincount(model.labels_[families == "kim"]).max() <= 13


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"pivot_min": 1}, {"pivots": np.ones(150), "sample_weight": np.ones(150)}, r"pivot_min counts rows"),
        ({}, {"apart": np.arange(150), "sample_weight": np.ones(150)}, r'apart counts rows.*pass size_by="rows"'),
        ({"outlier_cost": 1.0}, {"apart": np.arange(150)}, r"apart and outlier_cost cannot be combined"),
        ({"pivot_min": 1}, {"pivots": np.ones(150), "apart": np.arange(150)}, r"apart and pivot_min cannot be"),
        (
            {"apart_max": 2},
            {"apart": np.arange(150), "constraints": Constraints([(0, 1)])},
            r"apart cannot be combined with links for apart_max=2",
        ),
        ({"apart_max": 0}, {"apart": np.arange(150)}, r"'apart_max' parameter"),
        ({}, {"apart": np.arange(149)}, r"apart must name a group, or -1, for each of 150 rows"),
    ],
)
def test_conditions_that_do_not_go_together(options: dict[str, Any], fit: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SizeConstrainedKMeans(4, **options).fit(X, **fit)


def test_all_that_is_given_for_rows_is_routed_with_them() -> None:
    groups = np.arange(150) // 3
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), SizeConstrainedKMeans(4, size_min=30, random_state=0))
        pipeline.fit(X, apart=groups)
    alone = SizeConstrainedKMeans(4, size_min=30, random_state=0).fit(StandardScaler().fit_transform(X), apart=groups)
    np.testing.assert_array_equal(pipeline[-1].labels_, alone.labels_)
