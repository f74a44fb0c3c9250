"""Seeded single linkage as published, and the longest steps of the best paths."""

from __future__ import annotations

import numpy as np


def multi_source_prim(distances: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Assign the free row nearest to an assigned row to that row's group, one row at a time."""
    labels = seeds.copy()
    best = np.full(len(seeds), np.inf)
    owner = np.full(len(seeds), -1)
    for assigned in np.flatnonzero(seeds >= 0):
        closer = distances[assigned] < best
        best[closer], owner[closer] = distances[assigned][closer], seeds[assigned]
    while (labels < 0).any():
        free = np.flatnonzero(labels < 0)
        row = free[np.argmin(best[free])]
        if best[row] == np.inf:
            break
        labels[row] = owner[row]
        closer = distances[row] < best
        best[closer], owner[closer] = distances[row][closer], labels[row]
    return labels


def longest_steps(distances: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Return for every row and group the longest step of the best path through free rows only."""
    n_groups = int(seeds.max()) + 1
    steps = np.full((len(seeds), n_groups), np.inf)
    for group in range(n_groups):
        inner = (seeds < 0) | (seeds == group)
        way = np.where(np.outer(inner, inner), distances, np.inf)
        for stop in np.flatnonzero(inner):
            way = np.minimum(way, np.maximum(way[:, [stop]], way[[stop], :]))
        steps[:, group] = way[:, seeds == group].min(axis=1)
        steps[seeds == group, group] = 0.0
    return steps
