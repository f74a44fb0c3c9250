"""k-means continued over all rows, from the centers that it found on the shown rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans

from mustlink._types import Array, Floats
from mustlink.blocks import BlockedRows
from mustlink.boosting._bases import BaseClusterer, BaseRun, NearestRow
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.kmeans.core import BlockedEuclidean, LinkRule, State, iterate, nearest_labels

__all__ = ["NearestCenter", "Represent", "is_kmeans", "limit_rows", "refine_centers", "with_model"]

# Bases that cannot predict compare all pairs of rows, or nearly: they cluster so many rows at most.
MAX_ROWS_WITHOUT_PREDICT = 10_000
# MiniBatchKMeans does not stop by how far its centers move; then it is as in KMeans.
DEFAULT_TOL = 1e-4


@dataclass(frozen=True)
class Represent:
    """A function from rows to a representation; None is the scaled table."""

    coordinates: Coordinates
    directions: Any

    def __call__(self, block: Array) -> Array:
        return np.asarray(self.coordinates.of_rows(block).table_of(self.directions, takes_sparse=False))


@dataclass(frozen=True)
class NearestCenter:
    """Predicts the nearest center, on one thread and with the rounding of passes over blocks."""

    centers: Floats

    def predict(self, table: Array) -> Array:
        """Return the number of the nearest center."""
        return nearest_labels(np.ascontiguousarray(table), self.centers)


def is_kmeans(model: Any) -> bool:
    """Whether a fitted base is k-means, and not a class of a user that is derived from it."""
    return type(model) in (KMeans, MiniBatchKMeans)


def with_model(run: BaseRun, table: Array) -> BaseRun:
    """Return a run of some rows that can label all others, given the rows as the base was given them."""
    if run.model is None:
        return replace(run, model=NearestRow(table, run.labels))
    if not is_kmeans(run.model):
        return run
    centers = run.model.cluster_centers_.astype(table.dtype).astype(np.float64)
    return replace(run, model=NearestCenter(centers), n_labels=len(centers))


def limit_rows(base: BaseClusterer) -> None:
    """Let a base that cannot predict cluster a part of the shown rows only."""
    if base.max_rows is None and not hasattr(base.estimator, "predict"):
        base.max_rows = MAX_ROWS_WITHOUT_PREDICT


def refine_centers(rows: BlockedRows, model: Any, table: Array) -> Floats:
    """Continue a fitted k-means over all rows; `rows` and `table`, some of them, are in the same representation."""
    tol = model.tol or (DEFAULT_TOL if isinstance(model, MiniBatchKMeans) else 0.0)
    # As in scikit-learn; the variance of some rows is enough to tell when centers move no more.
    shift = tol * float(np.mean(table.var(axis=0, dtype=np.float64)))
    start = State(model.cluster_centers_.astype(rows.dtype).astype(np.float64))
    run = iterate(BlockedEuclidean(rows, LinkRule()), start, report_nothing, max_iter=model.max_iter, shift=shift)
    return run.state.centers


def report_nothing(n_iter: int, objective: float) -> None:
    """Report nothing: the progress bar counts rounds."""
