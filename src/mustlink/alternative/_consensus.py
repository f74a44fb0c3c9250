"""The third phase of conditional ensembles: the median partition of several clusterings, by k-means on their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from mustlink._types import Array, Floats, Ints

__all__ = ["Consensus", "combine", "indicators", "nearest"]

# Runs of the k-means, which is small.
N_RUNS = 10


@dataclass(frozen=True)
class Consensus:
    """Labels of the rows, the centers of the clusters in the columns of indicators, and the share explained."""

    labels: Ints
    centers: Floats
    agreement: float


def indicators(parts: list[Array], sizes: list[int]) -> Floats:
    """Return labels of clusterings, or their responsibilities, side by side; a label of -1 is in no column."""
    columns = []
    for part, size in zip(parts, sizes, strict=True):
        if part.ndim == 2:
            columns.append(part.astype(np.float64))
        else:
            columns.append((part[:, None] == np.arange(size)).astype(np.float64))
    return np.concatenate(columns, axis=1)


def combine(table: Floats, n_clusters: int, seed: int) -> Consensus:
    """Cluster rows of indicators: the least squared error is the largest sum of category utilities.

    Equal rows are one row with a weight. Their number can be smaller than that of clusters.
    """
    distinct, place, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    n_found = min(n_clusters, len(distinct))
    model = KMeans(n_found, n_init=N_RUNS, random_state=seed)
    model.fit(distinct, sample_weight=counts.astype(np.float64))
    mean = counts @ distinct / counts.sum()
    total = float(counts @ np.square(distinct - mean).sum(axis=1))
    agreement = 1.0 - float(model.inertia_) / total if total > 0 else 1.0
    return Consensus(model.labels_.astype(np.int64)[place.ravel()], np.asarray(model.cluster_centers_), agreement)


def nearest(table: Floats, centers: Any) -> Ints:
    """Return the nearest center of each row of indicators."""
    squares = np.square(centers).sum(axis=1) - 2.0 * table @ centers.T
    return np.asarray(squares.argmin(axis=1), dtype=np.int64)
