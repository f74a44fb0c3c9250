"""Moves that lower the cost and keep the minimum sizes: of single rows, and of one row per cluster around a cycle."""

from __future__ import annotations

import numpy as np

from mustlink._types import Array, Floats, Ints
from mustlink.sizes._balanced._balanced_kernels import find_best_moves, move_single_rows

__all__ = ["find_cycle", "refine_by_moves"]

# Relative to the mean squared distance, what is no gain but rounding.
ROUNDING = 1e-12


def refine_by_moves(squares: Array, weight: Floats, lowest: Floats, labels: Ints) -> Ints:
    """Move rows until no single move is allowed and the graph of improvements has no cycle; return the new labels.

    Every move lowers the sum of weighted squared distances, and none takes a cluster below its minimum.
    """
    labels = labels.copy()
    sizes = np.bincount(labels, weight, len(lowest)).astype(np.float64)
    min_gain = ROUNDING * float(squares.mean(dtype=np.float64))
    while True:
        n_moved = move_single_rows(squares, weight, lowest, labels, sizes, min_gain)
        n_moved += _move_around_cycles(squares, weight, lowest, labels, sizes, min_gain)
        if not n_moved:
            return labels


def _move_around_cycles(
    squares: Array, weight: Floats, lowest: Floats, labels: Ints, sizes: Floats, min_gain: float
) -> int:
    """Execute cycles of the improvement graph until there are none; return how many rows moved."""
    k = len(lowest)
    gain, mover = np.zeros((k, k)), np.full((k, k), -1)
    is_due = np.ones(k, dtype=bool)
    n_moved = 0
    while True:
        if is_due.any():
            find_best_moves(squares, weight, labels, is_due, min_gain, gain, mover)
            is_due[:] = False
        cycle = find_cycle(gain)
        if not cycle:
            return n_moved
        after = np.roll(cycle, -1)
        rows = mover[cycle, after]
        # With equal weights sizes stay; otherwise a cluster may give more than it gets.
        change = weight[np.roll(rows, 1)] - weight[rows]
        is_short = (sizes[cycle] + change < lowest[cycle]) & (change < 0)
        if is_short.any():
            place = int(np.argmax(is_short))
            gain[cycle[place], after[place]] = 0.0
            continue
        labels[rows] = after
        sizes[cycle] += change
        is_due[cycle] = True
        n_moved += len(cycle)


def find_cycle(gain: Floats) -> list[int]:
    """Return the clusters of a cycle of positive gains in order, nothing if there is none."""
    k = len(gain)
    following = [np.flatnonzero(row > 0).tolist() for row in gain]
    state = [0] * k  # 0 is new, 1 on the path, 2 done
    for root in range(k):
        if state[root]:
            continue
        path, branches = [root], [iter(following[root])]
        state[root] = 1
        while path:
            other = next(branches[-1], None)
            if other is None:
                state[path.pop()] = 2
                branches.pop()
            elif state[other] == 1:
                return path[path.index(other) :]
            elif state[other] == 0:
                state[other] = 1
                path.append(other)
                branches.append(iter(following[other]))
    return []
