"""Exhaustive and efficient constraint propagation as a clusterer."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from mustlink._sklearn_compat import Interval
from mustlink._types import Array
from mustlink.base import ConstrainedClusterMixin
from mustlink.constraints import Constraints
from mustlink.spectral._embedding import EmbeddingMixin
from mustlink.spectral._graph import Graph, with_short_indices
from mustlink.spectral._link_propagation import spread_links

__all__ = ["ConstraintPropagation"]


class ConstraintPropagation(EmbeddingMixin, ConstrainedClusterMixin, BaseEstimator):
    """Exhaustive and efficient constraint propagation, E2CP (Lu and Ip 2010).

    Every link spreads over the graph of nearest neighbors, from its two rows to pairs of rows near them, and increases
    or decreases the affinities of these pairs. Spectral clustering then cuts the adjusted graph. A few links affect
    many rows. Links can be violated.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    estimator : clusterer, default=None
        The clusterer for the rows of the eigenvectors, with ``fit_predict``; its `n_clusters` and `random_state` are
        set. None is k-means with ten runs.
    n_components : int or None, default=None
        The number of eigenvectors; None is `n_clusters`.
    alpha : float, default=0.9
        How far links spread, between 0 and 1, both excluded. Each step to a neighbor keeps this fraction.
    cutoff : float, default=0.01
        Links spread no further where less than this fraction of what their own rows keep arrives. Smaller values are
        slower and use more memory.
    affinity : {"nearest_neighbors", "full", "precomputed"}, default="nearest_neighbors"
        Which rows have an edge: nearest neighbors, all rows, or as in X, if it is a symmetric matrix of nonnegative
        affinities, dense or sparse, at most 1.
    n_neighbors : int, default=10
        The number of neighbors of each row.
    scale_neighbor : int or None, default=7
        The distance of a row to this neighbor is its local scale s. The weight of an edge is exp(-d^2 / (s_i s_j)).
        None gives all edges between nearest neighbors the weight 1; must-links then change no edges.
    max_samples : int, default=10_000
        The maximum number of rows for ``affinity="full"``.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    affinity_ : sparse array or ndarray of shape (n_samples, n_samples)
        The adjusted affinities, dense if the affinities before were. Without links, the graph itself.
    embedding_ : ndarray of shape (n_samples, n_components)
        The eigenvectors, with rows of unit length.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues of the normalized graph, largest first; at most 1.
    n_connected_components_ : int
        The number of connected components of the adjusted graph.
    estimator_ : clusterer
        The clusterer fitted on the embedding.
    violations_ : Constraints
        The violated links.
    n_features_in_ : int
        The number of features.

    Raises
    ------
    TooLargeError
        With ``affinity="full"``, if there are more than `max_samples` rows.

    See Also
    --------
    SpectralLearning : Links change the affinities of the linked rows alone.
    ConstrainedSpectral : With a lower bound on the satisfaction of links.
    NormalizedSpectralClustering : Without links.

    Notes
    -----
    With L = D^(-1/2) W D^(-1/2), the normalized affinities, and Z, the signed matrix of the links' weights, links
    spread along columns and then along rows: F = (1 - alpha)^2 (I - alpha L)^-1 Z (I - alpha L)^-1. An affinity w
    becomes 1 - (1 - f)(1 - w) where f >= 0, and (1 + f) w elsewhere.

    The formula needs entries f between -1 and 1, and those of F are small: without a scale, links have little effect.
    Here F is divided by its median absolute value at the links, and clipped. Hence only the ratios of the links'
    weights matter.

    F is dense in the paper. Here spreading stops below `cutoff`, and so small entries of F after scaling are dropped. A
    positive entry where there was no edge is a new edge if it is among the 50 largest of its row. The time
    for this grows with the number of links, and hardly with the number of rows. With dense affinities F is complete.

    Cannot-links only weaken edges: one between rows that have no edges near each other has no effect. Where classes
    overlap, links between rows of the overlap spread to rows of the wrong class, and results can be worse than without
    links.

    A graph with more connected components than eigenvectors is connected first, as by :class:`ConstrainedSpectral`, but
    never by an edge between cannot-linked rows.

    References
    ----------
    Z. Lu, H. H. S. Ip, "Constrained spectral clustering via exhaustive and efficient constraint propagation", ECCV
    2010, 1-14.

    Z. Lu, Y. Peng, "Exhaustive and efficient constraint propagation: a graph-based learning approach and its
    applications", International Journal of Computer Vision 103 (2013), 306-325.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mustlink import ConstraintPropagation, Constraints
    >>> from mustlink.metrics import adjusted_rand
    >>> X, y = make_moons(200, noise=0.15, random_state=0)
    >>> plain = ConstraintPropagation(2, random_state=0).fit(X)
    >>> links = Constraints.sample(y, n_pairs=60, random_state=0)
    >>> linked = ConstraintPropagation(2, random_state=0).fit(X, constraints=links)
    >>> adjusted_rand(y, plain.labels_) < adjusted_rand(y, linked.labels_)
    True

    For other links on the same rows, the graph is computed once:

    >>> more = ConstraintPropagation(2, affinity="precomputed", random_state=0)
    >>> labels = more.fit_predict(plain.affinity_, constraints=links)
    >>> adjusted_rand(linked.labels_, labels)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EmbeddingMixin._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "cutoff": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        n_components: int | None = None,
        alpha: float = 0.9,
        cutoff: float = 0.01,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        scale_neighbor: int | None = 7,
        max_samples: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_components = n_components
        self.alpha = alpha
        self.cutoff = cutoff
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor
        self.max_samples = max_samples
        self.random_state = random_state

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        n_vectors = self._count_vectors(X.shape[0])

        def spread(graph: Graph, links: Constraints) -> Graph:
            return spread_links(graph, links, self.alpha, self.cutoff)

        graph = self._make_graph(X, max_pieces=n_vectors, links=links, use_links=spread)
        self.affinity_ = with_short_indices(graph.weights)
        self._cluster_vectors(graph, "symmetric", n_vectors, X.dtype)
        self.violations_ = links.violations(self.labels_)
