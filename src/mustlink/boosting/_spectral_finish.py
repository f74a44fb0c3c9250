"""Cut a graph, above all a co-association, into a given number of clusters by the eigenvectors of its Laplacian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans

from mustlink._sklearn_compat import one_blas_thread
from mustlink.boosting._bbc_kernels import least_in_common
from mustlink.boosting._coassociation import CoAssociation, in_order_of_appearance, with_fixed_signs
from mustlink.spectral import rotate_to_indicators

Floats = NDArray[np.float64]

MOST_DENSE_ROWS = 500
"""Up to here a direct method on one thread is quicker than Lanczos."""


def spectral_finish(kernel: CoAssociation, n_clusters: int, assign: str, seed: int) -> NDArray[np.int64]:
    """Cluster the rows by the graph W = Y - min Y, with Y = 2 K - the sum of the weights.

    That is W = 2 (K - min K), and the factor has no effect. Rows with the same code are one row with a weight. With
    no more distinct codes than clusters, each code is a cluster.
    """
    codes, inverse, counts = _distinct_rows(kernel)
    if len(codes) <= n_clusters:
        return in_order_of_appearance(inverse)
    laplacian = normalised_graph(CoAssociation(codes, kernel.weights), counts)
    vectors = largest_vectors(laplacian, n_clusters)
    return in_order_of_appearance(cut_rows(vectors, n_clusters, assign, seed, counts)[inverse])


def _distinct_rows(kernel: CoAssociation) -> tuple[NDArray[Any], NDArray[np.int64], Floats]:
    """Return distinct codes, which of them each row has, and their counts; a row that is ever noise stands alone."""
    _, inverse, counts = kernel.distinct()
    noisy = np.flatnonzero(kernel.noise_weight > 0)
    inverse[noisy] = len(counts) + np.arange(len(noisy))
    _, first, inverse, counts = np.unique(inverse, return_index=True, return_inverse=True, return_counts=True)
    return kernel.codes[first], inverse, counts.astype(np.float64)


def normalised_graph(kernel: CoAssociation, counts: Floats) -> Floats | LinearOperator:
    """Return D^-1/2 W D^-1/2 of distinct codes with counts, W = K - min K, as an array or as a product.

    Its eigenvectors, divided by the roots of the counts, are those of the same matrix with every row written out.
    """
    shift = least_in_common(kernel.codes, kernel.weights)
    degree = kernel.matvec(counts) - shift * counts.sum()
    scale = np.sqrt(counts / degree)
    n_rows = kernel.n_samples
    if n_rows <= MOST_DENSE_ROWS:
        return scale[:, None] * (kernel.toarray() - shift) * scale

    def multiply(vector: Floats) -> Floats:
        scaled = scale * vector.ravel()
        return scale * (kernel.matvec(scaled) - shift * scaled.sum())

    return LinearOperator((n_rows, n_rows), matvec=multiply, dtype=np.float64)


def largest_vectors(graph: Floats | LinearOperator, n_vectors: int) -> Floats:
    """Return the eigenvectors of the largest eigenvalues of a symmetric matrix, largest first."""
    n_rows = graph.shape[0]
    if n_rows <= MOST_DENSE_ROWS:
        with one_blas_thread():
            _, vectors = eigh(graph, subset_by_index=(n_rows - n_vectors, n_rows - 1))
        return with_fixed_signs(vectors[:, ::-1])
    # Lanczos from a fixed start, so that a run can be repeated; more vectors than asked for help equal eigenvalues.
    start = np.random.RandomState(0).standard_normal(n_rows)
    values, vectors = eigsh(graph, k=n_vectors, which="LA", v0=start, ncv=min(n_rows, max(4 * n_vectors, 40)))
    return with_fixed_signs(vectors[:, np.argsort(-values, kind="stable")])


def cut_rows(
    vectors: Floats, n_clusters: int, assign: str, seed: int, weight: Floats | None = None, n_init: int = 10
) -> NDArray[np.intp]:
    """Cluster the rows of eigenvectors, each brought to length 1, by rotation to indicators or by k-means."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(length > 0, length, 1.0)
    if assign == "rotation":
        rotated, _ = rotate_to_indicators(directions, sample_weight=weight)
        return np.abs(rotated).argmax(axis=1)
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=seed)
    return kmeans.fit_predict(directions, sample_weight=weight).astype(np.intp)
