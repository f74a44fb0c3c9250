"""Balanced clustering: sample sizes, populating, refining, and the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.mixture import GaussianMixture

from mustlink import BalancedClustering
from mustlink.errors import InfeasibleError
from mustlink.sizes import assign, balanced_sample_size
from mustlink.sizes._balanced._populate import populate_stable, release_rows
from mustlink.sizes._balanced._refine import find_cycle, refine_by_moves
from reference import balanced

# Sample sizes


def test_the_sample_sizes_of_table_8_1() -> None:
    """The book prints 1277 where the relation that gives its other entries gives 1278."""
    confidence = [1 - 10.0**-power for power in range(1, 6)]
    loose = [balanced_sample_size(10, 50, 10, value) for value in confidence]
    assert loose == [1160, 1200, 1239, 1278, 1315]
    tight = [balanced_sample_size(10, 50, 10, value, sampling="binomial") for value in confidence]
    assert tight == [670, 735, 791, 842, 890]
    assert balanced_sample_size(10) == 1278
    # At 99.99%, about 2.5 times as many rows per part as are needed.
    assert pytest.approx(2.5, abs=0.06) == 1278 / 10 / 50


@pytest.mark.parametrize("sampling", ["coupon", "binomial"])
def test_samples_fail_as_rarely_as_promised(sampling: Any) -> None:
    rng = np.random.default_rng(0)
    k, s, l_parts = 5, 10, 8
    n = balanced_sample_size(k, s, l_parts, 0.95, sampling=sampling)
    shares = np.array([1 / 8, 1 / 8, 1 / 8, 1 / 8, 4 / 8])
    fails = (rng.multinomial(n, shares, size=20_000).min(axis=1) < s).mean()
    assert fails <= 0.05
    if sampling == "binomial":
        assert (rng.multinomial(n - 20, shares, size=20_000).min(axis=1) < s).mean() > 0.05


def test_sample_sizes_of_one_cluster_and_wrong_numbers() -> None:
    assert balanced_sample_size(1, 50, sampling="binomial") == 50
    for arguments, message in [
        ((0,), "n_clusters == 0, must be >= 1"),
        ((3, 0), "rows_per_cluster == 0, must be >= 1"),
        ((3, 50, 2), "n_parts=2 is below n_clusters=3"),
        ((3, 50, 3, 1.0), r"confidence=1.0 must be between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            balanced_sample_size(*arguments)
    with pytest.raises(ValueError, match="sampling='other' must be 'coupon' or 'binomial'"):
        balanced_sample_size(3, sampling="other")  # type: ignore[arg-type]


# Populating and refining


def problem(seed: int) -> tuple[Any, Any, Any, float]:
    """Squared distances without ties, labels of a sample, ones, and a minimum size."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 40)), int(rng.integers(1, 6))
    squares = rng.permutation(n * k).reshape(n, k) + rng.random()
    labels = np.where(rng.random(n) < rng.random(), squares.argmin(axis=1) if rng.random() < 0.5 else 0, -1)
    return squares, labels, np.ones(n), float(rng.integers(0, n // k + 1))


@given(seed=st.integers(0, 100_000))
@settings(deadline=None, max_examples=150)
def test_populating_is_stable_and_keeps_the_minimum(seed: int) -> None:
    squares, labels, ones, size_min = problem(seed)
    k = squares.shape[1]
    lowest = np.full(k, size_min)
    released = release_rows(squares, ones, lowest, labels)
    result = populate_stable(squares, ones, lowest, released)
    assert np.bincount(result, minlength=k).min() >= size_min
    np.testing.assert_array_equal(result[released >= 0], released[released >= 0])
    if not (labels < 0).any() or size_min == 0:
        nearest = squares.argmin(axis=1)
        np.testing.assert_array_equal(result[labels < 0], nearest[labels < 0])
    quotas = np.maximum(size_min - np.bincount(released[released >= 0], minlength=k), 0).astype(int)
    free = np.flatnonzero(released < 0).tolist()
    placed = balanced.propose(squares, quotas, free)
    assert len(placed) == quotas.sum()
    assert balanced.is_stable(squares, placed, quotas)
    for row in free:
        assert result[row] == placed.get(row, squares[row].argmin())


def test_rows_are_released_only_as_needed() -> None:
    squares = np.array([[0.0, 9], [1, 9], [2, 9], [3, 9], [9, 0]])
    labels = np.array([0, 0, 0, 0, -1])
    released = release_rows(squares, np.ones(5), np.full(2, 2.0), labels)
    assert released.tolist() == [0, 0, 0, -1, -1]
    assert release_rows(squares, np.ones(5), np.full(2, 1.0), labels).tolist() == labels.tolist()


@given(seed=st.integers(0, 100_000))
@settings(deadline=None, max_examples=150)
def test_refining_lowers_the_cost_until_nothing_can_move(seed: int) -> None:
    squares, labels, ones, size_min = problem(seed)
    n, k = squares.shape
    lowest = np.full(k, size_min)
    start = populate_stable(squares, ones, lowest, release_rows(squares, ones, lowest, labels))
    result = refine_by_moves(squares, ones, lowest, start)
    assert np.bincount(result, minlength=k).min() >= size_min
    every = np.arange(n)
    cost, before = squares[every, result].sum(), squares[every, start].sum()
    assert cost <= before
    assert not balanced.can_improve(squares, result, lowest)
    exact = assign(squares, size_min=int(size_min))
    assert exact.cost(squares) <= cost + 1e-9
    np.testing.assert_array_equal(refine_by_moves(squares, ones, lowest, result), result)


def test_only_a_group_can_move_where_all_clusters_are_at_the_minimum() -> None:
    squares = np.array([[1.0, 0.0, 5.0], [5.0, 1.0, 0.0], [0.0, 5.0, 1.0]])
    assert refine_by_moves(squares, np.ones(3), np.ones(3), np.arange(3)).tolist() == [1, 2, 0]


@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_weights_keep_the_minimum_while_moving(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 30, 4
    squares, weight = rng.random((n, k)), rng.integers(0, 4, n).astype(float)
    weight[:k] = 1.0
    labels = rng.integers(k, size=n)
    sizes = np.bincount(labels, weight, k)
    lowest = np.full(k, 0.9 * sizes.min())
    result = refine_by_moves(squares, weight, lowest, labels)
    assert (np.bincount(result, weight, k) >= lowest - 1e-9).all()
    every = np.arange(n)
    assert weight @ squares[every, result] <= weight @ squares[every, labels] + 1e-12


@given(edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda e: e[0] != e[1]), max_size=14))
def test_a_cycle_is_found_if_there_is_one(edges: list[tuple[int, int]]) -> None:
    gain = np.zeros((6, 6))
    for a, b in edges:
        gain[a, b] = 1.0
    cycle = find_cycle(gain)
    reach = gain > 0
    for middle in range(6):
        reach |= reach[:, [middle]] & reach[[middle], :]
    assert bool(cycle) == bool(reach.diagonal().any())
    assert all(gain[a, b] > 0 for a, b in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True))
    assert len(set(cycle)) == len(cycle)


