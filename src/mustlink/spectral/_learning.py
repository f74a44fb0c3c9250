"""Spectral learning: links written into a graph of neighbours before its eigenvectors are taken."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from mustlink._estimators import clone_with, draw_seed
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import ConstrainedClusterMixin
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.spectral._eigenvectors import leading_vectors, to_sphere
from mustlink.spectral._graph import find_pieces, join_pieces, make_graph, with_links

__all__ = ["SpectralLearning"]


class SpectralLearning(ConstrainedClusterMixin, BaseEstimator):
    """Spectral learning: links become edges of a graph, and a clusterer works on its eigenvectors.

    Two rows that must be together get the largest affinity there is, 1, and two that cannot get none; the eigenvectors
    of the graph carry this on to the neighbours of linked rows. Links are advice: the graph around them decides how
    far they are followed.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    estimator : clusterer, default=None
        Any clusterer with ``fit_predict``, for the rows of the eigenvectors; its `n_clusters` is set to that given
        here, and its random states from `random_state`. None is k-means with ten starts.
    n_components : int or None, default=None
        The number of eigenvectors; None is as many as clusters.
    affinity : {"nearest_neighbors", "full", "precomputed"}, default="nearest_neighbors"
        Which rows are joined: nearest neighbours, all rows, or X is itself a symmetric matrix of affinities, not
        negative, dense or sparse. They should not exceed 1, the affinity of must-links.
    n_neighbors : int, default=10
        How many neighbours of a row are joined with it.
    scale_neighbor : int or None, default=7
        The distance of a row to this neighbour is its own scale s. An edge weighs exp(-d^2 / (s_i s_j)). None gives
        the weight 1 to all edges of nearest neighbours.
    normalization : {"additive", "symmetric"}, default="additive"
        "additive" is that of the paper, (A + d_max I - D) / d_max; "symmetric" is that of Ng, Jordan and Weiss,
        D^(-1/2) A D^(-1/2), with which few links change less.
    max_samples : int, default=10_000
        ``affinity="full"`` refuses more rows than this.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    embedding_ : ndarray of shape (n_samples, n_components)
        The eigenvectors, each row brought to length 1.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the normalised graph, largest first; at most 1.
    n_connected_components_ : int
        The number of pieces that the graph falls into, with the links in it.
    estimator_ : clusterer
        Fitted on the embedding.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of columns of X.

    Raises
    ------
    TooLargeError
        If ``affinity="full"`` is given more than `max_samples` rows.

    See Also
    --------
    ConstrainedSpectral : Bounds from below how well the links are kept.
    NormalizedSpectralClustering : Without links.

    Notes
    -----
    The paper joins all rows by a Gaussian, which one far row is enough to spoil; here nearest neighbours are joined,
    with a scale for every row, and the graph stays sparse. It has no place for weights of links, so that these play
    no part; links are used as they are, without those that follow from them.

    The additive form has the eigenvectors of the Laplacian D - A; d_max, the largest degree with the links in place,
    only says how its eigenvalues are counted. So a row with very many must-links does no harm to the others, but rows
    with few and weak edges make small clusters more easily than with the symmetric form.

    Each piece of the graph, a row without edges among them, has an eigenvector of eigenvalue 1 of its own, which is
    written down rather than searched for. A graph of more pieces than components would leave open which of them to
    take: its pieces are first joined into one, along the spanning tree of their means, each time by the edge between
    the two nearest rows that no link keeps apart, which weighs 1 / (1 + d^2 / (s_i s_j)). Pieces of a precomputed
    affinity are tied to the largest by the smallest weight there is.

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
    >>> told = SpectralLearning(2, random_state=0).fit(X, constraints=links)
    >>> adjusted_rand(y, plain.labels_) < adjusted_rand(y, told.labels_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "affinity": [StrOptions({"nearest_neighbors", "full", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "scale_neighbor": [Interval(Integral, 1, None, closed="left"), None],
        "normalization": [StrOptions({"additive", "symmetric"})],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
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

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table, or the affinities of its rows if they are precomputed.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row are taken as the
            truth that a score needs, and left alone.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=False)
        n_samples = X.shape[0]
        n_vectors = self.n_clusters if self.n_components is None else self.n_components
        for name, number in (("n_clusters", self.n_clusters), ("n_components", n_vectors)):
            if n_samples < number:
                raise ValueError(f"n_samples={n_samples} should be >= {name}={number}.")
        links = self._constraints_for(constraints, y, n_samples)
        rng = check_random_state(self.random_state)
        graph = make_graph(X, self.affinity, self.n_neighbors, self.scale_neighbor, self.max_samples)
        graph = with_links(graph, links.must_link, links.cannot_link)
        piece = find_pieces(graph.weights)
        self.n_connected_components_ = int(piece.max()) + 1
        if self.n_connected_components_ > n_vectors:
            graph = join_pieces(graph, piece, links.cannot_link)
        self.eigenvalues_, vectors = leading_vectors(graph, self.normalization, n_vectors, rng)
        directions = to_sphere(vectors)
        self.embedding_ = directions.astype(X.dtype, copy=False)
        self.estimator_ = prepared_base(self.estimator, self.n_clusters, rng)
        self.labels_ = np.asarray(self.estimator_.fit_predict(directions))
        self.violations_ = links.violations(self.labels_)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags


def prepared_base(estimator: Any, n_clusters: int, rng: np.random.RandomState) -> Any:
    """Copy the clusterer of the embedding, and set its number of clusters and its seeds."""
    seed = draw_seed(rng)
    if estimator is None:
        return KMeans(n_clusters, n_init=10, random_state=seed)
    if isinstance(estimator, type) or not hasattr(estimator, "fit_predict"):
        raise TypeError(f"estimator must be a clusterer with fit_predict, such as KMeans(); got {estimator!r}.")
    return clone_with(estimator, n_clusters, seed)
