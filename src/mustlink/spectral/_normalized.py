"""Spectral clustering of Ng, Jordan and Weiss, with a scale of its own for every row."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import check_enough_rows
from mustlink.spectral._eigenvectors import leading_vectors, to_sphere
from mustlink.spectral._graph import find_pieces, join_pieces, make_graph
from mustlink.spectral._rotation import rotate_to_indicators

__all__ = ["NormalizedSpectralClustering"]

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


class NormalizedSpectralClustering(ClusterMixin, BaseEstimator):
    """Spectral clustering of Ng, Jordan and Weiss, with a scale of its own for every row.

    The rows are the nodes of a graph, and clusters are parts of it with little between them, whatever their shape.
    The graph of nearest neighbours is sparse: no array of n x n numbers is held. It takes no constraints; it is a
    clusterer to compare with, to boost, or to use on the representation of another.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    affinity : {"nearest_neighbors", "full", "precomputed"}, default="nearest_neighbors"
        Which rows are joined: nearest neighbours, all rows, or X is itself a symmetric matrix of affinities, not
        negative, dense or sparse.
    n_neighbors : int, default=10
        How many neighbours of a row are joined with it.
    scale_neighbor : int or None, default=7
        The distance of a row to this neighbour is its own scale s. An edge weighs exp(-d^2 / (s_i s_j)). None gives
        the same weight to all edges of nearest neighbours.
    assign : {"kmeans", "rotation"}, default="kmeans"
        How clusters are read from the eigenvectors: by k-means, or by rotating them until they are indicators
        (:func:`rotate_to_indicators`), which needs no starts.
    n_init : int, default=10
        The number of starts of k-means.
    max_samples : int, default=10_000
        ``affinity="full"`` refuses more rows than this.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The eigenvectors, each row brought to length 1.
    n_connected_components_ : int
        The number of pieces of the graph.
    n_features_in_ : int
        The number of columns of X.

    Raises
    ------
    TooLargeError
        If ``affinity="full"`` is given more than `max_samples` rows.

    See Also
    --------
    SpectralLearning : Takes constraints.
    sklearn.cluster.SpectralClustering : Without a scale for every row.

    Notes
    -----
    Each piece of the graph has an eigenvector of eigenvalue 1 of its own, which is written down rather than searched
    for. A graph of more pieces than clusters would leave open which of them to take: its pieces are first joined into
    one, along the spanning tree of their means, each time by the edge between the two nearest rows, which weighs
    1 / (1 + d^2 / (s_i s_j)). Pieces of a precomputed affinity are tied to the largest by the smallest weight there
    is.

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
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions({"nearest_neighbors", "full", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "scale_neighbor": [Interval(Integral, 1, None, closed="left"), None],
        "assign": [StrOptions({"kmeans", "rotation"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        scale_neighbor: int | None = 7,
        assign: str = "kmeans",
        n_init: int = 10,
        max_samples: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor
        self.assign = assign
        self.n_init = n_init
        self.max_samples = max_samples
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table, or the affinities of its rows if they are precomputed.
        y : object
            Ignored.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=False)
        check_enough_rows(X.shape[0], self.n_clusters)
        rng = check_random_state(self.random_state)
        graph = make_graph(X, self.affinity, self.n_neighbors, self.scale_neighbor, self.max_samples)
        piece = find_pieces(graph.weights)
        self.n_connected_components_ = int(piece.max()) + 1
        if self.n_connected_components_ > self.n_clusters:
            graph = join_pieces(graph, piece, NO_PAIRS)
        _, vectors = leading_vectors(graph, "symmetric", self.n_clusters, rng)
        directions = to_sphere(vectors)
        self.embedding_ = directions.astype(X.dtype, copy=False)
        self.labels_ = self._assign(directions, rng)
        return self

    def _assign(self, directions: NDArray[np.float64], rng: np.random.RandomState) -> NDArray[np.int32]:
        """Read the clusters from the rows of the eigenvectors."""
        if self.assign == "rotation":
            rotated, _ = rotate_to_indicators(directions)
            return np.abs(rotated).argmax(axis=1).astype(np.int32)
        model = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng)
        return np.asarray(model.fit(directions).labels_, dtype=np.int32)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags
