"""The base class of the k-means clusterers: parameters, checks, starts, restarts, results, prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from mustlink._magnitude import check_magnitude, largest_number
from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions, check_sample_weight, fit_context, is_array_like
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.base import ConstrainedClusterMixin, TableClusterMixin, check_table
from mustlink.blocks import BlockedRows, as_blocked, blockwise, blockwise_transform
from mustlink.constraints import AlignedConstraints, Constraints, known_rows
from mustlink.kmeans._blocked import BlockedEuclidean, BlockedLabels
from mustlink.kmeans._blocked_passes import BlockSums, sum_nearest
from mustlink.kmeans._engine import Euclidean, Geometry, Run, State, best_of_runs, iterate
from mustlink.kmeans._rules import NO_ROWS, LinkedRows, LinkRule
from mustlink.kmeans._seeding import Start, component_seeds, start_at_random_rows, start_at_seeds

# Starts are drawn from at most so many rows, and the linked ones; more make them no better.
MAX_ROWS_OF_STARTS = 100_000


@dataclass
class Problem:
    """What a fit is given: X, its rows with weights, the linked rows, partial labels, the source of randomness."""

    X: Any
    rows: Any  # RowBlocks, or BlockedRows where the rows are read in blocks
    weight: Floats
    linked: LinkedRows
    y: Array | None
    rng: np.random.RandomState

    @cached_property
    def mean_variance(self) -> float:
        """The variance of the features, averaged over the features."""
        return self.rows.mean_variance(self.weight)

    @cached_property
    def of_starts(self) -> ProblemOfStarts:
        """The rows in memory that starts are drawn from: all, or the linked and labeled ones and a sample."""
        n_rows, rows = self.rows.n_rows, self.rows
        if n_rows <= MAX_ROWS_OF_STARTS:
            in_memory = rows if isinstance(rows, RowBlocks) else RowBlocks(rows.gather(np.arange(n_rows)))
            return ProblemOfStarts(in_memory.X, in_memory, self.weight, self.linked, self.y, self.rng)
        linked, links = self.linked.given.without_groups().compact()
        known = linked if self.y is None else np.union1d(linked, known_rows(self.y, missing=-1)[0])
        sample = sample_without_replacement(n_rows, MAX_ROWS_OF_STARTS, random_state=self.rng)
        # The linked rows come first, as their links are numbered.
        index = np.concatenate([linked, np.setdiff1d(np.union1d(known, sample), linked)]).astype(np.intp)
        shown = RowBlocks(rows.pick(index) if isinstance(rows, RowBlocks) else rows.gather(index))
        y = None if self.y is None else self.y[index]
        return ProblemOfStarts(
            shown.X, shown, self.weight[index], LinkedRows(links, len(index)), y, self.rng, index=index
        )


@dataclass
class ProblemOfStarts(Problem):
    """A problem whose rows are in memory."""

    rows: RowBlocks
    index: Indices | None = None  # the numbers of the rows in the whole problem, if they are not the same


# How a fit is made: the geometry with its rule, where the runs start, and when they stop (arguments of `iterate`).
Plan: TypeAlias = tuple[Geometry, list[Start], dict[str, Any]]


class BaseKMeans(TableClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the k-means clusterers; each has its rule for some rows, and some a geometry of their own."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "components", "random"}), "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    _takes_sparse = True
    _read_by_predict: ClassVar[tuple[str, ...]] = ("cluster_centers_",)

    n_clusters: int
    init: str | ArrayLike
    n_init: int | str
    max_iter: int
    tol: float
    verbose: int | bool
    random_state: Any

    cluster_centers_: Array
    n_iter_: int
    objective_: list[float]

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the cluster with the nearest center for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; sparse where ``fit`` takes sparse rows. Constraints are not used: for a row that its links put
            into a cluster farther away, this differs from ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        return self._nearest(self._check_new_rows(X)).astype(np.int64)

    @blockwise_transform
    def transform(self, X: Any) -> Array:
        """Return the distance of each row to each center.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; sparse where ``fit`` takes sparse rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, or those of the learned metric.
        """
        squares = self._squared_distances(self._check_new_rows(X))
        return np.sqrt(squares, out=squares)

    def _nearest(self, rows: RowBlocks) -> Array:
        """Return the nearest cluster of each row."""
        return rows.assign(self.cluster_centers_.astype(np.float64), np.ones(rows.n_rows)).labels

    def _squared_distances(self, rows: RowBlocks) -> Array:
        """Return the squared distance of each row to each center, in the precision of X."""
        return rows.squared_distances(self.cluster_centers_.astype(np.float64), rows.dtype)

    def _problem(
        self,
        X: Any,
        links: Constraints | None = None,
        y: Array | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Problem:
        """Return what the runs need to know of the input."""
        rng = check_random_state(self.random_state)
        linked = LinkedRows(Constraints() if links is None else links, X.shape[0])
        rows = X if isinstance(X, BlockedRows) else RowBlocks(X)
        return Problem(X, rows, check_weight(sample_weight, X), linked, y, rng)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Check rows, of the fit or new ones."""
        return check_rows(self, X, reset=reset, takes_sparse=self._takes_sparse)

    def _check_new_rows(self, X: Any) -> RowBlocks:
        """Check rows that come after the fit."""
        check_is_fitted(self)
        if as_blocked(X) is not None:
            raise TypeError(
                f"Of the methods of {type(self).__name__}, fit and predict take rows in blocks; call the others on "
                "arrays in memory, such as one block at a time."
            )
        return RowBlocks(self._check_rows(X, reset=False))

    def _plan(self, problem: Problem) -> Plan:
        """Return the geometry, the starts, and the stopping rule."""
        rule, start = self._rule_and_start(problem)
        tol = self.tol * problem.mean_variance if self.tol else 0.0
        rows = problem.rows
        geometry = (
            BlockedEuclidean(rows, rule) if isinstance(rows, BlockedRows) else Euclidean(rows, problem.weight, rule)
        )
        return geometry, [start.map(State)], {"shift": tol}

    def _rule_and_start(self, problem: Problem) -> tuple[LinkRule, Start]:
        """Return the rule for the linked rows, and where the centers start."""
        return self._rule(problem), self._start(problem.of_starts)

    def _rule(self, problem: Problem) -> LinkRule:
        """Return the rule for the linked rows."""
        return LinkRule()

    def _start(self, problem: ProblemOfStarts, given: Callable[[Floats], Floats] | None = None) -> Start:
        """Return the start that `init` asks for; `given` turns given centers into those of the problem's rows."""
        rows, weight = problem.rows, problem.weight
        if is_array_like(self.init):
            centers = self._check_init(rows.n_features)
            check_magnitude(centers, "init", rows.dtype)
            centers = centers.astype(rows.dtype).astype(np.float64) if given is None else given(centers)
            return Start(lambda: centers)
        if self.init == "random":
            return start_at_random_rows(rows, weight, self.n_clusters, problem.rng)
        seeds = np.full(rows.n_rows, -1, dtype=np.intp)
        if self.init == "components":
            seeds = component_seeds(rows, weight, problem.linked, self.n_clusters)
        return start_at_seeds(rows, weight, seeds, self.n_clusters, problem.rng)

    def _check_init(self, n_features: int) -> Floats:
        """Check centers given as an array."""
        return check_init(self, n_features)

    def _run(self, problem: Problem) -> Run:
        """Make the runs from every start, and return the best."""
        geometry, starts, stop = self._plan(problem)
        make_run = partial(iterate, geometry, max_iter=self.max_iter, **stop)
        best = best_of_runs(self, make_run, starts[0], geometry.rule.try_another_order)
        for start in starts[1:]:
            best = best_of_runs(self, make_run, start, best=best)
        return best

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class BaseConstrainedKMeans(ConstrainedClusterMixin, BaseKMeans):
    """Base of the k-means clusterers with links."""

    violations_: Constraints

    def _fit(self, X: Any, links: Constraints, y: Array | None, sample_weight: ArrayLike | None = None) -> None:
        """Make the runs, and keep the best."""
        self._keep(self._run(self._problem(X, links, y, sample_weight)), links, X.dtype)

    def _keep(self, run: Run, links: Constraints, dtype: Any) -> None:
        """Store the result of a run."""
        keep_run(self, run, links)
        self.cluster_centers_ = run.state.centers.astype(dtype)
        self._n_features_out = self.n_clusters


