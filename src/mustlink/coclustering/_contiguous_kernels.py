"""Compiled dynamic programming over (position, set of clusters used, current cluster)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def best_runs(weights: Any, first: Any) -> Any:
    """Return the labels of positions, each a single run, with the largest sum of weights, and the sum.

    If `first` is a cluster, it is that of the first position, and no other follows the last cluster, which stands for
    its return in a circle.
    """
    n_positions, n_clusters = weights.shape
    n_sets = 1 << n_clusters
    total = np.full((n_sets, n_clusters), -np.inf)
    stays = np.zeros((n_positions, n_sets, n_clusters), dtype=np.bool_)
    leaves = np.zeros((n_positions, n_sets), dtype=np.int8)
    for cluster in range(n_clusters):
        if first < 0 or cluster == first:
            total[1 << cluster, cluster] = weights[0, cluster]
    left = np.empty(n_sets)
    for position in range(1, n_positions):
        for used in range(n_sets):
            left[used] = -np.inf
            for cluster in range(n_clusters - (first >= 0)):
                if total[used, cluster] > left[used]:
                    left[used], leaves[position, used] = total[used, cluster], cluster
        for used in range(n_sets):
            for cluster in range(n_clusters):
                if (used >> cluster) & 1:
                    stay, enter = total[used, cluster], left[used ^ (1 << cluster)]
                    stays[position, used, cluster] = stay >= enter
                    total[used, cluster] = max(stay, enter) + weights[position, cluster]
    best, used, cluster = -np.inf, 0, 0
    for set_used in range(n_sets):
        for last in range(n_clusters):
            if total[set_used, last] > best:
                best, used, cluster = total[set_used, last], set_used, last
    labels = np.empty(n_positions, dtype=np.int64)
    for position in range(n_positions - 1, 0, -1):
        labels[position] = cluster
        if not stays[position, used, cluster]:
            used ^= 1 << cluster
            cluster = leaves[position, used]
    labels[0] = cluster
    return labels, best
