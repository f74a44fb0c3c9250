"""Shared parts of all clusterers: validation of constraints and partial labels, and the mixin."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import validate_data

from mustlink._estimators import count_parameter
from mustlink._magnitude import check_magnitude
from mustlink._row_order import rank_rows, split_by_links, split_ties
from mustlink._sklearn_compat import fit_context
from mustlink._spelling import count
from mustlink._types import Indices
from mustlink._warnings import warn_caller
from mustlink.blocks import BlockedRows, LocalRows, as_blocked, check_columns, distinct_labels
from mustlink.constraints import AlignedConstraints, Constraints, Feasibility, known_rows
from mustlink.errors import ConstraintError, InfeasibleError, TooLargeError

__all__ = [
    "ConstrainedClusterMixin",
    "TableClusterMixin",
    "as_constraints",
    "check_blocked",
    "check_enough_rows",
    "check_fits",
    "check_labels",
    "check_partial_labels",
    "check_sources",
    "check_table",
    "collect_links",
    "refuse_contradictions",
    "refuse_infeasible",
    "refuse_large_groups",
    "refuse_many_classes",
    "warn_of_fewer_clusters",
]

# The types that rows may have; others are converted to the first.
FLOATS = [np.float64, np.float32]

# The clusterers whose fit reads rows in blocks, as a message names them.
TAKING_BLOCKS = (
    "PCKMeans",
    "COPKMeans",
    "MPCKMeans",
    "LCVQE",
    "SeededKMeans",
    "SizeConstrainedKMeans",
    "PriorityCOPKMeans",
    "BoostedConstrainedKMeans",
    "BoostCluster",
    "RobustBoostCluster",
)
# Those of them whose rows must be on this machine, and not on a cluster of Dask or Spark.
TAKING_LOCAL_BLOCKS = ("SizeConstrainedKMeans",)

# How the warnings of fewer clusters than asked for begin, those of scikit-learn and ours.
FEWER_CLUSTERS = r"Number of distinct clusters|\d+ clusters were asked for"


def as_constraints(constraints: Constraints | AlignedConstraints | None, n_samples: int) -> Constraints:
    """Validate the constraints of a user against the rows of a table.

    Parameters
    ----------
    constraints : Constraints, AlignedConstraints or None
        The constraints. None is no constraint.
    n_samples : int
        The number of rows of the table.

    Returns
    -------
    Constraints
        With all rows below `n_samples`.

    Raises
    ------
    ConstraintError
        If a pair refers to a row outside the table, or aligned constraints have another number of rows.
    TypeError
        If it is something else, such as a bare list of pairs.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.base import as_constraints
    >>> as_constraints(None, 3)
    Constraints(0 must-links, 0 cannot-links)
    >>> as_constraints(Constraints(must_link=[(0, 3)]), 3)
    Traceback (most recent call last):
        ...
    mustlink.errors.ConstraintError: A must-link names the rows 0 and 3, but the table has 3 rows, ...
    """
    if constraints is None:
        return Constraints()
    if isinstance(constraints, AlignedConstraints):
        if len(constraints) != n_samples:
            raise ConstraintError(
                f"The constraints are aligned with {count(len(constraints), 'row')}, but the table has {n_samples}."
            )
        return constraints.constraints
    if isinstance(constraints, Constraints):
        constraints.check_rows(n_samples)
        return constraints
    raise TypeError(
        f"constraints must be a mustlink.Constraints, got {type(constraints).__name__}; "
        "create one with Constraints(must_link=..., cannot_link=...)."
    )


def collect_links(constraints: Constraints | AlignedConstraints | None, y: ArrayLike | None, X: Any) -> Constraints:
    """Return the given links together with those of partial labels.

    A cannot-link between two rows with one label is a conflict, like one between rows that must-links join. The rows of
    a class are chained in the order of their content, so that the order of the table has no part in which links the
    labels imply: by the values of the first column, then of the second, and so on. Only rows that are equal in all
    columns, and whose links are alike, are in the order of the table.

    Parameters
    ----------
    constraints : Constraints, AlignedConstraints or None
        The links.
    y : array-like of shape (n_samples,) or None
        Partial labels; -1, None, NaN and empty text are unknown. Labels for every row are ignored.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table.

    Returns
    -------
    Constraints
        All links.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.base import collect_links
    >>> collect_links(Constraints(must_link=[(0, 1)]), [-1, 0, 1], [[5], [6], [7]])
    Constraints(1 must-link, 1 cannot-link)
    """
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    links = as_constraints(constraints, n_samples)
    labels = check_partial_labels(y, n_samples)
    if labels is None:
        return links
    return links.add(Constraints.from_labels(labels, order=_order_by_content(X, labels, links)), contradictions="keep")


def _order_by_content(X: Any, labels: NDArray[Any], links: Constraints, *, is_pairwise: bool = False) -> Indices:
    """Return the rank by content of the rows that have a label, of equal rows by their class and their links."""
    # The rows of a group are alike.
    links = links.without_groups()
    rows, codes, _ = known_rows(labels)
    code = np.full(len(labels), -1)
    code[rows] = codes
    is_chosen = code >= 0
    is_chosen[links.pairs] = True
    chosen, place = np.flatnonzero(is_chosen), np.cumsum(is_chosen) - 1
    if isinstance(X, BlockedRows):
        rank = rank_rows(X.gather(chosen), np.arange(len(chosen)))
    else:
        rank = rank_rows(X, chosen, is_pairwise=is_pairwise)
    rank = split_ties(rank, code[chosen, None])
    order = np.zeros(len(labels), dtype=np.intp)
    order[chosen] = split_by_links(rank, place[links.pairs], links.sign * links.weight)
    return order


class TableClusterMixin(ClusterMixin):
    """Mixin class for clusterers that take no links.

    It provides ``fit`` and ``fit_predict`` as scikit-learn's clusterers have them, and validates the rows. A subclass
    implements ``_fit(X)``; one with more arguments of ``fit`` writes its own ``fit`` from ``_check_fit_rows`` and
    ``_fit_and_count``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from mustlink.base import TableClusterMixin
    >>> class SignOfFirstColumn(TableClusterMixin, BaseEstimator):
    ...     def _fit(self, X):
    ...         self.labels_ = (X[:, 0] > 0).astype(np.int64)
    >>> SignOfFirstColumn().fit_predict([[-1.0], [2.0], [3.0]])
    array([0, 1, 1])
    """

    # A subclass declares its parameters; those without a constraint are not validated.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    # Whether a fit can read its rows in blocks, see `mustlink.blocks`.
    _takes_blocks: ClassVar[bool] = False
    # The fitted attributes that ``predict`` reads, where a subclass has one.
    _read_by_predict: ClassVar[tuple[str, ...]] = ()

    labels_: NDArray[np.int64]

    # Some classes fit an estimator of the user, whose parameters are to be validated too.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: object = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data; a sparse matrix where the class supports it.
        y : object, default=None
            Ignored.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        self._fit_and_count(self._check_fit_rows(X, y))
        return self

    def _fit(self, *arguments: Any, **options: Any) -> None:
        """Cluster validated rows, and set ``labels_``."""
        raise NotImplementedError

    def _check_fit_rows(self, X: Any, y: object = None) -> Any:
        """Return the validated rows of a fit; links in the place of `y` are refused, as they would have no effect."""
        # Forgotten first, so that a fit that fails leaves no earlier result to predict with.
        self.__dict__.pop("labels_", None)
        if isinstance(y, Constraints | AlignedConstraints):
            raise TypeError(f"{type(self).__name__} takes no links; a clusterer such as PCKMeans does.")
        if isinstance(X, BlockedRows) and not self._takes_blocks:
            # Before a class of other input than a table looks at it.
            check_blocked(self, X)
        X = self._check_rows(X)
        name = count_parameter(self)
        if name is not None:
            check_enough_rows(X.shape[0], getattr(self, name), name)
        return X

    def _fit_and_count(self, *arguments: Any) -> None:
        """Call ``_fit``, and warn if it finds fewer clusters than were asked for."""
        n_clusters = self._n_clusters_wanted()
        if n_clusters is None:
            self._fit(*arguments)
            return
        with warnings.catch_warnings():
            # Said once, below, and not also by the clusterers that a fit runs.
            warnings.filterwarnings("ignore", FEWER_CLUSTERS, ConvergenceWarning)
            self._fit(*arguments)
        warn_of_fewer_clusters(self.labels_, n_clusters)

    def _n_clusters_wanted(self) -> int | None:
        """Return the number of clusters that was asked for; None if it is to be found."""
        name = count_parameter(self)
        return None if name is None else getattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        # Not by any attribute: the number of columns is known before a fit can fail.
        return hasattr(self, "labels_")

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Validate rows, of a fit or new ones; a subclass with other needs overrides it."""
        return check_table(self, X, reset=reset)

    def _for_predicting(self) -> Self:
        """Return a copy with the parameters and with what ``predict`` reads, without the rows of the fit."""
        predictor = type(self)(**self.get_params(deep=False))
        # Not a slice of the labels, which may lie on other machines, and as columns without a type of their own.
        predictor.labels_ = np.empty(0, dtype=getattr(self.labels_, "dtype", np.int32))
        for name in ("n_features_in_", *self._read_by_predict):
            if hasattr(self, name):
                setattr(predictor, name, getattr(self, name))
        return predictor