# The whole

BLOBS, _ = make_blobs([900, 60, 40], centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.8, random_state=0)
VARIANTS = [("stable", "moves"), ("stable", None), ("stable", "exact"), ("greedy", "exact")]


@pytest.mark.parametrize(("populate", "refine"), VARIANTS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("balance", [0.3, 1.0])
def test_the_minimum_is_kept(metric: Any, populate: Any, refine: Any, balance: float) -> None:
    options: dict[str, Any] = {"metric": metric, "populate": populate, "refine": refine, "random_state": 0}
    model = BalancedClustering(3, balance=balance, rows_per_cluster=20, **options).fit(BLOBS + 5)
    assert len(model.sample_) < 300
    assert model.size_min_ == np.floor(balance * 1000 / 3)
    assert model.sizes_.min() >= model.size_min_
    assert model.sizes_.sum() == 1000


def test_greedy_variants_guarantee_nothing() -> None:
    options: dict[str, Any] = {"balance": 1.0, "populate": "greedy", "rows_per_cluster": 20, "random_state": 0}
    for refine in (None, "moves"):
        model = BalancedClustering(3, refine=refine, **options).fit(BLOBS)
        assert model.sizes_.min() < model.size_min_


def test_exact_refinement_costs_least() -> None:
    costs = {}
    for refine in ("exact", "moves", None):
        model = BalancedClustering(3, balance=0.9, refine=refine, random_state=0).fit(BLOBS)
        costs[refine] = model.inertia_
        own = np.square(BLOBS - model.cluster_centers_[model.labels_]).sum()
        assert model.inertia_ == pytest.approx(own)
    assert costs["exact"] <= costs["moves"] <= costs[None]


def test_moves_go_on_with_representatives_of_all_rows() -> None:
    """Populating is stable for those of the sample: no row moves before they are estimated again."""
    rng = np.random.default_rng(0)
    X = 4.0 * rng.normal(size=(20, 8))[rng.choice(20, 600, p=rng.dirichlet(np.ones(20)))] + rng.normal(size=(600, 8))
    options: dict[str, Any] = {"balance": 0.9, "rows_per_cluster": 15, "random_state": 0}
    moved, populated = (BalancedClustering(10, refine=refine, **options).fit(X) for refine in ("moves", None))
    assert moved.n_iter_ > 1
    assert moved.inertia_ < 0.99 * populated.inertia_
    centers = np.stack([X[moved.labels_ == cluster].mean(axis=0) for cluster in range(10)])
    squares = np.square(X[:, None] - centers).sum(axis=2)
    assert not balanced.can_improve(squares, moved.labels_, np.full(10, moved.size_min_))


def test_without_a_minimum_it_is_the_clusterer_of_the_sample() -> None:
    X = load_iris().data
    ours = BalancedClustering(3, balance=0.0, sampling=None, random_state=0).fit(X)
    sklearn = KMeans(3, n_init=10, random_state=0, tol=0.0).fit(X)
    assert ours.inertia_ == pytest.approx(sklearn.inertia_)
    np.testing.assert_array_equal(ours.sample_, np.arange(150))


@pytest.mark.parametrize(
    "estimator", [AgglomerativeClustering(), GaussianMixture(), KMeans(init="random", n_init=1)], ids=repr
)
def test_any_clusterer_of_the_sample(estimator: Any) -> None:
    model = BalancedClustering(3, estimator=estimator, size_min=200, rows_per_cluster=20, random_state=0).fit(BLOBS)
    assert model.sizes_.min() >= 200


def test_noise_of_the_sample_joins_the_other_rows() -> None:
    model = BalancedClustering(4, estimator=HDBSCAN(min_cluster_size=15, copy=True), sampling=None).fit(BLOBS)
    assert model.sizes_.min() >= model.size_min_
    with pytest.raises(ValueError, match=r"HDBSCAN found \d+ clusters in the sample of 1,000 rows, more than"):
        BalancedClustering(1, estimator=HDBSCAN(min_cluster_size=5, copy=True), sampling=None).fit(BLOBS)


def test_weights_count_in_sizes() -> None:
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, 1000)
    model = BalancedClustering(3, balance=0.9, random_state=0).fit(BLOBS, sample_weight=weight)
    assert model.sizes_.sum() == pytest.approx(weight.sum())
    assert model.size_min_ == pytest.approx(0.3 * weight.sum())
    assert model.sizes_.min() >= model.size_min_ - 2.0


