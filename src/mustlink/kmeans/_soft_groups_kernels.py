"""The compiled sweep over groups of rows with cannot-links between all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# A bound on the sweeps over the rows of a group; far more than are made, since every move lowers the objective.
MAX_SWEEPS = 10_000

# Minimum gain of a move relative to the terms compared: ties cannot cycle by rounding.
MIN_GAIN = 1e-13


@jit
def sweep_groups_apart(costs: Any, bounds: Any, penalty: Any, order: Any, labels: Any) -> None:
    """Give each row in turn the cluster of least cost and penalty, until no row of its group moves.

    The rows of group g are `bounds[g]:bounds[g + 1]`, and `order` lists them in the order of visits; every two of them
    in one cluster cost `penalty[g]`. `labels` is written, and -1 marks a row without a label yet. This is
    :func:`mustlink.inference.iterated_conditional_modes` with the links counted instead of listed.
    """
    n_clusters = costs.shape[1]
    n_inside = np.empty(n_clusters, dtype=np.int64)
    value = np.empty(n_clusters)
    for group in range(len(bounds) - 1):
        for c in range(n_clusters):
            n_inside[c] = 0
        for row in range(bounds[group], bounds[group + 1]):
            if labels[row] >= 0:
                n_inside[labels[row]] += 1
        for _ in range(MAX_SWEEPS):
            moved = False
            for q in range(bounds[group], bounds[group + 1]):
                row = order[q]
                old = labels[row]
                if old >= 0:
                    n_inside[old] -= 1
                best = 0
                for c in range(n_clusters):
                    value[c] = costs[row, c] + penalty[group] * n_inside[c]
                    if value[c] < value[best]:
                        best = c
                if old >= 0 and best != old:
                    size = max(abs(value[old]), abs(value[best]), abs(costs[row, old]), abs(costs[row, best]))
                    if value[best] >= value[old] - MIN_GAIN * size:
                        best = old
                moved = moved or best != old
                labels[row] = best
                n_inside[best] += 1
            if not moved:
                break
