"""SizeConstrainedKMeans: k-means and k-medians with minimum and maximum cluster sizes."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._types import Array, Floats, Ints
from mustlink.blocks import LocalRows, as_blocked, blockwise_transform
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.kmeans.core import BaseWeightedKMeans, Plan, Problem, Run, State, assign_rows, check_weight, iterate
from mustlink.sizes._linked._assign_linked import check_triples
from mustlink.sizes._size_constrained._linked_sizing import add_links, relax_links, warn_of_breaks
from mustlink.sizes._size_constrained._local_rows import check_local, label_rows
from mustlink.sizes._size_constrained._manhattan import manhattan_distances
from mustlink.sizes._size_constrained._polish import polish
from mustlink.sizes._size_constrained._row_costs import absolute_costs, square_costs
from mustlink.sizes._size_constrained._sized_geometry import Sized, SizedEuclidean, SizedManhattan
from mustlink.sizes._size_constrained._sizing import Sizing
from mustlink.sizes._size_constrained._sizing_input import (
    SizedProblem,
    make_sizing,
    refuse_missed_bounds,
    scale_bounds,
    sizing_of_new_rows,
)


class SizeConstrainedKMeans(BaseWeightedKMeans):
    """k-means with minimum and maximum cluster sizes (Demiriz, Bennett and Bradley 2009).

    Every assignment is the cheapest one that keeps to the sizes, found exactly. Use it for groups that are only useful
    if they are large or small enough: teams, routes, segments. Links are kept together with the sizes.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    size_min : int, float or array-like of shape (n_clusters,), default=None
        The minimum size of all clusters, or of each; None is 0. A number of rows is whole, a sum of weights may have
        decimals.
    size_max : int, float or array-like of shape (n_clusters,), default=None
        The maximum size of all clusters, or of each; None is no maximum.
    metric : {"sqeuclidean", "manhattan"}, default="sqeuclidean"
        The cost of a row: its squared Euclidean distance to the mean of its cluster (k-means), or the sum of absolute
        differences to the median of each column (k-medians).
    size_by : {"weight", "rows"}, default="weight"
        Whether the size of a cluster is the sum of the `sample_weight` of its rows, or their number. Without
        `sample_weight` both are the same.
    pivot_min : int or array-like of shape (n_clusters,), default=None
        The minimum number of rows in each cluster of those that ``fit(X, pivots=mask)`` marks.
    apart_max : int, default=1
        The most rows of one group in a cluster, for the groups that ``fit(X, apart=groups)`` names.
    outlier_cost : float, default=None
        The cost of a row of weight one that is in no cluster; None puts every row into a cluster. Rows whose cost would
        be higher in every cluster, and others for which a maximum leaves no room, get the label -1.
    polish : bool, default=False
        Whether to improve the result by moves of single rows, swaps of two and chains through three clusters that keep
        to the sizes (Hartigan), in what `max_iter` leaves of iterations. It never raises the inertia, and takes longer.
    compare : bool, default=False
        Whether to compute `inertia_ratio_`, which takes as long as k-means without sizes.
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
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if links and sizes cannot be kept together, or no way to do so is found: raise
        :class:`InfeasibleError`; or keep the sizes, break few links, and issue an :class:`InfeasibleWarning`. The same
        holds for sums of weights that no clusters of whole rows are found for. Sizes that cannot add up always raise.
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
    size_shares_ : ndarray of shape (2, n_clusters)
        The minimum and maximum sizes as shares of the size of all rows, for ``predict(X, sized=True)``.
    prices_ : ndarray of shape (n_clusters,)
        The prices of the bounds: at least zero at a minimum, at most zero at a maximum, zero where no bound binds.
        Every row is in the cluster that minimizes its cost minus the price, which proves the assignment the best for
        its centers; with links, this holds for the rows without links. The size of a price lies between what a bound
        that is looser by one would gain, see `gains_`, and what one that is tighter by one would cost. Where no size
        is free to change, only differences between prices have a meaning.
    gains_ : ndarray of shape (2, n_clusters)
        What the objective would fall by, at the same centers, if the minimum of a cluster were one lower (first row)
        or its maximum one higher (second row), all other bounds as they are. Zero where a bound does not bind or
        another one is in the way; NaN for bounds of clusters that are at them with links, `apart`, or sizes that are
        sums of weights: there, the gain is not known.
    pivot_prices_ : ndarray of shape (n_clusters,)
        The same for `pivot_min`, if it is given. They add to `prices_` for pivots.
    inertia_ : float
        The weighted sum of the costs of the rows in their clusters, without outliers.
    inertia_ratio_ : float
        With ``compare=True``: the inertia of the rows at their nearest centers, whatever the sizes, as a ratio to that
        of k-means without sizes from the same starts. Far above 1, the sizes do not suit the data or `n_clusters`.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The inertia, with the costs of outliers, after each assignment of that run; it never rises, except where sums
        of weights come within their bounds only then.
    violations_ : Constraints
        The links that the result breaks; none unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    Raises
    ------
    InfeasibleError
        If the sizes cannot add up, or if links and sizes do not go together, with the numbers that clash.

    See Also
    --------
    assign : The assignment of rows to clusters of bounded sizes.
    assign_linked : The assignment under sizes and links.
    COPKMeans : Links without sizes.

    Notes
    -----
    The assignment is a linear program with integer solutions; its dual variables are the prices. Where the nearest
    centers satisfy the bounds, an iteration is one of plain k-means, and without bounds so is the whole fit. Maximum
    sizes, which the chapter does not have, bound the same flows.

    With weights, a size is a sum of weights, such as the revenue of the customers in a segment; a row is never divided.
    Whole rows may be unable to meet the bounds, which is hard to decide, and then the assignment has a cost near the
    least one, see :func:`~mustlink.sizes.assign`. Bounds of this kind cannot be combined with links, `pivot_min` and
    `apart`.

    An empty cluster, which a minimum of 0 allows, keeps its center; with a minimum of 1 none is empty. Where
    assignments tie, the labels of the iteration before are kept, which makes the runs finite. A result is the best
    only for its own centers, as in k-means: other starts may find a better one.

    With links, a must-link component goes to a cluster as a whole. The assignment is then exact where all links are
    cannot-links that form separate cliques, and on small tables; elsewhere it is one that chains of moves do not
    improve, see :func:`~mustlink.sizes.assign_linked`. Links cannot be combined with bounds of sums of weights, with
    `pivot_min`, `outlier_cost`, and `apart_max` above 1.

    X may be rows of a file (:class:`mustlink.blocks.FileRows`) that are larger than memory. Exact sizes need the
    cluster of every row and the gap to the next one, so that memory grows with the rows, by several numbers for each
    beside some hundred megabytes for moves near the borders of clusters, but neither with their columns nor with the
    clusters; costs are computed again in every pass. Links other than cannot-links in separate cliques hold the costs
    of all rows in all clusters, and are refused where these are too many. Rows on other machines are refused.

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
        "size_max": [Interval(Real, 0, None, closed="both"), "array-like", None],
        "metric": [StrOptions({"sqeuclidean", "manhattan"})],
        "size_by": [StrOptions({"weight", "rows"})],
        "pivot_min": [Interval(Integral, 0, None, closed="left"), "array-like", None],
        "apart_max": [Interval(Integral, 1, None, closed="left")],
        "outlier_cost": [Interval(Real, 0, None, closed="neither"), None],
        "polish": ["boolean"],
        "compare": ["boolean"],
        "on_infeasible": [StrOptions({"raise", "relax"})],
    }
    __metadata_request__fit = {"constraints": True, "pivots": True, "apart": True}  # noqa: RUF012

    gains_: Floats
    inertia_ratio_: float
    pivot_prices_: Floats
    prices_: Floats
    size_shares_: Floats
    sizes_: Array

    _read_by_predict: ClassVar[tuple[str, ...]] = ("cluster_centers_", "size_shares_")
    _takes_blocks = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        size_min: ArrayLike | None = None,
        size_max: ArrayLike | None = None,
        metric: str = "sqeuclidean",
        size_by: str = "weight",
        pivot_min: ArrayLike | None = None,
        apart_max: int = 1,
        outlier_cost: float | None = None,
        polish: bool = False,
        compare: bool = False,
        init: str | ArrayLike = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        on_infeasible: str = "raise",
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.size_min = size_min
        self.size_max = size_max
        self.metric = metric
        self.size_by = size_by
        self.pivot_min = pivot_min
        self.apart_max = apart_max
        self.outlier_cost = outlier_cost
        self.polish = polish
        self.compare = compare
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.on_infeasible = on_infeasible
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
        pivots: ArrayLike | None = None,
        apart: ArrayLike | None = None,
        one_of: ArrayLike | None = None,
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
        pivots : array-like of bool of shape (n_samples,), default=None
            Which rows count for `pivot_min`.
        apart : array-like of shape (n_samples,), default=None
            The group of every row, such as its family or source; -1, None, NaN and empty text are none. A cluster has
            at most `apart_max` rows of a group.
        one_of : array-like of shape (n_triples, 3), default=None
            Triples (i, j, g) of row numbers: i shares a cluster with j or with g, but not with both.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X, links, y = self._check_fit_input(X, y, constraints)
        self._fit_and_count(X, links, y, sample_weight, pivots, apart, one_of)
        return self

    def predict(
        self,
        X: Any,
        *,
        sized: bool = False,
        size_min: ArrayLike | None = None,
        size_max: ArrayLike | None = None,
    ) -> Ints:
        """Return the cluster with the nearest center for each row, or clusters of bounded sizes for all rows together.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        sized : bool, default=False
            Whether the rows together keep to the sizes of the fit, in proportion to the number of rows: minimum sizes
            are rounded down and maximum sizes up, so that there is always an answer. Otherwise every row goes to the
            nearest center, whatever the other rows are.
        size_min : int or array-like of shape (n_clusters,), default=None
            The minimum size for these rows, in place of that of the fit.
        size_max : int or array-like of shape (n_clusters,), default=None
            The maximum size for these rows, in place of that of the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers; -1 is an outlier.

        Raises
        ------
        InfeasibleError
            If no sizes satisfy the given bounds.
        """
        if not sized and size_min is None and size_max is None:
            return super().predict(X)
        blocked, rows = as_blocked(X), self._check_new_rows(X)
        costs_of = absolute_costs if self.metric == "manhattan" else square_costs
        costs = costs_of(rows, np.ones(rows.n_rows), self.cluster_centers_.astype(np.float64))
        if sized:
            lowest, highest = scale_bounds(self.size_shares_, rows.n_rows)
            size_min = lowest if size_min is None else size_min
            size_max = highest if size_max is None else size_max
        labels = sizing_of_new_rows(self, rows.n_rows, size_min, size_max).place(costs).labels
        return labels.astype(np.int64) if blocked is None else label_rows(blocked, labels)

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

    @blockwise_transform
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

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        blocked = as_blocked(X)
        if blocked is not None:
            check_local(blocked, self.metric)
        return super()._check_rows(X if blocked is None else blocked, reset=reset)

    def _check_new_rows(self, X: Any) -> RowBlocks:
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        return rows.in_place() if isinstance(rows, LocalRows) else RowBlocks(rows)

    def _problem(self, X: Any, *arguments: Any) -> Problem:
        problem = super()._problem(X, *arguments)
        if isinstance(X, LocalRows):
            problem.rows = X.in_place()
            problem.X = problem.rows.X
        return problem

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
        pivots: ArrayLike | None = None,
        apart: ArrayLike | None = None,
        one_of: ArrayLike | None = None,
    ) -> None:
        """Make the runs under the sizes, and keep the best."""
        if self.polish and self.metric != "sqeuclidean":
            raise ValueError('polish=True needs metric="sqeuclidean": the gain of a move is not known for medians.')
        triples = check_triples(one_of, X.shape[0])
        problem = self._problem(X, links, y, sample_weight)
        is_weighted = sample_weight is not None and self.size_by == "weight"
        sizing = make_sizing(self, problem, problem.weight if is_weighted else None, pivots, apart)
        if not links.is_empty or len(triples):
            sizing = self._add_links(sizing, problem, triples)
        sized = SizedProblem.of(problem, sizing)
        run = self._run(sized)
        if self.polish:
            run = self._polished(sized, run)
        refuse_missed_bounds(sizing, run.labels, relax=self.on_infeasible == "relax")
        self._keep(run, links, X.dtype)
        if isinstance(X, LocalRows):
            self.labels_ = label_rows(X, run.labels)
        self._keep_sizes(run, sized)
        if self.compare:
            self.inertia_ratio_ = self._ratio_to_plain(sized, run)
        warn_of_breaks(links, self.violations_, triples, self.labels_)

    def _add_links(self, sizing: Sizing, problem: Problem, triples: Ints) -> Sizing:
        """Return the sizing with the links, or with those that can be kept."""
        if self.on_infeasible == "raise":
            return add_links(sizing, problem.linked.given, triples, problem.rows.n_rows)
        costs = self._geometry(problem, sizing).costs(State(self._start(problem.of_starts).draw()))
        return relax_links(sizing, problem.linked.given, triples, costs)

    def _plan(self, problem: Problem) -> Plan:
        assert isinstance(problem, SizedProblem)
        start = self._start(problem.of_starts).map(problem.start_from)
        return self._geometry(problem, problem.sizing), [start], self._stop(problem)

    def _geometry(self, problem: Problem, sizing: Sizing) -> Sized:
        """Return the geometry of the metric under sizes."""
        geometry = SizedManhattan if self.metric == "manhattan" else SizedEuclidean
        return geometry(problem.rows, problem.weight, sizing)

    def _stop(self, problem: Problem) -> dict[str, Any]:
        """Return when a run stops."""
        return {"shift": self.tol * problem.mean_variance if self.tol else 0.0}

    def _polished(self, problem: SizedProblem, run: Run) -> Run:
        """Improve a run by moves and swaps, each time continued until the centers settle again."""
        geometry, sizing = self._geometry(problem, problem.sizing), problem.sizing
        is_movable = np.ones(problem.rows.n_rows, dtype=bool) if sizing.is_bound is None else ~sizing.is_bound
        while run.n_iter < self.max_iter:
            labels = polish(problem.rows, problem.weight, sizing, is_movable, run.labels, run.inertia)
            if labels is None:
                break
            max_iter = self.max_iter - run.n_iter
            state = geometry.state_of(labels, run)
            more = iterate(geometry, state, lambda *_: None, max_iter=max_iter, **self._stop(problem))
            run = replace(more, n_iter=run.n_iter + more.n_iter, objective=run.objective + more.objective)
        return run

    def _ratio_to_plain(self, problem: SizedProblem, run: Run) -> float:
        """Return the ratio of the inertia at nearest centers to that of k-means without sizes from the same starts."""
        n_rows, total = problem.rows.n_rows, float(problem.weight.sum())
        unbounded = Sizing(np.zeros(self.n_clusters), np.full(self.n_clusters, max(n_rows, total)))
        geometry = self._geometry(problem, unbounded)
        options: dict[str, Any] = {"max_iter": self.max_iter, **self._stop(problem)}
        runs = [iterate(geometry, State(centers), lambda *_: None, **options) for centers in problem.drawn]
        plain = min(one.objective[-1] for one in runs)
        sized = assign_rows(geometry, State(run.state.centers), None).inertia
        return sized / plain if plain > 0 else float(np.where(sized > 0, np.inf, 1.0))

    def _keep_sizes(self, run: Run, problem: SizedProblem) -> None:
        """Store the sizes of a run, and what their bounds cost."""
        sizing, prices = problem.sizing, run.found.prices
        self.sizes_ = sizing.sizes(run.labels)
        self.size_shares_ = np.array([sizing.lowest, sizing.highest]) / sizing.total(len(run.labels))
        self.prices_ = prices.of_sizes
        geometry = self._geometry(problem, sizing)
        self.gains_ = sizing.gains(lambda: geometry.costs(run.state), run.labels, prices)
        self.inertia_ = run.inertia - run.found.outlier_cost
        if self.pivot_min is not None:
            self.pivot_prices_ = prices.of_pivots
