"""Compiled consensus of codes: net weights of pairs, balls, and local search by counts per cluster and label.

The column of a label is a number that no other clustering has; -1 is noise, and -2 is unknown.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def net_weight(first: Any, second: Any, weights: Any) -> float:
    """Return the weight of the clusterings that join two codes minus the weight of those that separate them."""
    net = 0.0
    for t in range(len(weights)):
        if first[t] >= 0 and first[t] == second[t]:
            net += weights[t]
        elif first[t] != -2 and second[t] != -2:
            net -= weights[t]
    return net


@jit
def net_weights(columns: Any, weights: Any) -> Any:
    """Return the net weights of all pairs of codes."""
    n_nodes = len(columns)
    net = np.zeros((n_nodes, n_nodes))
    for u in range(n_nodes):
        for v in range(u + 1):
            net[u, v] = net[v, u] = net_weight(columns[u], columns[v], weights)
    return net


@jit
def sum_of_minima(columns: Any, weights: Any, size: Any) -> float:
    """Sum the lesser of the weight that joins and the weight that separates, over all pairs of rows."""
    total = 0.0
    for u in range(len(columns)):
        for v in range(u + 1):
            known = 0.0
            for t in range(len(weights)):
                if columns[u, t] != -2 and columns[v, t] != -2:
                    known += weights[t]
            n_pairs = size[u] * size[v] if u != v else size[u] * (size[u] - 1.0) / 2.0
            total += n_pairs * (known - abs(net_weight(columns[u], columns[v], weights))) / 2.0
    return total


@jit
def take_balls(columns: Any, weights: Any, size: Any, order: Any, max_mean: float) -> Any:
    """Let each free node, in order, take the free nodes within distance 1/2 if their mean distance is small enough.

    The distance is the weight that separates two rows as a fraction of all weight, where half of an unknown clustering
    separates. Return for every node the node that took it.
    """
    n_nodes = len(size)
    total = np.sum(weights)
    taken_by = np.full(n_nodes, -1, np.int64)
    near = np.empty(n_nodes, np.int64)
    free = order.copy()
    n_free = n_nodes
    for u in order:
        if taken_by[u] >= 0:
            continue
        taken_by[u] = u
        kept, n_near = 0, 0
        # The other rows of the same node.
        mass = size[u] - 1.0
        distances = mass * (1.0 - net_weight(columns[u], columns[u], weights) / total) / 2.0
        for i in range(n_free):
            v = free[i]
            if taken_by[v] >= 0:
                continue
            free[kept] = v
            kept += 1
            distance = (1.0 - net_weight(columns[u], columns[v], weights) / total) / 2.0
            if distance <= 0.5 + 1e-12:
                near[n_near] = v
                n_near += 1
                mass += size[v]
                distances += distance * size[v]
        n_free = kept
        if distances <= (max_mean + 1e-12) * mass:
            for i in range(n_near):
                taken_by[near[i]] = u
    return taken_by


@jit
def count_labels(columns: Any, weights: Any, size: Any, labels: Any, joins: Any, known: Any) -> None:
    """Fill the tables of :func:`add_code` with all nodes that have a cluster; -1 is none."""
    joins[:] = 0.0
    known[:] = 0.0
    for u in range(len(size)):
        if labels[u] >= 0:
            add_code(columns[u], weights, size[u], labels[u], joins, known)


@jit
def add_code(code: Any, weights: Any, size: float, cluster: int, joins: Any, known: Any) -> None:
    """Add a node to the weighted number of rows per label and cluster, and of known rows per clustering and cluster."""
    for t in range(len(weights)):
        if code[t] >= 0:
            joins[code[t], cluster] += weights[t] * size
        if code[t] != -2:
            known[t, cluster] += weights[t] * size


@jit
def net_of_clusters(code: Any, joins: Any, known: Any, net: Any) -> None:
    """Write the net weight of a row with all clusters."""
    net[:] = 0.0
    for t in range(len(code)):
        if code[t] >= 0:
            for c in range(len(net)):
                net[c] += 2.0 * joins[code[t], c] - known[t, c]
        elif code[t] == -1:
            for c in range(len(net)):
                net[c] -= known[t, c]


@jit
def move_codes(
    columns: Any,
    weights: Any,
    size: Any,
    order: Any,
    joins: Any,
    known: Any,
    min_gain: float,
    max_passes: int,
    labels: Any,
) -> int:
    """Move nodes, in place, to the cluster with the largest net weight, or to an empty one; return the moves made.

    The tables have a column for every cluster that there may be.
    """
    n_clusters = joins.shape[1]
    n_members = np.zeros(n_clusters, np.int64)
    for u in range(len(size)):
        n_members[labels[u]] += 1
    count_labels(columns, weights, size, labels, joins, known)
    net = np.empty(n_clusters)
    n_moves = 0
    for _ in range(max_passes):
        n_before = n_moves
        for u in order:
            own = labels[u]
            net_of_clusters(columns[u], joins, known, net)
            # Its own rows are in the tables.
            net[own] -= net_weight(columns[u], columns[u], weights) * size[u]
            best = own
            for c in range(n_clusters):
                if n_members[c] == 0:
                    net[c] = 0.0
                if net[c] > net[best]:
                    best = c
            if n_members[own] == 1 and n_members[best] == 0:
                best = own
            if (net[best] - net[own]) * size[u] > min_gain:
                add_code(columns[u], weights, -size[u], own, joins, known)
                add_code(columns[u], weights, size[u], best, joins, known)
                n_members[own] -= 1
                n_members[best] += 1
                labels[u] = best
                n_moves += 1
        if n_moves == n_before:
            break
    return n_moves


@jit
def join_best(columns: Any, joins: Any, known: Any, labels: Any) -> None:
    """Give every node without a cluster (-1) the one with the largest net weight, if that is positive."""
    net = np.empty(joins.shape[1])
    for u in range(len(labels)):
        if labels[u] < 0:
            net_of_clusters(columns[u], joins, known, net)
            best = np.argmax(net)
            if net[best] > 0.0:
                labels[u] = best
