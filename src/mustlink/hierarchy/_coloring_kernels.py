"""A coloring of the cannot-link graph, which proves that the number of clusters can still be reached.

The components of a cluster form a ring: `ring` is the next component of each. All components of a ring have one color,
cannot-linked ones have different colors, and there are as many colors as clusters. As long as there are more clusters
than colors, two clusters have the same color and can be joined.

The edges of a component are a linked list, to which edges can be added: `head` is the first edge, `after` the next
edge of each or -1, and `to` the component that an edge leads to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._coloring_kernels import color_by_search
from mustlink._jit import jit

# Steps of one search; a few milliseconds.
MAX_STEPS = 2_000_000


@jit
def join_rings(one: Any, other: Any, ring: Any) -> Any:
    """Join two rings and return a component of the union; -1 is a cluster outside the graph."""
    if one < 0:
        return other
    if other >= 0:
        ring[one], ring[other] = ring[other], ring[one]
    return one


@jit
def linked_lists(indptr: Any, indices: Any) -> Any:
    """Return the edge lists (head, after, to) of a graph in CSR form."""
    head, after = np.full(len(indptr) - 1, -1), np.full(len(indices), -1)
    for at in range(len(indptr) - 1):
        for edge in range(indptr[at], indptr[at + 1]):
            after[edge] = head[at]
            head[at] = edge
    return head, after, indices.copy()


@jit
def add_edge(one: Any, other: Any, n_edges: Any, head: Any, after: Any, to: Any) -> Any:
    """Add an edge in both directions; return the arrays, which may be new ones."""
    if n_edges + 2 > len(to):
        longer = np.empty((2, 2 * len(to) + 2), dtype=np.int64)
        longer[0, : len(to)], longer[1, : len(to)] = after, to
        after, to = longer[0], longer[1]
    to[n_edges], after[n_edges], head[one] = other, head[one], n_edges
    to[n_edges + 1], after[n_edges + 1], head[other] = one, head[other], n_edges + 1
    return after, to


@jit
def swap_chain(begin: Any, new: Any, avoid: Any, color: Any, ring: Any, head: Any, after: Any, to: Any) -> Any:
    """Give the ring of `begin` the color `new`, and swap the two colors in the whole Kempe chain.

    Nothing is changed if the chain contains the component `avoid`. Returns the components that were changed.
    """
    old = color[begin]
    seen = np.zeros(len(color), dtype=np.bool_)
    queue = np.empty(len(color), dtype=np.int64)
    queue[0], length = begin, 1
    seen[begin] = True
    done = 0
    while done < length:
        at = queue[done]
        done += 1
        if at == avoid:
            return queue[:0]
        if not seen[ring[at]]:
            seen[ring[at]] = True
            queue[length] = ring[at]
            length += 1
        edge = head[at]
        while edge >= 0:
            neighbor = to[edge]
            edge = after[edge]
            if not seen[neighbor] and (color[neighbor] == old or color[neighbor] == new):
                seen[neighbor] = True
                queue[length] = neighbor
                length += 1
    swap_colors(queue[:length], old, new, color)
    return queue[:length]


@jit
def swap_colors(changed: Any, old: Any, new: Any, color: Any) -> Any:
    """Swap two colors on some components."""
    for at in changed:
        color[at] = new if color[at] == old else old


@jit
def share_by_swaps(one: Any, other: Any, n_colors: Any, color: Any, ring: Any, head: Any, after: Any, to: Any) -> Any:
    """Give two rings one color by swaps along at most two Kempe chains; return whether this succeeded."""
    if len(swap_chain(one, color[other], other, color, ring, head, after, to)):
        return True
    for new in range(n_colors):
        old = color[one]
        if new == old or new == color[other]:
            continue
        changed = swap_chain(one, new, -1, color, ring, head, after, to)
        if len(swap_chain(other, new, one, color, ring, head, after, to)):
            return True
        swap_colors(changed, old, new, color)
    return False


@jit
def append_ring(begin: Any, node: Any, node_of: Any, listed: Any, n_listed: Any, ring: Any) -> Any:
    """Append the components of a ring to a list and set their node; return the new length of the list."""
    at = begin
    while node_of[at] < 0:
        node_of[at] = node
        listed[n_listed] = at
        n_listed += 1
        at = ring[at]
    return n_listed


@jit
def connected_part(one: Any, other: Any, ring: Any, head: Any, after: Any, to: Any) -> Any:
    """Return the part of the graph connected with two rings, with the two as one node and every other ring as a node.

    Returns its components, the node of every component, and its edges in CSR form.
    """
    node_of, listed = np.full(len(head), -1), np.empty(len(head), dtype=np.int64)
    n_listed = append_ring(one, 0, node_of, listed, 0, ring)
    n_listed = append_ring(other, 0, node_of, listed, n_listed, ring)
    degree = np.zeros(len(head), dtype=np.int64)
    n_nodes, done = 1, 0
    while done < n_listed:
        at = listed[done]
        done += 1
        edge = head[at]
        while edge >= 0:
            if node_of[to[edge]] < 0:
                n_listed = append_ring(to[edge], n_nodes, node_of, listed, n_listed, ring)
                n_nodes += 1
            degree[node_of[at]] += 1
            edge = after[edge]
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    indptr[1:] = np.cumsum(degree[:n_nodes])
    indices, free = np.empty(indptr[n_nodes], dtype=np.int64), indptr.copy()
    for at in listed[:n_listed]:
        edge = head[at]
        while edge >= 0:
            indices[free[node_of[at]]] = node_of[to[edge]]
            free[node_of[at]] += 1
            edge = after[edge]
    return listed[:n_listed], node_of, indptr, indices


@jit
def can_share(
    one: Any, other: Any, n_colors: Any, color: Any, ring: Any, head: Any, after: Any, to: Any, budget: Any
) -> Any:
    """Give two rings one color if possible; return whether this succeeded.

    Kempe chains are tried first. If they fail, a search recolors the connected part of the graph, within a budget
    (an array of one number). For two colors the chains are conclusive.
    """
    if color[one] == color[other]:
        return True
    if share_by_swaps(one, other, n_colors, color, ring, head, after, to):
        return True
    if n_colors == 2 or budget[0] <= 0:
        return False
    listed, node_of, indptr, indices = connected_part(one, other, ring, head, after, to)
    answer, found, steps = color_by_search(indptr, indices, n_colors, min(budget[0], MAX_STEPS))
    budget[0] -= steps
    if answer == 1:
        for at in listed:
            color[at] = found[node_of[at]]
    return answer == 1


@jit
def least_violated_coloring(n_colors: Any, weight: Any, indptr: Any, indices: Any) -> Any:
    """Color a graph with little weight of edges between equal colors: greedily, then by single moves.

    Components with the most weight come first, and ties go to the first color.
    """
    n_components = len(indptr) - 1
    load = np.zeros(n_components)
    for at in range(n_components):
        load[at] = weight[indptr[at] : indptr[at + 1]].sum()
    order = np.argsort(-load, kind="mergesort")
    color = np.full(n_components, -1)
    cost = np.zeros(n_colors)
    moved = True
    rounds = 0
    while moved and rounds < 100:
        moved = False
        rounds += 1
        for at in order:
            cost[:] = 0.0
            for edge in range(indptr[at], indptr[at + 1]):
                if color[indices[edge]] >= 0:
                    cost[color[indices[edge]]] += weight[edge]
            best = np.argmin(cost)
            if color[at] < 0 or cost[best] < cost[color[at]]:
                color[at] = best
                moved = True
    return color
