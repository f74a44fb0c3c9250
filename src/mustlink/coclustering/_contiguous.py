"""The best labels of which every cluster is contiguous in an order, by dynamic programming."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Ints
from mustlink.base import check_fits
from mustlink.coclustering._contiguous_kernels import best_runs

__all__ = ["contiguous_labels"]

# The most entries of the table of decisions, of a byte each.
MAX_DECISIONS = 500_000_000


def contiguous_labels(weights: Floats, position: Ints, *, circular: bool) -> Ints:
    """Return the labels with the largest sum of weights such that every cluster is a run of positions.

    `weights` has the coefficient of every element (rows) in every cluster (columns). Elements at one position share a
    label. In a circle the last position is followed by the first. A cluster may be empty.
    """
    n_positions, n_clusters = int(position.max()) + 1, weights.shape[1]
    # In a circle, the cluster of the first position may return at the end, as one cluster more.
    n_states = n_clusters + int(circular)
    check_fits(
        f"Contiguous labels with {n_clusters} clusters",
        (n_positions, 2**n_states * n_states),
        MAX_DECISIONS,
        "reduce n_clusters",
        itemsize=1,
    )
    at_position = np.zeros((n_positions, n_clusters))
    np.add.at(at_position, position, weights)
    if not circular:
        return np.asarray(best_runs(at_position, -1)[0])[position]
    best_labels, best_sum = np.zeros(n_positions, dtype=np.int64), -np.inf
    for first in range(n_clusters):
        labels, total = best_runs(np.column_stack([at_position, at_position[:, first]]), first)
        if total > best_sum:
            best_labels, best_sum = np.where(labels == n_clusters, first, labels), total
    return best_labels[position]
