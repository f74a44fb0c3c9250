"""Spectral learning: links as edges of the graph whose eigenvectors are clustered."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from mustlink._sklearn_compat import StrOptions
from mustlink._types import Array
from mustlink.base import ConstrainedClusterMixin
from mustlink.constraints import Constraints
from mustlink.spectral._embedding import EmbeddingMixin

__all__ = ["SpectralLearning"]


class SpectralLearning(EmbeddingMixin, ConstrainedClusterMixin, BaseEstimator):
    """Spectral learning: links modify the affinities of spectral clustering (Kamvar, Klein and Manning 2003).

    Must-linked rows get the largest affinity, 1, and cannot-linked rows the affinity 0; the eigenvectors of the graph
    propagate this to the neighbors of linked rows. Links can be violated.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    estimator : clusterer, default=None
        The clusterer for the rows of the eigenvectors, with ``fit_predict``; its `n_clusters` and `random_state` are
        set. None is k-means with ten runs.
    n_components : int or None, default=None
        The number of eigenvectors; None is `n_clusters`.
    affinity : {"nearest_neighbors", "full", "precomputed"}, default="nearest_neighbors"
        Which rows have an edge: nearest neighbors, all rows, or as in X, if it is a symmetric matrix of nonnegative
        affinities, dense or sparse, at most 1.
    n_neighbors : int, default=10
        The number of neighbors of each row.
    scale_neighbor : int or None, default=7
        The distance of a row to this neighbor is its local scale s. The weight of an edge is exp(-d^2 / (s_i s_j)).
        None gives all edges between nearest neighbors the weight 1.
    normalization : {"additive", "symmetric"}, default="additive"
        "additive" is that of the paper, (A + d_max I - D) / d_max; "symmetric" is that of Ng, Jordan and Weiss,
        D^(-1/2) A D^(-1/2), where few links have less effect.
    max_samples : int, default=10_000
        The maximum number of rows for ``affinity="full"``.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    embedding_ : ndarray of shape (n_samples, n_components)
        The eigenvectors, with rows of unit length.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues of the normalized graph, largest first; at most 1.
    n_connected_components_ : int
        The number of connected components of the graph with links.
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
    ConstraintPropagation : Links also change the affinities of the neighbors of linked rows.
    ConstrainedSpectral : With a lower bound on the satisfaction of links.
    NormalizedSpectralClustering : Without links.

    Notes
    -----
    The paper uses a Gaussian affinity of all rows, which is sensitive to outliers; here the graph is that of nearest
    neighbors, with local scaling, and sparse. Weights of links, and links that only follow from others, are not used.

    The additive form has the eigenvectors of the Laplacian D - A. Hence a row with many must-links does not affect the
    others, but rows with weak edges form small clusters more easily than with the symmetric form.

    A graph with more connected components than eigenvectors is connected first, as by :class:`ConstrainedSpectral`, but
    never by an edge between cannot-linked rows.

    References
    ----------
    S. D. Kamvar, D. Klein, C. D. Manning, "Spectral learning", IJCAI 2003, 561-566.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mustlink import Constraints, SpectralLearning
    >>> from mustlink.metrics import adjusted_rand
    >>> X, y = make_moons(200, noise=0.15, random_state=0)
    >>> plain = SpectralLearning(2, random_state=0).fit(X)
    >>> links = Constraints.sample(y, n_pairs=60, random_state=0)
    >>> linked = SpectralLearning(2, random_state=0).fit(X, constraints=links)
    >>> adjusted_rand(y, plain.labels_) < adjusted_rand(y, linked.labels_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EmbeddingMixin._parameter_constraints,
        "normalization": [StrOptions({"additive", "symmetric"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        n_components: int | None = None,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        scale_neighbor: int | None = 7,
        normalization: str = "additive",
        max_samples: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor
        self.normalization = normalization
        self.max_samples = max_samples
        self.random_state = random_state

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        n_vectors = self._count_vectors(X.shape[0])
        graph = self._make_graph(X, max_pieces=n_vectors, links=links)
        self._cluster_vectors(graph, self.normalization, n_vectors, X.dtype)
        self.violations_ = links.violations(self.labels_)
