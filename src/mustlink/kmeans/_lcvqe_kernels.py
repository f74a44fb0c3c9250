"""Compiled loops in which LCVQE keeps or breaks one link after the other.

`costs` (n_rows, n_clusters) holds squared distances, `labels` the cluster of every row; `labels` is written.
"""

from __future__ import annotations

from typing import Any

from mustlink._jit import jit


@jit
def settle_must_links(costs: Any, pairs: Any, weight: Any, labels: Any) -> None:
    """Join the rows of each must-link in the cluster of either, unless it is cheaper to break the link."""
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        first, second = labels[a], labels[b]
        if first != second:
            apart = 0.5 * (costs[a, first] + costs[b, second])
            apart += 0.25 * weight[p] * (costs[a, second] + costs[b, first])
            in_first = 0.5 * (costs[a, first] + costs[b, first])
            in_second = 0.5 * (costs[a, second] + costs[b, second])
            if in_first <= in_second and in_first < apart:
                labels[b] = first
            elif in_second < in_first and in_second < apart:
                labels[a] = second


@jit
def settle_cannot_links(costs: Any, pairs: Any, weight: Any, labels: Any) -> None:
    """Send the farther of two cannot-linked rows to its next choice, unless it is cheaper to keep both."""
    n_clusters = costs.shape[1]
    if n_clusters == 1:
        return
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        own = labels[a]
        if own == labels[b]:
            farther = a if costs[a, own] > costs[b, own] else b
            other = 1 if own == 0 else 0
            for c in range(n_clusters):
                if c != own and costs[farther, c] < costs[farther, other]:
                    other = c
            if costs[farther, own] + weight[p] * costs[farther, other] >= costs[farther, other]:
                labels[farther] = other
