"""k-medians: sums of absolute differences, and coordinate-wise medians, of dense and sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from mustlink._rows import RowBlocks
from mustlink._types import Array, Floats
from mustlink.kmeans.core import Geometry, LinkRule, State, Step

__all__ = ["Manhattan", "cluster_medians", "manhattan_distances"]


def manhattan_distances(X: Any, centers: Floats) -> Floats:
    """Return the sum of absolute differences between every row and every center."""
    if not sparse.issparse(X):
        return np.asarray(cdist(X, centers, "cityblock"))
    # A row differs from |c| summed over all columns only where it is not zero.
    out = np.empty((X.shape[0], len(centers)))
    for c, center in enumerate(centers):
        at_entries = center[X.indices]
        change = np.abs(X.data - at_entries) - np.abs(at_entries)
        row_sums = np.diff(np.concatenate([[0.0], np.cumsum(change)])[X.indptr])
        out[:, c] = np.maximum(np.abs(center).sum() + row_sums, 0.0)
    return out


class Manhattan(Geometry):
    """Sums of absolute differences of weighted rows; what a step finds is the cost of every row in its cluster."""

    def __init__(self, rows: RowBlocks, weight: Floats) -> None:
        super().__init__(rows.n_rows, LinkRule())
        self._rows, self._row_weight = rows, weight

    def nearest(self, state: State) -> tuple[NDArray[np.int32], Floats]:
        labels, own = self._rows.cheapest(lambda X: manhattan_distances(X, state.centers))
        return labels, self._row_weight * own

    def unit_costs(self, state: State) -> Floats:
        """Return no costs: every row is free."""
        return np.empty((0, len(state.centers)))

    def update(self, step: Step, state: State) -> State:
        medians = cluster_medians(self._rows.X, step.labels, self._row_weight, state.centers)
        return State(medians.astype(self._rows.dtype).astype(np.float64))


def cluster_medians(X: Any, labels: Array, weight: Floats, centers: Floats) -> Floats:
    """Return the weighted median of every column in every cluster; a cluster without weight keeps its center."""
    medians = centers.copy()
    for c in range(len(centers)):
        members = np.flatnonzero((labels == c) & (weight > 0))
        if members.size:
            columns = _sparse_medians if sparse.issparse(X) else weighted_medians
            medians[c] = columns(X[members], weight[members])
    return medians


def weighted_medians(X: Array, weight: Floats) -> Floats:
    """Return the median of every column of a dense table; halfway between two rows that have half the weight each."""
    if (weight == weight[0]).all():
        return np.asarray(np.median(X, axis=0))
    order = np.argsort(X, axis=0, kind="stable")
    reached = np.cumsum(weight[order], axis=0)
    half = 0.5 * weight.sum()
    # Up to rounding: weights that add up to half are at half.
    rounding = 1e-12 * half
    lower = np.argmax(reached >= half - rounding, axis=0)
    upper = np.minimum(np.argmax(reached > half + rounding, axis=0), len(X) - 1)
    column = np.arange(X.shape[1])
    return 0.5 * (
        X[order[lower, column], column].astype(np.float64) + X[order[upper, column], column].astype(np.float64)
    )


def _sparse_medians(X: Any, weight: Floats) -> Floats:
    """Return the median of every column of a sparse table, without the zeros of columns whose median is zero."""
    X = sparse.csc_matrix(X)
    held = np.bincount(np.repeat(np.arange(X.shape[1]), np.diff(X.indptr)), weight[X.indices], X.shape[1])
    medians = np.zeros(X.shape[1])
    dense = np.flatnonzero(held >= 0.5 * weight.sum() * (1 - 1e-12))
    if dense.size:
        medians[dense] = weighted_medians(X[:, dense].toarray(), weight)
    return medians
