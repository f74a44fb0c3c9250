"""Cut a co-association, or another graph, into a given number of clusters by eigenvectors of its Laplacian."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from mustlink._eigen import MAX_DIRECT_ROWS, leading_eigenpairs
from mustlink._numbering import number_by_first
from mustlink._types import Array, Floats, Indices
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._coassociation_kernels import min_in_common
from mustlink.spectral import rotate_to_indicators

__all__ = ["cluster_eigenvectors", "spectral_consensus"]


def spectral_consensus(kernel: CoAssociation, n_clusters: int, assign_labels: str, seed: int) -> Indices:
    """Cluster the rows by the graph W = Y - min Y, with Y = 2 K - the sum of the weights.

    That is W = 2 (K - min K), and the factor has no effect. Rows with the same code are one row with a weight. With
    no more distinct codes than clusters, each code is a cluster.
    """
    codes, inverse, counts = distinct_rows(kernel)
    if len(codes) <= n_clusters:
        return number_by_first(inverse, len(codes))[0]
    graph = normalized_graph(CoAssociation(codes, kernel.weights), counts)
    _, vectors = leading_eigenpairs(graph, n_clusters, positive=False)
    labels = cluster_eigenvectors(vectors, n_clusters, assign_labels, seed, counts)
    return number_by_first(labels[inverse], n_clusters)[0]


def distinct_rows(kernel: CoAssociation) -> tuple[Array, Indices, Floats]:
    """Return distinct codes, which of them each row has, and their counts; a row that is ever noise stays alone."""
    _, inverse, counts = kernel.distinct()
    noisy = np.flatnonzero(kernel.noise_weight > 0)
    inverse[noisy] = len(counts) + np.arange(len(noisy))
    _, first, inverse, counts = np.unique(inverse, return_index=True, return_inverse=True, return_counts=True)
    return kernel.codes[first], inverse, counts.astype(np.float64)


def normalized_graph(kernel: CoAssociation, counts: Floats) -> Floats | LinearOperator:
    """Return D^-1/2 W D^-1/2 of distinct codes with counts, W = K - min K, as an array or an operator.

    Its eigenvectors, divided by the roots of the counts, are those of the same matrix with a row per row of the data.
    """
    shift = min_in_common(kernel.codes, kernel.weights)
    degree = kernel.matvec(counts) - shift * counts.sum()
    scale = np.sqrt(counts / degree)
    n_rows = kernel.n_samples
    if n_rows <= MAX_DIRECT_ROWS:
        return scale[:, None] * (kernel.toarray() - shift) * scale

    def multiply(vector: Floats) -> Floats:
        scaled = scale * vector.ravel()
        return scale * (kernel.matvec(scaled) - shift * scaled.sum())

    return LinearOperator((n_rows, n_rows), matvec=multiply, dtype=np.float64)


def cluster_eigenvectors(
    vectors: Floats, n_clusters: int, assign_labels: str, seed: int, weight: Floats | None = None, n_init: int = 10
) -> Indices:
    """Cluster the rows of eigenvectors, each scaled to length 1, by rotation to indicators or by k-means."""
    directions = normalize(vectors)
    if assign_labels == "rotation":
        rotated, _ = rotate_to_indicators(directions, sample_weight=weight)
        return np.abs(rotated).argmax(axis=1)
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=seed)
    return kmeans.fit_predict(directions, sample_weight=weight).astype(np.intp)
