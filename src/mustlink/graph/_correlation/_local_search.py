"""Local search on a signed graph: moves of nodes, and of whole clusters."""

from __future__ import annotations

import numpy as np

from mustlink._numbering import number_by_first
from mustlink._types import Indices
from mustlink.graph._correlation._moves_kernels import move_nodes
from mustlink.graph._correlation._pivot_kernels import pivot_by_rounds
from mustlink.graph._correlation._signed_graph import SignedGraph

# A move must gain so much, as a fraction of the largest weight, so that rounding cannot make moves cycle.
MIN_GAIN = 1e-12
# The most times that nodes move after clusters were merged.
MAX_ROUNDS = 20


def pivot(graph: SignedGraph, random_state: np.random.RandomState) -> Indices:
    """Cluster by random pivots: each takes its positive neighbors that no pivot before it has taken."""
    order = random_state.permutation(graph.n_nodes)
    rank = np.empty(graph.n_nodes, dtype=np.int64)
    rank[order] = np.arange(graph.n_nodes)
    # A node stands for its cluster by its pivot, which has the lowest rank of it.
    return graph.rules.split(pivot_by_rounds(*graph.arrays, rank), order)


def improve(graph: SignedGraph, labels: Indices, random_state: np.random.RandomState, *, merge: bool = True) -> Indices:
    """Move nodes until no move of one node lowers the cost; then move clusters as nodes; and so on.

    Without `merge`, only single nodes move.
    """
    labels = compact(labels)
    _move(graph, labels, random_state)
    for _ in range(MAX_ROUNDS if merge else 0):
        labels = compact(labels)
        merged = _merge_clusters(graph, labels, random_state)
        if merged is labels:
            break
        labels = merged
        if _move(graph, labels, random_state) == 0:
            break
    return compact(labels)


def _merge_clusters(graph: SignedGraph, labels: Indices, random_state: np.random.RandomState) -> Indices:
    """Move clusters as nodes, then clusters of clusters, and so on; return the same labels if no move is made."""
    level, of_level = graph, labels
    while True:
        n_clusters = int(of_level.max(initial=-1)) + 1
        level = level.merge(of_level, n_clusters)
        of_level = np.arange(n_clusters)
        if _move(level, of_level, random_state) == 0:
            return labels
        of_level = compact(of_level)
        labels = of_level[labels]


def compact(labels: Indices) -> Indices:
    """Number clusters without gaps in the order of their first nodes."""
    return number_by_first(labels, int(labels.max(initial=-1)) + 1)[0] if len(labels) else labels


def _move(graph: SignedGraph, labels: Indices, random_state: np.random.RandomState) -> int:
    """Move nodes in random order, in place; return how many moves were made."""
    min_gain = MIN_GAIN * float(np.abs(graph.weights.data).max(initial=0.0))
    order = random_state.permutation(graph.n_nodes)
    n_moves: int = move_nodes(*graph.arrays, *graph.rules.arrays, graph.rules.table(), order, labels, min_gain)
    return n_moves
