"""Margins between the nearest two seed groups of every row, from the longest steps of the best paths."""

from __future__ import annotations

import numpy as np


def smallest_longest_steps(distances: np.ndarray) -> np.ndarray:
    """Return the longest step of the best path between all rows."""
    way = distances.copy()
    for stop in range(len(way)):
        way = np.minimum(way, np.maximum(way[:, [stop]], way[[stop], :]))
    np.fill_diagonal(way, 0.0)
    return way


def margins(distances: np.ndarray, seeds: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return how much nearer every row is to the seeds of its own group than to those of any other."""
    way = smallest_longest_steps(distances)
    groups = np.unique(seeds[seeds >= 0])
    found = np.ones(len(seeds))
    for row in np.flatnonzero(seeds < 0):
        to = {group: way[row, seeds == group].min() for group in groups}
        if len(to) > 1:
            own = to.pop(labels[row])
            other = min(to.values())
            found[row] = max(0.0, other - own) / (other + own) if other + own > 0 else 0.0
    return found
