"""NetScan: a fast heuristic for connected clusters of a small radius."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mustlink._sklearn_compat import Interval
from mustlink._types import Floats, Indices
from mustlink.graph._adjacency import Adjacency
from mustlink.graph._centers import best_centers
from mustlink.graph._distances import Distances
from mustlink.graph._outliers import find_outliers
from mustlink.graph._scan import BaseNetScan, Grown, Run, least_gap

__all__ = ["NetScan"]


class NetScan(BaseNetScan):
    """NetScan: connected clusters of a small radius for large graphs (Ester et al. 2006).

    Clusters grow from centers along the edges of a graph, then each center moves to the row nearest to the mean of its
    cluster, in turn. Every cluster is connected; without the argument `graph` of ``fit``, nothing is restricted. A
    heuristic for the problem of :class:`ConnectedKCenter`, in time that is about linear in the number of edges.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, at least that of the connected parts of the graph.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The distance between rows: Euclidean, or one minus the cosine.
    step : {"continuous", "published"} or float, default="continuous"
        How the radius within which clusters grow rises: continuously, so that the row that needs the smallest radius
        is always next; or as published, by rounds, from half the least distance of two centers in steps of the average
        distance of two rows, with a look-ahead for rows between clusters. A number is a step of so many average
        distances.
    init : {"degree", "farthest"} or array-like of shape (n_clusters,), default="degree"
        The first centers: rows drawn with probability proportional to their number of neighbors, as published;
        farthest-first traversal from a random row; or these row numbers.
    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the least radius is kept. "auto" is 10 for up to
        20,000 rows, and 3 for more.
    max_iter : int, default=100
        The maximum number of iterations of a run.
    outlier_jump : float, default=None
        Rows that would be assigned after a jump of the radius by this factor or more are outliers, label -1: the
        largest jump among the last 5 % of the rows counts. None is no outliers.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row; -1 for outliers.
    centers_ : ndarray of shape (n_clusters,)
        The row number of the center of each cluster: the row of the cluster with the least radius.
    radii_ : ndarray of shape (n_clusters,)
        The largest distance of a row of each cluster from its center.
    radius_ : float
        The largest of them.
    assign_threshold_ : ndarray of shape (n_samples,)
        The radius at which each row was assigned, around the centers from which the clusters grew.
    outliers_ : ndarray
        The row numbers of the outliers.
    objective_ : list of float
        The radius after each iteration of the kept run. It can rise; the best iteration is kept.
    n_iter_ : int
        The number of iterations of that run.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    ConnectedKCenter : The same problem with a lower bound, and exactly for few rows.
    ConnectedKMeans : The same growth for squared distances to means.

    Notes
    -----
    As printed, a cluster grows from the neighbors of its center alone, and a second round finds none; here it grows
    from those of all its rows. A row between clusters, with unassigned neighbors, goes to the nearest center; if one of
    these has no other edge, to the center nearest to that neighbor, and if several have none, to the cluster whose
    radius they raise least. Clusters take turns in a random order in each round. Rounds in which nothing would happen
    are left out. The rule for outliers is left open by the source, which looks at a plot.

    With ``step="continuous"``, the limit of small steps, results do not depend on turns, and radii are smaller. In a
    graph of several connected parts, clusters are distributed as in :class:`ConnectedKCenter`. Without a graph, rows
    join the nearest center. There is no ``predict``, for the reasons given there, and cross-validation that selects
    rows of a graph is refused.

    References
    ----------
    .. [1] M. Ester, R. Ge, B. J. Gao, Z. Hu and B. Ben-Moshe, "Joint cluster analysis of attribute data and
       relationship data: the connected k-center problem", SDM 2006.
    .. [2] M. Ester, R. Ge, B. J. Gao, Z. Hu and B. Ben-Moshe, "Joint cluster analysis of attribute data and
       relationship data", chapter 12 of "Constrained Clustering", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_extraction.image import grid_to_graph
    >>> from mustlink import NetScan
    >>> graph = grid_to_graph(4, 6)  # places on a map, each with its neighbors
    >>> height = np.array([[1, 1, 9, 9, 1, 1]] * 4, dtype=float).reshape(-1, 1)
    >>> NetScan(3, random_state=0).fit(height, graph=graph).labels_.reshape(4, 6)
    array([[1, 1, 2, 2, 0, 0],
           [1, 1, 2, 2, 0, 0],
           [1, 1, 2, 2, 0, 0],
           [1, 1, 2, 2, 0, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseNetScan._parameter_constraints,
        "outlier_jump": [Interval(Real, 1, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        step: Literal["continuous", "published"] | float = "continuous",
        init: str | ArrayLike = "degree",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 100,
        outlier_jump: float | None = None,
        verbose: int | bool = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.step = step
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.outlier_jump = outlier_jump
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, graph: Adjacency | None) -> None:
        """Make the runs, leave out outliers of the best, and find its centers."""
        distances = Distances(X, self.metric)
        run = self._best_run(graph, distances, self._start())
        self.assign_threshold_ = run.grown.thresholds
        self.outliers_ = find_outliers(run.grown.thresholds, self.outlier_jump)
        labels = run.grown.labels.copy()
        labels[self.outliers_] = -1
        self.labels_ = labels
        self.centers_, self.radii_ = best_centers(distances, labels, run.seeds)
        self.radius_ = float(self.radii_.max())
        self.objective_, self.n_iter_ = run.objective, len(run.objective)

    def _run(self, graph: Adjacency | None, distances: Distances, *start: Any) -> Run:
        run = super()._run(graph, distances, *start)
        radii = best_centers(distances, run.grown.labels, run.seeds)[1]
        return replace(run, best=float(radii.max()))

    def _value(self, grown: Grown, lines: Floats) -> float:
        return float(grown.distances.max())

    def _move(self, distances: Distances, seeds: Indices, means: Floats, lines: Floats) -> tuple[Any, Floats, float]:
        lines = distances.from_rows(seeds)
        return np.sort(seeds), lines, least_gap(lines[:, seeds])
