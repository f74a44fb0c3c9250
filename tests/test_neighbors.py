"""Nearest neighbors in blocks of rows are those of scikit-learn on the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from mustlink import _neighbors
from mustlink._neighbors import nearest_neighbors


@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("decimals", [0, 5], ids=["ties", "distinct"])
@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix])
def test_blocks_give_the_neighbors_of_the_whole(
    n_features: int, dtype: Any, decimals: int, form: Any, monkeypatch: Any
) -> None:
    X = np.random.default_rng(0).normal(size=(4_000, n_features)).round(decimals).astype(dtype)
    # More equal rows than neighbors: a row may not be among its own.
    X[:50] = X[0]
    X = form(X)
    monkeypatch.setattr(_neighbors, "MAX_ROWS_AT_ONCE", 1_000)
    distance, neighbor = nearest_neighbors(X, 7)
    expected_distance, expected = NearestNeighbors(n_neighbors=7).fit(X).kneighbors()
    np.testing.assert_array_equal(distance, expected_distance)
    np.testing.assert_array_equal(neighbor, expected)
