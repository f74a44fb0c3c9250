"""ConnectedKMeans: NetScan for sums of squared distances to means."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from mustlink._types import Array, Floats, Indices
from mustlink.graph._adjacency import Adjacency
from mustlink.graph._distances import Distances
from mustlink.graph._scan import BaseNetScan, Grown, least_gap

__all__ = ["ConnectedKMeans"]


class ConnectedKMeans(BaseNetScan):
    """K-means with connected clusters, by NetScan (Ester et al. 2006).

    Clusters grow from seeds along the edges of a graph, by the distances to the means of the clusters before, in turn
    with new means. Every cluster is connected; without the argument `graph` of ``fit``, nothing is restricted. Use it
    for communities of people or papers with texts, for regions, and for whatever :class:`~sklearn.cluster.KMeans` would
    put together that belongs together only if it is connected.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, at least that of the connected parts of the graph.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The distance between rows: Euclidean, or one minus the cosine, for which rows and means have unit length.
    step : {"continuous", "published"} or float, default="continuous"
        How the radius within which clusters grow rises, as in :class:`NetScan`.
    init : {"degree", "farthest"} or array-like of shape (n_clusters,), default="degree"
        The first seeds: rows drawn with probability proportional to their number of neighbors, farthest-first
        traversal from a random row, or these row numbers.
    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the least inertia is kept. "auto" is 10 for up
        to 20,000 rows, and 3 for more.
    max_iter : int, default=100
        The maximum number of iterations of a run.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster; of unit length for the cosine.
    inertia_ : float
        The sum of squared distances of the rows to the means of their clusters; for the cosine, of one minus the
        cosine.
    objective_ : list of float
        The inertia after each iteration of the kept run. It can rise; the best iteration is kept.
    n_iter_ : int
        The number of iterations of that run.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    NetScan : The same growth for a small radius.
    sklearn.cluster.AgglomerativeClustering : Ward's linkage with `connectivity` has the same aim and no starts.

    Notes
    -----
    The source replaces the centers of NetScan by means and says no more. A cluster needs a row to grow from: here the
    row of the cluster before that is nearest to its mean. A run ends when no row changes its cluster, or when an
    earlier iteration had the same clusters. A row may be nearer to the mean of another cluster with which it is not
    connected, and also to one with which it is: growth decides by the largest distance on the way to a row.

    There is no ``predict``, and cross-validation that selects rows of a graph is refused, as in
    :class:`ConnectedKCenter`.

    References
    ----------
    .. [1] M. Ester, R. Ge, B. J. Gao, Z. Hu and B. Ben-Moshe, "Joint cluster analysis of attribute data and
       relationship data", chapter 12 of "Constrained Clustering", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_extraction.image import grid_to_graph
    >>> from mustlink import ConnectedKMeans
    >>> graph = grid_to_graph(1, 6)  # six places in a row
    >>> price = np.array([[1.0], [2.0], [8.0], [9.0], [2.0], [1.0]])
    >>> ConnectedKMeans(3, random_state=0).fit(price, graph=graph).labels_
    array([1, 1, 0, 0, 2, 2])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        step: Literal["continuous", "published"] | float = "continuous",
        init: str | ArrayLike = "degree",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 100,
        verbose: int | bool = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.step = step
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    cluster_centers_: Array
    inertia_: float

    def _fit(self, X: Any, graph: Adjacency | None) -> None:
        """Make the runs, and keep the best."""
        distances = Distances(X, self.metric)
        run = self._best_run(graph, distances, self._start())
        self.labels_ = run.grown.labels
        self.cluster_centers_ = distances.means(run.grown.labels, self.n_clusters).astype(X.dtype)
        self.inertia_ = run.best
        self.objective_, self.n_iter_ = run.objective, len(run.objective)

    def _value(self, grown: Grown, lines: Floats) -> float:
        own = lines[grown.labels, np.arange(len(grown.labels))]
        return float(own.sum() if self.metric == "cosine" else np.square(own).sum())

    def _move(self, distances: Distances, seeds: Indices, means: Floats, lines: Floats) -> tuple[Any, Floats, float]:
        return means, lines, least_gap(distances.between(means))
