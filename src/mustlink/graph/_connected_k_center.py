"""ConnectedKCenter: connected clusters of the least radius, exactly or with a bound on how far off they are."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from mustlink._numbering import number_by_first
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats, Indices, Ints
from mustlink.base import check_table
from mustlink.errors import TooLargeError
from mustlink.graph._adjacency import Adjacency
from mustlink.graph._base import BaseConnected
from mustlink.graph._centers import Spread, best_centers, farthest_first
from mustlink.graph._disjoint import assign_disjointly, split_off_leaves
from mustlink.graph._distances import Distances, check_distance_matrix
from mustlink.graph._exact import least_radius
from mustlink.graph._growth import grow_smoothly, reach_of_all
from mustlink.graph._overlapping import least_covering_radius, packing_bound

__all__ = ["ConnectedKCenter"]

# With solver="auto", up to this many rows are solved exactly, with search trees of no more nodes than this.
AUTO_ROWS = 20
AUTO_NODES = 2_000
# The most rows of the exact solver, whose programs have a variable for each pair of rows.
MAX_EXACT_ROWS = 200
# Up to this many rows the lower bound of the approximation is computed from the reach between all rows.
MAX_BOUND_ROWS = 1_000


class ConnectedKCenter(BaseConnected):
    """K-center clustering with connected clusters (Ester et al. 2006).

    The rows are nodes of a graph, such as places with roads between them, people who know each other, or papers that
    cite each other. Every cluster is connected in the graph, and the largest radius of a cluster, the distance of its
    farthest row from its center, is as small as possible. Two adjacent rows may be in different clusters. Without the
    argument `graph` of ``fit``, nothing is restricted.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, at least that of the connected parts of the graph.
    solver : {"auto", "exact", "approx"}, default="auto"
        How clusters are found:

        - "exact": with the least possible radius, by integer programs, for at most 200 rows; with more than about 40 it
          can take minutes.
        - "approx": farthest-first traversal, then an assignment that makes clusters disjoint.
        - "auto": exactly up to 20 rows, if the search tree is small, and otherwise approximately.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        The distance between rows: Euclidean, one minus the cosine, or X itself, the distances between all rows, which
        should be a metric.
    n_init : int, default=3
        The number of starts of the approximation, of which the best is kept.
    random_state : int, RandomState or None, default=None
        Draws the starts, and the orders of the centers if they are many.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row, numbered in the order of their first rows.
    centers_ : ndarray of shape (n_clusters,)
        The row number of the center of each cluster, which is in it.
    radii_ : ndarray of shape (n_clusters,)
        The largest distance of a row of each cluster from its center.
    radius_ : float
        The largest of them, which is minimized.
    lower_bound_ : float
        No connected clusters have a smaller radius; `radius_` itself if the solution is exact.
    ratio_ : float
        `radius_` divided by `lower_bound_`: the radius is at most so many times the least possible one. 1 if the
        solution is exact, and infinite if the bound is zero and the radius is not.
    is_exact_ : bool
        Whether no smaller radius is possible.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    NetScan : A faster heuristic for the same problem, with outliers.
    ConnectedKMeans : Connected clusters with small squared distances to their means.
    sklearn.cluster.AgglomerativeClustering : Its parameter `connectivity` also gives connected clusters.

    Notes
    -----
    The problem is NP-hard even for two clusters on a line, and so is any approximation within a factor below 2 [1]_.
    The approximation has these steps. The *reach* R(u, v) is the least radius around row u within which a path leads
    from u to v. Farthest-first traversal on the reach finds centers of clusters that may overlap, with a radius r of at
    most twice the least one; the source computes another distance for this, which is NP-hard to compute. Algorithm 2 of
    the source then assigns the rows of each center in turn, and what is cut off from it to adjacent clusters. Here
    such pieces go to the adjacent cluster whose center is nearest to their farthest row; all orders of few centers and
    some of many are tried, and clusters that grow from all centers at once, as in :class:`NetScan`. Then the best
    center of every cluster is searched, from which clusters grow again as long as the radius decreases. A cluster whose
    center has gone to another one is replaced by a single row that is split off.

    *The factor of 3 that the source gives for Algorithm 2 does not hold for more than two clusters.* In one order it
    can reach 2 k - 1 times the radius r for k clusters, and that bound is proved. `ratio_` states how good a result is
    at most away from the optimum; it is computed for every fit, from half the radius of the traversal or, up to 1,000
    rows, from rows no two of which can have the same center.

    In a graph of several connected parts the clusters are distributed so that the largest radius is small: every part
    has one, and the traversal gives each further center to the part with the largest radius.

    There is no ``predict``: a new row has no edges, and by the nearest center alone even rows of the fit would be in
    clusters with which they are not connected. Cross-validation that selects rows of a graph is refused; select rows
    and columns, ``graph[fold][:, fold]``.

    References
    ----------
    .. [1] M. Ester, R. Ge, B. J. Gao, Z. Hu and B. Ben-Moshe, "Joint cluster analysis of attribute data and
       relationship data: the connected k-center problem", SDM 2006.
    .. [2] M. Ester, R. Ge, B. J. Gao, Z. Hu and B. Ben-Moshe, "Joint cluster analysis of attribute data and
       relationship data", chapter 12 of "Constrained Clustering", 2009.

    Examples
    --------
    Five places on a line; the road from 1 to 8 passes by 9 only.

    >>> import numpy as np
    >>> from mustlink import ConnectedKCenter
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0], [2.0]])
    >>> graph = np.zeros((5, 5))
    >>> for a, b in [(0, 1), (1, 3), (3, 2), (2, 4)]:
    ...     graph[a, b] = graph[b, a] = 1
    >>> ConnectedKCenter(2, random_state=0).fit(X).labels_
    array([0, 0, 1, 1, 0])
    >>> connected = ConnectedKCenter(2, random_state=0).fit(X, graph=graph)
    >>> connected.labels_
    array([0, 0, 1, 1, 1])
    >>> connected.radius_, connected.ratio_
    (6.0, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"auto", "exact", "approx"})],
        "metric": [StrOptions({"euclidean", "cosine", "precomputed"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: Literal["auto", "exact", "approx"] = "auto",
        metric: Literal["euclidean", "cosine", "precomputed"] = "euclidean",
        n_init: int = 3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.metric = metric
        self.n_init = n_init
        self.random_state = random_state

    def _fit(self, X: Any, graph: Adjacency | None) -> None:
        """Approximate, and search on exactly where asked for or cheap."""
        n_rows = X.shape[0]
        if self.solver == "exact" and n_rows > MAX_EXACT_ROWS:
            raise TooLargeError(
                f"The exact solver takes at most {MAX_EXACT_ROWS} rows, and X has {n_rows:,}",
                remedy="too_large",
                instead='use solver="approx"',
            )
        distances, rng = Distances(X, self.metric), check_random_state(self.random_state)
        starts = [
            farthest_first(graph, distances, self.n_clusters, int(start))
            for start in rng.randint(n_rows, size=self.n_init)
        ]
        assigned = [self._finish(distances, assign_disjointly(graph, spread, rng), spread.centers) for spread in starts]
        results = [self._grow_again(graph, distances, result) for result in assigned]
        best = min(results, key=lambda result: float(result[2].max()))
        lower, exact = self._search_exactly(graph, distances, starts, float(best[2].max()))
        labels, centers, radii = best if exact is None else exact
        self.labels_, number = number_by_first(labels, self.n_clusters)
        by_first = np.argsort(number)
        self.centers_, self.radii_ = centers[by_first], radii[by_first]
        self.radius_ = float(self.radii_.max())
        # Rounding may put the bound of an exact solution above its radius.
        self.lower_bound_ = min(lower, self.radius_)
        self.is_exact_ = self.lower_bound_ == self.radius_
        self.ratio_ = 1.0 if self.is_exact_ else self.radius_ / self.lower_bound_ if self.lower_bound_ else np.inf

    def _finish(self, distances: Distances, labels: Ints, centers: Indices) -> tuple[Ints, Indices, Floats]:
        """Return clusters with their best centers and radii."""
        return labels, *best_centers(distances, labels, centers)

    def _grow_again(
        self, graph: Adjacency | None, distances: Distances, result: tuple[Ints, Indices, Floats]
    ) -> tuple[Ints, Indices, Floats]:
        """Let clusters grow from their best centers as long as the radius decreases."""
        while True:
            centers = result[1]
            labels, _ = grow_smoothly(graph, distances.from_rows(centers), centers)
            grown = self._finish(distances, labels, centers)
            if grown[2].max() >= result[2].max():
                return result
            result = grown

    def _search_exactly(
        self, graph: Adjacency | None, distances: Distances, starts: list[Spread], radius: float
    ) -> tuple[float, tuple[Ints, Indices, Floats] | None]:
        """Return a lower bound of the radius, and a better result than the one that has it, if one is found."""
        n_rows = distances.n_rows
        # One minus the cosine is half the squared distance of unit vectors, for which the factor is 2 * 2.
        factor = 4.0 if self.metric == "cosine" else 2.0
        lower = max(spread.radius for spread in starts) / factor
        is_small = self.solver == "exact" or (self.solver == "auto" and n_rows <= AUTO_ROWS)
        if not is_small and n_rows > MAX_BOUND_ROWS:
            return lower, None
        reach = reach_of_all(graph, distances)
        if not is_small:
            return packing_bound(reach, self.n_clusters, starts[0].centers), None
        lower, centers = least_covering_radius(reach, self.n_clusters)
        if graph is None:
            return self._cover(distances, reach, lower, centers)
        max_nodes = None if self.solver == "exact" else AUTO_NODES
        lower, optimum = least_radius(graph, reach, self.n_clusters, lower, radius, max_nodes)
        if optimum is None:
            return lower, None
        return lower, self._fill(graph, distances, optimum.labels, optimum.centers)

    def _cover(
        self, distances: Distances, reach: Floats, lower: float, centers: Indices
    ) -> tuple[float, tuple[Ints, Indices, Floats]]:
        """Return the optimum without a graph: rows go to the nearest center of a cover, and others become centers."""
        others = np.setdiff1d(np.arange(distances.n_rows), centers)
        far = others[np.argsort(-reach[np.ix_(centers, others)].min(axis=0), kind="stable")]
        centers = np.concatenate([centers, far])[: self.n_clusters]
        labels = reach[centers].argmin(axis=0)
        labels[centers] = np.arange(len(centers))
        return lower, self._finish(distances, labels.astype(np.int64), centers)

    def _fill(
        self, graph: Adjacency, distances: Distances, labels: Ints, centers: Indices
    ) -> tuple[Ints, Indices, Floats]:
        """Return exactly as many clusters as were asked for."""
        more = np.setdiff1d(np.arange(distances.n_rows), centers)[: self.n_clusters - len(centers)]
        every = np.concatenate([centers, more])
        lines = distances.from_rows(every)
        labels = split_off_leaves(graph, labels, Spread(every, lines, lines))
        return self._finish(distances, labels, every)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        if self.metric == "precomputed":
            X = check_table(self, X, reset=reset)
            check_distance_matrix(X)
            return X
        return check_table(self, X, reset=reset, accept_sparse="csr", order="C")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
