"""Compiled agglomeration: the closest allowed pair is joined again and again.

The distances are condensed as by ``scipy.spatial.distance.pdist``: the pairs (i, j), i < j, row by row. The distance of
a pair that must not be joined, or of one with a slot that no longer exists, is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.hierarchy._coloring_kernels import add_edge, can_share, join_rings, linked_lists

SINGLE, COMPLETE, AVERAGE, WARD, SUM = 0, 1, 2, 3, 4

# Steps of all searches for a coloring together; less than a second.
BUDGET = 200_000_000


@jit
def row_starts(n_slots: Any) -> Any:
    """Return s such that the pair (i, j), i < j, is at s[i] + j."""
    i = np.arange(n_slots)
    return i * n_slots - i * (i + 1) // 2 - i - 1


@jit
def distance_to_joined(linkage: Any, to_a: Any, to_b: Any, between: Any, size_a: Any, size_b: Any, size: Any) -> Any:
    """Return the distance of a cluster to the union of a and b (Lance and Williams); squared ones for Ward."""
    if to_a == np.inf or to_b == np.inf:
        return np.inf
    if linkage == SINGLE:
        return min(to_a, to_b)
    if linkage == COMPLETE:
        return max(to_a, to_b)
    if linkage == AVERAGE:
        return (size_a * to_a + size_b * to_b) / (size_a + size_b)
    if linkage == SUM:
        return to_a + to_b
    total = size_a + size_b + size
    # Distances that are not Euclidean, and pairs joined early by a must-link, may make it negative.
    return max(0.0, ((size_a + size) * to_a + (size_b + size) * to_b - size * between) / total)


@jit
def join(D: Any, start: Any, size: Any, nearest: Any, distance: Any, a: Any, b: Any, linkage: Any) -> Any:
    """Join slot a with slot b > a; the union is slot b.

    `distance[i]` is a lower bound on the distance of i to the slots after it, and the distance to `nearest[i]` unless
    that one has grown since. As the union is no nearer to another slot than the nearer of the two was, the bound
    remains valid where only `nearest` changes from a to b.
    """
    n_slots = len(size)
    between, size_a, size_b = D[start[a] + b], size[a], size[b]
    for k in range(a):
        at_a, at_b = start[k] + a, start[k] + b
        new = distance_to_joined(linkage, D[at_a], D[at_b], between, size_a, size_b, size[k])
        D[at_a] = np.inf
        D[at_b] = new
        if nearest[k] == a:
            nearest[k] = b
        if new < distance[k]:
            distance[k], nearest[k] = new, b
    for k in range(a + 1, b):
        at_a, at_b = start[a] + k, start[k] + b
        new = distance_to_joined(linkage, D[at_a], D[at_b], between, size_a, size_b, size[k])
        D[at_a] = np.inf
        D[at_b] = new
        if new < distance[k]:
            distance[k], nearest[k] = new, b
    best, best_at = np.inf, b
    for k in range(b + 1, n_slots):
        at_a, at_b = start[a] + k, start[b] + k
        new = distance_to_joined(linkage, D[at_a], D[at_b], between, size_a, size_b, size[k])
        D[at_a] = np.inf
        D[at_b] = new
        if new < best:
            best, best_at = new, k
    distance[b], nearest[b] = best, best_at
    D[start[a] + b] = np.inf
    distance[a] = np.inf
    size[b] += size_a
    size[a] = 0.0


@jit
def find_nearest(D: Any, start: Any, i: Any, n_slots: Any) -> Any:
    """Return the nearest slot after i, the first of several, and its distance."""
    best, best_at = np.inf, i
    for at in range(start[i] + i + 1, start[i] + n_slots):
        if D[at] < best:
            best, best_at = D[at], at - start[i]
    return best_at, best


@jit
def compact_slots(D: Any, start: Any, size: Any, nearest: Any, distance: Any, slots: Any) -> Any:
    """Move the remaining slots to the front, in place, and return their number.

    A pair never moves towards the end, hence nothing is overwritten before it is read.
    """
    left = np.flatnonzero(size > 0)
    place = np.full(len(size), -1)
    for new, old in enumerate(left):
        place[old] = new
    fresh = row_starts(len(left))
    for i, old_i in enumerate(left):
        for j in range(i + 1, len(left)):
            D[fresh[i] + j] = D[start[old_i] + left[j]]
        size[i], distance[i], slots[i] = size[old_i], distance[old_i], slots[old_i]
        nearest[i] = max(i, place[nearest[old_i]])
    return len(left)


@jit
def join_components(D: Any, size: Any, slots: Any, component: Any, linkage: Any) -> Any:
    """Join the rows of each component; return the pairs of rows joined."""
    n_rows = len(component)
    start = row_starts(n_rows)
    nearest, distance = np.zeros(n_rows, dtype=np.int64), np.full(n_rows, np.inf)
    last = np.full(n_rows, -1)
    joined = np.empty((n_rows, 2), dtype=np.int64)
    n_joined = 0
    for row in range(n_rows):
        before = last[component[row]]
        last[component[row]] = row
        if before >= 0:
            join(D, start, size, nearest, distance, before, row, linkage)
            joined[n_joined, 0], joined[n_joined, 1] = before, row
            n_joined += 1
    if n_joined:
        compact_slots(D, start, size, nearest, distance, slots)
    return joined[:n_joined]


@jit
def shorten_paths(D: Any, n_slots: Any, through: Any) -> Any:
    """Replace every distance by the shortest path whose inner stops are slots of `through` (Floyd and Warshall)."""
    start = row_starts(n_slots)
    leg = np.empty(n_slots)
    for stop in through:
        for i in range(n_slots):
            leg[i] = 0.0 if i == stop else D[start[min(i, stop)] + max(i, stop)]
        for i in range(n_slots - 1):
            row = D[start[i] + i + 1 : start[i] + n_slots]
            for j in range(len(row)):
                row[j] = min(row[j], leg[i] + leg[i + 1 + j])


@jit
def forbid_pairs(D: Any, n_slots: Any, pairs: Any) -> Any:
    """Set the distances of some pairs of slots to infinity."""
    start = row_starts(n_slots)
    for a, b in pairs:
        D[start[min(a, b)] + max(a, b)] = np.inf


@jit
def mean_distances(D: Any, labels: Any, n_clusters: Any) -> Any:
    """Return the mean distance between the rows of every two clusters, condensed like `D`."""
    n_rows = len(labels)
    start, between = row_starts(n_rows), row_starts(n_clusters)
    size = np.zeros(n_clusters)
    total = np.zeros(n_clusters * (n_clusters - 1) // 2)
    for i in range(n_rows):
        size[labels[i]] += 1
        for j in range(i + 1, n_rows):
            one, other = min(labels[i], labels[j]), max(labels[i], labels[j])
            if one != other:
                total[between[one] + other] += D[start[i] + j]
    for one in range(n_clusters):
        for other in range(one + 1, n_clusters):
            total[between[one] + other] /= size[one] * size[other]
    return total


@jit
def agglomerate(
    D: Any,
    size: Any,
    linkage: Any,
    max_size: Any,
    n_clusters: Any,
    ring_of: Any,
    color: Any,
    ring: Any,
    indptr: Any,
    indices: Any,
) -> Any:
    """Join the closest allowed pair until none is left.

    No union has more than `max_size` rows: as unions only grow, a pair that is too large stays forbidden.
    While there are more than `n_clusters` clusters, pairs are skipped for which no coloring is found that gives them
    the same color; with 0 none is skipped. `ring_of` is a slot's node in the cannot-link graph, or -1.

    Returns the pairs of slots joined, by their initial numbers, of which the union keeps the second, and their
    distances.
    """
    n_slots = len(size)
    alive = n_slots
    slots, start = np.arange(n_slots), row_starts(n_slots)
    nearest, distance = np.zeros(n_slots, dtype=np.int64), np.full(n_slots, np.inf)
    for i in range(n_slots):
        nearest[i], distance[i] = find_nearest(D, start, i, n_slots)
    joined, height = np.empty((n_slots, 2), dtype=np.int64), np.empty(n_slots)
    head, after, to = linked_lists(indptr, indices)
    n_joined, n_edges, budget = 0, len(to), np.array([BUDGET])
    while alive > 1:
        a = np.argmin(distance[:n_slots])
        closest, b = distance[a], nearest[a]
        if closest == np.inf:
            break
        if D[start[a] + b] != closest:
            nearest[a], distance[a] = find_nearest(D, start, a, n_slots)
            continue
        if size[a] + size[b] > max_size:
            D[start[a] + b] = np.inf
            continue
        one, other = ring_of[slots[a]], ring_of[slots[b]]
        is_checked = 0 < n_clusters < alive and one >= 0 and other >= 0
        if is_checked and not can_share(one, other, n_clusters, color, ring, head, after, to, budget):
            # An edge of the graph from now on: clusters of one color are never forbidden to join.
            after, to = add_edge(one, other, n_edges, head, after, to)
            n_edges += 2
            D[start[a] + b] = np.inf
            continue
        join(D, start, size[:n_slots], nearest, distance, a, b, linkage)
        ring_of[slots[b]] = join_rings(one, other, ring)
        joined[n_joined, 0], joined[n_joined, 1] = slots[a], slots[b]
        height[n_joined] = closest
        n_joined += 1
        alive -= 1
        # With a quarter of the slots gone, the faster search is worth the move.
        if 4 * alive < 3 * n_slots:
            n_slots = compact_slots(D, start, size[:n_slots], nearest, distance, slots)
            start = row_starts(n_slots)
    return joined[:n_joined], height[:n_joined]
