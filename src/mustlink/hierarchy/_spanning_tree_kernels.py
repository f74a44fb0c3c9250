"""Compiled minimum spanning trees: Boruvka's algorithm over a k-d tree, and Prim's algorithm row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink._union_find_kernels import find_root

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
def begin_round(
    parent: Any, part: Any, known: Any, floor: Any, best: Any, edge: Any, node_part: Any, first: Any, last: Any
) -> None:
    """Number the parts, and find the shortest known edge out of each.

    `known` is the last nearest row outside of each row, and `floor` its squared distance, or a lower bound; as parts
    only grow, both remain valid until that row joins the part.
    """
    for i in range(len(part)):
        part[i] = find_root(parent, i)
    best[:] = np.inf
    mark_nodes(part, first, last, node_part)
    for i in range(len(part)):
        if known[i] >= 0 and part[known[i]] != part[i]:
            keep_if_shorter(floor[i], i, known[i], part[i], best, edge)


@jit
def nearest_outside(
    P: Any,
    part: Any,
    known: Any,
    floor: Any,
    best: Any,
    edge: Any,
    node_part: Any,
    first: Any,
    last: Any,
    box: Any,
    begin: Any,
    end: Any,
) -> None:
    """Find the shortest edge out of every part, among those of the rows from `begin` up to `end`."""
    for i in range(begin, end):
        mine = part[i]
        if floor[i] >= best[mine] or (known[i] >= 0 and part[known[i]] != mine):
            continue
        known[i], floor[i] = nearest_row_outside(P, i, best[mine], part, node_part, first, last, box)
        if known[i] >= 0:
            keep_if_shorter(floor[i], i, known[i], mine, best, edge)
            keep_if_shorter(floor[i], i, known[i], part[known[i]], best, edge)


@jit
def join_parts(parent: Any, best: Any, edge: Any, tree: Any, length: Any, n_edges: Any) -> Any:
    """Add the shortest edge out of every part to the tree, if it closes no cycle; return the new number of edges."""
    for owner in range(len(parent)):
        if best[owner] == np.inf:
            continue
        one, other = find_root(parent, edge[owner, 0]), find_root(parent, edge[owner, 1])
        if one != other:
            parent[one] = other
            tree[n_edges, 0], tree[n_edges, 1] = edge[owner, 0], edge[owner, 1]
            length[n_edges] = best[owner]
            n_edges += 1
    return n_edges


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
