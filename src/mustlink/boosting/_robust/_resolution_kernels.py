"""Compiled votes of linked rows on others, and moves of linked rows that reduce violations."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# Minimum gain of a move: ties cannot cycle by rounding.
MIN_GAIN = 1e-12


@jit
def sweep_rows(distance: Any, indptr: Any, neighbors: Any, cost_together: Any, labels: Any) -> int:
    """Give each row in turn the cluster of lowest cost, in place; return the number of moves.

    `cost_together` of an entry is the penalty of a cannot-link, and minus the penalty of a must-link: this differs from
    the penalties of broken links by a constant.
    """
    cost = np.empty(distance.shape[1])
    n_moves = 0
    for i in range(len(distance)):
        cost[:] = distance[i]
        for e in range(indptr[i], indptr[i + 1]):
            cost[labels[neighbors[e]]] += cost_together[e]
        best = np.argmin(cost)
        if cost[best] < cost[labels[i]] - MIN_GAIN:
            labels[i] = best
            n_moves += 1
    return n_moves


@jit
def vote_by_similarity(
    codes: Any, examples: Any, weights: Any, marginals: Any, power: int, max_apart: float, votes: Any
) -> None:
    """Add up the marginals of the examples, each times its co-association with a row to some power, into `votes`.

    The weights sum to one. They should decrease from run to run: then most examples are soon found to be too far.
    """
    n_runs = codes.shape[1]
    for i in range(len(codes)):
        for a in range(len(examples)):
            apart = 0.0
            for t in range(n_runs):
                if codes[i, t] != examples[a, t] or codes[i, t] < 0:
                    apart += weights[t]
                    if apart > max_apart:
                        break
            if apart <= max_apart:
                votes[i] += (1.0 - apart) ** power * marginals[a]
