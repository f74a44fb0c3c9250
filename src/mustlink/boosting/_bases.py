"""Base clusterers: clone, seed and run any of them, check its labels, and predict new rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import Birch, KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.mixture import GaussianMixture
from sklearn.utils import get_tags

from mustlink._estimators import count_and_seed_parameters, without_rows
from mustlink._sklearn_compat import one_thread_if_narrow
from mustlink._spelling import count
from mustlink._types import Array, Indices
from mustlink.errors import EstimatorError

__all__ = ["BaseClusterer", "BaseRun", "hint_at_number", "labels_of_each"]

DEFAULT_N_CLUSTERS = 8
# Bases that multiply the table by small matrices only; others may need all threads for products of all pairs of rows.
MULTIPLY_BY_SMALL = (KMeans, MiniBatchKMeans, GaussianMixture)


@dataclass(frozen=True)
class BaseRun:
    """One run of the base clusterer."""

    labels: Array  # integers; -1 is noise
    model: Any | None  # what predicts new rows: the fitted base, if it can
    directions: Any = None  # of the representation that it was run on; None is the plain table
    weight: float = 1.0  # in the co-association
    rows: Indices | None = None  # the rows that have labels, ascending; None is all
    # The number of labels of the model, from 0, if rows elsewhere may have labels that these do not have.
    n_labels: int = 0

    def without_rows(self) -> BaseRun:
        """Return only what is needed to predict new rows."""
        model = self.model
        if isinstance(model, LeadingColumns):
            return replace(self, labels=self.labels[:0], model=replace(model, model=without_rows(model.model)))
        if isinstance(model, Birch):
            # Its tree of rows is not needed to find the nearest of its centers.
            model = NearestMean(model.subcluster_labels_, model.subcluster_centers_)
        return replace(self, labels=self.labels[:0], model=without_rows(model))

    def on_all_rows(self, sample_table: Array, table: Array, rows: Indices) -> BaseRun:
        """Label all rows, given a run on some of them: by the base's ``predict``, else by the nearest mean."""
        model = self.model if self.model is not None else NearestMean.of(sample_table, self.labels)
        labels = np.empty(table.shape[0], dtype=self.labels.dtype)
        if 2 * len(rows) < len(labels):
            labels[:] = predict_quickly(model, table)
        elif len(rows) < len(labels):
            # To copy the few other rows is faster than to predict all.
            others = np.ones(len(labels), dtype=np.bool_)
            others[rows] = False
            labels[others] = predict_quickly(model, table[np.flatnonzero(others)])
        labels[rows] = self.labels
        return replace(self, labels=labels, model=model, rows=None)


@dataclass(frozen=True)
class LeadingColumns:
    """Predicts by a model of the leading columns."""

    model: Any
    n_columns: int

    def predict(self, table: Any) -> Array:
        """Return the prediction of the model."""
        return np.asarray(self.model.predict(table[:, : self.n_columns]))


@dataclass(frozen=True)
class NearestRow:
    """Predicts the label of the nearest of some rows."""

    table: Array
    labels: Array

    def predict(self, table: Any) -> Array:
        """Return the label of the nearest row."""
        return np.asarray(self.labels[pairwise_distances_argmin(table, self.table)])


@dataclass(frozen=True)
class NearestMean:
    """Predicts the cluster whose mean is nearest, never noise."""

    names: Array  # the label of each mean
    means: Array

    @classmethod
    def of(cls, table: Any, labels: Array) -> Self:
        """Compute the mean of each cluster."""
        names = np.unique(labels[labels != -1])
        return cls(names, np.array([np.asarray(table[labels == name].mean(axis=0)).ravel() for name in names]))

    def predict(self, table: Any) -> Array:
        """Return the label of the nearest mean; -1 if there is none."""
        if not len(self.names):
            return np.full(table.shape[0], -1)
        return np.asarray(self.names[pairwise_distances_argmin(table, self.means)])


def predict_quickly(model: Any, table: Any) -> Array:
    """Predict rows of the table that is clustered, which `fit` found to be finite."""
    with config_context(assume_finite=True):
        return np.asarray(model.predict(table))


def labels_of_each(runs: Iterable[BaseRun], rows: Indices) -> list[Array]:
    """Return the labels of some rows in each run; all of them must have one."""
    labels: list[Array] = []
    labeled, place = None, rows
    for run in runs:
        # Runs on a sample are mostly on the same one, where the rows are looked up once.
        if run.rows is not labeled:
            labeled, place = run.rows, rows if run.rows is None else np.searchsorted(run.rows, rows)
        labels.append(run.labels[place])
    return labels


def hint_at_number(estimator: Any) -> str:
    """Return what to do, if the number of clusters was given in the place of the estimator."""
    return f" Pass the number of clusters as n_clusters={estimator}." if isinstance(estimator, Integral) else ""


