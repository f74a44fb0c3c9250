"""Compiled pass that groups rows into micro-clusters of bounded radius."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def squared_distance(X: Any, a: int, b: int) -> float:
    """Return the squared distance of two rows."""
    total = 0.0
    for f in range(X.shape[1]):
        gap = np.float64(X[a, f]) - np.float64(X[b, f])
        total += gap * gap
    return total


@jit
def lead(X: Any, radius: float, coarse_radius: float, leader_of: Any) -> int:
    """Give every row the nearest leader within the radius, or make it a leader; return the number of leaders.

    Leaders are grouped in the same way within a larger radius, and a row is compared with the leaders of the nearest
    such group only, as in a tree of two levels. `leader_of` receives the number of each row's leader.
    """
    n_rows = len(X)
    leaders = np.empty(n_rows, np.int64)  # the row of each leader
    following = np.empty(n_rows, np.int64)  # the next leader of the same group, -1 at the end
    groups = np.empty(n_rows, np.int64)  # the row that leads each group
    first = np.empty(n_rows, np.int64)  # the first leader of each group
    n_leaders, n_groups = 0, 0
    for row in range(n_rows):
        group, least = -1, np.inf
        for g in range(n_groups):
            distance = squared_distance(X, row, groups[g])
            if distance < least:
                group, least = g, distance
        if group < 0 or least > coarse_radius * coarse_radius:
            group, n_groups = n_groups, n_groups + 1
            groups[group], first[group] = row, -1
        nearest, least = -1, np.inf
        leader = first[group]
        while leader >= 0:
            distance = squared_distance(X, row, leaders[leader])
            if distance < least:
                nearest, least = leader, distance
            leader = following[leader]
        if nearest < 0 or least > radius * radius:
            nearest, n_leaders = n_leaders, n_leaders + 1
            leaders[nearest], following[nearest], first[group] = row, first[group], nearest
        leader_of[row] = nearest
    return n_leaders
