"""The clusterers that find clusters within known classes, or in what is left of the rows: by name, or any."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid

from mustlink._estimators import clone_with
from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.alternative._multinomial_mixture import MultinomialMixture
from mustlink.errors import EstimatorError

__all__ = ["base_clusterer", "fit_base"]

# What is added to the variances of a mixture, relative to those of the rows.
MIXTURE_RIDGE = 1e-3


def base_clusterer(estimator: Any, rows: Any = None) -> Any:
    """Return the clusterer of a name, for rows of some scale if they are given; an instance as it is."""
    if not isinstance(estimator, str):
        return estimator
    if estimator == "kmeans":
        return KMeans(n_init=3)
    return _mixture_of_scale(rows) if estimator == "mixture" else MultinomialMixture()


def _mixture_of_scale(rows: Any) -> GaussianMixture:
    """Return a mixture whose covariances are regularized relative to the variance of the rows."""
    variance = 0.0 if rows is None or sparse.issparse(rows) else float(np.var(rows, axis=0, dtype=np.float64).mean())
    return GaussianMixture(reg_covar=MIXTURE_RIDGE * (variance or 1.0))


def fit_base(base: Any, rows: Any, n_clusters: int, seed: int, where: str) -> tuple[Any, Ints]:
    """Cluster rows with a copy of a clusterer; return what predicts other rows, and the labels of these.

    `where` says in an error message which rows they are.
    """
    model = clone_with(base, n_clusters, seed)
    try:
        with warnings.catch_warnings():
            # One run of many may stop before it converges.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = model.fit_predict(rows) if hasattr(model, "fit_predict") else model.fit(rows).labels_
    except Exception as error:
        raise EstimatorError(
            f"The clusterer {type(base).__name__} failed {where}, on {count(rows.shape[0], 'row')}",
            remedy="cause",
            cause=str(error),
        ) from error
    labels = np.asarray(labels).astype(np.int64)
    if hasattr(model, "predict"):
        return model, labels
    is_clustered = labels >= 0
    if len(np.unique(labels[is_clustered])) < 2:
        # There is nothing to be nearest to: all rows are alike.
        return _one_center(rows), np.zeros(len(labels), dtype=np.int64)
    return NearestCentroid().fit(rows[is_clustered], labels[is_clustered]), labels


def _one_center(rows: Any) -> KMeans:
    """Return a model that puts all rows into one cluster."""
    return KMeans(1, n_init=1, random_state=0).fit(rows)
