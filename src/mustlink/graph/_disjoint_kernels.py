"""Compiled steps that turn overlapping connected clusters into disjoint ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def flood(start: int, label: int, indptr: Any, indices: Any, is_member: Any, labels: Any, queue: Any) -> int:
    """Give the unassigned members that are connected with a row through such members a label; return their number."""
    labels[start] = label
    queue[0] = start
    size, at = 1, 0
    while at < size:
        row = queue[at]
        at += 1
        for e in range(indptr[row], indptr[row + 1]):
            other = indices[e]
            if is_member[other] and labels[other] == -1:
                labels[other] = label
                queue[size] = other
                size += 1
    return size


@jit
def cheapest_neighbor(piece: Any, indptr: Any, indices: Any, distances: Any, labels: Any, largest: Any) -> int:
    """Return the cluster adjacent to a piece whose center is the least far from the farthest row of the piece.

    `largest` (n_clusters,) is room that is all -1 before and after.
    """
    best, least = -1, np.inf
    for place in range(len(piece)):
        for e in range(indptr[piece[place]], indptr[piece[place] + 1]):
            c = labels[indices[e]]
            if c < 0 or largest[c] >= 0.0:
                continue
            largest[c] = 0.0
            for row in piece:
                largest[c] = max(largest[c], distances[c, row])
            if largest[c] < least or (largest[c] == least and c < best):
                best, least = c, largest[c]
    largest[:] = -1.0
    return best


@jit
def make_disjoint(
    indptr: Any, indices: Any, distances: Any, reach: Any, centers: Any, order: Any, radius: float, labels: Any
) -> float:
    """Assign the rows that each center reaches within the radius, center by center; return the largest distance.

    A center takes what it still reaches through unassigned rows. Every piece of its rows that is left goes to the
    adjacent cluster whose center is nearest to the farthest row of the piece. `labels` is overwritten.
    """
    n_rows = len(labels)
    queue = np.empty(n_rows, np.int64)
    largest = np.full(len(centers), -1.0)
    is_member = np.empty(n_rows, np.bool_)
    labels[:] = -1
    for c in order:
        for row in range(n_rows):
            is_member[row] = reach[c, row] <= radius
        if labels[centers[c]] == -1:
            flood(centers[c], c, indptr, indices, is_member, labels, queue)
        for row in range(n_rows):
            if is_member[row] and labels[row] == -1:
                # -2 marks the piece, until its cluster is known.
                size = flood(row, -2, indptr, indices, is_member, labels, queue)
                chosen = cheapest_neighbor(queue[:size], indptr, indices, distances, labels, largest)
                for place in range(size):
                    labels[queue[place]] = chosen
    found = 0.0
    for row in range(n_rows):
        found = max(found, distances[labels[row], row])
    return found