def test_sparse_rows_and_rows_of_zeros() -> None:
    X = np.abs(BLOBS) * (np.abs(BLOBS) > 0.5)
    for metric in ("euclidean", "cosine"):
        models = [
            BalancedClustering(3, metric=metric, balance=0.9, random_state=0).fit(form)  # type: ignore[arg-type]
            for form in (X, sparse.csr_matrix(X))
        ]
        np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
        is_zero = ~X.any(axis=1)
        assert is_zero.any()
        assert ((models[0].labels_ < 0) == is_zero).all() == (metric == "cosine")
        assert ((models[0].predict(X) < 0) == is_zero).all() == (metric == "cosine")
        assert (models[1].predict(sparse.csr_matrix(X[is_zero])) < 0).all() == (metric == "cosine")


def test_sizes_that_cannot_be() -> None:
    with pytest.raises(InfeasibleError, match="minimum sizes of 3 clusters add up to 1,200, but there are 1,000 rows"):
        BalancedClustering(3, size_min=400).fit(BLOBS)
    with pytest.raises(ValueError, match=r"size_min is 2.5; sizes are numbers of rows"):
        BalancedClustering(3, size_min=2.5).fit(BLOBS)
    with pytest.raises(ValueError, match="n_parts=2 is below n_clusters=3"):
        BalancedClustering(3, n_parts=2).fit(BLOBS)
    with pytest.raises(ValueError, match="'estimator' parameter"):
        BalancedClustering(3, estimator="kmeans").fit(BLOBS)


def test_verbose_shows_the_refinements(capsys: pytest.CaptureFixture[str]) -> None:
    X = load_iris().data
    BalancedClustering(3, random_state=0).fit(X)
    assert capsys.readouterr().out == ""
    model = BalancedClustering(3, verbose=1, random_state=0).fit(X)
    shown = capsys.readouterr().out
    assert "BalancedClustering" in shown
    assert f"{model.n_iter_}/100" in shown
