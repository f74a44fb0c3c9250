"""Compiled steps of balanced clustering: filling quotas, moves of single rows, the best move between two clusters."""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit
from mustlink._types import Array, Floats, Indices, Ints, Mask


@jit
def fill_quotas(
    order: Indices, squares: Array, clusters: Indices, quotas: Floats, weight: Floats, labels: Ints
) -> None:
    """Give rows to clusters, the nearest pair first, until every cluster has its quota.

    `order` lists the rows for each of the clusters, the nearest first; rows with a label are taken. The result is the
    stable assignment of rows and clusters that both prefer near partners.
    """
    n_clusters, n_rows = order.shape
    place = np.zeros(n_clusters, dtype=np.intp)
    filled = np.zeros(n_clusters)
    while True:
        best, least = -1, np.inf
        for c in range(n_clusters):
            if filled[c] >= quotas[c]:
                continue
            while place[c] < n_rows and labels[order[c, place[c]]] >= 0:
                place[c] += 1
            if place[c] < n_rows:
                square = squares[order[c, place[c]], clusters[c]]
                if square < least:
                    best, least = c, square
        if best < 0:
            return
        row = order[best, place[best]]
        labels[row] = clusters[best]
        filled[best] += weight[row]


@jit
def move_single_rows(
    squares: Array, weight: Floats, lowest: Floats, labels: Ints, sizes: Floats, min_gain: float
) -> int:
    """Move rows to their nearest clusters while the clusters they leave stay large enough; return how many moved."""
    n_moved = 0
    has_moved = True
    while has_moved:
        has_moved = False
        for row in range(len(labels)):
            own = labels[row]
            if sizes[own] - weight[row] < lowest[own]:
                continue
            nearest = int(np.argmin(squares[row]))
            if squares[row, own] - squares[row, nearest] > min_gain:
                labels[row] = nearest
                sizes[own] -= weight[row]
                sizes[nearest] += weight[row]
                n_moved += 1
                has_moved = True
    return n_moved


@jit
def find_best_moves(
    squares: Array, weight: Floats, labels: Ints, is_due: Mask, min_gain: float, gain: Floats, mover: Ints
) -> None:
    """Find for each due cluster, and every other, the row that gains most by moving there; 0 and -1 if none gains."""
    for c in range(len(is_due)):
        if is_due[c]:
            gain[c] = 0.0
            mover[c] = -1
    for row in range(len(labels)):
        own = labels[row]
        if is_due[own]:
            for c in range(len(is_due)):
                nearer = float(squares[row, own]) - float(squares[row, c])
                if nearer > min_gain and weight[row] * nearer > gain[own, c]:
                    gain[own, c] = weight[row] * nearer
                    mover[own, c] = row
