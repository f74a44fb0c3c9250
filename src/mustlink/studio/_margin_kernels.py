"""Compiled margins between the nearest two seed groups of every row, along a minimum spanning tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def keep_nearest_two(best: Any, owner: Any, node: Any, distance: Any, group: Any) -> None:
    """Keep a group among the nearest two of a node, if it is one of them."""
    if group == owner[node, 0]:
        best[node, 0] = min(best[node, 0], distance)
    elif distance < best[node, 0]:
        best[node, 1], owner[node, 1] = best[node, 0], owner[node, 0]
        best[node, 0], owner[node, 0] = distance, group
    elif group == owner[node, 1]:
        best[node, 1] = min(best[node, 1], distance)
    elif distance < best[node, 1]:
        best[node, 1], owner[node, 1] = distance, group


@jit
def bottleneck_margins(above: Any, step: Any, seed: Any, label: Any) -> Any:
    """Return how much nearer every row is to its own group than to the nearest other one, from 0 to 1.

    The distance to a group is the longest step on the path along the tree to one of its seeds; the margin is the
    difference of the two distances over their sum. The rows are in an order in which every one comes after its parent
    `above`, at the distance `step`; `seed` is the group of every seed, -1 for a free row, and `label` the group of
    every row. One pass up the tree and one down find the nearest two groups of every row.
    """
    n_rows = len(above)
    best, owner = np.full((n_rows, 2), np.inf), np.full((n_rows, 2), -1)
    for row in range(n_rows):
        if seed[row] >= 0:
            best[row, 0], owner[row, 0] = 0.0, seed[row]
    for row in range(n_rows - 1, 0, -1):
        for rank in range(2):
            if owner[row, rank] >= 0:
                keep_nearest_two(best, owner, above[row], max(best[row, rank], step[row]), owner[row, rank])
    for row in range(1, n_rows):
        parent = above[row]
        for rank in range(2):
            if owner[parent, rank] >= 0:
                keep_nearest_two(best, owner, row, max(best[parent, rank], step[row]), owner[parent, rank])
    margins = np.zeros(n_rows)
    for row in range(n_rows):
        if seed[row] >= 0 or owner[row, 1] < 0:
            margins[row] = 1.0
        elif owner[row, 0] == label[row] and best[row, 0] + best[row, 1] > 0:
            margins[row] = (best[row, 1] - best[row, 0]) / (best[row, 0] + best[row, 1])
    return margins
