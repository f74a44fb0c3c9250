"""From a clustered sample to clusters of all rows that have the minimum size."""

from __future__ import annotations

import numpy as np

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.sizes._balanced._balanced_kernels import fill_quotas

__all__ = ["populate_nearest", "populate_stable", "release_rows"]


def release_rows(squares: Array, weight: Floats, lowest: Floats, labels: Ints) -> Ints:
    """Release sampled rows until the others suffice for all quotas, the farthest first; return the new labels.

    `labels` has -1 for rows outside of the sample. No cluster falls below its minimum.
    """
    labels = labels.copy()
    sampled = np.flatnonzero(labels >= 0)
    sizes = np.bincount(labels[sampled], weight[sampled], len(lowest))
    missing = np.maximum(lowest - sizes, 0.0).sum() - weight[labels < 0].sum()
    if missing <= 0:
        return labels
    own = squares[sampled, labels[sampled]]
    for row in sampled[np.argsort(-own, kind="stable")].tolist():
        cluster = labels[row]
        if sizes[cluster] - weight[row] >= lowest[cluster]:
            sizes[cluster] -= weight[row]
            missing -= weight[row]
            labels[row] = -1
        if missing <= 0:
            break
    return labels


def populate_stable(squares: Array, weight: Floats, lowest: Floats, labels: Ints) -> Ints:
    """Fill clusters up to their minimum by a stable assignment of the rows without a label; the rest goes nearest.

    Stable means: if a row would be nearer to another cluster, that cluster has its quota of rows that are nearer still.
    """
    labels = labels.copy()
    sizes = np.bincount(labels[labels >= 0], weight[labels >= 0], len(lowest))
    short = np.flatnonzero(sizes < lowest)
    free = np.flatnonzero(labels < 0)
    if short.size and free.size:
        order = _nearest_first(squares, free, short)
        fill_quotas(order, squares, short, (lowest - sizes)[short], weight, labels)
    return populate_nearest(squares, labels)


def populate_nearest(squares: Array, labels: Ints) -> Ints:
    """Give every row without a label to its nearest cluster."""
    free = labels < 0
    return np.where(free, squares.argmin(axis=1), labels)


def _nearest_first(squares: Array, rows: Indices, clusters: Indices) -> Indices:
    """Return the rows for each cluster, the nearest first."""
    return np.stack([rows[np.argsort(squares[rows, cluster], kind="stable")] for cluster in clusters])
