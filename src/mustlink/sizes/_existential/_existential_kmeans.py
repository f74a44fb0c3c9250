"""ExistentialKMeans: k-means in which every cluster needs enough rows of a kind."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.kmeans.core import BaseKMeans, Euclidean, Problem, Run, State, best_of_runs, iterate
from mustlink.sizes._existential._aggregates import aggregate_values
from mustlink.sizes._existential._micro import SharedPivots, allot, micro_clusters
from mustlink.sizes._existential._placement import ExactPlacement, MovedPivots
from mustlink.sizes._existential._requirements import (
    Requirements,
    parse_aggregates,
    read_pivots,
    read_requirements,
)

__all__ = ["ExistentialKMeans"]

# A smaller relative decrease of the dispersion is rounding.
MIN_DECREASE = 1e-12


class ExistentialKMeans(BaseKMeans):
    """k-means with existential constraints: every cluster has enough marked rows (Tung et al. 2001).

    Use it for segments that each need so many customers of a kind, groups that each need an expert, or clusters of a
    minimum size, revenue or average. The constraints always hold; among the clusterings that satisfy them, one of low
    dispersion is searched for.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    pivot_min : int or array-like, default=1
        How many marked rows, *pivots*, every cluster needs: a number for all, or one per cluster. With several columns
        of `pivots`, a number for all, one per column, or an array of shape (n_kinds, n_clusters).
    aggregates : str or list of str, default=None
        More constraints on every cluster, written as in SQL: ``"count >= 50"``, ``"count(age >= 65) >= 5"``,
        ``"max(income) >= 100000"``, ``"min(age) <= 30"``, ``"sum(sales) >= 1e6"``, ``"avg(age) < 40"``. The functions
        are count, sum, avg, max and min, the operators <, <=, !=, =, >= and >. Columns are those of X, by name or as
        x0, x1, ..., and those of the argument `columns` of ``fit``.
    method : {"flow", "pivot"}, default="flow"
        How pivots are assigned to the current centers:

        - "flow": at the least cost of all valid assignments. With one kind of pivots, several that share no rows, or
          one inside another (such as ``"count >= 50"`` and some marked rows), this is a minimum-cost flow, also with a
          maximum (``"count <= 600"``), except one of the inner kind. Kinds that share rows otherwise and sums over
          clusters need an integer program, for small tables only.
        - "pivot": by moves from cluster to cluster, each valid by itself, as in the source.

    heuristic : {"random", "lookahead"}, default="random"
        Which pivot moves next with ``method="pivot"``: one of a random pair of clusters, or the first of the path of
        moves that gains most.
    depth : int, default=2
        The most moves of a path with ``heuristic="lookahead"``.
    deadlocks : bool, default=True
        Whether ``method="pivot"`` also moves pivots round cycles of clusters that have none to spare.
    micro_radius : float, default=None
        For large tables and many runs: rows within this distance of a first one form a micro-cluster, and clusters
        share the pivots of micro-clusters. All runs work on these; the rows are passed through at the beginning and
        the end only. None works with the rows themselves. Needs a dense X and one kind of pivots.
    init : {"k-means++", "random"} or array-like of shape (n_clusters, n_features), default="k-means++"
        The first centers: rows drawn far from each other, rows drawn at random, or these.
    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one of least dispersion is kept. "auto" is one run, ten
        for ``init="random"``.
    max_iter : int, default=300
        The maximum number of iterations of a run.
    tol : float, default=1e-6
        A run stops when an iteration lowers the dispersion by no more than this share of it.
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
    inertia_ : float
        The dispersion: the sum of squared distances of the rows to the centers of their clusters.
    pivot_counts_ : ndarray of shape (n_clusters,) or (n_clusters, n_kinds)
        How many pivots every cluster has; all rows, if neither pivots nor aggregates were given.
    aggregates_ : dict of str to ndarray of shape (n_clusters,)
        The value of each aggregate in every cluster.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The dispersion after each assignment of that run; it never rises. With micro-clusters, all rows of one that are
        no pivots count for its nearest cluster.
    n_micro_clusters_ : int
        The number of micro-clusters, with `micro_radius`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    SizeConstrainedKMeans : Minimum and maximum sizes of clusters, also as sums of weights.

    Notes
    -----
    An iteration assigns all rows that count for no constraint to their nearest centers and places the others, then
    moves the centers. With ``method="pivot"`` the pivots that are nearer to another center form a graph of clusters;
    pivots leave clusters that have more than they need until none can, then cycles of clusters without any to spare
    are resolved (``deadlocks``). Choosing the best moves is NP-hard. The flow method needs only its final assignment to
    be valid, finds the best one, and also makes trades that the graph does not have; its dispersion is at most that of
    the moves, for the same centers.

    What the source leaves open: a run begins with the exact assignment to the centers of k-means++. Counts, maxima and
    minima reduce to kinds of pivots where they ask for a minimum number of rows. Sums, averages and all other
    comparisons are checked after each move, up to rounding. Where constraints cannot be stated as a flow, a valid
    first assignment comes from an integer program, or, for more than 20,000 rows times clusters, from greedy moves,
    which may fail although one exists. Cycles are searched among pivots that count for the same kinds.

    Micro-clusters are made in one pass: a row joins the nearest leader within the radius or becomes one. In the end the
    pivots of a shared one are assigned to its clusters at the least cost, and other rows to the nearest center.

    References
    ----------
    A. K. H. Tung, R. T. Ng, L. V. S. Lakshmanan and J. Han, "Constraint-based clustering in large databases", ICDT
    2001.

    A. K. H. Tung, J. Han, L. V. S. Lakshmanan and R. T. Ng, "Privacy-preserving data publishing: a constraint-based
    clustering approach", in: S. Basu, I. Davidson and K. L. Wagstaff (eds.), "Constrained Clustering", 2009, chapter
    16.

    Examples
    --------
    Three customers live at one end of a road and one at the other; both clusters need two:

    >>> import numpy as np
    >>> from mustlink import ExistentialKMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> ExistentialKMeans(n_clusters=2, pivot_min=2, random_state=0).fit(X).labels_
    array([0, 0, 1, 1])

    Every cluster needs a frequent customer:

    >>> frequent = [True, True, False, False]
    >>> ExistentialKMeans(n_clusters=2, random_state=0).fit(X, pivots=frequent).labels_
    array([0, 1, 0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseKMeans._parameter_constraints,
        "pivot_min": [Interval(Real, None, None, closed="neither"), "array-like"],
        "aggregates": [str, "array-like", None],
        "method": [StrOptions({"flow", "pivot"})],
        "heuristic": [StrOptions({"random", "lookahead"})],
        "depth": [Interval(Integral, 1, None, closed="left")],
        "deadlocks": ["boolean"],
        "micro_radius": [Interval(Real, 0, None, closed="left"), None],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
    }
    __metadata_request__fit = {"pivots": True, "columns": True}  # noqa: RUF012  (read by scikit-learn)

    aggregates_: dict[str, Floats]
    inertia_: float
    n_micro_clusters_: int
    pivot_counts_: Ints

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        pivot_min: ArrayLike = 1,
        aggregates: str | list[str] | None = None,
        method: str = "flow",
        heuristic: str = "random",
        depth: int = 2,
        deadlocks: bool = True,
        micro_radius: float | None = None,
        init: str | ArrayLike = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.pivot_min = pivot_min
        self.aggregates = aggregates
        self.method = method
        self.heuristic = heuristic
        self.depth = depth
        self.deadlocks = deadlocks
        self.micro_radius = micro_radius
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None, *, pivots: ArrayLike | None = None, columns: Any = None) -> Self:
        """Find clusters that satisfy the constraints.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : object, default=None
            Ignored; a mask of True and False is refused, as it belongs into `pivots`.
        pivots : array-like of bool of shape (n_samples,) or (n_samples, n_kinds), default=None
            The marked rows, of which every cluster needs `pivot_min`; several columns are several kinds. None marks
            every row, unless there are aggregates.
        columns : DataFrame with n_samples rows, default=None
            Further columns that aggregates may name, and by which rows are not clustered.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        rows = self._check_fit_rows(X, y)
        if pivots is None and y is not None and np.asarray(y).dtype == bool:
            raise TypeError("y has no effect, and this is a mask of rows; pass marked rows as pivots=...")
        self._fit_and_count(rows, pivots, columns)
        return self

    def predict(self, X: Any) -> Ints:
        """Return the cluster with the nearest center for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. The constraints are not used: for pivots that are kept in a cluster farther away, this differs
            from ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        return super().predict(X)

    def _fit(self, X: Any, pivots: ArrayLike | None, columns: Any) -> None:
        """Read the constraints, make the runs, and keep the best."""
        marks = None if pivots is None else read_pivots(pivots, X.shape[0])
        names, get_column = self._columns(X, columns)
        aggregates = parse_aggregates(self.aggregates, names)
        requirements = read_requirements(marks, self.pivot_min, aggregates, self.n_clusters, X.shape[0], get_column)
        problem = self._problem(X)
        if self.micro_radius is None:
            run = self._run_on_rows(problem, requirements)
            labels, centers = run.labels.astype(np.intp), run.state.centers
        else:
            run, labels, centers = self._run_on_micro_clusters(problem, requirements)
        requirements.check(labels)
        self.labels_ = labels.astype(np.int64)
        self.cluster_centers_ = centers.astype(X.dtype)
        self.inertia_ = float(problem.rows.distances_to_own(centers, labels).sum())
        self.objective_, self.n_iter_ = run.objective, run.n_iter
        if marks is None and not aggregates:
            marks = np.ones((X.shape[0], 1), dtype=bool)
        self.pivot_counts_ = _count_pivots(marks, labels, self.n_clusters)
        self.aggregates_ = {
            aggregate.text: aggregate_values(aggregate, get_column, labels, self.n_clusters) for aggregate in aggregates
        }
        self._n_features_out = self.n_clusters

    def _columns(self, X: Any, columns: Any) -> tuple[list[str], Any]:
        """Return the names that aggregates may use for columns, and a function that returns the column of a name."""
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])]
        if columns is not None:
            if not hasattr(columns, "columns"):
                raise TypeError(f"columns must be a data frame with named columns, got {type(columns).__name__}.")
            if len(columns) != X.shape[0]:
                raise ValueError(
                    f"columns must have one row per row of X: X has {count(X.shape[0], 'row')}, columns "
                    f"{len(columns):,}."
                )
        further = [] if columns is None else [str(name) for name in columns.columns]
        for place, name in enumerate(further):
            if name in further[:place]:
                raise ValueError(f"columns has two columns with the name {name!r}; every column needs its own.")

        def get_column(name: str) -> Floats:
            if name in further:
                try:
                    return np.asarray(columns[columns.columns[further.index(name)]], dtype=np.float64)
                except (TypeError, ValueError) as error:
                    raise ValueError(f"Aggregates need numbers; the column {name!r} has others: {error}.") from None
            column = X[:, [names.index(name)]]
            return np.asarray(column.toarray() if sparse.issparse(column) else column, dtype=np.float64).ravel()

        return [*names, *(name for name in further if name not in names)], get_column

    def _options(self) -> dict[str, Any]:
        """Return the parameters of the moves."""
        return {"heuristic": self.heuristic, "depth": self.depth, "deadlocks": self.deadlocks}

    def _best_run(self, geometry: Any, problem: Problem) -> Run:
        """Make the runs, and return the best."""
        make_run = partial(iterate, geometry, max_iter=self.max_iter, decrease=max(self.tol, MIN_DECREASE))
        return best_of_runs(self, make_run, self._start(problem.of_starts).map(State))

    def _run_on_rows(self, problem: Problem, requirements: Requirements) -> Run:
        """Place the rows themselves."""
        rule = (
            ExactPlacement(requirements)
            if self.method == "flow"
            else MovedPivots(requirements, problem.rng, **self._options())
        )
        return self._best_run(Euclidean(problem.rows, problem.weight, rule), problem)

    def _run_on_micro_clusters(self, problem: Problem, requirements: Requirements) -> tuple[Run, Indices, Floats]:
        """Place micro-clusters, then allot their rows; the centers are the means of these."""
        if problem.rows.is_sparse or requirements.n_kinds != 1 or requirements.n_sums:
            raise ValueError(
                "micro_radius needs a dense X and constraints that reduce to one kind of pivots; leave it out."
            )
        X, is_pivot = problem.X, requirements.is_pivot[:, 0]
        micro = micro_clusters(X, is_pivot, float(self.micro_radius or 0.0))
        self.n_micro_clusters_ = len(micro.means)
        options = self._options() if self.method == "pivot" else None
        # Starts are drawn from the micro-clusters, too: the rows are passed through at the beginning and the end only.
        weight = (micro.n_pivots + micro.n_others).astype(np.float64)
        compressed = replace(problem, X=micro.means, rows=RowBlocks(micro.means), weight=weight)
        run = self._best_run(SharedPivots(micro, requirements.minimum[:, 0], problem.rng, options), compressed)
        labels = allot(X, is_pivot, micro, run.found.shares, run.state.centers)
        centers = run.state.centers.copy()
        filled = np.unique(labels)
        ones = np.ones(len(labels))
        centers[filled] = RowBlocks(X).averages(np.searchsorted(filled, labels), len(filled), ones).rows(slice(None))
        return run, labels, centers


def _count_pivots(marks: Mask | None, labels: Indices, n_clusters: int) -> Array:
    """Return how many pivots of each kind every cluster has; a vector for one kind."""
    if marks is None:
        return np.empty((n_clusters, 0), dtype=np.int64)
    counts = np.column_stack([np.bincount(labels[mask], minlength=n_clusters) for mask in marks.T])
    return counts[:, 0] if counts.shape[1] == 1 else counts
