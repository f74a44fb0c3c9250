"""Inner products of rows under a kernel: all of them in one matrix, or by the features of a Nystroem approximation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from mustlink._kernel import Kernel, gamma_of_variance, pieces, spanned_basis
from mustlink._rows import RowBlocks, squared_norms
from mustlink._types import Array, Floats, Indices


def scale_gamma(rows: RowBlocks, kernel: object) -> float:
    """Return the gamma that "scale" stands for, by the variance of each column, averaged over the columns.

    For most kernels it is one over the summed variance of the columns, which is 1 / n_features on standardized columns.
    """
    variance = rows.mean_variance(np.ones(rows.n_rows))
    mean_square = float(np.concatenate(rows.map_pieces(lambda _, piece: squared_norms(piece.X))).mean())
    return gamma_of_variance(kernel, variance, mean_square / rows.n_features, rows.n_features, rows.dtype)


class MatrixSpace:
    """The space in which the inner product of two rows is their kernel, by the whole kernel matrix."""

    def __init__(self, values: Array) -> None:
        self.values, self.squares = values, self._squared_lengths(values)
        self.n_rows, self.dtype = len(values), values.dtype

    @staticmethod
    def _squared_lengths(values: Array) -> Floats:
        return values.diagonal().astype(np.float64)

    def products(self, members: sparse.csr_array) -> Floats:
        """Return the inner product of every row with every weighted sum of rows, the columns of `members`."""
        return np.asarray(self.values @ members.toarray().astype(self.dtype), dtype=np.float64)

    def columns(self, rows: Indices) -> Floats:
        """Return the inner product of every row with each of some rows."""
        return np.asarray(self.values[rows].T, dtype=np.float64)

    def mean_squares(self, groups: Sequence[Indices]) -> Floats:
        """Return the squared length of the mean of each group of rows."""
        return np.array([self.values[np.ix_(rows, rows)].mean(dtype=np.float64) for rows in groups])


class FeatureSpace(MatrixSpace):
    """The same by explicit features, whose inner products approximate the kernel."""

    @staticmethod
    def _squared_lengths(values: Array) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", values, values, dtype=np.float64))

    def products(self, members: sparse.csr_array) -> Floats:
        return np.asarray(self.values @ self.sums(members).astype(self.dtype), dtype=np.float64)

    def columns(self, rows: Indices) -> Floats:
        return np.asarray(self.values @ self.values[rows].T, dtype=np.float64)

    def mean_squares(self, groups: Sequence[Indices]) -> Floats:
        return np.array([np.square(self.values[rows].mean(axis=0, dtype=np.float64)).sum() for rows in groups])

    def sums(self, members: sparse.csr_array) -> Floats:
        """Return the weighted sums of the features, one column for each column of `members`."""
        return np.asarray(self.values.T @ members.astype(self.dtype), dtype=np.float64)


class Nystroem:
    """Features f(x) = k(x, landmarks) @ basis with f(x).f(y) close to k(x, y), and equal between landmarks."""

    def __init__(self, kernel: Kernel, landmarks: Any) -> None:
        self._kernel, self._landmarks = kernel, landmarks
        inner = kernel(landmarks, landmarks)
        self._basis: Array = spanned_basis(inner).astype(inner.dtype)

    def transform(self, X: Any) -> Array:
        """Return the features of some rows."""
        out = np.empty((X.shape[0], self._basis.shape[1]), dtype=self._basis.dtype)
        for rows in pieces(X.shape[0], len(self._basis)):
            out[rows] = self._kernel(X[rows], self._landmarks) @ self._basis
        return out
