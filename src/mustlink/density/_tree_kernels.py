"""Compiled loops over trees: condensing a single-linkage tree, sums over subtrees, and the best selection of nodes."""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit
from mustlink._types import Floats, Ints, Mask


@jit
def condense(
    left: Ints, right: Ints, distance: Floats, size: Ints, min_cluster_size: int
) -> tuple[Ints, Ints, Floats, Ints]:
    """Condense a single-linkage tree: parts smaller than a cluster are no nodes, and their rows leave the node above.

    Nodes are numbered level by level from the root on, whose number is the number of rows. Returns the parent, the
    child, the inverse distance at which the child leaves, and the child's size: one entry for each row and for each
    node but the root.
    """
    n_rows = left.shape[0] + 1
    parent = np.empty(2 * n_rows, dtype=np.int64)
    child = np.empty(2 * n_rows, dtype=np.int64)
    value = np.empty(2 * n_rows, dtype=np.float64)
    count = np.empty(2 * n_rows, dtype=np.int64)
    label = np.empty(2 * n_rows, dtype=np.int64)
    queue = np.empty(2 * n_rows, dtype=np.int64)
    leaving = np.empty(2 * n_rows, dtype=np.int64)
    ends = np.empty(2, dtype=np.int64)
    sizes = np.empty(2, dtype=np.int64)
    queue[0] = 2 * n_rows - 2
    label[queue[0]] = n_rows
    n_labels, n_entries, first, last = n_rows + 1, 0, 0, 1
    while first < last:
        node = queue[first]
        first += 1
        join = node - n_rows
        ends[0], ends[1] = left[join], right[join]
        for side in range(2):
            sizes[side] = size[ends[side] - n_rows] if ends[side] >= n_rows else 1
        leaves_at = 1.0 / distance[join] if distance[join] > 0.0 else np.inf
        splits = sizes[0] >= min_cluster_size and sizes[1] >= min_cluster_size
        for side in range(2):
            if sizes[side] >= min_cluster_size:
                label[ends[side]] = n_labels if splits else label[node]
                queue[last] = ends[side]
                last += 1
                if splits:
                    parent[n_entries], child[n_entries] = label[node], n_labels
                    value[n_entries], count[n_entries] = leaves_at, sizes[side]
                    n_entries += 1
                    n_labels += 1
                continue
            leaving[0] = ends[side]
            begin, stop = 0, 1
            while begin < stop:
                below = leaving[begin]
                begin += 1
                if below < n_rows:
                    parent[n_entries], child[n_entries] = label[node], below
                    value[n_entries], count[n_entries] = leaves_at, 1
                    n_entries += 1
                else:
                    leaving[stop], leaving[stop + 1] = left[below - n_rows], right[below - n_rows]
                    stop += 2
    return parent[:n_entries], child[:n_entries], value[:n_entries], count[:n_entries]


@jit
def lowest_common_nodes(node_parent: Ints, one: Ints, other: Ints) -> Ints:
    """Return the lowest node above or equal to both nodes of each pair; parents have smaller numbers."""
    lowest = np.empty(one.shape[0], dtype=np.int64)
    for pair in range(one.shape[0]):
        a, b = one[pair], other[pair]
        while a != b:
            if a > b:
                a = node_parent[a]
            else:
                b = node_parent[b]
        lowest[pair] = a
    return lowest


@jit
def sum_subtrees(node_parent: Ints, amount: Floats) -> Floats:
    """Return for each node the sum of an amount over the node and all nodes below it."""
    total = amount.copy()
    for node in range(total.shape[0] - 1, 0, -1):
        total[node_parent[node]] += total[node]
    return total


@jit
def select_nodes(node_parent: Ints, value: Floats, allowed: Mask) -> tuple[Mask, float]:
    """Select nodes, none below another, with the largest sum of values; return which, and the sum.

    A tie between a node and the best selection below it goes to the node.
    """
    n_nodes = node_parent.shape[0]
    below = np.zeros(n_nodes)
    taken = np.zeros(n_nodes, dtype=np.bool_)
    best = 0.0
    for node in range(n_nodes - 1, -1, -1):
        taken[node] = allowed[node] and not below[node] > value[node]
        best = value[node] if taken[node] else below[node]
        if node > 0:
            below[node_parent[node]] += best
    covered = np.zeros(n_nodes, dtype=np.bool_)
    for node in range(1, n_nodes):
        over = node_parent[node]
        covered[node] = covered[over] or taken[over]
        taken[node] = taken[node] and not covered[node]
    return taken, best


@jit
def owners(node_parent: Ints, selected: Mask) -> Ints:
    """Return for each node the selected node that it is or lies below, or -1."""
    owner = np.full(node_parent.shape[0], -1, dtype=np.int64)
    for node in range(node_parent.shape[0]):
        if selected[node]:
            owner[node] = node
        elif node > 0:
            owner[node] = owner[node_parent[node]]
    return owner
