"""Blocks of rows, dense and sparse, against plain numpy; results do not depend on the number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from mustlink import _rows
from mustlink._rows import RowBlocks, Standardizer

SHAPES = [(1, 1, 1), (7, 3, 2), (300, 5, 4), (1000, 2, 9), (513, 17, 3)]


def squares(X: NDArray[Any], centers: NDArray[Any]) -> NDArray[np.float64]:
    return np.square(X.astype(float)[:, None, :] - centers.astype(float)[None]).sum(axis=2)


def make(n: int, d: int, k: int, dtype: Any = np.float64) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.RandomState(n + d + k)
    X = rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.6)
    return X.astype(dtype), rng.normal(size=(k, d)).astype(dtype).astype(float), rng.uniform(0, 2, size=n)


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_assign_finds_nearest_centers_and_sums(n: int, d: int, k: int, dtype: Any, form: Any) -> None:
    X, centers, weight = make(n, d, k, dtype)
    found = RowBlocks(form(X)).assign(centers, weight)
    expected = squares(X, centers)
    tolerance = 1e-10 if dtype == np.float64 else 1e-4
    own = expected[np.arange(n), found.labels]
    np.testing.assert_allclose(own, expected.min(axis=1), atol=tolerance)
    assert found.inertia == pytest.approx(float(weight @ own), rel=tolerance, abs=tolerance)
    one_hot = np.eye(k)[found.labels] * weight[:, None]
    np.testing.assert_allclose(found.counts, one_hot.sum(axis=0))
    np.testing.assert_allclose(
        found.sums + found.counts[:, None] * found.origin, one_hot.T @ X.astype(float), atol=10 * tolerance
    )
    assert found.labels.dtype == np.int32


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_squared_distances(n: int, d: int, k: int, form: Any) -> None:
    X, centers, _ = make(n, d, k)
    np.testing.assert_allclose(RowBlocks(form(X)).squared_distances(centers), squares(X, centers), atol=1e-12)


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_prices_are_subtracted_from_weighted_distances(n: int, d: int, k: int, dtype: Any) -> None:
    X, centers, weight = make(n, d, k, dtype)
    prices = np.random.RandomState(n).normal(size=k)
    labels, gaps, own = RowBlocks(X).assign_priced(centers, weight, prices)
    squared = squares(X, centers)
    priced = np.column_stack([weight[:, None] * squared - prices, np.full(n, np.inf)])
    np.testing.assert_array_equal(labels, priced.argmin(axis=1))
    np.testing.assert_allclose(gaps, np.diff(np.sort(priced, axis=1)[:, :2], axis=1).ravel(), atol=1e-10)
    np.testing.assert_allclose(own, squared[np.arange(n), labels], atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_rows_of_given_labels_are_summed(dtype: Any, form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "MIN_ROWS_PER_THREAD", 100)
    X, _, weight = make(513, 17, 3, dtype)
    labels = np.random.RandomState(0).randint(-1, 3, size=513).astype(np.int32)
    found = RowBlocks(form(X)).summed(labels, weight, 3, 2.5)
    one_hot = np.vstack([np.eye(3), np.zeros(3)])[labels] * weight[:, None]
    np.testing.assert_allclose(found.counts, one_hot.sum(axis=0))
    np.testing.assert_allclose(found.sums + found.counts[:, None] * found.origin, one_hot.T @ X, rtol=1e-6, atol=1e-5)
    assert found.inertia == 2.5


def test_rows_far_from_zero_are_assigned_exactly() -> None:
    rng = np.random.RandomState(0)
    X = 1e8 + rng.normal(size=(500, 3))
    centers = X[:4].copy()
    found = RowBlocks(X).assign(centers, np.ones(500))
    np.testing.assert_array_equal(found.labels, squares(X, centers).argmin(axis=1))
    assert found.inertia == pytest.approx(squares(X, centers).min(axis=1).sum(), rel=1e-9)


@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_results_do_not_depend_on_the_number_of_threads(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, centers, weight = make(3000, 4, 5)
    monkeypatch.setattr(_rows, "MIN_ROWS_PER_THREAD", 100)
    outcomes = []
    for n_threads in (1, 2, 7):
        monkeypatch.setattr(_rows, "n_threads", lambda n_threads=n_threads: n_threads)
        outcomes.append(RowBlocks(form(X)).assign(centers, weight))
    for other in outcomes[1:]:
        assert other.inertia == outcomes[0].inertia
        np.testing.assert_array_equal(other.labels, outcomes[0].labels)
        np.testing.assert_array_equal(other.sums, outcomes[0].sums)
        np.testing.assert_array_equal(other.counts, outcomes[0].counts)


def test_blocks_cover_the_rows_and_bound_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "MIN_ROWS_PER_THREAD", 10)
    monkeypatch.setattr(_rows, "MAX_PARTIAL_SUMS", 1000)
    rows = RowBlocks(np.zeros((255, 1)))
    for n_sums, most in ((1, 25), (100, 10), (999, 1), (5000, 1)):
        blocks = rows._blocks(n_sums)
        assert len(blocks) == most
        np.testing.assert_array_equal(np.concatenate([np.arange(255)[block] for block in blocks]), np.arange(255))


@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_averages_scatter_and_variance(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "PIECE_ROWS", 7)
    X, _, weight = make(40, 3, 2)
    group = np.arange(40) % 4
    weight[group == 2] = 0.0
    rows = RowBlocks(form(X))
    means = rows.averages(group, 4, weight)
    for g in range(4):
        inside = group == g
        expected = np.average(X[inside], axis=0, weights=None if g == 2 else weight[inside])
        np.testing.assert_allclose(means.rows(np.array([g]))[0], expected, atol=1e-12)
    apart = np.square(X - means.rows(slice(None))[group]).sum(axis=1)
    np.testing.assert_allclose(rows.scatter(group, means, weight), np.bincount(group, weight * apart), atol=1e-12)
    centered = X - np.average(X, axis=0, weights=weight)
    assert rows.mean_variance(weight) == pytest.approx(np.average(np.square(centered), axis=0, weights=weight).mean())


def test_order_by_content_does_not_depend_on_the_numbering() -> None:
    X, _, _ = make(50, 3, 2)
    order = np.random.RandomState(1).permutation(50)
    np.testing.assert_array_equal(X[order][RowBlocks(X[order]).order_by_content()], X[RowBlocks(X).order_by_content()])


@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_points_are_added_to_clusters_and_moved_between_them(form: Any) -> None:
    X, centers, weight = make(60, 4, 3)
    found = RowBlocks(form(X)).assign(centers, np.where(np.arange(60) < 50, weight, 0.0))
    found.labels[50:] = np.arange(10) % 3
    found.add(form(X), np.arange(50, 60), found.labels[50:], weight[50:])
    moved = np.flatnonzero(found.labels == 1)[:4]
    found.move(X[moved], weight[moved], 1, 2)
    found.labels[moved] = 2
    one_hot = np.eye(3)[found.labels] * weight[:, None]
    np.testing.assert_allclose(found.counts, one_hot.sum(axis=0))
    np.testing.assert_allclose(found.sums + found.counts[:, None] * found.origin, one_hot.T @ X, atol=1e-10)


def test_nearest_and_own_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "PIECE_ROWS", 7)
    X, centers, _ = make(40, 3, 4)
    expected, labels = squares(X, centers), np.arange(40) % 4
    np.testing.assert_allclose(RowBlocks(X).nearest_distances(centers), expected.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(
        RowBlocks(X).distances_to_own(centers, labels), expected[np.arange(40), labels], atol=1e-12
    )


def test_standardized_columns_and_back() -> None:
    X = np.random.RandomState(0).normal(size=(50, 3)) * [1, 100, 0.01] + [5, 0, -3]
    X = np.column_stack([X, np.full(50, 7.0)])
    standardizer = Standardizer(X)
    Z = standardizer.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), [1, 1, 1, 0])
    np.testing.assert_allclose(standardizer.inverse_transform(Z), X)
    # In the given weights, standardized distances are those of X, up to one factor.
    ratio = np.square((Z[0] - Z[1]) * np.sqrt(standardizer.original_weights())).sum() / np.square(X[0] - X[1]).sum()
    again = np.square((Z[2] - Z[3]) * np.sqrt(standardizer.original_weights())).sum() / np.square(X[2] - X[3]).sum()
    assert ratio == pytest.approx(again)
    assert standardizer.original_weights().mean() == pytest.approx(1)


def test_a_constant_column_is_zero_at_any_magnitude() -> None:
    """The mean of equal numbers is not always that number."""
    X = np.column_stack([np.full(13, 3.3e62), np.linspace(1e62, 2e62, 13)])
    assert X.mean(axis=0)[0] != X[0, 0]
    standardizer = Standardizer(X)
    Z = standardizer.transform(X)
    assert not Z[:, 0].any()
    np.testing.assert_array_equal(standardizer.inverse_transform(Z)[:, 0], X[:, 0])


def test_a_constant_column_of_many_rows_keeps_its_unit() -> None:
    """The rounding error of its mean exceeds that of one number by far."""
    X = np.column_stack([np.full(200_000, 0.1), np.arange(200_000.0)])
    assert abs(X.mean(axis=0)[0] - 0.1) > 4 * np.finfo(float).eps * 0.1
    assert Standardizer(X).scale[0] == 1.0
