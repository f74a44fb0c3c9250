"""Distances of rows to a row or to the mean of some rows, for dense and sparse X."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin_min

from mustlink._types import Floats

__all__ = ["Rows"]

# Up to this number, distances to rows are computed one by one, exactly; otherwise by a matrix product.
MAX_EXACT_ROWS = 64


class Rows:
    """Distances between rows of X, a few at a time."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n_rows: int = X.shape[0]
        self._is_sparse = sparse.issparse(X)
        self._norms = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel() if self._is_sparse else None

    def distances_to(self, point: Floats, rows: Sequence[int] | None = None) -> Floats:
        """Return the squared distances of all rows, or of some, to a point."""
        taken = self.X if rows is None else self.X[rows]
        if self._norms is None:
            apart = taken - point.astype(self.X.dtype)
            return np.einsum("ij,ij->i", apart, apart).astype(np.float64)
        norms = self._norms if rows is None else self._norms[rows]
        return np.maximum(norms + point @ point - 2 * (taken @ point), 0.0)

    def point(self, row: int) -> Floats:
        """Return one row, dense and in double precision."""
        return np.asarray(self.X[[row]].toarray() if self._is_sparse else self.X[[row]], dtype=np.float64)[0]

    def mean(self, rows: Sequence[int]) -> Floats:
        """Return the mean of some rows."""
        return np.asarray(self.X[rows].mean(axis=0), dtype=np.float64).ravel()

    def update_nearest(self, nearest: Floats, rows: Sequence[int]) -> None:
        """Update `nearest`, the smallest squared distances of all rows so far, by the distances to some rows."""
        if len(rows) <= MAX_EXACT_ROWS:
            for row in rows:
                np.minimum(nearest, self.distances_to(self.point(row)), out=nearest)
            return
        distances = pairwise_distances_argmin_min(self.X, self.X[rows])[1]
        np.minimum(nearest, np.square(distances), out=nearest)
        nearest[rows] = 0.0
