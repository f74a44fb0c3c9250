"""SizeConstrainedKMeans: k-means and k-medians with minimum and maximum cluster sizes."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._types import Array, Floats
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError
from mustlink.kmeans.core import BaseWeightedKMeans, Plan, Problem, Run, State, check_weight
from mustlink.sizes._manhattan import manhattan_distances
from mustlink.sizes._sized_geometry import SizedEuclidean, SizedManhattan
from mustlink.sizes._sizing import Sizing
from mustlink.sizes._sizing_input import SizedProblem, make_sizing


class SizeConstrainedKMeans(BaseWeightedKMeans):
    """k-means with minimum and maximum cluster sizes (Demiriz, Bennett and Bradley 2009).

    Every assignment is the cheapest one that keeps to the sizes, found exactly. Use it for groups that are only useful
    if they are large or small enough: teams, routes, segments.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    size_min : int or array-like of shape (n_clusters,), default=None
        The minimum size of all clusters, or of each; None is 0.
    size_max : int or array-like of shape (n_clusters,), default=None
        The maximum size of all clusters, or of each; None is no maximum.
    metric : {"sqeuclidean", "manhattan"}, default="sqeuclidean"
        The cost of a row: its squared Euclidean distance to the mean of its cluster (k-means), or the sum of absolute
        differences to the median of each column (k-medians).
    size_by : {"weight", "rows"}, default="weight"
        Whether the size of a cluster is the sum of the `sample_weight` of its rows, or their number. Without
        `sample_weight` both are the same.
    labeled_min : int or array-like of shape (n_clusters,), default=None
        The minimum number of rows in each cluster of those that ``fit(X, labeled=mask)`` marks.
    outlier_cost : float, default=None
        The cost of a row of weight one that is in no cluster; None puts every row into a cluster. Rows whose cost would
        be higher in every cluster, and others for which a maximum leaves no room, get the label -1.
    init : {"k-means++", "components", "random"} or array-like of shape (n_clusters, n_features), default="k-means++"
        The starting centers: rows drawn far from each other, means of must-link components far from each other, rows
        drawn at random, or these centers. Sizes given for each cluster are those of the centers in their order: a
        permutation of the centers is another problem.
    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the lowest objective is kept. "auto" is one
        run, ten for ``init="random"``. From a start without randomness one run is made.
    max_iter : int, default=300
        The maximum number of iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centers together is at most this fraction of the mean variance of
        the features.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row; -1 is an outlier.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster, or its medians.
    sizes_ : ndarray of shape (n_clusters,)
        The size of each cluster.
    prices_ : ndarray of shape (n_clusters,)
        What the inertia would fall by if the minimum of a cluster were one lower (positive), or rise by if its maximum
        were one lower (negative), at the same centers; zero where no bound binds. Every row is in the cluster that
        minimizes its cost minus the price.
    labeled_prices_ : ndarray of shape (n_clusters,)
        The same for `labeled_min`, if it is given. They add to `prices_` for labeled rows.
    inertia_ : float
        The weighted sum of the costs of the rows in their clusters, without outliers.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The inertia, with the costs of outliers, after each assignment of that run; it never rises.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    assign : The assignment of rows to clusters of bounded sizes.

    Notes
    -----
    The assignment is a linear program with integer solutions; its dual variables are the prices. Where the nearest
    centers satisfy the bounds, an iteration is one of plain k-means, and without bounds so is the whole fit. Maximum
    sizes, which the chapter does not have, bound the same flows.

    An empty cluster, which a minimum of 0 allows, keeps its center; with a minimum of 1 none is empty. Where
    assignments tie, the labels of the iteration before are kept, which makes the runs finite. A result is the best
    only for its own centers, as in k-means: other starts may find a better one.

    References
    ----------
    A. Demiriz, K. P. Bennett and P. S. Bradley, "Using assignment constraints to avoid empty clusters in k-means
    clustering", in: S. Basu, I. Davidson and K. L. Wagstaff (eds.), "Constrained Clustering", 2009, chapter 9.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.sizes import SizeConstrainedKMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0], [10.0]])
    >>> model = SizeConstrainedKMeans(n_clusters=2, size_min=3, random_state=0).fit(X)
    >>> model.labels_, model.sizes_
    (array([0, 0, 0, 1, 1, 1]), array([3, 3]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseWeightedKMeans._parameter_constraints,
        "size_min": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "size_max": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "metric": [StrOptions({"sqeuclidean", "manhattan"})],
        "size_by": [StrOptions({"weight", "rows"})],
        "labeled_min": [Interval(Integral, 0, None, closed="left"), "array-like", None],
        "outlier_cost": [Interval(Real, 0, None, closed="neither"), None],
    }
    __metadata_request__fit = {"constraints": True, "labeled": True}  # noqa: RUF012  (read by scikit-learn)

    labeled_prices_: Floats
    prices_: Floats
    sizes_: Array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        size_min: ArrayLike | None = None,
        size_max: ArrayLike | None = None,
        metric: str = "sqeuclidean",
        size_by: str = "weight",
        labeled_min: ArrayLike | None = None,
        outlier_cost: float | None = None,
        init: str | ArrayLike = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.size_min = size_min
        self.size_max = size_max
        self.metric = metric
        self.size_by = size_by
        self.labeled_min = labeled_min
        self.outlier_cost = outlier_cost
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
        sample_weight: ArrayLike | None = None,
        labeled: ArrayLike | None = None,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. They are copied only if they are neither in C order nor in CSR form.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels of all rows are ignored:
            scikit-learn passes them to every clusterer to score against.
        constraints : Constraints or AlignedConstraints, default=None
            Must-links and cannot-links between rows.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; 1 if None. Sizes are sums of these weights, unless ``size_by="rows"``.
        labeled : array-like of bool of shape (n_samples,), default=None
            Which rows count for `labeled_min`.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X, links, y = self._check_fit_input(X, y, constraints)
        self._fit_and_count(X, links, y, sample_weight, labeled)
        return self

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the inertia of new rows, without sizes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; 1 if None.

        Returns
        -------
        float
            Minus the weighted sum of the costs of the rows in their nearest clusters; no row costs more than
            `outlier_cost`.
        """
        rows = self._check_new_rows(X)
        weight = check_weight(sample_weight, rows.X)
        _, own = rows.cheapest(self._costs)
        return -float(weight @ np.minimum(own, np.inf if self.outlier_cost is None else self.outlier_cost))

    def transform(self, X: Any) -> Array:
        """Return the distance of each row to each center.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, or sums of absolute differences with ``metric="manhattan"``.
        """
        if self.metric == "sqeuclidean":
            return super().transform(X)
        rows = self._check_new_rows(X)
        return np.concatenate(rows.map_pieces(lambda _, piece: self._costs(piece.X).astype(rows.dtype)))

    def _costs(self, X: Any) -> Floats:
        """Return the cost of some rows in every cluster."""
        centers = self.cluster_centers_.astype(np.float64)
        if self.metric == "manhattan":
            return manhattan_distances(X, centers)
        return RowBlocks(X).squared_distances(centers)

    def _nearest(self, rows: RowBlocks) -> Array:
        if self.metric == "sqeuclidean" and self.outlier_cost is None:
            return super()._nearest(rows)
        labels, own = rows.cheapest(self._costs)
        if self.outlier_cost is not None:
            labels[own > self.outlier_cost] = -1
        return labels

    def _fit(
        self,
        X: Any,
        links: Constraints,
        y: Array | None,
        sample_weight: ArrayLike | None = None,
        labeled: ArrayLike | None = None,
    ) -> None:
        """Make the runs under the sizes, and keep the best."""
        if not links.is_empty:
            raise ConstraintError("SizeConstrainedKMeans takes no links; with links, use COPKMeans or PCKMeans.")
        problem = self._problem(X, links, y, sample_weight)
        is_weighted = sample_weight is not None and self.size_by == "weight"
        sizing = make_sizing(self, problem, problem.weight if is_weighted else None, labeled)
        run = self._run(SizedProblem(**vars(problem), sizing=sizing))
        self._keep(run, links, X.dtype)
        self._keep_sizes(run, sizing)

    def _plan(self, problem: Problem) -> Plan:
        assert isinstance(problem, SizedProblem)
        geometry = {"sqeuclidean": SizedEuclidean, "manhattan": SizedManhattan}[self.metric]
        tol = self.tol * problem.mean_variance if self.tol else 0.0
        start = self._start(problem)
        return geometry(problem.rows, problem.weight, problem.sizing), [start.map(State)], {"shift": tol}

    def _keep_sizes(self, run: Run, sizing: Sizing) -> None:
        """Store the sizes and the prices of a run."""
        self.sizes_ = sizing.sizes(run.labels)
        self.prices_ = run.found.prices.of_sizes
        self.inertia_ = run.inertia - run.found.outlier_cost
        if self.labeled_min is not None:
            self.labeled_prices_ = run.found.prices.of_labeled
