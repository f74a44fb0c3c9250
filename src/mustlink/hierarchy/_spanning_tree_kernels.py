"""Compiled minimum spanning trees: Boruvka's algorithm over a k-d tree, and Prim's algorithm row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.hierarchy._dendrogram_kernels import find_root

# The size of the stack; no tree that fits into memory is as deep.
MAX_DEPTH = 128


@jit
def squared_distance(P: Any, i: Any, j: Any) -> Any:
    """Return the squared distance of two rows."""
    total = 0.0
    for k in range(P.shape[1]):
        total += (P[i, k] - P[j, k]) ** 2
    return total


@jit
def squared_to_box(P: Any, i: Any, low: Any, high: Any) -> Any:
    """Return the squared distance of a row to a box, never above that to a row in the box."""
    total = 0.0
    for k in range(P.shape[1]):
        x = P[i, k]
        if x < low[k]:
            total += (x - low[k]) ** 2
        elif x > high[k]:
            total += (x - high[k]) ** 2
    return total


@jit
def nearest_row_outside(P: Any, i: Any, bound: Any, part: Any, node_part: Any, first: Any, last: Any, box: Any) -> Any:
    """Return the nearest row outside the part of row i, and its squared distance, if below a bound.

    Rows are in the order of the tree: node v contains the rows from first[v] up to last[v] and has the children 2v + 1
    and 2v + 2, or none. A node with rows of the row's own part only (node_part) is skipped.
    """
    mine, found = part[i], -1
    stack, reach = np.empty(MAX_DEPTH, dtype=np.int64), np.empty(MAX_DEPTH)
    stack[0], reach[0], height = 0, 0.0, 1
    while height:
        height -= 1
        node = stack[height]
        if reach[height] >= bound or node_part[node] == mine:
            continue
        child = 2 * node + 1
        if child >= len(first):
            for j in range(first[node], last[node]):
                if part[j] != mine:
                    distance = squared_distance(P, i, j)
                    if distance < bound:
                        bound, found = distance, j
            continue
        near = squared_to_box(P, i, box[0, child], box[1, child])
        far = squared_to_box(P, i, box[0, child + 1], box[1, child + 1])
        turn = near > far
        # The nearer child is on top of the stack: its rows may exclude the other child.
        stack[height], reach[height] = child + 1 - turn, max(near, far)
        stack[height + 1], reach[height + 1] = child + turn, min(near, far)
        height += 2
    return found, bound


@jit
def mark_nodes(part: Any, first: Any, last: Any, node_part: Any) -> None:
    """Set for every node the part of all its rows, or -1 if they belong to several."""
    for node in range(len(first) - 1, -1, -1):
        child = 2 * node + 1
        if child < len(first):
            same = node_part[child] == node_part[child + 1]
            node_part[node] = node_part[child] if same else -1
            continue
        node_part[node] = part[first[node]]
        for j in range(first[node] + 1, last[node]):
            if part[j] != part[first[node]]:
                node_part[node] = -1


@jit
def keep_if_shorter(distance: Any, i: Any, j: Any, owner: Any, best: Any, edge: Any) -> None:
    """Keep the edge from i to j if it is the shortest that leaves a part so far."""
    if distance < best[owner]:
        best[owner] = distance
        edge[owner, 0], edge[owner, 1] = i, j


@jit
def nearest_outside(
    P: Any, part: Any, known: Any, floor: Any, best: Any, edge: Any, node_part: Any, first: Any, last: Any, box: Any
) -> None:
    """Find the shortest edge out of every part.

    `known` is the last nearest row outside of each row, and `floor` its squared distance, or a lower bound; as parts
    only grow, both remain valid until that row joins the part.
    """
    for i in range(len(part)):
        if known[i] >= 0 and part[known[i]] != part[i]:
            keep_if_shorter(floor[i], i, known[i], part[i], best, edge)
    for i in range(len(part)):
        mine = part[i]
        if floor[i] >= best[mine] or (known[i] >= 0 and part[known[i]] != mine):
            continue
        known[i], floor[i] = nearest_row_outside(P, i, best[mine], part, node_part, first, last, box)
        if known[i] >= 0:
            keep_if_shorter(floor[i], i, known[i], mine, best, edge)
            keep_if_shorter(floor[i], i, known[i], part[known[i]], best, edge)


@jit
def boruvka(P: Any, first: Any, last: Any, box: Any) -> Any:
    """Return the edges of a minimum spanning tree of rows in the order of a k-d tree, and their squared lengths.

    In every round each part is joined with the nearest other part. With ties, edges that would close a cycle are
    skipped, and the tree is one of several.
    """
    n_rows = len(P)
    parent, part = np.arange(n_rows), np.arange(n_rows)
    known, floor = np.full(n_rows, -1), np.zeros(n_rows)
    best, edge = np.empty(n_rows), np.empty((n_rows, 2), dtype=np.int64)
    node_part = np.empty(len(first), dtype=np.int64)
    tree, length = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    n_edges = 0
    while n_edges < n_rows - 1:
        for i in range(n_rows):
            part[i] = find_root(parent, i)
        best[:] = np.inf
        mark_nodes(part, first, last, node_part)
        nearest_outside(P, part, known, floor, best, edge, node_part, first, last, box)
        for owner in range(n_rows):
            if best[owner] == np.inf:
                continue
            one, other = find_root(parent, edge[owner, 0]), find_root(parent, edge[owner, 1])
            if one != other:
                parent[one] = other
                tree[n_edges, 0], tree[n_edges, 1] = edge[owner, 0], edge[owner, 1]
                length[n_edges] = best[owner]
                n_edges += 1
    return tree, length


@jit
def prim_steps(P: Any, name: Any, reached: Any, near: Any, tree: Any, length: Any, begin: Any, end: Any) -> None:
    """Take the steps `begin` to `end` of Prim's algorithm.

    The rows outside the tree come after those inside; `reached` is the squared distance of each to the tree, `near`
    the row of the tree at that distance, and `name` the original number of each row. The rows are moved in place.
    """
    n_rows = len(P)
    for step in range(begin, end):
        # P[step] is the row that was added last; all rows after it are outside.
        best, best_at = np.inf, step + 1
        for i in range(step + 1, n_rows):
            distance = squared_distance(P, step, i)
            if distance < reached[i]:
                reached[i], near[i] = distance, name[step]
            if reached[i] < best:
                best, best_at = reached[i], i
        tree[step, 0], tree[step, 1], length[step] = near[best_at], name[best_at], best
        new = step + 1
        for k in range(P.shape[1]):
            P[new, k], P[best_at, k] = P[best_at, k], P[new, k]
        name[new], name[best_at] = name[best_at], name[new]
        reached[best_at], near[best_at] = reached[new], near[new]


@jit
def grow_seeds(tree: Any, seed: Any, n_groups: Any) -> Any:
    """Grow the seed groups along the edges of a tree, shortest first.

    `seed` is the group of every row, or -1 for a free one. Returns the group of every row, -1 if it reaches no seed,
    and the numbers of the edges of a spanning tree, or forest, of the groups.
    """
    n_rows = len(seed)
    parent, carried = np.arange(n_rows), seed.copy()
    head, group_parent = np.full(n_groups, -1), np.arange(n_groups)
    for row in range(n_rows):
        if seed[row] >= 0:
            if head[seed[row]] < 0:
                head[seed[row]] = row
            parent[row] = head[seed[row]]
    between, n_between = np.empty(len(tree), dtype=np.int64), 0
    for number in range(len(tree)):
        one, other = find_root(parent, tree[number, 0]), find_root(parent, tree[number, 1])
        if one == other:
            continue
        if carried[one] >= 0 and carried[other] >= 0:
            a, b = find_root(group_parent, carried[one]), find_root(group_parent, carried[other])
            if a != b:
                group_parent[a] = b
                between[n_between] = number
                n_between += 1
            continue
        parent[one] = other
        carried[other] = max(carried[one], carried[other])
    labels = np.empty(n_rows, dtype=np.int64)
    for row in range(n_rows):
        labels[row] = carried[find_root(parent, row)]
    return labels, between[:n_between]


@jit
def tree_path_lengths(order: Any, before: Any, last_step: Any) -> Any:
    """Return the lengths of the paths between all nodes of a tree.

    In `order` every node comes after its parent `before`, at the distance `last_step`.
    """
    lengths = np.zeros((len(order), len(order)))
    for place in range(1, len(order)):
        node = order[place]
        for other in order[:place]:
            lengths[node, other] = lengths[other, node] = lengths[before[node], other] + last_step[node]
    return lengths
