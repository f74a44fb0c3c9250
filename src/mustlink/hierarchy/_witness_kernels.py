"""A colouring of the cannot-link graph that shows that so many clusters can still be reached.

Every cluster of the graph is a ring of components: `ring` leads from each to the next. All components of a ring have
one colour, cannot-linked ones have different colours, and there are as many colours as clusters wanted. As long as
there are more clusters than colours, two of one colour are left, and they may be joined.

The neighbours of a component are a chain of edges: `head` is its first, `after` leads from each to the next, -1 ends
it, and `to` is where an edge leads. So edges can be added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._coloring_kernels import color_by_search
from mustlink._jit import jit

MOST_STEPS = 2_000_000
"""Of one search; a few milliseconds."""


@jit
def join_rings(one: Any, other: Any, ring: Any) -> Any:
    """Make one ring of two, and return a component of it; -1 stands for a cluster outside the graph."""
    if one < 0:
        return other
    if other >= 0:
        ring[one], ring[other] = ring[other], ring[one]
    return one


@jit
def chained_edges(indptr: Any, indices: Any) -> Any:
    """Return the chains of edges (head, after, to) of a graph given by rows."""
    head, after = np.full(len(indptr) - 1, -1), np.full(len(indices), -1)
    for at in range(len(indptr) - 1):
        for edge in range(indptr[at], indptr[at + 1]):
            after[edge] = head[at]
            head[at] = edge
    return head, after, indices.copy()


@jit
def add_edge(one: Any, other: Any, n_edges: Any, head: Any, after: Any, to: Any) -> Any:
    """Add an edge both ways; return the longer chains."""
    if n_edges + 2 > len(to):
        longer = np.empty((2, 2 * len(to) + 2), dtype=np.int64)
        longer[0, : len(to)], longer[1, : len(to)] = after, to
        after, to = longer[0], longer[1]
    to[n_edges], after[n_edges], head[one] = other, head[one], n_edges
    to[n_edges + 1], after[n_edges + 1], head[other] = one, head[other], n_edges + 1
    return after, to


@jit
def swap_chain(begin: Any, new: Any, avoid: Any, colour: Any, ring: Any, head: Any, after: Any, to: Any) -> Any:
    """Give the ring of `begin` the colour `new`, and swap the two colours wherever that makes it necessary.

    Nothing is changed if this would reach the component `avoid`. Return the components that were changed.
    """
    old = colour[begin]
    seen = np.zeros(len(colour), dtype=np.bool_)
    queue = np.empty(len(colour), dtype=np.int64)
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
            neighbour = to[edge]
            edge = after[edge]
            if not seen[neighbour] and (colour[neighbour] == old or colour[neighbour] == new):
                seen[neighbour] = True
                queue[length] = neighbour
                length += 1
    flip(queue[:length], old, new, colour)
    return queue[:length]


@jit
def flip(changed: Any, old: Any, new: Any, colour: Any) -> Any:
    """Swap two colours on some components."""
    for at in changed:
        colour[at] = new if colour[at] == old else old


@jit
def share_by_swaps(one: Any, other: Any, n_colours: Any, colour: Any, ring: Any, head: Any, after: Any, to: Any) -> Any:
    """Give two rings one colour by swaps along at most two chains; say whether this worked."""
    if len(swap_chain(one, colour[other], other, colour, ring, head, after, to)):
        return True
    for new in range(n_colours):
        old = colour[one]
        if new == old or new == colour[other]:
            continue
        changed = swap_chain(one, new, -1, colour, ring, head, after, to)
        if len(swap_chain(other, new, one, colour, ring, head, after, to)):
            return True
        flip(changed, old, new, colour)
    return False


@jit
def enlist(begin: Any, node: Any, node_of: Any, listed: Any, n_listed: Any, ring: Any) -> Any:
    """Number all components of a ring and put them on a list; return how long it is now."""
    at = begin
    while node_of[at] < 0:
        node_of[at] = node
        listed[n_listed] = at
        n_listed += 1
        at = ring[at]
    return n_listed


@jit
def part_with_both(one: Any, other: Any, ring: Any, head: Any, after: Any, to: Any) -> Any:
    """Return the part of the graph around two rings, which are one node of it; every other ring is a node.

    Returns the components in it, the node of every component, and the neighbours of the nodes by rows.
    """
    node_of, listed = np.full(len(head), -1), np.empty(len(head), dtype=np.int64)
    n_listed = enlist(one, 0, node_of, listed, 0, ring)
    n_listed = enlist(other, 0, node_of, listed, n_listed, ring)
    degree = np.zeros(len(head), dtype=np.int64)
    n_nodes, done = 1, 0
    while done < n_listed:
        at = listed[done]
        done += 1
        edge = head[at]
        while edge >= 0:
            if node_of[to[edge]] < 0:
                n_listed = enlist(to[edge], n_nodes, node_of, listed, n_listed, ring)
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
    one: Any, other: Any, n_colours: Any, colour: Any, ring: Any, head: Any, after: Any, to: Any, budget: Any
) -> Any:
    """Say whether two rings can have one colour, and give it to them.

    Swaps of colours are tried first. Where they fail, the part of the graph around is coloured anew by a search, as
    long as its budget, one number in an array, lasts; for two colours there is nothing left to search.
    """
    if colour[one] == colour[other]:
        return True
    if share_by_swaps(one, other, n_colours, colour, ring, head, after, to):
        return True
    if n_colours == 2 or budget[0] <= 0:
        return False
    listed, node_of, indptr, indices = part_with_both(one, other, ring, head, after, to)
    answer, found, steps = color_by_search(indptr, indices, n_colours, min(budget[0], MOST_STEPS))
    budget[0] -= steps
    if answer == 1:
        for at in listed:
            colour[at] = found[node_of[at]]
    return answer == 1


@jit
def least_conflict(n_colours: Any, weight: Any, indptr: Any, indices: Any) -> Any:
    """Colour a graph such that edges of little weight join equal colours: greedily, then by single moves.

    The components with the most weight come first. Where several colours are as good, the first is taken.
    """
    n_components = len(indptr) - 1
    load = np.zeros(n_components)
    for at in range(n_components):
        load[at] = weight[indptr[at] : indptr[at + 1]].sum()
    order = np.argsort(-load, kind="mergesort")
    colour = np.full(n_components, -1)
    cost = np.zeros(n_colours)
    moved = True
    rounds = 0
    while moved and rounds < 100:
        moved = False
        rounds += 1
        for at in order:
            cost[:] = 0.0
            for edge in range(indptr[at], indptr[at + 1]):
                if colour[indices[edge]] >= 0:
                    cost[colour[indices[edge]]] += weight[edge]
            best = np.argmin(cost)
            if colour[at] < 0 or cost[best] < cost[colour[at]]:
                colour[at] = best
                moved = True
    return colour
