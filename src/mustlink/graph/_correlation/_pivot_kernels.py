"""Compiled pivot algorithm by rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

UNDECIDED, PIVOT, TAKEN = 0, 1, 2


@jit
def pivot_by_rounds(indptr: Any, indices: Any, weight: Any, size: Any, penalty: float, rank: Any) -> Any:
    """Return for every node the pivot that takes it: the neighbor of lowest rank that is a pivot, or itself.

    A node is a pivot if none of its positive neighbors of lower rank is. In every round, the nodes whose neighbors of
    lower rank are all taken become pivots, and their neighbors are taken; the nodes of a round do not depend on each
    other. The result is that of one pass over the nodes by rank.
    """
    n_nodes = len(rank)
    state = np.zeros(n_nodes, np.int8)
    undecided = np.arange(n_nodes)
    n_undecided = n_nodes
    while n_undecided:
        kept = 0
        for i in range(n_undecided):
            u = undecided[i]
            found = decide(u, indptr, indices, weight, size, penalty, rank, state)
            if found == UNDECIDED:
                undecided[kept] = u
                kept += 1
            state[u] = found
        n_undecided = kept
    pivot = np.arange(n_nodes)
    for u in range(n_nodes):
        if state[u] == TAKEN:
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                is_nearer = state[v] == PIVOT and rank[v] < rank[pivot[u]]
                if is_nearer and weight[e] > penalty * size[u] * size[v]:
                    pivot[u] = v
    return pivot


@jit
def decide(u: int, indptr: Any, indices: Any, weight: Any, size: Any, penalty: float, rank: Any, state: Any) -> Any:
    """Return whether a node is a pivot, is taken by one, or cannot be decided before its neighbors of lower rank."""
    found = PIVOT
    for e in range(indptr[u], indptr[u + 1]):
        v = indices[e]
        if rank[v] < rank[u] and weight[e] > penalty * size[u] * size[v]:
            if state[v] == PIVOT:
                return TAKEN
            if state[v] == UNDECIDED:
                found = UNDECIDED
    return found
