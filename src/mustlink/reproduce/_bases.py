"""Base clusterers of the papers that scikit-learn does not have."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

__all__ = ["LocalSpectral", "PartitionalSingleLink"]

_NEIGHBOUR = 7
"""The distance to this neighbour is a point's own scale (Zelnik-Manor and Perona 2004)."""


class PartitionalSingleLink(ClusterMixin, BaseEstimator):
    """Single link between the many small parts of a k-means.

    The data is cut into sqrt(n) parts by k-means, and the parts are joined by single link between their centres
    until n_clusters are left. This is our reading of the "partitional single link" of a program that is not open.
    """

    def __init__(self, n_clusters: int = 8, *, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Cut, then join."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        n_parts = min(len(X), max(self.n_clusters, round(np.sqrt(len(X)))))
        parts = KMeans(n_parts, n_init=1, random_state=self.random_state).fit(X)
        used = np.unique(parts.labels_)
        if len(used) <= self.n_clusters:
            self.labels_ = np.searchsorted(used, parts.labels_)
            return self
        joined = AgglomerativeClustering(self.n_clusters, linkage="single").fit_predict(parts.cluster_centers_[used])
        self.labels_ = joined[np.searchsorted(used, parts.labels_)]
        return self


class LocalSpectral(ClusterMixin, BaseEstimator):
    """Spectral clustering of Ng, Jordan and Weiss, with a scale of its own for every point.

    Notes
    -----
    Holds an array of n x n numbers; meant for a few thousand rows.
    """

    def __init__(self, n_clusters: int = 8, *, n_init: int = 3, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Embed by the leading eigenvectors of the affinity, then k-means on the sphere."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        rng = check_random_state(self.random_state)
        if len(X) <= self.n_clusters + 1:
            self.labels_ = np.minimum(np.arange(len(X)), self.n_clusters - 1)
            return self
        vectors = _leading_vectors(_local_affinity(X), self.n_clusters, rng)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        sphere = vectors / np.where(length > 0, length, 1)
        self.labels_ = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng).fit(sphere).labels_
        return self


def _local_affinity(X: NDArray[Any]) -> NDArray[Any]:
    """Return exp(-d_ij^2 / (s_i s_j)), s the distance to the 7th neighbour, and 0 on the diagonal."""
    squared = euclidean_distances(X, squared=True)
    neighbour = min(_NEIGHBOUR, len(X) - 1)
    scale = np.sqrt(np.partition(squared, neighbour, axis=1)[:, neighbour])
    positive = scale[scale > 0]
    # Points with that many copies have no scale; the smallest one there is keeps them close to their copies only.
    scale = np.where(scale > 0, scale, positive.min() if len(positive) else 1.0)
    squared /= scale[:, None]
    squared /= scale[None, :]
    affinity: NDArray[Any] = np.exp(-squared, out=squared)
    np.fill_diagonal(affinity, 0)
    return affinity


def _leading_vectors(affinity: NDArray[Any], n_vectors: int, rng: np.random.RandomState) -> NDArray[Any]:
    """Return the top eigenvectors of D^(-1/2) A D^(-1/2)."""
    degree = affinity.sum(axis=1)
    scale = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    affinity *= scale[:, None]
    affinity *= scale[None, :]
    # Shifted by 1 all eigenvalues are positive, so that the largest are also the largest in size.
    affinity.flat[:: len(affinity) + 1] += 1
    try:
        _, vectors = eigsh(affinity, k=n_vectors, which="LA", v0=rng.uniform(0.5, 1, len(affinity)))
    except ArpackNoConvergence:
        # Many equal eigenvalues, as of points that fall into many separate heaps: all vectors at once, which is slower.
        _, vectors = eigh(affinity, subset_by_index=(len(affinity) - n_vectors, len(affinity) - 1))
    return np.asarray(vectors)
