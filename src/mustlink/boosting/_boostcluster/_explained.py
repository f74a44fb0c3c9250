"""How much of each column clusters explain: a few links leave one noisy test per column, all rows in clusters do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from mustlink._types import Array, Floats
from mustlink.boosting._bases import BaseRun

__all__ = ["average_explained", "explained_variance"]


def average_explained(runs: Sequence[BaseRun], table: Any) -> Floats:
    """Average, over the runs as they count, how much of the variance of every column their clusters explain.

    The table has the rows that the runs have labels of.
    """
    weight = np.array([run.weight for run in runs])
    return np.average([explained_variance(table, run.labels) for run in runs], axis=0, weights=weight)


def explained_variance(table: Any, labels: Array) -> Floats:
    """Return the fraction of the variance of every column between clusters, beyond that of random ones of their number.

    That is adjusted R squared, at least zero; also for a constant column, or if there are not two clusters.
    """
    names, cluster = np.unique(labels[labels != -1], return_inverse=True)
    n_rows, n_clusters = len(cluster), len(names)
    if n_clusters < 2 or n_rows <= n_clusters:
        return np.zeros(table.shape[1])
    rows = np.flatnonzero(labels != -1)
    member = csr_array((np.ones(n_rows), (cluster, rows)), shape=(n_clusters, len(labels)))
    sizes = np.bincount(cluster)[:, None]
    sums = member @ table
    means = np.asarray(sums.toarray() if issparse(sums) else sums, dtype=np.float64) / sizes
    squares = np.asarray(np.ones(n_clusters) @ (member @ (table.multiply(table) if issparse(table) else table**2)))
    between = (sizes * means**2).sum(axis=0)
    shift = (sizes * means).sum(axis=0) ** 2 / n_rows
    total = np.ravel(squares) - shift
    varies = total > n_rows * np.finfo(np.float64).eps * np.ravel(squares)
    within = np.ravel(squares) - between
    unexplained = np.where(varies, within, 1.0) / np.where(varies, total, 1.0)
    return np.clip(1 - unexplained * (n_rows - 1) / (n_rows - n_clusters), 0.0, 1.0)