class ConstrainedClusterMixin(TableClusterMixin):
    """Mixin class for all constrained clusterers.

    It provides ``fit`` and ``fit_predict``, requests `constraints` in metadata routing, validates the input, and merges
    partial labels into the constraints. A subclass implements ``_fit(X, links, y)``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from mustlink import Constraints
    >>> from mustlink.base import ConstrainedClusterMixin
    >>> class MustLinkComponents(ConstrainedClusterMixin, BaseEstimator):
    ...     def _fit(self, X, links, y):
    ...         self.labels_ = links.components(len(X))
    ...         self.violations_ = links.violations(self.labels_)
    >>> MustLinkComponents().fit_predict(np.zeros((3, 1)), constraints=Constraints(must_link=[(0, 2)]))
    array([0, 1, 0])
    """

    __metadata_request__fit = {"constraints": True}  # noqa: RUF012  (scikit-learn reads a plain class attribute)

    # Whether a class works on groups of cannot-links themselves; others are given the list of their pairs.
    _takes_groups: ClassVar[bool] = False

    violations_: Constraints

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data; a sparse matrix where the class supports it, and an array of shape (n_samples, n_samples) where
            similarities, distances or a kernel are precomputed.
        y : array-like of shape (n_samples,), default=None
            Partial labels as an additional source of constraints; -1, None, NaN and empty text are unknown. Labels for
            every row are ignored: scikit-learn passes them to every clusterer to score against. They imply the same
            links in any order of the rows, see :func:`mustlink.base.collect_links`.
        constraints : Constraints or AlignedConstraints, default=None
            Must-links and cannot-links between rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        self._fit_and_count(*self._check_fit_input(X, y, constraints))
        return self

    def _check_fit_input(
        self, X: Any, y: ArrayLike | None, constraints: Constraints | AlignedConstraints | None
    ) -> tuple[Any, Constraints, NDArray[Any] | None]:
        """Return the validated rows, the links of constraints and partial labels together, and the partial labels."""
        X = self._check_fit_rows(X)
        n_samples = X.shape[0]
        links = as_constraints(constraints, n_samples)
        self._check_groups(links, n_samples)
        if not self._takes_groups:
            links = links.expand()
        labels = check_partial_labels(y, n_samples)
        if labels is not None:
            if getattr(self, "on_infeasible", None) == "raise":
                refuse_many_classes(labels, self._n_clusters_wanted(), "relax", number=count_parameter(self))
            order = _order_by_content(X, labels, links, is_pairwise=get_tags(self).input_tags.pairwise)
            links = links.add(self._links_of_labels(labels, order), contradictions="keep")
        return X, links, labels

    def _check_groups(self, links: Constraints, n_samples: int) -> None:
        """Refuse groups that the clusterer must keep and cannot, while they have names."""
        if getattr(self, "on_infeasible", None) == "raise":
            refuse_large_groups(links, self._n_clusters_wanted(), n_samples, number=count_parameter(self))

    def _links_of_labels(self, y: NDArray[Any], order: Indices) -> Constraints:
        """Return links with the same closure as the partial labels, chained in an order of the rows."""
        return Constraints.from_labels(y, order=order)

    def _fit(self, X: Any, links: Constraints, y: NDArray[Any] | None) -> None:
        """Cluster validated rows under the links, and set ``labels_`` and ``violations_``."""
        raise NotImplementedError

    def fit_predict(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
        **fit_params: Any,
    ) -> NDArray[np.integer]:
        """Fit the clusterer and return the labels of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown.
        constraints : Constraints or AlignedConstraints, default=None
            Must-links and cannot-links.
        **fit_params : dict
            Passed on to ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster labels.
        """
        self.fit(X, y, constraints=constraints, **fit_params)
        return self.labels_


