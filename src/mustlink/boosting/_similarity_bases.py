"""The base clusterers that BBC supervises: on similarities, on distances, or on features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.metrics import euclidean_distances

from mustlink.boosting._affinity_kernels import k_medoids
from mustlink.boosting._affinity_search import (
    ARRAYS_HELD,
    AffinityPropagationSearch,
    check_square_fits,
    propagate_affinity,
    without_diagonal,
)
from mustlink.boosting._bases import BaseClusterer
from mustlink.boosting._spectral_finish import cut_rows, largest_vectors

Labels = NDArray[Any]
Kind = Literal["features", "similarities", "distances", "affinities"]

NEEDS_N_CLUSTERS = ("average", "complete", "kmedoids", "spectral")
NAMES = ("affinity", *NEEDS_N_CLUSTERS)

LOCAL_NEIGHBOUR = 7
"""The neighbour whose distance is the local scale of a row (Zelnik-Manor and Perona 2004)."""

MOST_SWEEPS = 100
"""K-medoids has always settled after a few sweeps; this is a guard."""


@dataclass(frozen=True)
class Base:
    """A base clusterer: what it is called, what it takes, and how it is run.

    Attributes
    ----------
    name : str
        As it is called in messages.
    kind : str
        What the function takes: the points, the similarities S, Mahalanobis distances, or affinities, which are not
        negative.
    run : callable
        Takes that, a seed, and the place in the run for the message of an error; returns labels.
    n_arrays : int
        How many arrays of n x n numbers it holds; 0 for a base on features.
    """

    name: str
    kind: Kind
    run: Callable[[NDArray[Any], int, str | None], Labels]
    n_arrays: int

    def check_size(self, n_samples: int, max_samples: int, itemsize: int) -> None:
        """Refuse more rows than the arrays of this base may have."""
        if self.n_arrays:
            check_square_fits(n_samples, max_samples, itemsize, f"The base {self.name}", self.n_arrays)

    def cluster(self, points: NDArray[Any], seed: int, where: str | None = None) -> Labels:
        """Cluster points whose squared Euclidean distances are the learned ones.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            X times the square root of the learned matrix.
        seed : int
            For the random states of the base.
        where : str or None
            The round, for the message of an error; None lets the base's own error through.
        """
        if self.kind == "features":
            return self.run(points, seed, where)
        # Distances come from inner products, which lose digits far from the origin.
        squares = euclidean_distances(points - points.mean(axis=0), squared=True)
        if self.kind == "distances":
            return self.run(np.sqrt(squares, out=squares), seed, where)
        similarities = np.negative(squares, out=squares)
        return self.run(local_affinities(similarities) if self.kind == "affinities" else similarities, seed, where)


def make_base(base: Any, n_clusters: int | None) -> Base:
    """Turn what the user gave as base into one that can be run."""
    if isinstance(base, str):
        return _named_base(base, n_clusters)
    try:
        # The number of clusters is for the finish and for our own bases; a clusterer that was given keeps its own.
        clusterer = BaseClusterer(base, None)
    except TypeError:
        raise TypeError(
            f"base must be one of {', '.join(NAMES)}, a clusterer with fit and labels_ (or fit_predict), or a "
            f"function from a table to labels; got {base!r}."
        ) from None
    kind: Kind = "features" if clusterer.is_function else _input_of(base)
    return Base(
        clusterer.name,
        kind,
        lambda given, seed, where: clusterer.run(given, seed, where).labels,
        int(kind != "features"),
    )


def _named_base(name: str, n_clusters: int | None) -> Base:
    """Return one of our own bases on similarities."""
    if name not in NAMES:
        raise ValueError(f"There is no base called {name!r}; there are {', '.join(NAMES)}.")
    if name == "affinity":
        return Base(name, "similarities", lambda S, seed, _: _affinity_propagation(S, seed), ARRAYS_HELD)
    if n_clusters is None:
        raise ValueError(f"The base {name} needs to know the number of clusters; give n_clusters.")
    if name == "spectral":
        return Base(name, "affinities", lambda W, seed, _: _spectral(W, n_clusters, seed), 2)
    if name == "kmedoids":
        return Base(name, "similarities", lambda S, seed, _: k_medoids(-S, n_clusters, MOST_SWEEPS)[1], 2)
    return Base(name, "similarities", lambda S, seed, _: _linkage(S, n_clusters, name), 2)


def affinity_for_number(n_clusters: int, max_samples: int) -> Base:
    """Return affinity propagation with a search for the preference that gives so many clusters."""

    def run(S: NDArray[Any], seed: int, where: str | None) -> Labels:
        search = AffinityPropagationSearch(
            n_clusters, affinity="precomputed", max_samples=max_samples, random_state=seed
        )
        return search.fit(S).labels_

    return Base("affinity", "similarities", run, ARRAYS_HELD)


def local_affinities(S: NDArray[Any]) -> NDArray[Any]:
    """Turn similarities into affinities between 0 and 1, each row at its own scale (Zelnik-Manor and Perona 2004)."""
    n_rows = len(S)
    neighbour = min(LOCAL_NEIGHBOUR, n_rows - 1)
    scale = np.sqrt(-np.partition(S, n_rows - 1 - neighbour, axis=1)[:, n_rows - 1 - neighbour])
    # Rows that lie on one spot with their neighbours have no scale of their own.
    positive = scale[scale > 0]
    scale = np.maximum(scale, 1e-3 * np.median(positive) if len(positive) else 1.0)
    W = np.exp(S / scale[:, None] / scale)
    np.fill_diagonal(W, 0.0)
    return W


def _affinity_propagation(S: NDArray[Any], seed: int) -> Labels:
    """Run affinity propagation with the median similarity as preference, as the paper does."""
    preference = float(np.median(without_diagonal(S))) if len(S) > 1 else 0.0
    return propagate_affinity(S, preference, np.random.RandomState(seed)).labels


def _spectral(W: NDArray[Any], n_clusters: int, seed: int) -> Labels:
    """Cluster by the leading eigenvectors of the normalised affinities, rows brought to length 1."""
    if n_clusters >= len(W):
        return np.arange(len(W))
    degree = W.sum(axis=1)
    scale = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    vectors = largest_vectors(scale[:, None] * W * scale, n_clusters)
    return cut_rows(vectors.astype(np.float64), n_clusters, "kmeans", seed, n_init=3)


def _linkage(S: NDArray[Any], n_clusters: int, linkage: str) -> Labels:
    """Join the two most similar clusters until so many are left."""
    if len(S) == 1:
        return np.zeros(1, dtype=np.intp)
    return AgglomerativeClustering(n_clusters, metric="precomputed", linkage=linkage).fit_predict(-S)


def _input_of(estimator: Any) -> Kind:
    """Say what a clusterer takes: features, unless it was made for something precomputed."""
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if parameters.get("affinity") == "precomputed":
        return "affinities" if isinstance(estimator, SpectralClustering) else "similarities"
    return "distances" if parameters.get("metric") == "precomputed" else "features"