class BaseWeightedKMeans(BaseConstrainedKMeans):
    """Base of the clusterers by squared distances, whose rows may have weights."""

    inertia_: float

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
        sample_weight: ArrayLike | None = None,
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
            The weight of each row; 1 if None.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X, links, y = self._check_fit_input(X, y, constraints)
        self._fit_and_count(X, links, y, sample_weight)
        return self

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the inertia of new rows.

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
            Minus the weighted sum of squared distances to the nearest centers.
        """
        blocked = as_blocked(X)
        if blocked is not None:
            check_is_fitted(self)
            check_weight(sample_weight, self._check_rows(blocked, reset=False))
            found: BlockSums = blocked.total(sum_nearest, self.cluster_centers_.astype(np.float64), NO_ROWS, 0)
            return -float(found.inertia)
        rows = self._check_new_rows(X)
        weight = check_weight(sample_weight, rows.X)
        return -rows.assign(self.cluster_centers_.astype(np.float64), weight).inertia

    def _keep(self, run: Run, links: Constraints, dtype: Any) -> None:
        super()._keep(run, links, dtype)
        self.inertia_ = run.inertia


def check_init(estimator: Any, n_features: int) -> Floats:
    """Check the centers that an estimator has as its parameter `init`: one for each cluster, in as many columns."""
    centers: Floats = check_array(estimator.init, dtype=np.float64, order="C", input_name="init", estimator=estimator)
    expected = (estimator.n_clusters, n_features)
    if centers.shape != expected:
        raise ValueError(
            f"init has the shape {centers.shape}, but {estimator.n_clusters} clusters of rows with {n_features} "
            f"features need centers of the shape {expected}."
        )
    return centers


def check_rows(estimator: Any, X: Any, *, reset: bool, takes_sparse: bool) -> Any:
    """Check rows, and return them in C order or in CSR form."""
    return check_table(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr" if takes_sparse else False,
        order="C",
        accept_large_sparse=False,
    )


def keep_run(estimator: Any, run: Run, links: Constraints) -> None:
    """Store what every k-means clusterer keeps of a run."""
    estimator.n_iter_ = run.n_iter
    if run.objective:
        estimator.objective_ = run.objective
    if isinstance(run.labels, BlockedLabels):
        estimator.violations_ = run.labels.violations(links)
        estimator.labels_ = run.labels.compute()
        return
    estimator.labels_ = run.labels.astype(np.int64)
    estimator.violations_ = links.violations(estimator.labels_)


def check_weight(sample_weight: ArrayLike | None, X: Any) -> Floats:
    """Check the weights of the rows: one for each, none negative, not all zero."""
    if isinstance(X, BlockedRows):
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported for rows that are read in blocks.")
        # Takes no memory.
        return np.broadcast_to(1.0, X.shape[0])
    if sample_weight is None:
        return np.ones(X.shape[0])
    weight: Floats = check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight must not be negative, but row {row} has {weight[row]}.")
    limit = largest_number(weight.dtype, len(weight))
    if weight.max() > limit:
        row = int(np.argmax(weight))
        raise ValueError(f"sample_weight must be at most {limit:.1g}, but row {row} has {weight[row]:.3g}.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weight