class BaseClusterer:
    """The clusterer that is boosted: a scikit-learn estimator, or a function from a table to labels.

    None is k-means with three starts. `n_clusters` is set in the clones of an estimator that has such a parameter; None
    keeps the estimator's own. With `max_rows`, a larger table is clustered by a random sample of so many rows, and the
    other rows are predicted; with `max_columns`, only so many leading columns are used. `is_optional` is whether the
    boosting goes on without a run that fails.
    """

    def __init__(
        self,
        estimator: Any,
        n_clusters: int | None,
        *,
        max_rows: int | None = None,
        max_columns: int | None = None,
        is_optional: bool = False,
    ) -> None:
        if estimator is None:
            estimator = KMeans(DEFAULT_N_CLUSTERS if n_clusters is None else n_clusters, n_init=3)
        is_estimator = hasattr(estimator, "fit") or hasattr(estimator, "fit_predict")
        if isinstance(estimator, type) or not (is_estimator or callable(estimator)):
            raise TypeError(
                "estimator must be a clusterer with fit and labels_ (or fit_predict), or a function from a table to "
                f"labels; got {estimator!r}."
                f"{hint_at_number(estimator)}"
            )
        self.estimator = estimator
        self.is_function = not is_estimator
        self.max_rows, self.max_columns = max_rows, max_columns
        self.is_optional = is_optional
        self._has_run = False
        counts, self._seeded = ([], []) if self.is_function else count_and_seed_parameters(estimator)
        self._settings = {} if n_clusters is None else dict.fromkeys(counts, n_clusters)
        self.n_clusters = n_clusters
        if n_clusters is None:
            params = estimator.get_params(deep=True) if counts else {}
            self.n_clusters = next((params[key] for key in counts if isinstance(params[key], int)), None)

    @property
    def name(self) -> str:
        """The name of the base in messages."""
        return getattr(self.estimator, "__name__", type(self.estimator).__name__)

    @property
    def takes_sparse(self) -> bool:
        """Whether the base takes sparse tables, by its tags."""
        if self.is_function or not isinstance(self.estimator, BaseEstimator):
            return False
        return bool(get_tags(self.estimator).input_tags.sparse)

    def run(self, table: Any, seed: int, where: str | None = None) -> BaseRun:
        """Cluster a table with a new clone.

        `where` is the round, for error messages; with None, errors and warnings of the base are passed on.
        """
        if where is None:
            return self._run(table, seed)
        try:
            with warnings.catch_warnings():
                # One run of many may stop before it converges.
                warnings.simplefilter("ignore", ConvergenceWarning)
                return self._run(table, seed)
        except Exception as error:
            raise EstimatorError(
                f"The clusterer {self.name} failed {where}, on a table of {count(table.shape[0], 'row')} and "
                f"{count(table.shape[1], 'column')}",
                remedy="cause",
                cause=str(error),
            ) from error

    def _run(self, table: Any, seed: int) -> BaseRun:
        """Cluster a table, or a sample of it."""
        if self.max_columns is not None and table.shape[1] > self.max_columns:
            run = self._run_sampled(table[:, : self.max_columns], seed)
            return replace(run, model=None if run.model is None else LeadingColumns(run.model, self.max_columns))
        return self._run_sampled(table, seed)

    def _run_sampled(self, table: Any, seed: int) -> BaseRun:
        """Cluster at most `max_rows` rows and predict the others."""
        if self.max_rows is None or table.shape[0] <= self.max_rows:
            return self._run_all(table, seed)
        rows = np.random.RandomState(seed).choice(table.shape[0], size=self.max_rows, replace=False)
        sample = table[rows]
        run = self._run_all(sample, seed)
        model = NearestRow(sample, run.labels) if run.model is None else run.model
        return replace(run, model=model).on_all_rows(sample, table, rows)

    def _run_all(self, table: Any, seed: int) -> BaseRun:
        """Clone, seed and fit the base, and check its labels."""
        if self.is_function:
            return BaseRun(self._checked(self.estimator(table), table.shape[0]), None)
        model = clone(self.estimator)
        if self._settings or self._seeded:
            model.set_params(**self._settings, **dict.fromkeys(self._seeded, seed))
        # The parameters are the same in all runs but for the seed; scikit-learn validates them in the first.
        limit = one_thread_if_narrow(table) if isinstance(model, MULTIPLY_BY_SMALL) else nullcontext()
        with config_context(skip_parameter_validation=self._has_run), limit:
            labels = model.fit_predict(table) if hasattr(model, "fit_predict") else model.fit(table).labels_
        self._has_run = True
        return BaseRun(self._checked(labels, table.shape[0]), model if hasattr(model, "predict") else None)

    def _checked(self, labels: Any, n_rows: int) -> Array:
        """Return labels as small integers, or raise an error that names what is wrong."""
        array = np.asarray(labels)
        if array.shape != (n_rows,):
            raise ValueError(f"it must return {n_rows} labels, one per row, and returned shape {array.shape}.")
        if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.round(array))).all():
            raise ValueError("it must return labels that are whole numbers, and returned fractions or NaN.")
        if array.dtype.kind not in "iubf":
            raise ValueError(f"it must return labels that are integers, and returned {array.dtype}.")
        whole = array if array.dtype.kind == "i" else array.astype(np.int64)
        low, high = int(whole.min()), int(whole.max())
        return whole.astype(np.result_type(np.min_scalar_type(min(low, -1)), np.min_scalar_type(min(-high - 1, -1))))
