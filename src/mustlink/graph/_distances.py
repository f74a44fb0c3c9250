"""Distances from some points to all rows, never between all rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from mustlink._rows import RowBlocks, squared_norms
from mustlink._types import Floats, Indices
from mustlink.base import check_fits

__all__ = ["Distances", "check_distance_matrix"]

# The most distances that are held at a time (1 GB).
MAX_DISTANCES = 1 << 27


class Distances:
    """Distances of a metric between rows of X, and of points to rows.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The rows; for "precomputed" the distances between them.
    metric : {"euclidean", "cosine", "precomputed"}
        For the cosine, rows are scaled to unit length, and a row of zeros is at distance 1 from all others.
    """

    def __init__(self, X: Any, metric: str) -> None:
        self.metric = metric
        self.n_rows = X.shape[0]
        self._X = to_unit_length(X) if metric == "cosine" else X
        self._blocks = RowBlocks(self._X)

    def from_rows(self, rows: Indices) -> Floats:
        """Return the distances from some rows to all, one line each; zero from a row to itself."""
        rows = np.asarray(rows)
        check_fits(
            "The distances from the centers to all rows",
            (len(rows), self.n_rows),
            MAX_DISTANCES,
            "use fewer clusters or a sample of the rows",
        )
        if self.metric == "precomputed":
            return np.asarray(self._X[rows], dtype=np.float64)
        distances = self.from_points(self._blocks.rows(rows))
        distances[np.arange(len(rows)), rows] = 0.0
        return distances

    def from_points(self, points: Floats) -> Floats:
        """Return the distances from points to all rows, one line each; for the cosine, points have unit length."""
        if self.metric == "cosine":
            return np.clip(1.0 - np.asarray(self._X @ points.T, dtype=np.float64).T, 0.0, 2.0)
        if sparse.issparse(self._X):
            squares = self._blocks.squared_distances(points)
            return np.ascontiguousarray(np.sqrt(np.maximum(squares, 0.0)).T)
        return np.asarray(cdist(points, self._X))

    def between(self, points: Floats) -> Floats:
        """Return the distances between points."""
        if self.metric == "cosine":
            return np.clip(1.0 - points @ points.T, 0.0, 2.0)
        return np.asarray(cdist(points, points))

    def within(self, rows: Indices) -> Distances:
        """Return the distances between some of the rows."""
        if self.metric == "precomputed":
            return Distances(self._X[np.ix_(rows, rows)], self.metric)
        return Distances(self._X[rows], self.metric)

    def means(self, labels: Indices, n_clusters: int) -> Floats:
        """Return the mean of the rows of each cluster, of unit length for the cosine; label -1 is no cluster."""
        kept = np.flatnonzero(labels >= 0)
        found = RowBlocks(self._X[kept]).averages(labels[kept], n_clusters, np.ones(len(kept)))
        means = found.rows(slice(None))
        return np.asarray(to_unit_length(means)) if self.metric == "cosine" else means

    def average(self, rng: np.random.RandomState, n_sampled: int = 200) -> float:
        """Return the average distance between rows, estimated from a sample."""
        rows = rng.choice(self.n_rows, min(n_sampled, self.n_rows), replace=False)
        distances = self.within(np.sort(rows)).from_rows(np.arange(len(rows)))
        return float(distances.sum() / max(1, len(rows) * (len(rows) - 1)))


def to_unit_length(X: Any) -> Any:
    """Return rows of length one in double precision; rows of zeros stay zero."""
    length = np.sqrt(squared_norms(X.astype(np.float64)))
    scale = 1.0 / np.where(length > 0, length, 1.0)
    if sparse.issparse(X):
        return sparse.csr_matrix(sparse.diags_array(scale) @ X.astype(np.float64))
    return np.ascontiguousarray(X * scale[:, None])


def check_distance_matrix(X: Any) -> None:
    """Refuse distances between all rows that are not square, symmetric, and zero from a row to itself.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_samples)
        The distances.

    Raises
    ------
    ValueError
        With the rows of the first entry that is wrong.
    """
    if X.shape[0] != X.shape[1]:
        raise ValueError(f'metric="precomputed" needs the distances between all rows, and X has the shape {X.shape}.')
    tolerance = 1e-9 * max(1.0, float(X.max(initial=0.0)))
    checks = {
        "is negative": X < 0,
        "differs from the one back": np.abs(X - X.T) > tolerance,
        "is not zero": np.eye(len(X), dtype=bool) & (X != 0),
    }
    for wrong, mask in checks.items():
        if mask.any():
            row, other = (int(place) for place in np.argwhere(mask)[0])
            raise ValueError(f"X holds distances, and {X[row, other]:g} from row {row} to row {other} {wrong}.")
