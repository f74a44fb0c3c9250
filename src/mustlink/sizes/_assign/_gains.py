"""What an assignment would gain if one bound were looser by one."""

from __future__ import annotations

import numpy as np

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._assign._terms import Terms

__all__ = ["gains_of_bounds"]

# Gains below this share of the largest cost are rounding, unless the costs are less exact themselves.
ROUNDING = 1e-9
# The same in units of the last digit of the costs.
ROUNDING_DIGITS = 64


def gains_of_bounds(costs: CostBlocks, labels: Ints, terms: Terms) -> Floats:
    """Return what the total cost falls by if a minimum (first row) or a maximum (second row) is looser by one.

    One row more leaves a cluster, or enters it, by a chain of moves from cluster to cluster that ends where there is
    room, or starts where a row can be spared: a shortest path from or to one more node. The assignment must be optimal.
    Bounds of sums of weights and groups that are to be apart are no such paths.
    """
    n_clusters = len(terms.lowest)
    sizes = terms.sizes(labels)
    lengths, largest, digit = _lengths_of_moves(costs, labels, terms)
    outside = len(lengths) - 1
    lengths[:n_clusters, outside][sizes < terms.highest] = 0.0
    lengths[outside, :n_clusters][sizes > terms.lowest] = 0.0
    leaving = _shortest(lengths.T, outside)[:n_clusters]
    entering = _shortest(lengths, outside)[:n_clusters]
    gains = np.array(
        [
            np.where((sizes == terms.lowest) & (terms.lowest > 0), -leaving, 0.0),
            np.where(sizes == terms.highest, -entering, 0.0),
        ]
    )
    return np.where(gains > max(ROUNDING, ROUNDING_DIGITS * digit) * largest, gains, 0.0)


def _lengths_of_moves(costs: CostBlocks, labels: Ints, terms: Terms) -> tuple[Floats, float, float]:
    """Return the cheapest move of a row between any two nodes, the largest cost, and its relative precision.

    The nodes are the clusters, then the pivots of each cluster if there are pivots, and at last one for what
    is outside, which nothing leads to yet.
    """
    n_clusters = len(terms.lowest)
    node: Indices = np.asarray(labels, dtype=np.intp)
    if terms.pivots is not None:
        node = node + n_clusters * terms.pivots
    n_kinds = 1 if terms.pivots is None else 2
    cheapest = np.full((n_kinds * n_clusters, n_clusters), np.inf)
    largest, digit = 0.0, 0.0
    for first, block in costs.blocks():
        rows = slice(first, first + len(block))
        order = np.argsort(node[rows], kind="stable")
        nodes, starts = np.unique(node[rows][order], return_index=True)
        own = block[np.arange(len(block)), labels[rows]]
        extra = (block - own[:, None])[order]
        cheapest[nodes] = np.minimum(cheapest[nodes], np.minimum.reduceat(extra, starts, axis=0))
        largest, digit = max(largest, float(np.abs(block).max())), float(np.finfo(block.dtype).eps)
    lengths = np.full((n_kinds * n_clusters + 1,) * 2, np.inf)
    clusters = np.arange(n_clusters)
    lengths[:n_clusters, :n_clusters] = cheapest[:n_clusters]
    if terms.pivots is not None and terms.pivot_min is not None:
        pivots = clusters + n_clusters
        lengths[n_clusters:-1, n_clusters:-1] = cheapest[n_clusters:]
        # A pivot too many is a row too many; a row too many can be a marked one where these can be spared.
        lengths[pivots, clusters] = 0.0
        is_spare = np.bincount(labels[terms.pivots], minlength=n_clusters) > terms.pivot_min
        lengths[clusters[is_spare], pivots[is_spare]] = 0.0
    return lengths, largest, digit


def _shortest(lengths: Array, source: int) -> Floats:
    """Return the length of the shortest path from a node to every other (Bellman and Ford).

    Cycles that are negative by rounding alone do no harm: no path has more steps than there are nodes.
    """
    reached = lengths[source].copy()
    for _ in range(len(lengths)):
        shorter = np.minimum(reached, (reached[:, None] + lengths).min(axis=0))
        if np.array_equal(shorter, reached):
            break
        reached = shorter
    return reached
