"""Pairwise distances, computed or precomputed."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import pairwise_distances

from mustlink._types import Array, Floats

__all__ = ["check_distances", "condensed_distances"]


def check_distances(distances: Array) -> None:
    """Raise unless this is a square, symmetric matrix without negative numbers or NaN; infinity is accepted."""
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f'With metric="precomputed" X must be a square matrix of distances; its shape is {distances.shape}.'
        )
    if np.isnan(distances).any():
        raise ValueError('With metric="precomputed" X must contain distances, and it contains NaN.')
    if (distances < 0).any():
        raise ValueError('With metric="precomputed" X must contain distances, and one is negative.')
    if not (np.array_equal(distances, distances.T) or np.allclose(distances, distances.T)):
        raise ValueError('With metric="precomputed" X must be symmetric.')


def condensed_distances(X: Array, metric: str) -> Floats:
    """Return the distances between all pairs of rows, row by row, in a new array."""
    if metric == "euclidean":
        return np.asarray(pdist(X))
    if metric == "precomputed":
        check_distances(X)
        square = X
    else:
        square = pairwise_distances(X, metric=metric)
    return np.array(squareform(square, checks=False), dtype=np.float64)
