"""The passes over rows, dense and sparse, against plain numpy; the number of threads never shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from mustlink.kmeans import _table
from mustlink.kmeans._table import Table

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
def test_assign_gives_nearest_centres_and_what_means_need(n: int, d: int, k: int, dtype: Any, form: Any) -> None:
    X, centers, weight = make(n, d, k, dtype)
    found = Table(form(X)).assign(centers, weight)
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
    np.testing.assert_allclose(Table(form(X)).squared_distances(centers), squares(X, centers), atol=1e-12)


def test_a_table_far_from_zero_is_assigned_exactly() -> None:
    rng = np.random.RandomState(0)
    X = 1e8 + rng.normal(size=(500, 3))
    centers = X[:4].copy()
    found = Table(X).assign(centers, np.ones(500))
    np.testing.assert_array_equal(found.labels, squares(X, centers).argmin(axis=1))
    assert found.inertia == pytest.approx(squares(X, centers).min(axis=1).sum(), rel=1e-9)


@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_the_number_of_threads_does_not_show(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, centers, weight = make(3000, 4, 5)
    monkeypatch.setattr(_table, "ROWS_PER_THREAD", 100)
    outcomes = []
    for n_threads in (1, 2, 7):
        monkeypatch.setattr(_table, "n_threads", lambda n_threads=n_threads: n_threads)
        outcomes.append(Table(form(X)).assign(centers, weight))
    for other in outcomes[1:]:
        assert other.inertia == outcomes[0].inertia
        np.testing.assert_array_equal(other.labels, outcomes[0].labels)
        np.testing.assert_array_equal(other.sums, outcomes[0].sums)
        np.testing.assert_array_equal(other.counts, outcomes[0].counts)


def test_blocks_cover_the_rows_and_keep_few_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table, "ROWS_PER_THREAD", 10)
    monkeypatch.setattr(_table, "MOST_PARTIAL_SUMS", 1000)
    table = Table(np.zeros((255, 1)))
    for n_sums, most in ((1, 25), (100, 10), (999, 1), (5000, 1)):
        blocks = table._blocks(n_sums)
        assert len(blocks) == most
        np.testing.assert_array_equal(np.concatenate([np.arange(255)[block] for block in blocks]), np.arange(255))


@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_averages_scatter_and_variance(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table, "ROWS_AT_ONCE", 7)
    X, _, weight = make(40, 3, 2)
    group = np.arange(40) % 4
    weight[group == 2] = 0.0
    table = Table(form(X))
    means = table.averages(group, 4, weight)
    for g in range(4):
        inside = group == g
        expected = np.average(X[inside], axis=0, weights=None if g == 2 else weight[inside])
        np.testing.assert_allclose(means.rows(np.array([g]))[0], expected, atol=1e-12)
    apart = np.square(X - means.rows(slice(None))[group]).sum(axis=1)
    np.testing.assert_allclose(table.scatter(group, means, weight), np.bincount(group, weight * apart), atol=1e-12)
    centered = X - np.average(X, axis=0, weights=weight)
    assert table.mean_variance(weight) == pytest.approx(np.average(np.square(centered), axis=0, weights=weight).mean())


def test_rows_are_ordered_by_content_however_they_are_numbered() -> None:
    X, _, _ = make(50, 3, 2)
    order = np.random.RandomState(1).permutation(50)
    np.testing.assert_array_equal(X[order][Table(X[order]).order_by_content()], X[Table(X).order_by_content()])
