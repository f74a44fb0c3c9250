"""Compiled growth of clusters along edges: by a priority queue, and by rounds with a radius that rises in steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def is_before(keys: Any, own: Any, one: int, other: int) -> bool:
    """Whether a row leaves the heap before another: by key, then by its distance, then by its number."""
    if keys[one] != keys[other]:
        return bool(keys[one] < keys[other])
    if own[one] != own[other]:
        return bool(own[one] < own[other])
    return one < other


@jit
def move_up(heap: Any, place: Any, at: int, keys: Any, own: Any) -> None:
    """Restore the order of the heap above an entry."""
    row = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if not is_before(keys, own, row, heap[above]):
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = row
    place[row] = at


@jit
def move_down(heap: Any, place: Any, size: int, keys: Any, own: Any) -> None:
    """Restore the order of the heap below its first entry."""
    at = 0
    row = heap[0]
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and is_before(keys, own, heap[below + 1], heap[below]):
            below += 1
        if not is_before(keys, own, heap[below], row):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = row
    place[row] = at


@jit
def grow(indptr: Any, indices: Any, distances: Any, seeds: Any, labels: Any, keys: Any) -> None:
    """Grow one cluster from each seed; the unassigned row that needs the smallest radius is next.

    `distances` (n_clusters, n_rows) are those from the centers. The key of a row is the least radius at which it is
    reached: the maximum of its distance and of the key of the row before it. `labels` and `keys` are overwritten; a
    row that no seed reaches keeps -1 and infinity.
    """
    n_rows = len(labels)
    own = np.full(n_rows, np.inf)
    is_done = np.zeros(n_rows, np.bool_)
    place = np.full(n_rows, -1, np.int64)
    heap = np.empty(n_rows, np.int64)
    size = 0
    labels[:] = -1
    keys[:] = np.inf
    for c in range(len(seeds)):
        labels[seeds[c]] = c
        keys[seeds[c]] = distances[c, seeds[c]]
        is_done[seeds[c]] = True
    n_started = 0
    while n_started < len(seeds) or size > 0:
        if n_started < len(seeds):
            row = seeds[n_started]
            n_started += 1
        else:
            row = heap[0]
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                move_down(heap, place, size, keys, own)
            is_done[row] = True
        c = labels[row]
        for e in range(indptr[row], indptr[row + 1]):
            other = indices[e]
            if is_done[other]:
                continue
            distance = distances[c, other]
            key = max(keys[row], distance)
            if key > keys[other] or (key == keys[other] and distance > own[other]):
                continue
            if key == keys[other] and distance == own[other] and c >= labels[other]:
                continue
            labels[other], keys[other], own[other] = c, key, distance
            if place[other] < 0:
                heap[size] = other
                place[other] = size
                size += 1
            move_up(heap, place, place[other], keys, own)


@jit
def look_ahead(
    row: int, indptr: Any, indices: Any, distances: Any, radius: float, labels: Any, radii: Any, cluster: int
) -> int:
    """Return the cluster of a row that `cluster` has reached; for a potential bridge it may be another one.

    A bridge is adjacent to several clusters whose centers are within the radius, and has unassigned neighbors. It goes
    to the nearest center, or, if it has unassigned neighbors without another edge, to the center nearest to the one,
    or to the cluster whose radius several of them raise least.
    """
    first, last = indptr[row], indptr[row + 1]
    n_open, n_single, single = 0, 0, -1
    for e in range(first, last):
        other = indices[e]
        if labels[other] < 0:
            n_open += 1
            if indptr[other + 1] - indptr[other] == 1:
                n_single += 1
                single = other
    if n_open == 0:
        return cluster
    best, least, nearest = cluster, np.inf, np.inf
    for e in range(first, last):
        c = labels[indices[e]]
        if c < 0 or distances[c, row] > radius:
            continue
        cost = distances[c, row]
        if n_single == 1:
            cost = distances[c, single]
        elif n_single > 1:
            largest = max(radii[c], distances[c, row])
            for s in range(first, last):
                other = indices[s]
                if labels[other] < 0 and indptr[other + 1] - indptr[other] == 1:
                    largest = max(largest, distances[c, other])
            cost = largest - radii[c]
        if cost < least or (
            cost == least and (distances[c, row] < nearest or (distances[c, row] == nearest and c < best))
        ):
            best, least, nearest = c, cost, distances[c, row]
    return best


@jit
def append_neighbors(
    row: int, cluster: int, indptr: Any, indices: Any, labels: Any, items: Any, following: Any, ends: Any, used: int
) -> int:
    """Append the unassigned neighbors of a row to the queue of a cluster; return the number of used entries."""
    for e in range(indptr[row], indptr[row + 1]):
        if labels[indices[e]] >= 0:
            continue
        items[used] = indices[e]
        following[used] = -1
        if ends[cluster, 1] < 0:
            ends[cluster, 0] = used
        else:
            following[ends[cluster, 1]] = used
        ends[cluster, 1] = used
        used += 1
    return used


@jit
def next_radius(
    radius: float, step: float, items: Any, following: Any, ends: Any, distances: Any, labels: Any
) -> float:
    """Return the next radius of the schedule at which a waiting row is assigned; infinity if none waits."""
    nearest = np.inf
    for c in range(len(ends)):
        entry = ends[c, 0]
        while entry >= 0:
            if labels[items[entry]] < 0:
                nearest = min(nearest, distances[c, items[entry]])
            entry = following[entry]
    if nearest == np.inf:
        return np.inf
    if step <= 0.0:
        return max(radius, nearest)
    raised = radius + step * max(1.0, np.ceil((nearest - radius) / step))
    return raised if raised >= nearest else raised + step


@jit
def grow_by_rounds(
    indptr: Any, indices: Any, distances: Any, seeds: Any, radius: float, step: float, orders: Any, labels: Any,
    thresholds: Any,
) -> None:  # fmt: skip
    """Grow clusters by rounds: in each, every cluster in turn takes the rows that it reaches within the radius.

    `orders` are orders of the clusters, one for each round, used again from the first after the last. Rounds in which
    no row would be assigned are left out. `labels` and `thresholds`, the radius at which a row was assigned, are
    overwritten.
    """
    n_clusters = len(seeds)
    # Queues as linked lists: an assigned row appends its neighbors to one queue, so that this many entries are enough.
    items, following = np.empty(len(indices), np.int64), np.empty(len(indices), np.int64)
    ends = np.full((n_clusters, 2), -1, np.int64)
    radii = np.zeros(n_clusters)
    used = 0
    labels[:] = -1
    thresholds[:] = np.inf
    for c in range(n_clusters):
        labels[seeds[c]] = c
        thresholds[seeds[c]] = radius
        radii[c] = distances[c, seeds[c]]
    for c in range(n_clusters):
        used = append_neighbors(seeds[c], c, indptr, indices, labels, items, following, ends, used)
    n_rounds = 0
    while radius < np.inf:
        for c in orders[n_rounds % len(orders)]:
            entry = ends[c, 0]
            first, last = -1, -1
            while entry >= 0:
                row = items[entry]
                if labels[row] < 0:
                    if distances[c, row] <= radius:
                        chosen = look_ahead(row, indptr, indices, distances, radius, labels, radii, c)
                        labels[row] = chosen
                        thresholds[row] = radius
                        radii[chosen] = max(radii[chosen], distances[chosen, row])
                        used = append_neighbors(row, chosen, indptr, indices, labels, items, following, ends, used)
                    else:
                        if last < 0:
                            first = entry
                        else:
                            following[last] = entry
                        last = entry
                entry = following[entry]
            if last >= 0:
                following[last] = -1
            ends[c, 0], ends[c, 1] = first, last
        n_rounds += 1
        radius = next_radius(radius, step, items, following, ends, distances, labels)
