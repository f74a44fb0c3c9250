"""Compiled sweeps of the penalised final step.

`distance` (n_linked, n_clusters) holds squared distances to the centres, `labels` the cluster of each linked row, and
`indptr`, `neighbour`, `price`, `is_must` the links of each. A link that is together costs its price if it is a
cannot-link and earns it if it is a must-link, which differs from the price of broken links by a constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

LEAST_GAIN = 1e-12


@jit
def sweep_rows(order: Any, distance: Any, indptr: Any, neighbour: Any, price: Any, is_must: Any, labels: Any) -> int:
    """Give each linked row in turn the cluster that costs it least, in place; return the number of moves."""
    cost = np.empty(distance.shape[1])
    n_moves = 0
    for i in order:
        cost[:] = distance[i]
        for e in range(indptr[i], indptr[i + 1]):
            cost[labels[neighbour[e]]] += -price[e] if is_must[e] else price[e]
        best = np.argmin(cost)
        if cost[best] < cost[labels[i]] - LEAST_GAIN:
            labels[i] = best
            n_moves += 1
    return n_moves


@jit
def sweep_blocks(
    starts: Any,
    rows: Any,
    block: Any,
    distance: Any,
    indptr: Any,
    neighbour: Any,
    price: Any,
    is_must: Any,
    labels: Any,
) -> int:
    """Give each block of rows as a whole the cluster that costs it least, in place; return the number of moves.

    Block b holds ``rows[starts[b]:starts[b + 1]]``, and `block` the block of each linked row.
    """
    n_clusters = distance.shape[1]
    cost = np.empty(n_clusters)
    n_moves = 0
    for b in range(len(starts) - 1):
        cost[:] = 0.0
        now = 0.0
        inner = 0.0
        for r in range(starts[b], starts[b + 1]):
            i = rows[r]
            now += distance[i, labels[i]]
            for c in range(n_clusters):
                cost[c] += distance[i, c]
            for e in range(indptr[i], indptr[i + 1]):
                j = neighbour[e]
                together = -price[e] if is_must[e] else price[e]
                if block[j] != b:
                    cost[labels[j]] += together
                    if labels[i] == labels[j]:
                        now += together
                elif i < j:
                    inner += together
                    if labels[i] == labels[j]:
                        now += together
        best = np.argmin(cost)
        if cost[best] + inner < now - LEAST_GAIN:
            for r in range(starts[b], starts[b + 1]):
                labels[rows[r]] = best
            n_moves += 1
    return n_moves
