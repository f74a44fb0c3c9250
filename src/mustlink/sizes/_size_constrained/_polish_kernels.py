"""Compiled moves of rows between clusters, alone, in swaps and in chains, with the centers following at once.

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
def change_of_exchange(
    X: Any, weight: Any, leaving: int, entering: int, total: Any, mass: float, without: Any
) -> float:
    """Return how far the inertia of a cluster rises if one row leaves it and another enters; `without` is written."""
    for f in range(X.shape[1]):
        without[f] = total[f] - weight[leaving] * X[leaving, f]
    gain = gain_of_leaving(X[leaving], weight[leaving], total, mass)
    return cost_of_entering(X[entering], weight[entering], without, mass - weight[leaving]) - gain


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
        gain = -change_of_exchange(X, weight, i, j, sums[a], mass[a], without)
        gain -= change_of_exchange(X, weight, j, i, sums[b], mass[b], without)
        if gain > min_gain:
            shift_row(X[i], weight[i], size[i], a, b, sums, mass, sizes)
            shift_row(X[j], weight[j], size[j], b, a, sums, mass, sizes)
            labels[i], labels[j] = b, a
            fallen += gain
    return fallen


@jit
def fill_exchanges(
    X: Any, weight: Any, own: int, leaving: Any, entering: Any, labels: Any, sums: Any, mass: Any, changes: Any
) -> None:
    """Write the changes of all exchanges of a row of a cluster for one that enters; infinity where there is no row."""
    without = np.empty(X.shape[1])
    for i in range(len(leaving)):
        for j in range(len(entering)):
            x, y = leaving[i], entering[j]
            changes[i, j] = np.inf
            if x >= 0 and y >= 0 and labels[x] == own and mass[own] > weight[x]:
                changes[i, j] = change_of_exchange(X, weight, x, y, sums[own], mass[own], without)


@jit
def is_within(size: float, cluster: int, lowest: Any, highest: Any) -> bool:
    """Return whether a cluster may have a size."""
    return lowest[cluster] <= size <= highest[cluster]


@jit
def best_chain(
    X: Any,
    weight: Any,
    size: Any,
    a: int,
    b: int,
    c: int,
    border: Any,
    labels: Any,
    sums: Any,
    mass: Any,
    sizes: Any,
    lowest: Any,
    highest: Any,
    exchanges: Any,
) -> tuple[float, int, int, int]:
    """Return the chain from a to b to c that lowers the inertia most: the change and the rows, the last -1 if open.

    An open chain ends in c; a closed one goes on to a. `exchanges` has room for the changes in a, b and c.
    """
    from_a, from_b, from_c = border[a, b], border[b, c], border[c, a]
    fill_exchanges(X, weight, b, from_b, from_a, labels, sums, mass, exchanges[1])
    fill_exchanges(X, weight, c, from_c, from_b, labels, sums, mass, exchanges[2])
    fill_exchanges(X, weight, a, from_a, from_c, labels, sums, mass, exchanges[0])
    best = (0.0, -1, -1, -1)
    for i in range(len(from_a)):
        x = from_a[i]
        if x < 0 or labels[x] != a or mass[a] - weight[x] <= 1e-9 * mass[a]:
            continue
        leaving = gain_of_leaving(X[x], weight[x], sums[a], mass[a])
        for j in range(len(from_b)):
            y = from_b[j]
            change = exchanges[1, j, i]
            if change == np.inf or not is_within(sizes[b] + size[x] - size[y], b, lowest, highest):
                continue
            if is_within(sizes[a] - size[x], a, lowest, highest) and is_within(sizes[c] + size[y], c, lowest, highest):
                opened = change - leaving + cost_of_entering(X[y], weight[y], sums[c], mass[c])
                if opened < best[0]:
                    best = (opened, x, y, -1)
            # A closed chain has three starts, of which one is enough.
            if a > b or a > c:
                continue
            for k in range(len(from_c)):
                closed = change + exchanges[2, k, j] + exchanges[0, i, k]
                if closed < best[0]:
                    z = from_c[k]
                    if is_within(sizes[a] + size[z] - size[x], a, lowest, highest) and is_within(
                        sizes[c] + size[y] - size[z], c, lowest, highest
                    ):
                        best = (closed, x, y, z)
    return best


@jit
def chain_rows(
    X: Any,
    weight: Any,
    size: Any,
    border: Any,
    neighbors: Any,
    labels: Any,
    sums: Any,
    mass: Any,
    sizes: Any,
    lowest: Any,
    highest: Any,
    min_gain: float,
) -> float:
    """Move rows along chains of three clusters where this lowers the inertia; return how far it fell.

    `border` has rows of each cluster for each other cluster, and `neighbors` the clusters that a chain goes on to; -1
    is none.
    """
    fallen = 0.0
    exchanges = np.empty((3, border.shape[2], border.shape[2]))
    for a in range(len(mass)):
        for b in neighbors[a]:
            for c in neighbors[b]:
                if b < 0 or c < 0 or c == a:
                    continue
                change, x, y, z = best_chain(
                    X, weight, size, a, b, c, border, labels, sums, mass, sizes, lowest, highest, exchanges
                )
                if change < -min_gain:
                    for row, old, new in ((x, a, b), (y, b, c), (z, c, a)):
                        if row >= 0:
                            shift_row(X[row], weight[row], size[row], old, new, sums, mass, sizes)
                            labels[row] = new
                    fallen -= change
    return fallen