def check_table(estimator: Any, X: Any, *, reset: bool = True, dtype: Any = FLOATS, **options: Any) -> Any:
    """Validate the rows of an estimator, of a fit or new ones: scikit-learn's checks, and no number too large.

    Parameters
    ----------
    estimator : estimator
        Whose rows they are; it keeps their number of columns and their names.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    reset : bool, default=True
        Whether the rows are those of a fit; new rows are compared with these.
    dtype : dtype or list of dtypes, default=[float64, float32]
        The accepted types; others are converted to the first.
    **options : dict
        Passed on to :func:`sklearn.utils.validation.validate_data`.

    Returns
    -------
    ndarray or sparse matrix of shape (n_samples, n_features)
        The validated rows.

    Raises
    ------
    NumberTooLargeError
        If squared distances between the rows overflow.

    Examples
    --------
    >>> from mustlink import PCKMeans
    >>> from mustlink.base import check_table
    >>> check_table(PCKMeans(), [[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    blocked = as_blocked(X)
    if blocked is not None:
        return check_blocked(estimator, blocked, reset=reset)
    X = validate_data(estimator, X, reset=reset, dtype=dtype, **options)
    check_magnitude(X)
    return X


def check_blocked(estimator: Any, rows: BlockedRows, *, reset: bool = True) -> BlockedRows:
    """Validate rows in blocks: the estimator takes them, their columns are its columns, and all numbers are finite.

    Parameters
    ----------
    estimator : estimator
        Whose rows they are; it keeps their number of columns and their names.
    rows : BlockedRows
        The rows.
    reset : bool, default=True
        Whether the rows are those of a fit; new rows are compared with these.

    Returns
    -------
    BlockedRows
        The same rows.

    Raises
    ------
    TypeError
        If the estimator takes rows in memory only.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import ConstrainedHDBSCAN
    >>> from mustlink.base import check_blocked
    >>> from mustlink.blocks import FileRows
    >>> check_blocked(ConstrainedHDBSCAN(), FileRows(np.zeros((4, 2))))
    Traceback (most recent call last):
        ...
    TypeError: ConstrainedHDBSCAN takes rows in memory only, and X is read in blocks (4 x 2 numbers). PCKMeans, ...
    """
    if not getattr(estimator, "_takes_blocks", False):
        able = [name for name in TAKING_BLOCKS if isinstance(rows, LocalRows) or name not in TAKING_LOCAL_BLOCKS]
        raise TypeError(
            f"{type(estimator).__name__} takes rows in memory only, and X is read in blocks ({rows.n_rows:,} x "
            f"{rows.n_features:,} numbers). {', '.join(able[:-1])} and {able[-1]} take rows in "
            "blocks; or cluster a sample of the rows in memory, and predict the others."
        )
    check_columns(estimator, rows, reset=reset)
    # Computed in a pass that looks at every number.
    _ = rows.moments
    return rows


def check_enough_rows(n_samples: int, n_clusters: int | None, name: str = "n_clusters") -> None:
    """Refuse fewer rows than clusters, as scikit-learn does.

    Parameters
    ----------
    n_samples : int
        The number of rows.
    n_clusters : int or None
        The number of clusters; None if it is estimated.
    name : str, default="n_clusters"
        The name of the parameter that has it.

    Raises
    ------
    ValueError
        If there are fewer rows than clusters.

    Examples
    --------
    >>> from mustlink.base import check_enough_rows
    >>> check_enough_rows(2, 3)
    Traceback (most recent call last):
        ...
    ValueError: n_samples=2 should be >= n_clusters=3.
    """
    if n_clusters is not None and n_samples < n_clusters:
        raise ValueError(f"n_samples={n_samples} should be >= {name}={n_clusters}.")


def warn_of_fewer_clusters(labels: Any, n_clusters: int) -> None:
    """Warn if a clustering has fewer clusters than were asked for.

    Parameters
    ----------
    labels : ndarray or dask.array.Array of shape (n_samples,)
        The cluster of every row; -1 is none.
    n_clusters : int
        The number of clusters that was asked for.

    Warns
    -----
    ConvergenceWarning
        With both numbers.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from mustlink.base import warn_of_fewer_clusters
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_fewer_clusters(np.array([0, 2, 2]), 3)
    >>> print(caught[0].message)
    3 clusters were asked for, and 2 were found, possibly because of equal rows or of links.
    """
    found = distinct_labels(labels)
    if found is None:
        return
    n_found = np.count_nonzero(found >= 0)
    if n_found < n_clusters:
        verb = "was" if n_found == 1 else "were"
        warn_caller(
            f"{n_clusters} clusters were asked for, and {n_found} {verb} found, possibly because of equal rows or of "
            "links.",
            ConvergenceWarning,
        )


def check_fits(what: str, shape: tuple[int, int], max_entries: int, instead: str, *, itemsize: int = 8) -> None:
    """Refuse an array that is too large to be held.

    Parameters
    ----------
    what : str
        Who needs the array, as the subject of a sentence.
    shape : (int, int)
        Its rows and columns.
    max_entries : int
        The most entries it may have.
    instead : str
        What the user can do, as the rest of a sentence.
    itemsize : int, default=8
        Bytes per entry.

    Raises
    ------
    TooLargeError
        With the size in the message.

    Examples
    --------
    >>> from mustlink.base import check_fits
    >>> check_fits("Average linkage", (200_000, 200_000), 10_000**2, "cluster a sample of the rows")
    Traceback (most recent call last):
        ...
    mustlink.errors.TooLargeError: Average linkage needs an array of 200,000 x 200,000 numbers (320.0 GB), ...
    """
    n_rows, n_columns = shape
    if n_rows * n_columns > max_entries:
        raise TooLargeError(
            f"{what} needs an array of {n_rows:,} x {n_columns:,} numbers ({n_rows * n_columns * itemsize / 1e9:,.1f} "
            f"GB), and at most {max_entries:,} numbers are allowed",
            remedy="too_large",
            instead=instead,
        )


def refuse_contradictions(
    links: Constraints, names: Sequence[object] | None = None, *, soft: str = "soft_method"
) -> None:
    """Refuse cannot-links between rows that must-links join.

    Parameters
    ----------
    links : Constraints
        The links.
    names : sequence, default=None
        The names of the rows, such as their ids; row numbers if None.
    soft : str, default="soft_method"
        The remedy that names a clusterer that may break links, a key of :data:`mustlink.errors.REMEDIES`.

    Raises
    ------
    InfeasibleError
        With the chains of the first conflicts in the message, all their cannot-links in ``pairs``, and the conflicts in
        the field ``conflicts``.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.base import refuse_contradictions
    >>> refuse_contradictions(Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]))
    Traceback (most recent call last):
        ...
    mustlink.errors.InfeasibleError: Rows 0 and 2 have a cannot-link, but must-links connect them: 0 - 1 - 2; remove ...
    """
    conflicts = links.conflicts()
    if conflicts:
        raise InfeasibleError(
            conflicts.describe(names),
            [conflict.cannot_link for conflict in conflicts],
            remedy=("drop_link", "relax", soft),
            conflicts=conflicts,
        )


def refuse_infeasible(feasibility: Feasibility, *, number: str = "n_clusters", soft: str = "soft_method") -> None:
    """Refuse links for which no clustering is known to exist.

    Parameters
    ----------
    feasibility : Feasibility
        The answer of :meth:`mustlink.Constraints.feasible`.
    number : str, default="n_clusters"
        The name of the parameter for the number of clusters.
    soft : str, default="soft_method"
        The remedy that names a clusterer that may break links, a key of :data:`mustlink.errors.REMEDIES`.

    Raises
    ------
    InfeasibleError
        If the answer is not True, with its reason.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.base import refuse_infeasible
    >>> refuse_infeasible(Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]).feasible(2, 3))
    Traceback (most recent call last):
        ...
    mustlink.errors.InfeasibleError: Two clusters cannot satisfy a cycle of 3 cannot-links, an odd number: ...
    """
    if not feasibility:
        needed = feasibility.min_clusters
        remedy = "more_clusters" if needed is None else "at_least_clusters"
        if feasibility.too_many_clusters:
            remedy = "fewer_clusters"
        raise InfeasibleError(
            feasibility.reason,
            remedy=(remedy, "relax", soft),
            n_needed=needed,
            number=number,
            feasibility=feasibility,
        )


def refuse_large_groups(
    links: Constraints,
    n_clusters: int | None,
    n_samples: int,
    *,
    number: str | None = "n_clusters",
    soft: str = "soft_method",
) -> None:
    """Refuse groups of more rows than clusters, if no two rows of a group may be in one cluster.

    Parameters
    ----------
    links : Constraints
        The links.
    n_clusters : int or None
        The number of clusters; None if it is estimated.
    n_samples : int
        The number of rows.
    number : str or None, default="n_clusters"
        The name of the parameter for the number of clusters.
    soft : str, default="soft_method"
        The remedy that names a clusterer that may break links, a key of :data:`mustlink.errors.REMEDIES`.

    Raises
    ------
    InfeasibleError
        With the name and the size of a group.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.base import refuse_large_groups
    >>> refuse_large_groups(Constraints.from_groups(["a", "b", "a", "a"]), 2, 4)
    Traceback (most recent call last):
        ...
    mustlink.errors.InfeasibleError: The group a has 3 rows, no two of which may be in one cluster, and there are ...
    """
    largest = max((int(one.sizes.max()) for one in links.cannot_link_groups), default=0)
    if n_clusters is not None and largest > n_clusters:
        refuse_infeasible(links.feasible(n_clusters, n_samples), number=number or "n_clusters", soft=soft)


def refuse_many_classes(
    y: ArrayLike, n_clusters: int | None, *remedies: str, number: str | None = "n_clusters"
) -> None:
    """Refuse labels of more classes than clusters.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Partial labels.
    n_clusters : int or None
        The number of clusters; None if it is estimated.
    *remedies : str
        What else to do about it than to use more clusters, as keys of :data:`mustlink.errors.REMEDIES`.
    number : str or None, default="n_clusters"
        The name of the parameter for the number of clusters.

    Raises
    ------
    InfeasibleError
        With both numbers.

    Examples
    --------
    >>> from mustlink.base import refuse_many_classes
    >>> refuse_many_classes(["cat", "dog", "owl", ""], 2)
    Traceback (most recent call last):
        ...
    mustlink.errors.InfeasibleError: The labels name 3 classes, more than the 2 clusters asked for; use n_clusters=3 ...
    """
    n_classes = len(known_rows(y)[2])
    if n_clusters is not None and n_classes > n_clusters:
        raise InfeasibleError(
            f"The labels name {count(n_classes, 'class', 'classes')}, more than the {count(n_clusters, 'cluster')} "
            "asked for",
            remedy=("at_least_clusters", *remedies),
            n_needed=n_classes,
            number=number,
        )


def check_partial_labels(y: ArrayLike | None, n_samples: int) -> NDArray[Any] | None:
    """Validate partial labels: one per row of the table, some of them unknown.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or None
        Classes; -1, None, NaN and empty text are unknown, see :func:`mustlink.constraints.known_rows`.
    n_samples : int
        The number of rows of the table.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        The labels; None if there are none, or if no row is unknown.

    Notes
    -----
    Labels for every row are ignored. They come from a parameter search that scores against the true labels: as
    scikit-learn passes them to ``fit`` as well, using them would leak the truth.

    Examples
    --------
    >>> from mustlink.base import check_partial_labels
    >>> check_partial_labels([0, -1, 1], 3)
    array([ 0, -1,  1])
    >>> check_partial_labels([0, 0, 1], 3) is None
    True
    """
    if y is None:
        return None
    labels = check_labels(y, n_samples)
    rows, _, _ = known_rows(labels, missing=-1)
    return None if len(rows) == n_samples else labels


def check_labels(y: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Validate labels, known or not: one per row of the table.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes; :func:`mustlink.constraints.known_rows` tells which of them are known.
    n_samples : int
        The number of rows of the table.

    Returns
    -------
    ndarray of shape (n_samples,)
        The labels; masked ones are None.

    Examples
    --------
    >>> from mustlink.base import check_labels
    >>> check_labels([0, -1, 1], 2)
    Traceback (most recent call last):
        ...
    ValueError: y must hold one partial label per row: the table has 2 rows, and y has 3 labels.
    """
    if isinstance(y, Constraints | AlignedConstraints):
        raise TypeError("y takes partial labels, one per row, and these are links; pass them as constraints=...")
    labels: Any = column_or_1d(y, warn=True)
    if isinstance(y, np.ma.MaskedArray):
        labels = np.where(np.ma.getmaskarray(y).ravel(), None, labels)
    if len(labels) != n_samples:
        raise ValueError(
            f"y must hold one partial label per row: the table has {count(n_samples, 'row')}, and y has "
            f"{count(len(labels), 'label')}."
        )
    return np.asarray(labels)


