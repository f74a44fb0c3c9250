"""CDK-Means."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mustlink._coclustering_measures import goodman_kruskal_tau
from mustlink._positions import positions_of
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._spelling import count
from mustlink._types import Floats, Ints, Mask
from mustlink._warnings import warn_caller
from mustlink.coclustering._binary_matrix import check_binary
from mustlink.coclustering._bisets import Bisets, check_bisets
from mustlink.coclustering._concepts import LocalConstraints, keep_satisfying, mine
from mustlink.coclustering._contiguous import contiguous_labels
from mustlink.coclustering._elements import (
    collect_element_links,
    name_element,
    refuse_contradictory,
    refuse_uncolorable,
)
from mustlink.coclustering._gaps import Gaps, make_gaps
from mustlink.coclustering._placement import Placement, State
from mustlink.coclustering._relaxing import choose_links, drop_contradictory, find_uncovered
from mustlink.coclustering._report import ConstraintCheck, check_links, check_order
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning, UnmetConstraintsWarning

__all__ = ["CDKMeans"]

Links = Constraints | AlignedConstraints | None
Side = Literal["rows", "columns", "both"]


class CDKMeans(BiclusterMixin, BaseEstimator):
    """Constrained co-clustering of the rows and columns of a 0/1 matrix.

    Rows and columns are partitioned at the same time, so that the columns of a co-cluster describe its rows.
    Constraints are links between rows, between columns, or between a row and a column, and orders of rows or columns in
    which clusters should be intervals or have gaps. The bi-sets of the matrix, by default its formal concepts, are
    filtered by the constraints and clustered by k-means; then every row and every column is in the co-cluster whose
    bi-sets have it most often.

    Parameters
    ----------
    n_clusters : int, default=3
        The number of co-clusters.
    min_rows, min_columns : int, default=1
        The fewest rows and columns of a bi-set. Larger bi-sets are fewer, and less due to noise.
    max_bisets : int, default=1_000_000
        The most formal concepts; more are refused as soon as they are found.
    bisets : Bisets or pair of array-like, default=None
        The bi-sets to cluster, as two 0/1 matrices or sparse matrices of shapes (n_bisets, n_rows) and
        (n_bisets, n_columns). If None, the formal concepts of X.
    row_max_gap, column_max_gap : int, default=None
        The most rows (columns) that may lie between consecutive members of a bi-set, so that co-clusters tend to be
        intervals. 0 keeps only bi-sets that are intervals. If None, there is no bound.
    row_min_gap, column_min_gap : int, default=None
        The fewest rows (columns) between consecutive members, so that co-clusters tend not to be intervals.
    circular_rows, circular_columns : bool, default=False
        Whether the last row (column) is followed by the first, such as hours of a day. The largest gap of a bi-set then
        has no upper bound.
    contiguous : {"rows", "columns", "both"}, default=None
        On which sides all co-clusters are made intervals at the end, see the notes.
    overlap : float, default=None
        If given, a row (column) is in every co-cluster of whose bi-sets more than this fraction have it; this is seen
        in ``rows_`` and ``columns_``.
    init : {"random", "k-means++"}, default="random"
        How the bi-sets that are the first centroids are chosen: with equal probabilities, or one after the other with
        probabilities in proportion to their distances to those chosen before.
    n_init : int, default=10
        The number of starts, of which one is used.
    select : {"tau", "cost"}, default="tau"
        Which start is used: that with the largest :func:`~mustlink.metrics.goodman_kruskal_tau` of the result, or that
        with the lowest cost. A low cost of bi-sets need not make good groups of rows and columns; tau is of these.
    max_iter : int, default=100
        The most iterations of a start.
    shuffle : bool, default=True
        Whether every start has a random order of the bi-sets, instead of that of mining. With cannot-links, the order
        decides which bi-set is placed first.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if links cannot be kept: raise :class:`~mustlink.errors.InfeasibleError`, or break some and warn, see
        the notes.
    random_state : int, RandomState instance or None, default=None
        Determines the first centroids and the order.
    verbose : bool or int, default=False
        Whether a progress bar of the starts is shown.

    Attributes
    ----------
    row_labels_ : ndarray of shape (n_rows,)
        The co-cluster of every row; -1 if no bi-set has the row.
    column_labels_ : ndarray of shape (n_columns,)
        The co-cluster of every column; -1 if no bi-set has the column.
    rows_ : ndarray of shape (n_clusters, n_rows)
        Which rows each co-cluster has.
    columns_ : ndarray of shape (n_clusters, n_columns)
        Which columns each co-cluster has.
    biclusters_ : tuple of two ndarrays
        `rows_` and `columns_`.
    tau_ : ndarray of shape (n_clusters, n_rows)
        The centroids: the fraction of the bi-sets of each co-cluster that have each row.
    gamma_ : ndarray of shape (n_clusters, n_columns)
        The fraction of the bi-sets of each co-cluster that have each column.
    bisets_ : Bisets
        The bi-sets that were clustered, those that satisfy the constraints: sparse matrices `rows` and `columns`.
    biset_labels_ : ndarray of shape (n_bisets,)
        The co-cluster of every bi-set.
    n_iter_ : int
        The number of iterations of the best start.
    objective_ : list of float
        The cost after each iteration of the best start, the sum of the distances of bi-sets to their centroids. It may
        increase; the lowest is used.
    n_failed_ : int
        The number of starts that found no placement without a broken cannot-link.
    row_violations_, column_violations_ : Constraints
        The broken links of rows, and those of columns.
    mixed_violations_ : Constraints
        The broken links between rows and columns, as elements: column j is ``n_rows + j``.
    constraint_report_ : list of ConstraintCheck
        For each kind of constraint that was given, whether it holds in the result.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_columns,)
        The names of the columns, if X has names that are all strings.

    Raises
    ------
    InfeasibleError
        If links contradict each other, if two elements of a cannot-link are in no bi-set that satisfies the
        constraints, if there are fewer such bi-sets than co-clusters, or if no start keeps all cannot-links.
    TooLargeError
        If there are more than `max_bisets` formal concepts.
    BinaryMatrixError
        If X is not zeros and ones, or has an empty row or column.

    See Also
    --------
    sklearn.cluster.SpectralCoclustering : Co-clustering without constraints, of any counts.
    mustlink.metrics.goodman_kruskal_tau : How well row clusters and column clusters predict each other.
    mustlink.plot.sorted_matrix : The matrix in the order of the co-clusters.

    Notes
    -----
    A bi-set is kept if it has both elements of a must-link or none, at most one of a cannot-link, and gaps within the
    bounds [1]_. Formal concepts are found by Close-by-One; what can be decided for all concepts below one is decided
    there. Must-links then hold by themselves. For a cannot-link, a bi-set is not placed with one that has the other
    element; a start in which a bi-set has no place ends. Intervals are only made likely.

    The source leaves open the first centroids (here random bi-sets), which start is used (here by tau), empty clusters
    (here filled with the bi-set farthest from its centroid), and joint feasibility of the links (here decided before).
    Rows and columns that no bi-set has after the filter are in no co-cluster.

    With ``on_infeasible="relax"``, cannot-links between elements that must-links join are not used. If then no bi-set
    has either element of some links, or there are too few bi-sets, these links are taken one after the other, and those
    that would have the same effect are not used. If no start keeps all cannot-links, bi-sets without a place are in the
    nearest co-cluster.

    `contiguous` is an addition to the source: the labels of the largest sum of ``tau_`` (``gamma_``) among those of
    which every co-cluster is one interval, by dynamic programming. Rows and columns that no bi-set has are in the
    interval around them, and links of this side may be broken; a warning then states how many.

    References
    ----------
    .. [1] R. G. Pensa, C. Robardet and J.-F. Boulicaut, "Constraint-driven co-clustering of 0/1 data", chapter 6 of
       "Constrained Clustering", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import CDKMeans
    >>> from mustlink.coclustering import mixed_links
    >>> X = np.array([[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [1, 0, 1, 1, 0], [0, 0, 1, 1, 0], [1, 1, 0, 0, 1],
    ...               [0, 1, 0, 0, 1], [0, 0, 0, 0, 1]])
    >>> model = CDKMeans(2, random_state=0).fit(X)
    >>> model.row_labels_, model.column_labels_
    (array([1, 0, 1, 1, 0, 0, 0]), array([1, 0, 1, 1, 0]))
    >>> apart = mixed_links(7, cannot_link=[(0, 0)])  # row 0 and column 0
    >>> model = CDKMeans(2, random_state=0).fit(X, mixed_constraints=apart)
    >>> model.row_labels_, model.column_labels_
    (array([1, 0, 1, 1, 0, 0, 0]), array([0, 0, 1, 1, 0]))
    """

    __metadata_request__fit = {  # noqa: RUF012  (scikit-learn reads a plain class attribute)
        "row_constraints": True,
        "column_constraints": True,
        "mixed_constraints": True,
        "row_order": True,
        "column_order": True,
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "min_rows": [Interval(Integral, 1, None, closed="left")],
        "min_columns": [Interval(Integral, 1, None, closed="left")],
        "max_bisets": [Interval(Integral, 1, None, closed="left")],
        "bisets": [tuple, list, None],
        "row_max_gap": [Interval(Integral, 0, None, closed="left"), None],
        "column_max_gap": [Interval(Integral, 0, None, closed="left"), None],
        "row_min_gap": [Interval(Integral, 0, None, closed="left"), None],
        "column_min_gap": [Interval(Integral, 0, None, closed="left"), None],
        "circular_rows": ["boolean"],
        "circular_columns": ["boolean"],
        "contiguous": [StrOptions({"rows", "columns", "both"}), None],
        "overlap": [Interval(Real, 0, 1, closed="left"), None],
        "init": [StrOptions({"random", "k-means++"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "select": [StrOptions({"tau", "cost"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "on_infeasible": [StrOptions({"raise", "relax"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        min_rows: int = 1,
        min_columns: int = 1,
        max_bisets: int = 1_000_000,
        bisets: Any = None,
        row_max_gap: int | None = None,
        column_max_gap: int | None = None,
        row_min_gap: int | None = None,
        column_min_gap: int | None = None,
        circular_rows: bool = False,
        circular_columns: bool = False,
        contiguous: Side | None = None,
        overlap: float | None = None,
        init: Literal["random", "k-means++"] = "random",
        n_init: int = 10,
        select: Literal["tau", "cost"] = "tau",
        max_iter: int = 100,
        shuffle: bool = True,
        on_infeasible: Literal["raise", "relax"] = "raise",
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.min_rows = min_rows
        self.min_columns = min_columns
        self.max_bisets = max_bisets
        self.bisets = bisets
        self.row_max_gap = row_max_gap
        self.column_max_gap = column_max_gap
        self.row_min_gap = row_min_gap
        self.column_min_gap = column_min_gap
        self.circular_rows = circular_rows
        self.circular_columns = circular_columns
        self.contiguous = contiguous
        self.overlap = overlap
        self.init = init
        self.n_init = n_init
        self.select = select
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.on_infeasible = on_infeasible
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        row_constraints: Links = None,
        column_constraints: Links = None,
        mixed_constraints: Links = None,
        row_order: ArrayLike | None = None,
        column_order: ArrayLike | None = None,
    ) -> Self:
        """Co-cluster the rows and columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Zeros and ones, with a 1 in every row and in every column.
        y : object, default=None
            Ignored.
        row_constraints : Constraints or AlignedConstraints, default=None
            Must-links and cannot-links between rows.
        column_constraints : Constraints or AlignedConstraints, default=None
            Must-links and cannot-links between columns.
        mixed_constraints : Constraints, default=None
            Links between rows and columns, for which column j is the number ``n_rows + j``; see
            :func:`mustlink.coclustering.mixed_links`.
        row_order, column_order : array-like of shape (n_rows,) or (n_columns,), default=None
            Scores that order the rows (columns), such as times, for gaps and intervals. Equal scores are one position.
            If None, the order of X.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        for name in ("row_labels_", "column_labels_"):
            self.__dict__.pop(name, None)
        if isinstance(y, Constraints | AlignedConstraints):
            raise TypeError("y is not used, and these are links; pass them as row_constraints=...")
        ones = check_binary(X, self)
        links = collect_element_links(row_constraints, column_constraints, mixed_constraints, ones.shape)
        if self.on_infeasible == "raise":
            refuse_contradictory(links, ones.shape[0])
            refuse_uncolorable(links, int(self.n_clusters), sum(ones.shape))
        constraints = LocalConstraints(links, *self._gaps(ones.shape, row_order, column_order))
        used = links if self.on_infeasible == "raise" else self._relax(ones, constraints)
        bisets = self._bisets(ones, constraints._replace(links=used))
        self._refuse_uncovered(bisets, used)
        states = self._run_starts(Placement(bisets, used.cannot_link, int(self.n_clusters)))
        state = self._best(states, ones, constraints)
        self.bisets_, self.biset_labels_ = bisets, state.labels
        self.n_iter_, self.objective_ = state.n_iter, state.costs
        self.tau_, self.gamma_ = np.ascontiguousarray(state.row_weights.T), np.ascontiguousarray(state.column_weights.T)
        self.row_labels_, self.column_labels_ = self._labels_of(state, constraints)
        self.rows_ = self._members(self.tau_, self.row_labels_)
        self.columns_ = self._members(self.gamma_, self.column_labels_)
        self._report(constraints)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "column_labels_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _gaps(self, shape: tuple[int, int], row_order: Any, column_order: Any) -> tuple[Gaps, Gaps]:
        """Return the constraints on gaps of rows and of columns."""
        rows, columns = (
            positions_of(row_order, shape[0], "row_order"),
            positions_of(column_order, shape[1], "column_order"),
        )
        return (
            make_gaps(rows, self.row_min_gap, self.row_max_gap, circular=bool(self.circular_rows)),
            make_gaps(columns, self.column_min_gap, self.column_max_gap, circular=bool(self.circular_columns)),
        )

    def _relax(self, ones: sparse.csr_array, constraints: LocalConstraints) -> Constraints:
        """Return the links that bi-sets can keep together."""
        links = drop_contradictory(constraints.links)
        found = self._find_bisets(ones, constraints._replace(links=links))
        is_lost = find_uncovered(found, links)
        if self._count_distinct(found) < self.n_clusters:
            is_lost[:] = True
        if not is_lost.any():
            return links
        kept = links.take(~is_lost)
        found = self._find_bisets(ones, constraints._replace(links=kept))
        chosen = choose_links(found, links.take(is_lost), kept, int(self.n_clusters))
        return kept.add(chosen, contradictions="keep")

    def _find_bisets(self, ones: sparse.csr_array, constraints: LocalConstraints) -> Bisets:
        """Return the bi-sets that are large enough and satisfy the constraints."""
        sizes = int(self.min_rows), int(self.min_columns)
        if self.bisets is None:
            return mine(ones, *sizes, int(self.max_bisets), constraints)
        return keep_satisfying(check_bisets(self.bisets, *ones.shape), *sizes, constraints)

    def _count_distinct(self, bisets: Bisets) -> int:
        """Return the number of different bi-sets; formal concepts are different."""
        return bisets.n_bisets if self.bisets is None else len(bisets.distinct())

    def _bisets(self, ones: sparse.csr_array, constraints: LocalConstraints) -> Bisets:
        """Return the bi-sets that satisfy the constraints, at least as many different ones as co-clusters."""
        found = self._find_bisets(ones, constraints)
        n_distinct = self._count_distinct(found)
        if n_distinct < self.n_clusters:
            n_links = len(constraints.links)
            among = f", among them {count(n_links, 'link')}" if n_links else ""
            raise InfeasibleError(
                f"{self.n_clusters} co-clusters need as many different bi-sets, and {n_distinct} "
                f"{'has' if n_distinct == 1 else 'have'} at least {count(self.min_rows, 'row')} and "
                f"{count(self.min_columns, 'column')} and satisfy the constraints{among}",
                remedy=("fewer_clusters", *self._smaller_bisets(), *(["relax"] if n_links else [])),
                n_bisets=n_distinct,
            )
        return found

    def _refuse_uncovered(self, bisets: Bisets, links: Constraints) -> None:
        """Refuse a cannot-link between two elements that no bi-set has."""
        lost = links.pairs[find_uncovered(bisets, links) & (links.sign < 0)]
        if len(lost):
            one, other = (name_element(int(end), bisets.rows.shape[1]) for end in lost[0])
            raise InfeasibleError(
                f"{one.capitalize()} and {other} have a cannot-link, and no bi-set that satisfies all constraints has "
                f"either, so that no co-cluster can",
                [(int(one), int(other)) for one, other in lost],
                remedy=("drop_cannot_link", *self._smaller_bisets(), "relax"),
            )

    def _smaller_bisets(self) -> list[str]:
        """Return the remedy of smaller bi-sets, if they can be smaller."""
        return ["smaller_bisets"] if max(self.min_rows, self.min_columns) > 1 else []

    def _run_starts(self, placement: Placement) -> list[State]:
        """Return the best state of every start that keeps all cannot-links; of relaxed starts if none does."""
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=int(self.n_init))
        options: dict[str, Any] = {"shuffle": bool(self.shuffle)}
        found: list[State] = []
        with progress(len(seeds), "Starts", shown=self.verbose) as advance:
            for seed in seeds.tolist():
                state = placement.run(self.init, int(self.max_iter), relax=False, seed=seed, **options)
                if state is not None:
                    found.append(state)
                advance()
        self.n_failed_ = len(seeds) - len(found)
        if found:
            return found
        if self.on_infeasible == "raise":
            raise InfeasibleError(
                f"None of {count(len(seeds), 'start')} placed all bi-sets without a broken cannot-link",
                remedy=("more_starts", "more_clusters", "relax"),
            )
        relaxed = [placement.run(self.init, int(self.max_iter), relax=True, seed=seed, **options) for seed in seeds]
        return [state for state in relaxed if state is not None]

    def _best(self, states: list[State], ones: sparse.csr_array, constraints: LocalConstraints) -> State:
        """Return the state with the largest tau, and of equal ones the lowest cost; or that with the lowest cost."""
        if self.select == "cost" or len(states) == 1:
            return min(states, key=lambda state: state.cost)
        # Rounded, so that the same groups in another order of sums have the same tau.
        taus = [round(goodman_kruskal_tau(ones, *self._labels_of(state, constraints)), 12) for state in states]
        return min(zip(taus, states, strict=True), key=lambda one: (-one[0], one[1].cost))[1]

    def _labels_of(self, state: State, constraints: LocalConstraints) -> tuple[Ints, Ints]:
        """Return the co-clusters of rows and of columns."""
        return (
            self._labels(state.row_weights, constraints.row_gaps, "rows"),
            self._labels(state.column_weights, constraints.column_gaps, "columns"),
        )

    def _labels(self, weights: Floats, gaps: Gaps, side: str) -> Ints:
        """Return the first co-cluster with the largest weight of every element, -1 if all are zero."""
        if self.contiguous in (side, "both"):
            return contiguous_labels(weights, gaps.position, circular=gaps.circular)
        return np.where(weights.any(axis=1), weights.argmax(axis=1), -1).astype(np.int64)

    def _members(self, weights: Floats, labels: Ints) -> Mask:
        """Return which elements each co-cluster has."""
        if self.overlap is not None:
            return np.asarray(weights > self.overlap)
        return np.asarray(labels == np.arange(self.n_clusters)[:, None])

    def _report(self, constraints: LocalConstraints) -> None:
        """Set the broken links and the report; warn of what was asked for and does not hold."""
        links = constraints.links
        checks, broken = check_links(links, self.row_labels_, self.column_labels_)
        self.row_violations_, self.column_violations_, self.mixed_violations_ = broken
        sides = (
            ("rows", self.row_labels_, constraints.row_gaps),
            ("columns", self.column_labels_, constraints.column_gaps),
        )
        for side, labels, gaps in sides:
            is_contiguous = self.contiguous in (side, "both")
            checks += check_order(labels, gaps, side, int(self.n_clusters), contiguous=is_contiguous)  # type: ignore[arg-type]
        self.constraint_report_: list[ConstraintCheck] = checks
        self._warn_broken(sum(len(part) for part in broken), links)
        n_empty = int((~(self.rows_.any(axis=1) & self.columns_.any(axis=1))).sum())
        if n_empty:
            warn_caller(
                f"{count(n_empty, 'co-cluster')} of {self.n_clusters} {'has' if n_empty == 1 else 'have'} no rows or "
                "no columns: no row or no column has its largest weight there",
                ConvergenceWarning,
                remedy="fewer_clusters",
            )

    def _warn_broken(self, n_broken: int, links: Constraints) -> None:
        """Warn of links that do not hold."""
        if not n_broken:
            return
        text = f"{count(n_broken, 'link')} of {len(links):,} {'is' if n_broken == 1 else 'are'} broken"
        if self.on_infeasible == "relax":
            warn_caller(f"{text}.", InfeasibleWarning)
        elif self.contiguous is not None:
            warn_caller(f"{text}, because of contiguous labels.", UnmetConstraintsWarning)
        else:
            does = count(n_broken, "must-link does", "must-links do")
            warn_caller(
                f"{does} not hold, of {count(len(links), 'link')}, as no bi-set that satisfies all constraints has the "
                "linked rows or columns, which are in no co-cluster",
                UnmetConstraintsWarning,
                remedy=(*self._smaller_bisets(), "relax"),
            )
