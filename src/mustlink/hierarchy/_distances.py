"""Distances between all rows: computed, or given and checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import pairwise_distances

__all__ = ["check_distances", "condensed_distances"]


def check_distances(distances: NDArray[Any]) -> None:
    """Refuse what is no square matrix of distances; infinite ones are not looked for."""
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f'With metric="precomputed" the table must be a square matrix of distances; its shape is {distances.shape}.'
        )
    if np.isnan(distances).any():
        raise ValueError('With metric="precomputed" the table must hold distances, and NaN is none.')
    if (distances < 0).any():
        raise ValueError('With metric="precomputed" the table must hold distances, and one is negative.')
    if not (np.array_equal(distances, distances.T) or np.allclose(distances, distances.T)):
        raise ValueError('With metric="precomputed" the matrix of distances must be symmetric.')


def condensed_distances(X: NDArray[Any], metric: str) -> NDArray[np.float64]:
    """Return the distances between all pairs of rows, row by row, in an array of our own."""
    if metric == "euclidean":
        return np.asarray(pdist(X))
    if metric == "precomputed":
        check_distances(X)
        square = X
    else:
        square = pairwise_distances(X, metric=metric)
    return np.array(squareform(square, checks=False), dtype=np.float64)
