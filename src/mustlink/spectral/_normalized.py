"""Normalized spectral clustering with local scaling."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import check_enough_rows
from mustlink.spectral._eigenvectors import leading_vectors
from mustlink.spectral._graph import SpectralMixin
from mustlink.spectral._rotation import rotate_to_indicators

__all__ = ["NormalizedSpectralClustering"]


class NormalizedSpectralClustering(SpectralMixin, ClusterMixin, BaseEstimator):
    """Normalized spectral clustering with local scaling (Ng, Jordan and Weiss 2001; Zelnik-Manor and Perona 2004).

    Clusters are parts of a graph of the rows with few edges between them, and can have any shape. The graph of nearest
    neighbors is sparse. It takes no constraints; it can be compared with, or boosted by, the constrained clusterers.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    affinity : {"nearest_neighbors", "full", "precomputed"}, default="nearest_neighbors"
        Which rows have an edge: nearest neighbors, all rows, or as in X, if it is a symmetric matrix of nonnegative
        affinities, dense or sparse.
    n_neighbors : int, default=10
        The number of neighbors of each row.
    scale_neighbor : int or None, default=7
        The distance of a row to this neighbor is its local scale s. The weight of an edge is exp(-d^2 / (s_i s_j)).
        None gives all edges between nearest neighbors the weight 1.
    assign_labels : {"kmeans", "rotation"}, default="kmeans"
        How labels are assigned in the space of the eigenvectors: by k-means, or by rotating them towards indicators
        (:func:`rotate_to_indicators`), which is deterministic.
    n_init : int, default=10
        The number of runs of k-means; the best is kept.
    max_samples : int, default=10_000
        The maximum number of rows for ``affinity="full"``.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The eigenvectors, with rows of unit length.
    n_connected_components_ : int
        The number of connected components of the graph.
    n_features_in_ : int
        The number of features.

    Raises
    ------
    TooLargeError
        With ``affinity="full"``, if there are more than `max_samples` rows.

    See Also
    --------
    SpectralLearning : Takes constraints.
    sklearn.cluster.SpectralClustering : Without local scaling.

    Notes
    -----
    A graph with more connected components than clusters is connected first, as by :class:`ConstrainedSpectral`.

    References
    ----------
    A. Y. Ng, M. I. Jordan, Y. Weiss, "On spectral clustering: analysis and an algorithm", NIPS 2001, 849-856.

    L. Zelnik-Manor, P. Perona, "Self-tuning spectral clustering", NIPS 2004, 1601-1608.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mustlink.metrics import adjusted_rand
    >>> from mustlink.spectral import NormalizedSpectralClustering
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = NormalizedSpectralClustering(2, random_state=0).fit(X)
    >>> adjusted_rand(y, model.labels_)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SpectralMixin._parameter_constraints,
        "assign_labels": [StrOptions({"kmeans", "rotation"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        scale_neighbor: int | None = 7,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        max_samples: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.max_samples = max_samples
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data, or their affinities if precomputed.
        y : object
            Ignored.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = self._check_rows(X)
        check_enough_rows(X.shape[0], self.n_clusters)
        rng = check_random_state(self.random_state)
        graph = self._make_graph(X, max_pieces=self.n_clusters)
        _, vectors = leading_vectors(graph, "symmetric", self.n_clusters, rng)
        directions = normalize(vectors)
        self.embedding_ = directions.astype(X.dtype, copy=False)
        if self.assign_labels == "rotation":
            rotated, _ = rotate_to_indicators(directions)
            labels = np.abs(rotated).argmax(axis=1)
        else:
            labels = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng).fit_predict(directions)
        self.labels_ = labels.astype(np.int64)
        return self
