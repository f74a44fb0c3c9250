"""Compiled successive shortest paths on a network of clusters."""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit
from mustlink._types import Array, Floats, Ints


@jit
def cheapest_moves(costs: Array, labels: Ints, cluster: int, step: Floats, mover: Ints) -> None:
    """Find for every other cluster the row of a cluster that moves there at the least additional cost."""
    step[cluster, :], mover[cluster, :] = np.inf, -1
    for row in range(len(labels)):
        if labels[row] == cluster:
            for other in range(costs.shape[1]):
                extra = float(costs[row, other]) - float(costs[row, cluster])
                if other != cluster and extra < step[cluster, other]:
                    step[cluster, other], mover[cluster, other] = extra, row


@jit
def shortest_path(
    step: Floats, flow: Ints, lowest: Ints, highest: Ints, excess: Ints, potential: Floats, before: Ints
) -> int:
    """Find the shortest path from a node with too many rows to one with too few, and update the potentials.

    The last node is the sink: flow from a cluster to it can grow up to the maximum and shrink down to the minimum.
    Returns the node at the end of the path, -1 if there is none.
    """
    n_nodes = len(excess)
    sink = n_nodes - 1
    distance = np.where(excess > 0, 0.0, np.inf)
    final = np.zeros(n_nodes, dtype=np.bool_)
    before[:] = -1
    while True:
        node = -1
        for other in range(n_nodes):
            if not final[other] and distance[other] < np.inf and (node < 0 or distance[other] < distance[node]):
                node = other
        if node < 0:
            return -1
        final[node] = True
        if excess[node] < 0:
            break
        for other in range(n_nodes):
            if final[other]:
                continue
            if node == sink:
                length = 0.0 if flow[other] > lowest[other] else np.inf
            elif other == sink:
                length = 0.0 if flow[node] < highest[node] else np.inf
            else:
                length = step[node, other]
            if length < np.inf:
                reduced = max(0.0, length + potential[node] - potential[other])
                if distance[node] + reduced < distance[other]:
                    distance[other], before[other] = distance[node] + reduced, node
    for other in range(n_nodes):
        potential[other] += min(distance[other], distance[node])
    return node


@jit
def balance(
    costs: Array, labels: Ints, flow: Ints, lowest: Ints, highest: Ints, excess: Ints, potential: Floats, n_paths: int
) -> int:
    """Move rows along shortest paths until no excess is left; return how many of at most `n_paths` were taken.

    One less than zero says that there is no path.
    """
    n_clusters = costs.shape[1]
    step = np.empty((n_clusters, n_clusters))
    mover = np.empty((n_clusters, n_clusters), dtype=np.int64)
    before = np.empty(n_clusters + 1, dtype=np.int64)
    for cluster in range(n_clusters):
        cheapest_moves(costs, labels, cluster, step, mover)
    for n_taken in range(n_paths):
        if not (excess > 0).any():
            return n_taken
        node = shortest_path(step, flow, lowest, highest, excess, potential, before)
        if node < 0:
            return -1
        excess[node] += 1
        changed = np.zeros(n_clusters + 1, dtype=np.bool_)
        while before[node] >= 0:
            other = before[node]
            if node == n_clusters:
                flow[other] += 1
            elif other == n_clusters:
                flow[node] -= 1
            else:
                labels[mover[other, node]] = node
                changed[node] = changed[other] = True
            node = other
        excess[node] -= 1
        for cluster in range(n_clusters):
            if changed[cluster]:
                cheapest_moves(costs, labels, cluster, step, mover)
    return n_paths
