"""MPCKMeans: k-means that learns a metric while broken links have a penalty."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mustlink._rows import RowBlocks, Standardizer
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Floats
from mustlink.base import check_fits
from mustlink.blocks import BlockedRows
from mustlink.constraints import Constraints
from mustlink.kmeans._base import BaseConstrainedKMeans, Plan, Problem, ProblemOfStarts
from mustlink.kmeans._engine import Run
from mustlink.kmeans._mpckmeans_blocked import BlockedMetrics
from mustlink.kmeans._mpckmeans_metrics import DiagonalMetrics, FullMetrics, LearnedMetrics
from mustlink.kmeans._rules import LinkedRows
from mustlink.kmeans._seeding import Start

# The most numbers that full metrics hold together (1 GB).
MAX_ENTRIES = 1 << 27


class MPCKMeans(BaseConstrainedKMeans):
    """k-means with soft constraints and a learned metric (Bilenko, Basu and Mooney 2004).

    Distances are learned together with the clusters: columns, or directions, in which rows of one cluster differ
    little count more, and so do those that make broken links cheaper. A long must-link costs more to break than a
    short one, a short cannot-link more than a long one. Use it when the columns have different units or some of them
    are irrelevant; :class:`PCKMeans` is for data whose distances are right as they are.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    metric : {"diagonal", "full"}, default="diagonal"
        Whether to learn a weight for each column, or a full matrix. "full" is often better with many links; its time
        grows with the square of the number of columns.
    shared_metric : bool, default=True
        Whether all clusters share one metric, or each has its own.
    penalty : float, default=1.0
        The penalty of a broken link of weight one, relative to the weight of a row. The metric sets the scale: results
        do not depend on the units of X. With 0 links are used only for the start.
    init_metric : {"auto", "identity", "variance"}, default="auto"
        The metric of the first iteration:

        - "identity": distances as they are in X;
        - "variance": columns divided by their standard deviations;
        - "auto": runs from both, of which the one with the lowest objective is kept.

    min_variance : float, default=0.03
        The minimum variance of a cluster in any direction, as a fraction of that of all rows. It keeps the metric
        finite.
    init : {"components", "k-means++", "random"} or array-like of shape (n_clusters, n_features), default="components"
        The starting centers:

        - "components": means of must-link components far from each other, then rows as by "k-means++";
        - "k-means++": rows drawn far from each other;
        - "random": rows drawn at random;
        - an array: these centers.

    n_init : int or "auto", default="auto"
        The number of runs from different starts for each first metric. "auto" is one run, ten for ``init="random"``.
        From a start without randomness one run is made.
    max_iter : int, default=100
        The maximum number of iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centers together, in columns divided by their standard deviations,
        is at most this.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster.
    metrics_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_features, n_features)
        The matrix A of each cluster, or its diagonal, in the units of X: the squared distance of x to the center m is
        (x - m)' A (x - m). They are all equal if the metric is shared.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The objective after each assignment of that run.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    PCKMeans : The same without learning a metric.
    HMRFKMeans : Other distances, such as the cosine.

    Notes
    -----
    The objective sums, over the rows, the squared distance to the center under the metric of the cluster minus the
    logarithm of its determinant; over broken must-links, the weight times the squared length, averaged over the two
    metrics; and over broken cannot-links, the weight times the difference between the squared lengths of the longest
    pair of rows and of the link. Rows without links go to the cluster of lowest cost; rows with links are visited by
    iterated conditional modes, the most certain first, then must-link components as wholes. Then the centers become
    means and the metrics the inverse of the scatter of the cluster and its broken links.

    None of these steps raises the objective as long as the longest pair is the same; the metrics are optimal among
    those with no variance below `min_variance`, also where sums are singular or indefinite. After a new metric the
    longest pair is searched again, and then the objective may rise. The search covers some hundred outermost rows and
    the cannot-links themselves: none of them can have a negative penalty.

    The paper starts from distances as they are. That fails where one column dominates, and standardized columns fail
    where many are irrelevant, as in images; "auto" tries both. An empty cluster is restarted at the row whose leaving
    lowers the objective most. X is copied once in double precision; rows of a file (:class:`mustlink.blocks.FileRows`)
    are standardized again in every pass, and the labels are those of a fit in memory but for ties that rounding
    decides, such as that between two components of equal weight to start from. Where every cluster has its own metric,
    ``predict`` subtracts its log-determinant from the squared distance, as the fit does.

    References
    ----------
    M. Bilenko, S. Basu and R. J. Mooney, "Integrating constraints and metric learning in semi-supervised clustering",
    ICML 2004.

    Examples
    --------
    The first column is irrelevant, and has the large numbers.

    >>> import numpy as np
    >>> from mustlink import Constraints, MPCKMeans
    >>> X = np.array([[10.0, 0.0], [50.0, 0.2], [90.0, 0.1], [12.0, 1.0], [48.0, 1.2], [88.0, 1.1]])
    >>> links = Constraints(must_link=[(0, 2)], cannot_link=[(0, 3)])
    >>> model = MPCKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[100.0, 0.3], [0.0, 0.8]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseConstrainedKMeans._parameter_constraints,
        "metric": [StrOptions({"diagonal", "full"})],
        "shared_metric": ["boolean"],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "init_metric": [StrOptions({"auto", "identity", "variance"})],
        "min_variance": [Interval(Real, 0, 1, closed="neither")],
    }

    _takes_sparse = False
    _takes_blocks = True
    _read_by_predict = ("cluster_centers_", "_metrics", "_standardizer")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        shared_metric: bool = True,
        penalty: float = 1.0,
        init_metric: str = "auto",
        min_variance: float = 0.03,
        init: str | ArrayLike = "components",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.shared_metric = shared_metric
        self.penalty = penalty
        self.init_metric = init_metric
        self.min_variance = min_variance
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _nearest(self, rows: RowBlocks) -> Array:
        return self._metrics.nearest(rows, self._standardizer.transform(self.cluster_centers_))[0]

    def _squared_distances(self, rows: RowBlocks) -> Array:
        centers = self._standardizer.transform(self.cluster_centers_)
        squares = np.concatenate(rows.map_pieces(lambda _, piece: self._metrics.distances(piece.X, centers)))
        return squares.astype(self._standardizer.dtype)

    def _check_new_rows(self, X: Any) -> RowBlocks:
        """Check rows that come after the fit, and standardize their columns."""
        rows = super()._check_new_rows(X)
        return RowBlocks(self._standardizer.transform(rows.X))

    def _plan(self, problem: Problem) -> Plan:
        n_features = problem.rows.n_features
        n_metrics = 1 if self.shared_metric else self.n_clusters
        if self.metric == "full":
            check_fits(
                f"Learning full metrics of {n_features:,} columns",
                (n_metrics * n_features, n_features),
                MAX_ENTRIES,
                'pass metric="diagonal" or shared_metric=True, or reduce the columns first',
            )
        linked = problem.linked if self.penalty else LinkedRows(Constraints(), problem.rows.n_rows)
        kind, rows = self._standardize(problem)
        geometry = kind(rows, linked, float(self.penalty), self.min_variance, self._round)
        weights = {"identity": self._standardizer.original_weights(), "variance": np.ones(n_features)}
        starts = [
            self._start_with(problem.of_starts, geometry, first, n_metrics)
            for name, first in weights.items()
            if self.init_metric in ("auto", name)
        ]
        # In the first iteration the metrics have only begun to adapt.
        return geometry, starts, {"shift": self.tol, "min_iter": 2}

    def _standardize(self, problem: Problem) -> tuple[type[LearnedMetrics], RowBlocks | BlockedRows]:
        """Return the rows in standardized columns, and the geometry for them; rows in blocks are computed by pass."""
        if isinstance(problem.rows, BlockedRows):
            self._standardizer = Standardizer.from_moments(problem.rows.moments, problem.rows.dtype)
            shape = problem.rows.n_features, np.float64
            return BlockedMetrics, problem.rows.transform(self._standardizer.transform, *shape)
        self._standardizer = Standardizer(problem.X)
        return LearnedMetrics, RowBlocks(self._standardizer.transform(problem.X))

    def _start_with(self, problem: ProblemOfStarts, geometry: LearnedMetrics, weights: Floats, n_metrics: int) -> Start:
        """Return the start in columns of these weights, which also make the first metrics."""
        root = np.sqrt(weights)
        kind = FullMetrics if self.metric == "full" else DiagonalMetrics
        start = self._start(
            replace(problem, rows=RowBlocks(self._standardizer.transform(problem.X) * root)),
            lambda centers: self._standardizer.transform(centers) * root,
        )
        return start.map(
            lambda centers: geometry.begin(
                self._round(centers / root), kind.from_weights(np.tile(weights, (n_metrics, 1)))
            )
        )

    def _round(self, centers: Floats) -> Floats:
        """Round centers to the precision of X: `predict` then uses exactly the centers that labeled the rows."""
        return self._standardizer.transform(self._standardizer.inverse_transform(centers))

    def _keep(self, run: Run, links: Constraints, dtype: Any) -> None:
        super()._keep(run, links, dtype)
        scale = self._standardizer.scale
        self.cluster_centers_ = self._standardizer.inverse_transform(run.state.centers)
        self._metrics = run.state.metric
        matrices = self._metrics.matrices / scale
        matrices /= scale if matrices.ndim == 2 else scale[:, None]
        self.metrics_ = np.broadcast_to(matrices, (self.n_clusters, *matrices.shape[1:])).copy()
        # Determinants change with the units, all of them by the same factor.
        units = 2 * len(run.labels) * float(np.log(scale).sum())
        self.objective_ = [value + units for value in run.objective]
