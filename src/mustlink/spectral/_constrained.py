"""Flexible constrained spectral clustering: the best cut among those that keep links well enough."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import InfeasibleError
from mustlink.spectral._eigenvectors import leading_vectors
from mustlink.spectral._graph import Graph, check_size, find_pieces, join_pieces, make_graph
from mustlink.spectral._satisfaction import bounded_vectors, find_bound, link_matrix

__all__ = ["ConstrainedSpectral"]

Floats = NDArray[np.float64]

MOST_ROWS_WHOLE = 1_000
"""Up to here all eigenvectors are used by default."""

SMOOTHEST = 100
"""Beyond, so many of them."""


class ConstrainedSpectral(ConstrainedClusterMixin, BaseEstimator):
    """Constrained spectral clustering: the cheapest cut of a graph among those that keep the links well enough.

    How well a cut keeps the links is a number, the sum over the links of the products of its values at their two
    rows, those of cannot-links subtracted. A bound from below on this number is a parameter, and it is kept by every
    vector that the clusters are read from.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    satisfaction : float or "auto", default="auto"
        The bound: how well the links must be kept, 1 being as well as by a cut in two that breaks none, 0 as by one
        that breaks half, and far below 0 leaves the links out of account. Vectors that dwell on linked rows exceed 1.
        "auto" is 0.5, or 0.75 if must-links outweigh cannot-links such that a bound of 0.5 leads to poor cuts, or less
        where n_clusters - 1 vectors cannot keep that.
    n_components : int, "auto" or None, default="auto"
        The cut is searched among combinations of so many of the smoothest eigenvectors of the graph, at least as many
        as clusters, which keeps the bound and needs no array of n x n numbers. None is all of them, as in the paper.
        "auto" is all up to 1,000 rows, and 100 beyond, or 4 per cluster if that is more.
    affinity : {"nearest_neighbors", "full", "precomputed"}, default="nearest_neighbors"
        Which rows are joined: nearest neighbours, all rows, or X is itself a symmetric matrix of affinities, not
        negative, dense or sparse.
    n_neighbors : int, default=10
        How many neighbours of a row are joined with it.
    scale_neighbor : int or None, default=7
        The distance of a row to this neighbour is its own scale s. An edge weighs exp(-d^2 / (s_i s_j)). None gives
        the same weight to all edges of nearest neighbours.
    n_init : int, default=10
        The number of starts of the k-means that reads the clusters from the vectors.
    max_samples : int, default=3_000
        With ``n_components=None`` or ``affinity="full"``, more rows than this are refused.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    embedding_ : ndarray of shape (n_samples, n_vectors)
        What k-means worked on: the vectors divided by the roots of the degrees.
    vectors_ : ndarray of shape (n_samples, n_vectors)
        The vectors v of length 1, the cheapest first; at most n_clusters - 1.
    costs_ : ndarray of shape (n_vectors,)
        The normalised cut v' L v of each.
    satisfactions_ : ndarray of shape (n_vectors,)
        How well each keeps the links; at least `bound_`. Empty without links.
    bound_ : float or None
        The bound in force; None without links.
    largest_bound_ : float or None
        Below this, a bound leaves n_clusters - 1 vectors; None without links.
    n_connected_components_ : int
        The number of pieces of the graph, before they are joined.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of columns of X.

    Raises
    ------
    InfeasibleError
        If no n_clusters - 1 vectors keep the links as well as `satisfaction` asks; the message says how well they can.
    TooLargeError
        If all eigenvectors of more than `max_samples` rows are asked for, or their full affinity.

    See Also
    --------
    SpectralLearning : Writes the links into the graph; any clusterer can follow.

    Notes
    -----
    With L the normalised Laplacian and Q the matrix of the links' weights, those of cannot-links negative, divided by
    the roots of the degrees like L, the vectors solve L v = l (Q - b I) v for l > 0. Then v' Q v = b + v' L v / l for v
    of length 1, hence the bound. Of these vectors the n_clusters - 1 of the least cost v' L v are kept. In the paper
    the bound is called beta and left to the user, as v' Q v times the volume of the graph; here it is divided by
    twice the sum of the links' weights. A bound that the constant vector meets exactly has no solution, and is moved
    by a millionth.

    The paper searches the whole space, which takes arrays of n x n numbers. In the span of the smoothest eigenvectors
    the same algebra and the same bound hold, with Q restricted alike; single links are followed less closely there.

    A graph must be in one piece here. If it is not, the pieces are joined along the spanning tree of their means,
    each time by the edge between the two nearest rows, which weighs 1 / (1 + d^2 / (s_i s_j)). Pieces of a
    precomputed affinity are tied to the largest by the smallest weight there is.

    Without links the vectors are the smoothest but the constant one: normalised cuts.

    References
    ----------
    X. Wang, I. Davidson, "Flexible constrained spectral clustering", KDD 2010, 563-572.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mustlink import ConstrainedSpectral, Constraints
    >>> from mustlink.metrics import adjusted_rand
    >>> X, y = make_moons(200, noise=0.15, random_state=0)
    >>> links = Constraints.sample(y, n_pairs=60, random_state=0)
    >>> plain = ConstrainedSpectral(2, random_state=0).fit(X)
    >>> told = ConstrainedSpectral(2, random_state=0).fit(X, constraints=links)
    >>> adjusted_rand(y, plain.labels_) < adjusted_rand(y, told.labels_)
    True
    >>> bool(told.satisfactions_.min() >= told.bound_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "satisfaction": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "affinity": [StrOptions({"nearest_neighbors", "full", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "scale_neighbor": [Interval(Integral, 1, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        satisfaction: float | str = "auto",
        n_components: int | str | None = "auto",
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        scale_neighbor: int | None = 7,
        n_init: int = 10,
        max_samples: int = 3_000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.satisfaction = satisfaction
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor
        self.n_init = n_init
        self.max_samples = max_samples
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
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
        check_enough_rows(n_samples, self.n_clusters)
        n_smooth = self._check_components(n_samples)
        links = self._constraints_for(constraints, y, n_samples)
        rng = check_random_state(self.random_state)
        graph = make_graph(X, self.affinity, self.n_neighbors, self.scale_neighbor, self.max_samples)
        piece = find_pieces(graph.weights)
        self.n_connected_components_ = int(piece.max()) + 1
        if self.n_connected_components_ > 1:
            graph = join_pieces(graph, piece, np.empty((0, 2), dtype=np.int64))
        vectors = self._vectors(graph, links, n_smooth, rng)
        # A row without edges, which only a single row can be by now, has the degree 1.
        root = np.sqrt(np.where(graph.degree > 0, graph.degree, 1.0))
        embedding = vectors / root[:, None]
        self.vectors_ = vectors.astype(X.dtype, copy=False)
        self.embedding_ = embedding.astype(X.dtype, copy=False)
        self.labels_ = self._assign(embedding, rng)
        self.violations_ = links.violations(self.labels_)
        return self

    def _check_components(self, n_samples: int) -> int:
        """Return the number of eigenvectors to work with, and refuse too many."""
        if self.n_components == "auto":
            return n_samples if n_samples <= MOST_ROWS_WHOLE else max(SMOOTHEST, 4 * self.n_clusters)
        if self.n_components is None:
            check_size(n_samples, self.max_samples, "n_components=None", 'n_components="auto"')
            return n_samples
        return min(max(int(self.n_components), self.n_clusters), n_samples)

    def _vectors(self, graph: Graph, links: Constraints, n_smooth: int, rng: np.random.RandomState) -> Floats:
        """Find the cheapest vectors that keep the bound, and note how well they do."""
        n_wanted = self.n_clusters - 1
        self.bound_: float | None = None
        self.largest_bound_: float | None = None
        self.satisfactions_ = np.empty(0)
        if links.is_empty or n_wanted == 0:
            values, basis = leading_vectors(graph, "symmetric", self.n_clusters, rng)
            self.costs_ = np.maximum(1 - values[1:], 0.0)
            return basis[:, 1:]
        values, basis = leading_vectors(graph, "symmetric", n_smooth, rng)
        inside = basis.T @ (link_matrix(links, graph.degree) @ basis)
        asked = None if isinstance(self.satisfaction, str) else float(self.satisfaction)
        bound, self.largest_bound_ = find_bound(inside, n_wanted, asked)
        if bound >= self.largest_bound_:
            raise InfeasibleError(
                f"satisfaction={self.satisfaction:g} asks for more than {n_wanted} vectors can keep of these links in "
                f"{basis.shape[1]} dimensions; give a number below {self.largest_bound_:.6g}."
            )
        found, self.costs_, self.satisfactions_ = bounded_vectors(1 - values, inside, bound, n_wanted)
        self.bound_ = bound
        return basis @ found

    def _assign(self, embedding: Floats, rng: np.random.RandomState) -> NDArray[np.int32]:
        """Read the clusters from the rows of the embedding."""
        if embedding.shape[1] == 0:
            return np.zeros(len(embedding), dtype=np.int32)
        # The rows are divided by the roots of degrees; brought to a common size, the tolerance of k-means suits them.
        spread = embedding.std(axis=0)
        model = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng)
        labels = model.fit(embedding / max(float(np.sqrt(np.square(spread).mean())), 1e-300)).labels_
        return np.asarray(labels, dtype=np.int32)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags
