"""Compiled passes over bi-sets: distances to centroids, placement under cannot-links, and sums of members."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def add_distances(begin: Any, end: Any, members: Any, gain: Any, mass: Any, common: Any, distance: Any) -> None:
    """Add half the set distance of one side of a bi-set to every centroid.

    `gain` has for each element and cluster the coefficient, plus 1 if it is positive; `mass` the sums of coefficients.
    With I and U as in the source, this is (U - I) / U / 2. `common` is room for one number for each cluster.
    """
    n_clusters = mass.shape[0]
    common[:] = 0.0
    for at in range(begin, end):
        member = members[at]
        for cluster in range(n_clusters):
            common[cluster] += gain[member, cluster]
    for cluster in range(n_clusters):
        union = end - begin + mass[cluster]
        if union > 0:
            distance[cluster] += 0.5 * (1.0 - common[cluster] / union)


@jit
def nearest_legal(distance: Any, ends: Any, taken: Any) -> Any:
    """Return the nearest cluster in which no other end of a cannot-link is taken, the first of equal ones; -1 if none.

    The ends 2 i and 2 i + 1 are those of one cannot-link.
    """
    best = -1
    for cluster in range(distance.shape[0]):
        if best >= 0 and not distance[cluster] < distance[best]:
            continue
        is_legal = True
        for end in ends:
            if taken[cluster, end ^ 1]:
                is_legal = False
                break
        if is_legal:
            best = cluster
    return best


@jit
def place_bisets(rows: Any, columns: Any, centroids: Any, order: Any, cannot: Any, before: Any, relax: Any) -> Any:
    """Place every bi-set, in an order, in the nearest cluster that breaks no cannot-link with those placed already.

    Returns the cluster of each, its distance, the sum of the distances to the clusters before, and how many have no
    cluster without a broken link; these are in the nearest one if `relax`, and else the pass ends at the first.
    """
    row_gain, row_mass, column_gain, column_mass = centroids
    end_ptr, ends, n_ends = cannot
    n_bisets, n_clusters = rows[0].shape[0] - 1, row_mass.shape[0]
    label, nearness = np.full(n_bisets, -1), np.zeros(n_bisets)
    taken = np.zeros((n_clusters, n_ends), dtype=np.bool_)
    common, distance = np.empty(n_clusters), np.empty(n_clusters)
    cost_before, n_failed = 0.0, 0
    for biset in order:
        distance[:] = 0.0
        add_distances(rows[0][biset], rows[0][biset + 1], rows[1], row_gain, row_mass, common, distance)
        add_distances(columns[0][biset], columns[0][biset + 1], columns[1], column_gain, column_mass, common, distance)
        own = ends[end_ptr[biset] : end_ptr[biset + 1]]
        best = nearest_legal(distance, own, taken)
        if best < 0:
            n_failed += 1
            if not relax:
                break
            best = np.argmin(distance)
        for end in own:
            taken[best, end] = True
        label[biset], nearness[biset] = best, distance[best]
        if before[biset] >= 0:
            cost_before += distance[before[biset]]
    return label, nearness, cost_before, n_failed


@jit
def count_members(indptr: Any, members: Any, label: Any, n_clusters: Any, size: Any) -> Any:
    """Return for each element and cluster how many bi-sets of the cluster have the element."""
    counts = np.zeros((size, n_clusters))
    for biset in range(label.shape[0]):
        for at in range(indptr[biset], indptr[biset + 1]):
            counts[members[at], label[biset]] += 1.0
    return counts
