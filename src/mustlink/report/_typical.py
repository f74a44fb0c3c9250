"""The means of clusters, and the rows nearest to them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, gen_batches

from mustlink._types import Array

__all__ = ["cluster_means", "cluster_sums", "nearest_rows", "squared_distances", "typical_rows"]

NOISE = -1
CHUNK_CELLS = 2**22


def typical_rows(X: Any, labels: Any, n_rows: int = 3) -> dict[int, list[int]]:
    """Return the rows nearest to the mean of each cluster.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The rows as they were clustered.
    labels : array-like of int, shape (n_rows,)
        The cluster of each row; -1 is no cluster.
    n_rows : int, default=3
        How many rows of each cluster; smaller clusters have fewer.

    Returns
    -------
    dict of int to list of int
        For each cluster its rows, the nearest first; of rows at the same distance the first one.

    See Also
    --------
    summarize : The nearest row of each cluster, and what sets the cluster apart.

    Examples
    --------
    >>> from mustlink.report import typical_rows
    >>> typical_rows([[0.0], [1.0], [1.1], [9.0]], [0, 0, 0, 1], n_rows=2)
    {0: [1, 2], 1: [3]}
    """
    X = check_array(X, accept_sparse="csr", ensure_min_samples=0)
    labels = np.asarray(labels)
    numbers = np.unique(labels[labels != NOISE])
    if not numbers.size:
        return {}
    place = np.where(labels != NOISE, np.searchsorted(numbers, labels), NOISE)
    sizes = np.bincount(place[place != NOISE])
    nearest = nearest_rows(X, place, cluster_means(X, place, sizes), n_rows)
    return {int(number): rows.tolist() for number, rows in zip(numbers, nearest, strict=True)}


def cluster_means(X: Any, place: Array, sizes: Array) -> Array:
    """Average the rows of each cluster, for dense and sparse tables alike."""
    means: Array = cluster_sums(X, place, sizes.size) / sizes[:, np.newaxis]
    return means


def cluster_sums(X: Any, place: Array, n_clusters: int) -> Array:
    """Sum the rows of each cluster, for dense and sparse tables alike."""
    rows = np.flatnonzero(place != NOISE)
    membership = sparse.csr_matrix(
        (np.ones(rows.size), (place[rows], rows)), shape=(n_clusters, X.shape[0]), dtype=np.float64
    )
    sums = membership @ X
    return sums.toarray() if sparse.issparse(sums) else np.asarray(sums)


def nearest_rows(X: Any, place: Array, centers: Array, n_rows: int = 1) -> list[Array]:
    """Find for each cluster the rows nearest to its mean, the first ones where several are."""
    distance = np.empty(X.shape[0])
    for part in gen_batches(X.shape[0], max(1, CHUNK_CELLS // X.shape[1])):
        # Rows of noise are measured against some center and not used below.
        distance[part] = squared_distances(X[part], centers, place[part])
    order = np.lexsort((distance, place))
    starts = np.searchsorted(place[order], np.arange(len(centers) + 1))
    return [order[start : min(start + n_rows, end)] for start, end in itertools.pairwise(starts)]


def squared_distances(rows: Any, centers: Array, place: Array) -> Array:
    """Measure each row against the center of its own cluster."""
    if not sparse.issparse(rows):
        squared: Array = ((rows - centers[place]) ** 2).sum(axis=1)
        return squared
    products = np.asarray(rows @ centers.T)[np.arange(rows.shape[0]), place]
    lengths = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    squared = lengths - 2 * products + (centers**2).sum(axis=1)[place]
    return squared
