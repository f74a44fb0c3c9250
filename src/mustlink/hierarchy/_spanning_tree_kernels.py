"""Minimum spanning trees: Boruvka's algorithm over a k-d tree, and Prim's row by row, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.hierarchy._dendrogram_kernels import find_root

DEEPEST = 128
"""A stack for trees far deeper than memory could hold."""


@jit
def squared_distance(P: Any, i: Any, j: Any) -> Any:
    """Return the squared distance of two rows."""
    total = 0.0
    for k in range(P.shape[1]):
        total += (P[i, k] - P[j, k]) ** 2
    return total


@jit
def squared_to_box(P: Any, i: Any, low: Any, high: Any) -> Any:
    """Return the squared distance of a row to a box; rounding never brings it above that to a row in the box."""
    total = 0.0
    for k in range(P.shape[1]):
        x = P[i, k]
        if x < low[k]:
            total += (x - low[k]) ** 2
        elif x > high[k]:
            total += (x - high[k]) ** 2
    return total


@jit
def nearest_stranger(P: Any, i: Any, bound: Any, part: Any, node_part: Any, first: Any, last: Any, box: Any) -> Any:
    """Return the nearest row of another part than that of row i, and its squared distance, if below a bound.

    Rows stand in the order of the tree: node v holds the rows from first[v] up to last[v], and has the children 2v + 1
    and 2v + 2, or none. A node that holds only rows of the row's own part (node_part) is passed over.
    """
    mine, found = part[i], -1
    stack, reach = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST)
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
        # The nearer child is put on top, since what it holds may make the other one needless.
        stack[height], reach[height] = child + 1 - turn, max(near, far)
        stack[height + 1], reach[height + 1] = child + turn, min(near, far)
        height += 2
    return found, bound


@jit
def mark_nodes(part: Any, first: Any, last: Any, node_part: Any) -> None:
    """Write for every node the part of all its rows, or -1 if they are of several."""
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
def offer(distance: Any, i: Any, j: Any, owner: Any, best: Any, edge: Any) -> None:
    """Keep the edge from i to j for a part if it is the shortest that leads out of it so far."""
    if distance < best[owner]:
        best[owner] = distance
        edge[owner, 0], edge[owner, 1] = i, j


@jit
def shortest_ways_out(
    P: Any, part: Any, known: Any, floor: Any, best: Any, edge: Any, node_part: Any, first: Any, last: Any, box: Any
) -> None:
    """Find the shortest edge out of every part.

    `known` is the nearest stranger a row had, and `floor` its squared distance, or one below which there is none; as
    parts only grow, both stay good until that row becomes one of the part.
    """
    for i in range(len(part)):
        if known[i] >= 0 and part[known[i]] != part[i]:
            offer(floor[i], i, known[i], part[i], best, edge)
    for i in range(len(part)):
        mine = part[i]
        if floor[i] >= best[mine] or (known[i] >= 0 and part[known[i]] != mine):
            continue
        known[i], floor[i] = nearest_stranger(P, i, best[mine], part, node_part, first, last, box)
        if known[i] >= 0:
            offer(floor[i], i, known[i], mine, best, edge)
            offer(floor[i], i, known[i], part[known[i]], best, edge)


@jit
def boruvka(P: Any, first: Any, last: Any, box: Any) -> Any:
    """Return the edges of a minimum spanning tree of rows in the order of a k-d tree, and their squared lengths.

    In every round each part is joined with the nearest other part. Where lengths are equal, edges that would close a
    ring are left out; the tree is then one of several.
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
        shortest_ways_out(P, part, known, floor, best, edge, node_part, first, last, box)
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

    The rows not in the tree yet stand from the step's place on; `reached` is the squared distance of each to the tree,
    `near` the row of the tree at that distance, and `name` the number each row had. The rows are moved in place.
    """
    n_rows = len(P)
    for step in range(begin, end):
        # P[step] is the row that came in last; everything after it is outside.
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
def spread(tree: Any, seed: Any, n_groups: Any) -> Any:
    """Let the seed groups grow along the edges of a tree, which come shortest first.

    `seed` is the group of every row, or -1 for a free one. Return the group of every row, -1 where no seed can be
    reached, and the numbers of the edges that lead from one group to another.
    """
    n_rows = len(seed)
    parent, carried = np.arange(n_rows), seed.copy()
    head = np.full(n_groups, -1)
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
def without_rings(edges: Any, n_nodes: Any) -> Any:
    """Return the numbers of the edges that join two parts not joined by edges before them."""
    parent = np.arange(n_nodes)
    taken, n_taken = np.empty(len(edges), dtype=np.int64), 0
    for number in range(len(edges)):
        one, other = find_root(parent, edges[number, 0]), find_root(parent, edges[number, 1])
        if one != other:
            parent[one] = other
            taken[n_taken] = number
            n_taken += 1
    return taken[:n_taken]


@jit
def all_ways(order: Any, before: Any, last_step: Any) -> Any:
    """Return the lengths of the ways between all nodes of a tree.

    In `order` every node comes after the one `before` it, from which `last_step` leads to it.
    """
    ways = np.zeros((len(order), len(order)))
    for place in range(1, len(order)):
        node = order[place]
        for other in order[:place]:
            ways[node, other] = ways[other, node] = ways[before[node], other] + last_step[node]
    return ways