def check_sources(sources: Any, n_samples: int) -> tuple[Indices, Indices, NDArray[Any]] | None:
    """Validate the sources of rows, of which a cluster may hold only so many rows.

    Parameters
    ----------
    sources : array-like of shape (n_samples,) or (n_samples, 1), or None
        The source of each row; -1, None, NaN and empty text are none, see :func:`mustlink.constraints.known_rows`.
    n_samples : int
        The number of rows of the table.

    Returns
    -------
    tuple of (rows, codes, names), or None
        The rows with a source, the numbers of their sources, and the names of these; None if there are no sources.

    Examples
    --------
    >>> from mustlink.base import check_sources
    >>> check_sources(["web", None, "shop", "web"], 4)
    (array([0, 2, 3]), array([1, 0, 1]), array(['shop', 'web'], dtype=object))
    """
    if sources is None:
        return None
    array = sources
    if not isinstance(sources, np.ma.MaskedArray):
        # NumPy would write out the numbers of a list with text.
        array = np.asarray(sources, dtype=None if hasattr(sources, "__array__") else object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n_samples,):
        raise ValueError(
            f"sources must hold one source per row: X has {count(n_samples, 'row')}, and sources has the shape "
            f"{array.shape}."
        )
    try:
        return known_rows(array)
    except ConstraintError:
        raise ValueError("sources mix text and numbers; use one kind for all of them.") from None
