"""Compiled steps that place the nodes of a cannot-link graph in clusters.

Graphs come as (indptr, indices) with the neighbors of node i at indices[indptr[i]:indptr[i + 1]]; `costs` (n_nodes,
n_clusters) is what a node costs in a cluster; `labels` is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def place_forest(costs: Any, order: Any, parent: Any, labels: Any) -> None:
    """Place the nodes of trees at the least total cost, neighbors apart.

    `order` lists parents before their children; the parent of a root is negative. From the leaves up, each node passes
    to its parent what its branch costs if the parent's cluster is forbidden: the least of its row, or the second least
    where the least is the forbidden one.
    """
    n_clusters = costs.shape[1]
    branch = costs.copy()
    for position in range(len(order) - 1, -1, -1):
        node = order[position]
        up = parent[node]
        if up < 0:
            continue
        best = 0
        for c in range(1, n_clusters):
            if branch[node, c] < branch[node, best]:
                best = c
        second = np.inf
        for c in range(n_clusters):
            if c != best and branch[node, c] < second:
                second = branch[node, c]
        for c in range(n_clusters):
            branch[up, c] += second if c == best else branch[node, best]
    for node in order:
        forbidden = labels[parent[node]] if parent[node] >= 0 else -1
        best = -1
        for c in range(n_clusters):
            if c != forbidden and (best < 0 or branch[node, c] < branch[node, best]):
                best = c
        labels[node] = best


@jit
def choose(broken: Any, costs: Any, node: int) -> int:
    """Return the cluster in which a node breaks the fewest links, and among those the cheapest."""
    best = 0
    for c in range(1, costs.shape[1]):
        if broken[node, c] < broken[node, best] or (
            broken[node, c] == broken[node, best] and costs[node, c] < costs[node, best]
        ):
            best = c
    return best


@jit
def settle(indptr: Any, indices: Any, n_links: Any, costs: Any, order: Any, labels: Any) -> None:
    """Visit the nodes in order, each time taking the cluster that `choose` names, until none moves.

    A label of -1 is a node not placed yet: then the first round is the greedy assignment. Every later move breaks
    fewer links, or as many at lower cost; therefore it ends. `n_links` counts the links behind each edge.
    """
    n_nodes, n_clusters = costs.shape
    broken = np.zeros((n_nodes, n_clusters), np.int64)
    for node in range(n_nodes):
        for p in range(indptr[node], indptr[node + 1]):
            if labels[indices[p]] >= 0:
                broken[node, labels[indices[p]]] += n_links[p]
    moved = True
    while moved:
        moved = False
        for node in order:
            old = labels[node]
            new = choose(broken, costs, node)
            if old >= 0 and broken[node, new] == broken[node, old] and not costs[node, new] < costs[node, old]:
                continue
            moved = True
            labels[node] = new
            for p in range(indptr[node], indptr[node + 1]):
                broken[indices[p], new] += n_links[p]
                if old >= 0:
                    broken[indices[p], old] -= n_links[p]


@jit
def place_by_saturation(indptr: Any, indices: Any, n_links: Any, costs: Any, by_rank: Any, labels: Any) -> None:
    """Place first, at each step, the node to which the fewest clusters are still open.

    `by_rank` lists the nodes in the order that decides between equals.
    """
    n_nodes, n_clusters = costs.shape
    rank = np.empty(n_nodes, np.int64)
    for position in range(n_nodes):
        rank[by_rank[position]] = position
    broken = np.zeros((n_nodes, n_clusters), np.int64)
    n_open = np.full(n_nodes, n_clusters)
    heap = np.empty(n_nodes + len(indices), np.int64)
    size = 0
    for node in by_rank:
        size = push(heap, size, n_open[node] * n_nodes + rank[node])
    while size > 0:
        node = by_rank[heap[0] % n_nodes]
        size = pop(heap, size)
        if labels[node] >= 0:
            continue
        c = choose(broken, costs, node)
        labels[node] = c
        for p in range(indptr[node], indptr[node + 1]):
            other = indices[p]
            if broken[other, c] == 0:
                n_open[other] -= 1
                if labels[other] < 0:
                    size = push(heap, size, n_open[other] * n_nodes + rank[other])
            broken[other, c] += n_links[p]


@jit
def smallest_last(indptr: Any, indices: Any, by_rank: Any) -> Any:
    """Return the nodes such that each has the fewest neighbors among those before it.

    It is the reverse of taking away, again and again, the node with the fewest neighbors left; between equals the
    one that `by_rank` lists last is taken away first.
    """
    n_nodes = len(by_rank)
    rank = np.empty(n_nodes, np.int64)
    for position in range(n_nodes):
        rank[by_rank[position]] = n_nodes - 1 - position
    degree = indptr[1:] - indptr[:-1]
    taken = np.zeros(n_nodes, np.bool_)
    heap = np.empty(n_nodes + len(indices), np.int64)
    size = 0
    for node in range(n_nodes):
        size = push(heap, size, degree[node] * n_nodes + rank[node])
    order = np.empty(n_nodes, np.int64)
    place = n_nodes
    while size > 0:
        node = by_rank[n_nodes - 1 - heap[0] % n_nodes]
        size = pop(heap, size)
        if taken[node]:
            continue
        taken[node] = True
        place -= 1
        order[place] = node
        for p in range(indptr[node], indptr[node + 1]):
            other = indices[p]
            if not taken[other]:
                degree[other] -= 1
                size = push(heap, size, degree[other] * n_nodes + rank[other])
    return order


@jit
def push(heap: Any, size: int, key: int) -> int:
    """Add a key to a heap with the least key first; return the new size."""
    child = size
    while child > 0:
        above = (child - 1) // 2
        if heap[above] <= key:
            break
        heap[child] = heap[above]
        child = above
    heap[child] = key
    return size + 1


@jit
def pop(heap: Any, size: int) -> int:
    """Take the least key off a heap; return the new size."""
    size -= 1
    key = heap[size]
    hole = 0
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if key <= heap[child]:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = key
    return size
