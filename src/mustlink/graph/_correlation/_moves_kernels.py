"""Compiled local search: nodes move one by one to the cluster that costs least."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.graph._correlation._hard_rules_kernels import add_keys, count_keys, has_room


@jit
def move_nodes(
    indptr: Any,
    indices: Any,
    weight: Any,
    size: Any,
    penalty: float,
    apart_indptr: Any,
    apart_indices: Any,
    key_indptr: Any,
    keys: Any,
    key_count: Any,
    key_max: Any,
    table: Any,
    order: Any,
    labels: Any,
    min_gain: float,
) -> int:
    """Move nodes, in place, until no move of one node to another or to a new cluster lowers the cost; count the moves.

    The net weight of two nodes is their entry minus `penalty` times the product of their sizes. Nodes wait in a queue,
    first all of them in an order, then the neighbors of nodes that moved; when it is empty, all nodes are tried again.
    """
    n_nodes = len(labels)
    cluster_size, n_members, free, n_free = count_members(size, labels)
    n_used = count_keys(labels, key_indptr, keys, key_count, table)
    sums = np.zeros(n_nodes)
    is_touched = np.zeros(n_nodes, np.bool_)
    touched = np.empty(n_nodes, np.int64)
    blocked = np.full(n_nodes, -1, np.int64)
    queue = order.copy()
    is_waiting = np.ones(n_nodes, np.bool_)
    head, n_waiting = 0, n_nodes
    n_moves, n_moves_before = 0, 0
    while True:
        if n_waiting == 0:
            if n_moves == n_moves_before:
                return n_moves
            n_moves_before = n_moves
            queue[:] = order
            is_waiting[:] = True
            head, n_waiting = 0, n_nodes
        u = queue[head]
        head = head + 1 if head + 1 < n_nodes else 0
        n_waiting -= 1
        is_waiting[u] = False

        own = labels[u]
        n_touched = sum_neighbors(u, indptr, indices, weight, labels, sums, is_touched, touched)
        for e in range(apart_indptr[u], apart_indptr[u + 1]):
            blocked[labels[apart_indices[e]]] = u
        stay = sums[own] - penalty * size[u] * (cluster_size[own] - size[u])
        # A cluster of its own has net weight 0.
        best, target = 0.0, -1
        for i in range(n_touched):
            cluster = touched[i]
            value = sums[cluster] - penalty * size[u] * cluster_size[cluster]
            is_open = cluster != own and blocked[cluster] != u
            if is_open and value > best and has_room(u, cluster, key_indptr, keys, key_count, key_max, table):
                best, target = value, cluster
            sums[cluster] = 0.0
            is_touched[cluster] = False
        if best <= stay + min_gain:
            continue

        if target < 0:
            n_free -= 1
            target = free[n_free]
        n_free = change_cluster(u, target, size, labels, cluster_size, n_members, free, n_free)
        n_moves += 1
        add_keys(u, own, -1, key_indptr, keys, key_count, table)
        n_used += add_keys(u, target, 1, key_indptr, keys, key_count, table)
        if 2 * n_used > table.shape[1]:
            n_used = count_keys(labels, key_indptr, keys, key_count, table)
        n_waiting = enqueue(u, indptr, indices, labels, queue, is_waiting, head, n_waiting)
        n_waiting = enqueue(u, apart_indptr, apart_indices, labels, queue, is_waiting, head, n_waiting)


@jit
def count_members(size: Any, labels: Any) -> Any:
    """Return the size of every cluster, its number of nodes, a stack of free cluster numbers, and its height."""
    n_nodes = len(labels)
    cluster_size = np.zeros(n_nodes)
    n_members = np.zeros(n_nodes, np.int64)
    for u in range(n_nodes):
        cluster_size[labels[u]] += size[u]
        n_members[labels[u]] += 1
    free = np.empty(n_nodes, np.int64)
    n_free = 0
    for cluster in range(n_nodes):
        if n_members[cluster] == 0:
            free[n_free] = cluster
            n_free += 1
    return cluster_size, n_members, free, n_free


@jit
def sum_neighbors(
    u: int, indptr: Any, indices: Any, weight: Any, labels: Any, sums: Any, is_touched: Any, touched: Any
) -> int:
    """Add the weights between a node and the clusters of its neighbors to `sums`; list these clusters, count them."""
    n_touched = 0
    for e in range(indptr[u], indptr[u + 1]):
        cluster = labels[indices[e]]
        if not is_touched[cluster]:
            is_touched[cluster] = True
            touched[n_touched] = cluster
            n_touched += 1
        sums[cluster] += weight[e]
    return n_touched


@jit
def change_cluster(
    u: int, target: int, size: Any, labels: Any, cluster_size: Any, n_members: Any, free: Any, n_free: int
) -> int:
    """Put a node into another cluster; return the height of the stack of free numbers, with the old one if empty."""
    own = labels[u]
    labels[u] = target
    cluster_size[own] -= size[u]
    cluster_size[target] += size[u]
    n_members[own] -= 1
    n_members[target] += 1
    if n_members[own] == 0:
        cluster_size[own] = 0.0
        free[n_free] = own
        n_free += 1
    return n_free


@jit
def enqueue(
    u: int, indptr: Any, indices: Any, labels: Any, queue: Any, is_waiting: Any, head: int, n_waiting: int
) -> int:
    """Put the neighbors of a moved node that are in other clusters at the end of the queue; return its length."""
    for e in range(indptr[u], indptr[u + 1]):
        v = indices[e]
        if not is_waiting[v] and labels[v] != labels[u]:
            is_waiting[v] = True
            queue[(head + n_waiting) % len(queue)] = v
            n_waiting += 1
    return n_waiting
