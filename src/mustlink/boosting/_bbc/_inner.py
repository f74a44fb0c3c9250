"""The clusterers that BBC supervises: on similarities, on distances, or on features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse.linalg import aslinearoperator
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.metrics import euclidean_distances

from mustlink._eigen import MAX_DIRECT_ROWS, leading_eigenpairs
from mustlink._types import Array
from mustlink.base import check_fits
from mustlink.boosting._bases import BaseClusterer, hint_at_number
from mustlink.boosting._bbc._affinity_propagation import ARRAYS_HELD, propagate_affinity, without_diagonal
from mustlink.boosting._bbc._kernels import k_medoids
from mustlink.boosting._bbc._spectral_consensus import cluster_eigenvectors

__all__ = ["InnerClusterer", "local_affinities", "make_inner"]

Kind = Literal["features", "similarities", "distances", "affinities"]

NEEDS_N_CLUSTERS = ("average", "complete", "kmedoids", "spectral")
NAMES = ("affinity", *NEEDS_N_CLUSTERS)

# The neighbor whose distance is the local scale of a row (Zelnik-Manor and Perona 2004).
LOCAL_NEIGHBOR = 7
# k-medoids converges after a few sweeps; this bounds the time if it should not.
MAX_SWEEPS = 100


@dataclass(frozen=True)
class InnerClusterer:
    """A clusterer to supervise."""

    name: str
    kind: Kind  # what it takes; affinities are similarities that are not negative
    run: Callable[[Array, int, str | None], Array]  # from that, a seed, and the round for messages to labels
    n_arrays: int  # how many n x n arrays it holds; 0 for a clusterer on features

    def check_size(self, n_samples: int, max_samples: int, itemsize: int) -> None:
        """Refuse more rows than the n x n arrays of this clusterer may have."""
        if self.n_arrays:
            check_fits(
                f"The estimator {self.name}, which compares all rows with each other,",
                (n_samples, n_samples),
                max_samples**2,
                f"raise max_samples={max_samples:,} if there is enough memory, cluster a sample of the rows, or use an "
                "estimator on features, such as KMeans",
                itemsize=self.n_arrays * itemsize,
            )

    def cluster(self, points: Array, seed: int, where: str | None = None) -> Array:
        """Cluster points whose squared Euclidean distances are the learned ones.

        `where` is the round, for the message of an error; None raises the clusterer's own error.
        """
        if self.kind == "features":
            return self.run(points, seed, where)
        # Distances come from inner products, which lose digits far from the origin.
        squares = euclidean_distances(points - points.mean(axis=0), squared=True)
        if self.kind == "distances":
            return self.run(np.sqrt(squares, out=squares), seed, where)
        similarities = np.negative(squares, out=squares)
        return self.run(local_affinities(similarities) if self.kind == "affinities" else similarities, seed, where)


def make_inner(estimator: Any, n_clusters: int | None) -> InnerClusterer:
    """Wrap what the user gave as `estimator`."""
    if isinstance(estimator, str):
        return _named(estimator, n_clusters)
    try:
        # The number of clusters is for the consensus and for the named clusterers; an estimator keeps its own.
        clusterer = BaseClusterer(estimator, None)
    except TypeError:
        raise TypeError(
            f"estimator must be one of {', '.join(NAMES)}, a clusterer with fit and labels_ (or fit_predict), or a "
            f"function from a table to labels; got {estimator!r}.{hint_at_number(estimator)}"
        ) from None
    kind: Kind = "features" if clusterer.is_function else _input_of(estimator)
    n_arrays = 0 if kind == "features" else 1
    return InnerClusterer(clusterer.name, kind, lambda *given: clusterer.run(*given).labels, n_arrays)


def _named(name: str, n_clusters: int | None) -> InnerClusterer:
    """Return one of the clusterers on similarities that have a name."""
    if name not in NAMES:
        raise ValueError(f"There is no estimator called {name!r}; the names are {', '.join(NAMES)}.")
    if name == "affinity":
        return InnerClusterer(name, "similarities", lambda S, seed, _: _affinity_propagation(S, seed), ARRAYS_HELD)
    if n_clusters is None:
        raise ValueError(f"The estimator {name} needs the number of clusters; give n_clusters.")
    if name == "spectral":
        return InnerClusterer(name, "affinities", lambda W, seed, _: _spectral(W, n_clusters, seed), 2)
    if name == "kmedoids":
        return InnerClusterer(name, "similarities", lambda S, seed, _: k_medoids(-S, n_clusters, MAX_SWEEPS)[1], 2)
    return InnerClusterer(name, "similarities", lambda S, seed, _: _linkage(S, n_clusters, name), 2)


def local_affinities(S: Array) -> Array:
    """Turn similarities into affinities between 0 and 1, each row at its own scale (Zelnik-Manor and Perona 2004)."""
    n_rows = len(S)
    neighbor = min(LOCAL_NEIGHBOR, n_rows - 1)
    scale = np.sqrt(-np.partition(S, n_rows - 1 - neighbor, axis=1)[:, n_rows - 1 - neighbor])
    # Rows with enough duplicates have no scale of their own.
    positive = scale[scale > 0]
    scale = np.maximum(scale, 1e-3 * np.median(positive) if len(positive) else 1.0)
    W = np.exp(S / scale[:, None] / scale)
    np.fill_diagonal(W, 0.0)
    return W


def _affinity_propagation(S: Array, seed: int) -> Array:
    """Run affinity propagation with the median similarity as preference, as in the paper."""
    preference = float(np.median(without_diagonal(S))) if len(S) > 1 else 0.0
    return propagate_affinity(S, preference, np.random.RandomState(seed)).labels


def _spectral(W: Array, n_clusters: int, seed: int) -> Array:
    """Cluster by the leading eigenvectors of the normalized affinities, rows scaled to length 1."""
    if n_clusters >= len(W):
        return np.arange(len(W))
    degree = W.sum(axis=1)
    scale = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    graph = scale[:, None] * W * scale
    operator = graph if len(W) <= MAX_DIRECT_ROWS else aslinearoperator(graph)
    _, vectors = leading_eigenpairs(operator, n_clusters, positive=False)
    return cluster_eigenvectors(vectors.astype(np.float64), n_clusters, "kmeans", seed, n_init=3)


def _linkage(S: Array, n_clusters: int, linkage: str) -> Array:
    """Merge the two most similar clusters until this number is left."""
    if len(S) == 1:
        return np.zeros(1, dtype=np.intp)
    return AgglomerativeClustering(n_clusters, metric="precomputed", linkage=linkage).fit_predict(-S)


def _input_of(estimator: Any) -> Kind:
    """Return what a clusterer takes: features, unless its parameters ask for something precomputed."""
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if parameters.get("affinity") == "precomputed":
        return "affinities" if isinstance(estimator, SpectralClustering) else "similarities"
    return "distances" if parameters.get("metric") == "precomputed" else "features"
