"""Compiled moves of single rows and swaps of two rows between clusters, with the centers following at once.

The arrays `labels`, `sums`, `mass` and `sizes` are written; everything else is read. `sums` and `mass` are the weighted
sums of the rows of each cluster and their weight, `sizes` what the bounds are about.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def distance_to_mean(x: Any, total: Any, mass: float) -> float:
    """Return the squared distance of a row to the mean of a cluster."""
    square = 0.0
    for f in range(len(x)):
        apart = x[f] - total[f] / mass
        square += apart * apart
    return square


@jit
def shift_row(x: Any, w: float, size: float, old: int, new: int, sums: Any, mass: Any, sizes: Any) -> None:
    """Take a row out of one cluster and put it into another."""
    for f in range(len(x)):
        sums[old, f] -= w * x[f]
        sums[new, f] += w * x[f]
    mass[old] -= w
    mass[new] += w
    sizes[old] -= size
    sizes[new] += size


@jit
def gain_of_leaving(x: Any, w: float, total: Any, mass: float) -> float:
    """Return how far the inertia falls if a row leaves its cluster, which has other rows, and the center follows."""
    return w * mass / (mass - w) * distance_to_mean(x, total, mass)


@jit
def cost_of_entering(x: Any, w: float, total: Any, mass: float) -> float:
    """Return how far the inertia rises if a row enters a cluster and the center follows."""
    return 0.0 if mass <= 0.0 else w * mass / (mass + w) * distance_to_mean(x, total, mass)


@jit
def move_rows(
    X: Any,
    weight: Any,
    size: Any,
    labels: Any,
    sums: Any,
    mass: Any,
    sizes: Any,
    lowest: Any,
    highest: Any,
    min_gain: float,
) -> float:
    """Move every row to the cluster that lowers the inertia most, if the bounds allow it; return how far it fell."""
    fallen = 0.0
    for i in range(len(labels)):
        old = labels[i]
        # The last row of a cluster gains nothing.
        if sizes[old] - size[i] < lowest[old] or mass[old] - weight[i] <= 1e-9 * mass[old]:
            continue
        gain = gain_of_leaving(X[i], weight[i], sums[old], mass[old])
        best, least = old, gain - min_gain
        for new in range(len(mass)):
            if new != old and sizes[new] + size[i] <= highest[new]:
                cost = cost_of_entering(X[i], weight[i], sums[new], mass[new])
                if cost < least:
                    best, least = new, cost
        if best != old:
            shift_row(X[i], weight[i], size[i], old, best, sums, mass, sizes)
            labels[i] = best
            fallen += gain - least
    return fallen


@jit
def swap_rows(
    X: Any,
    weight: Any,
    size: Any,
    pairs: Any,
    labels: Any,
    sums: Any,
    mass: Any,
    sizes: Any,
    lowest: Any,
    highest: Any,
    min_gain: float,
) -> float:
    """Swap the clusters of pairs of rows where this lowers the inertia and keeps the bounds; return how far it fell."""
    fallen = 0.0
    without = np.empty(X.shape[1])
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = labels[i], labels[j]
        if a == b or mass[a] <= weight[i] or mass[b] <= weight[j]:
            continue
        change = size[j] - size[i]
        if sizes[a] + change < lowest[a] or sizes[a] + change > highest[a]:
            continue
        if sizes[b] - change < lowest[b] or sizes[b] - change > highest[b]:
            continue
        # One after the other: each row enters the cluster that the other has left.
        gain = 0.0
        for one, other, own in ((i, j, a), (j, i, b)):
            for f in range(X.shape[1]):
                without[f] = sums[own, f] - weight[one] * X[one, f]
            left = mass[own] - weight[one]
            gain += gain_of_leaving(X[one], weight[one], sums[own], mass[own])
            gain -= cost_of_entering(X[other], weight[other], without, left)
        if gain > min_gain:
            shift_row(X[i], weight[i], size[i], a, b, sums, mass, sizes)
            shift_row(X[j], weight[j], size[j], b, a, sums, mass, sizes)
            labels[i], labels[j] = b, a
            fallen += gain
    return fallen
