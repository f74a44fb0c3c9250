"""Flexible constrained spectral clustering."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Floats
from mustlink.base import ConstrainedClusterMixin
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError
from mustlink.spectral._eigenvectors import leading_vectors
from mustlink.spectral._graph import Graph, SpectralMixin, check_array_fits
from mustlink.spectral._satisfaction import bounded_vectors, find_bound, normalized_links

__all__ = ["ConstrainedSpectral"]

# Up to this number of rows all eigenvectors are used by default; beyond, a fixed number of them.
MAX_FULL_ROWS = 1_000
N_SMOOTHEST = 100


class ConstrainedSpectral(SpectralMixin, ConstrainedClusterMixin, BaseEstimator):
    """Flexible constrained spectral clustering (Wang and Davidson 2010).

    Finds the minimum normalized cut of a graph subject to a lower bound on the satisfaction of the links. The
    satisfaction of a vector is the weighted sum over the links of the products of its values at their two rows, with a
    negative sign for cannot-links. Every vector that is clustered meets the bound.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    satisfaction : float or "auto", default="auto"
        The lower bound on the satisfaction of the links: 1 is that of a cut into two clusters that satisfies all
        links, 0 that of one that violates half of them, and with a bound far below 0 links have no effect. Vectors
        that are large at linked rows exceed 1. "auto" is 0.5, or 0.75 if must-links outweigh cannot-links such that
        0.5 leads to poor cuts, or less if n_clusters - 1 vectors cannot reach it.
    n_components : int, "auto" or None, default="auto"
        The number of smoothest eigenvectors of the graph whose combinations are searched, at least `n_clusters`. The
        bound holds with any number, and fewer avoid arrays of n x n numbers. None is all, as in the paper. "auto" is
        all up to 1,000 rows, and 100 beyond, or 4 per cluster if that is more.
    affinity : {"nearest_neighbors", "full", "precomputed"}, default="nearest_neighbors"
        Which rows have an edge: nearest neighbors, all rows, or as in X, if it is a symmetric matrix of nonnegative
        affinities, dense or sparse.
    n_neighbors : int, default=10
        The number of neighbors of each row.
    scale_neighbor : int or None, default=7
        The distance of a row to this neighbor is its local scale s. The weight of an edge is exp(-d^2 / (s_i s_j)).
        None gives all edges between nearest neighbors the weight 1.
    n_init : int, default=10
        The number of runs of k-means in the space of the vectors; the best is kept.
    max_samples : int, default=3_000
        The maximum number of rows for ``n_components=None`` and ``affinity="full"``.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    embedding_ : ndarray of shape (n_samples, n_vectors)
        The input of k-means: the vectors divided by the roots of the degrees.
    vectors_ : ndarray of shape (n_samples, n_vectors)
        The vectors v of unit length, in the order of their costs; at most n_clusters - 1.
    costs_ : ndarray of shape (n_vectors,)
        The normalized cut v' L v of each.
    satisfactions_ : ndarray of shape (n_vectors,)
        The satisfaction v' Q v of each; at least `bound_`. Empty without links.
    bound_ : float or None
        The bound used; None without links.
    largest_bound_ : float or None
        The supremum of the bounds that n_clusters - 1 vectors can meet; None without links.
    n_connected_components_ : int
        The number of connected components of the graph, before they are connected.
    violations_ : Constraints
        The violated links.
    n_features_in_ : int
        The number of features.

    Raises
    ------
    InfeasibleError
        If no n_clusters - 1 vectors reach `satisfaction`; the message contains the largest bound.
    TooLargeError
        With ``n_components=None`` or ``affinity="full"``, if there are more than `max_samples` rows.

    See Also
    --------
    SpectralLearning : Links as edges of the graph; any clusterer in the space of the eigenvectors.

    Notes
    -----
    With L the normalized Laplacian and Q the signed matrix of the links' weights, normalized by the degrees like L, the
    vectors solve L v = l (Q - b I) v for l > 0. Then v' Q v = b + v' L v / l for v of unit length, hence the bound b.
    The n_clusters - 1 vectors with the smallest costs v' L v are used. In the paper the bound is called beta and is
    v' Q v times the volume of the graph; here it is divided by twice the sum of the links' weights. A bound that the
    constant vector meets exactly has no solution, and is shifted by a millionth.

    A graph that is not connected is connected first: along the minimum spanning tree of the means of its components,
    by the edge between the two nearest rows, with the weight 1 / (1 + d^2 / (s_i s_j)). With a precomputed affinity all
    components are connected with the largest one, by the smallest positive weight.

    Without links the vectors are the smoothest but the constant one: normalized cuts.

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
    >>> linked = ConstrainedSpectral(2, random_state=0).fit(X, constraints=links)
    >>> adjusted_rand(y, plain.labels_) < adjusted_rand(y, linked.labels_)
    True
    >>> bool(linked.satisfactions_.min() >= linked.bound_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SpectralMixin._parameter_constraints,
        "satisfaction": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
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

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        n_smooth = self._check_components(X.shape[0])
        rng = check_random_state(self.random_state)
        graph = self._make_graph(X, max_pieces=1)
        vectors = self._vectors(graph, links, n_smooth, rng)
        # Only a single row can be without edges; its degree counts as 1.
        root = np.sqrt(np.where(graph.degree > 0, graph.degree, 1.0))
        embedding = vectors / root[:, None]
        self.vectors_ = vectors.astype(X.dtype, copy=False)
        self.embedding_ = embedding.astype(X.dtype, copy=False)
        self.labels_ = np.zeros(len(embedding), dtype=np.int64)
        if embedding.shape[1]:
            # Rescaled to unit variance, which suits the tolerance of k-means.
            spread = float(np.sqrt(np.square(embedding.std(axis=0)).mean()))
            model = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng)
            self.labels_ = model.fit_predict(embedding / max(spread, 1e-300)).astype(np.int64)
        self.violations_ = links.violations(self.labels_)

    def _check_components(self, n_samples: int) -> int:
        """Return the number of eigenvectors to use, and refuse too many."""
        if self.n_components == "auto":
            return n_samples if n_samples <= MAX_FULL_ROWS else max(N_SMOOTHEST, 4 * self.n_clusters)
        if self.n_components is None:
            check_array_fits("n_components=None", n_samples, self.max_samples, 'n_components="auto"')
            return n_samples
        return min(max(int(self.n_components), self.n_clusters), n_samples)

    def _vectors(self, graph: Graph, links: Constraints, n_smooth: int, rng: np.random.RandomState) -> Floats:
        """Find the vectors of minimum cost that meet the bound, and set their attributes."""
        n_wanted = self.n_clusters - 1
        self.bound_: float | None = None
        self.largest_bound_: float | None = None
        self.satisfactions_ = np.empty(0)
        if links.is_empty or n_wanted == 0:
            values, basis = leading_vectors(graph, "symmetric", self.n_clusters, rng)
            self.costs_ = np.maximum(1 - values[1:], 0.0)
            return basis[:, 1:]
        values, basis = leading_vectors(graph, "symmetric", n_smooth, rng)
        inside = basis.T @ (normalized_links(links, graph.degree) @ basis)
        given = None if isinstance(self.satisfaction, str) else float(self.satisfaction)
        self.bound_, self.largest_bound_ = find_bound(inside, n_wanted, given)
        if self.bound_ >= self.largest_bound_:
            raise InfeasibleError(
                f"satisfaction={self.satisfaction} asks for {self.bound_:.6g}, more than {n_wanted} vectors in "
                f"{basis.shape[1]} dimensions can reach; give a number below {self.largest_bound_:.6g}."
            )
        found, self.costs_, self.satisfactions_ = bounded_vectors(1 - values, inside, self.bound_, n_wanted)
        return basis @ found
