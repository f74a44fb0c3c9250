"""The skeleton that the k-means clusterers share: parameters, checks, restarts, prediction."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._progress import round_bar
from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions, check_sample_weight, fit_context, is_array_like
from mustlink._types import Floats
from mustlink.base import ConstrainedClusterMixin, check_enough_rows, check_partial_labels
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import InfeasibleError
from mustlink.kmeans._empty_clusters import warn_of_empty_clusters
from mustlink.kmeans._lloyd import BoundRows, NoPlacement, Run, lloyd
from mustlink.kmeans._seeding import MOST_RUNS, Start, from_seeds, given_centers, neighbourhood_seeds, random_rows


class _ConstrainedKMeans(ConstrainedClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the k-means clusterers have in common; each adds its rule for the rows that constraints bind."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "neighbourhoods", "random"}), "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    n_clusters: int
    init: str | ArrayLike
    n_init: int | str
    max_iter: int
    tol: float
    verbose: int | bool
    random_state: Any

    cluster_centers_: NDArray[Any]
    inertia_: float
    n_iter_: int
    objective_: list[float]
    violations_: Constraints

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
            The table. It is copied only if it is neither in C order nor in CSR form.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row leave nothing to
            find: they are taken for the truth to score against, which scikit-learn passes to every clusterer, and
            ignored.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 if None.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", accept_large_sparse=False
        )
        table = RowBlocks(X)
        check_enough_rows(table.n_rows, self.n_clusters)
        weight = _check_weight(sample_weight, X)
        y = check_partial_labels(y, table.n_rows)
        links = self._constraints_for(constraints, y, table.n_rows)
        run = self._best_run(table, weight, links, y)
        self._keep(run, links, table)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster whose centre is nearest, for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. Constraints play no part: for a row of the table that they held in a farther cluster, this
            differs from ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        table = self._check_new_rows(X)
        return table.assign(self.cluster_centers_.astype(np.float64), np.ones(table.n_rows)).labels

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distance of each row to each centre.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances.
        """
        table = self._check_new_rows(X)
        squares = table.squared_distances(self.cluster_centers_.astype(np.float64), table.dtype)
        return np.sqrt(squares, out=squares)

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the inertia of new rows: the larger, the nearer they are to the centres.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 if None.

        Returns
        -------
        float
            Minus the weighted sum of squared distances to the nearest centres.
        """
        table = self._check_new_rows(X)
        weight = _check_weight(sample_weight, table.X)
        return -table.assign(self.cluster_centers_.astype(np.float64), weight).inertia

    @abstractmethod
    def _plan(
        self, table: RowBlocks, weight: Floats, links: Constraints, y: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[BoundRows, Start]:
        """Return the rows that constraints bind, with this clusterer's rule for them, and where centres start."""

    def _start(self, table: RowBlocks, weight: Floats, links: Constraints, rng: np.random.RandomState) -> Start:
        """Return the start that `init` asks for."""
        if is_array_like(self.init):
            return given_centers(self._check_init(table))
        if self.init == "random":
            return random_rows(table, weight, self.n_clusters, rng)
        seeds = np.full(table.n_rows, -1, dtype=np.intp)
        if self.init == "neighbourhoods":
            seeds = neighbourhood_seeds(table, weight, links, self.n_clusters)
        return from_seeds(table, weight, seeds, self.n_clusters, rng)

    def _check_init(self, table: RowBlocks) -> Floats:
        """Check centres given as an array."""
        centers = check_array(self.init, dtype=np.float64, order="C", input_name="init", estimator=self)
        expected = (self.n_clusters, table.n_features)
        if centers.shape != expected:
            raise ValueError(
                f"init holds centres of shape {centers.shape}, and {self.n_clusters} clusters of rows with "
                f"{table.n_features} features need the shape {expected}."
            )
        return centers.astype(table.dtype).astype(np.float64)

    def _n_runs(self, start: Start) -> tuple[int, int]:
        """Return how many runs to make, and how many at most while none succeeds."""
        if self.n_init == "auto":
            return start.n_runs, MOST_RUNS
        # From the same centres every run comes to the same.
        return (int(self.n_init) if start.is_random else 1), int(self.n_init)

    def _best_run(self, table: RowBlocks, weight: Floats, links: Constraints, y: ArrayLike | None) -> Run:
        """Run the loop as often as asked and keep the best outcome."""
        rng = check_random_state(self.random_state)
        bound, start = self._plan(table, weight, links, y, rng)
        tol = self.tol * table.mean_variance(weight) if self.tol else 0.0
        n_runs, most_runs = self._n_runs(start)
        best: Run | None = None
        number = 0
        while number < n_runs or (best is None and number < most_runs):
            number += 1
            try:
                with round_bar(self.verbose, f"{type(self).__name__}, run {number}", self.max_iter) as report:
                    run = lloyd(table, weight, bound, start.centers(), max_iter=self.max_iter, tol=tol, report=report)
            except NoPlacement:
                bound.try_another_order()
                continue
            if run.beats(best):
                best = run
        if best is None:
            raise InfeasibleError(
                f"No clustering that keeps all links was found in {number} runs, and whether one exists is not known; "
                'raise n_init or n_clusters, or pass on_infeasible="relax".'
            )
        return best

    def _keep(self, run: Run, links: Constraints, table: RowBlocks) -> None:
        """Store what a run found."""
        warn_of_empty_clusters(len(np.unique(run.labels)), self.n_clusters)
        self.labels_ = run.labels
        self.cluster_centers_ = run.centers.astype(table.dtype)
        self.inertia_ = run.inertia
        self.n_iter_ = run.n_iter
        self.objective_ = run.objective
        self.violations_ = links.violations(run.labels)
        self._n_features_out = self.n_clusters

    def _check_new_rows(self, X: Any) -> RowBlocks:
        """Check rows that come after the fit."""
        check_is_fitted(self)
        return RowBlocks(
            validate_data(
                self,
                X,
                reset=False,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                order="C",
                accept_large_sparse=False,
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_weight(sample_weight: ArrayLike | None, X: Any) -> Floats:
    """Check the weights of the rows: one for each, none negative, not all zero."""
    weight: Floats = check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight must not be negative, and row {row} has {weight[row]}.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    return weight
