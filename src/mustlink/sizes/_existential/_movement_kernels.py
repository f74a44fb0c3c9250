"""Compiled loops on the pivot-movement graph: valid moves, random moves, look-ahead paths, cycles.

The graph is a tuple of arrays, see :class:`mustlink.sizes._existential._movement.Graph`. Items are pivots, or shares of
micro-clusters, that are nearer to another cluster than to their own; those of an edge lie side by side, the largest
gain first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# The comparisons of a checked sum with its bound; the position is the code.
OPERATORS = ("<", "<=", "!=", "=", ">=", ">")


@jit
def holds(total: float, operator: int, bound: float, slack: float) -> bool:
    """Compare a sum with its bound; differences up to the slack are rounding."""
    if operator == 0:
        return total < bound - slack
    if operator == 1:
        return total <= bound + slack
    if operator == 2:
        return abs(total - bound) > slack
    if operator == 3:
        return abs(total - bound) <= slack
    if operator == 4:
        return total >= bound - slack
    return total > bound + slack


@jit
def surplus(graph: Any, edge: int) -> Any:
    """Return how many units of the items of an edge can leave their cluster before a minimum is reached."""
    cluster, group = graph.source[edge], graph.group[edge]
    least = np.int64(1) << 62
    for kind in range(graph.counts.shape[1]):
        if graph.member[group, kind]:
            least = min(least, graph.counts[cluster, kind] - graph.minimum[cluster, kind])
    return least


@jit
def keeps_sums(graph: Any, edge: int, item: int) -> bool:
    """Return whether the checked sums of both clusters still hold after one unit of an item has moved."""
    source, target = graph.source[edge], graph.target[edge]
    for j in range(graph.sums.shape[1]):
        value = graph.values[item, j]
        if value != 0:
            code, bound, slack = graph.operator[j], graph.bound[j], graph.slack[j]
            if not holds(graph.sums[source, j] - value, code, bound, slack):
                return False
            if not holds(graph.sums[target, j] + value, code, bound, slack):
                return False
    return True


@jit
def first_movable(graph: Any, edge: int) -> int:
    """Return the item of largest gain on an edge that may move now; -1 if none may."""
    if graph.edge_left[edge] == 0 or surplus(graph, edge) <= 0:
        return -1
    for item in range(graph.head[edge], graph.first[edge + 1]):
        if graph.left[item] > 0 and keeps_sums(graph, edge, item):
            return item
    return -1


@jit
def move(graph: Any, edge: int, item: int, units: int) -> None:
    """Move units of an item along its edge; a negative number takes them back."""
    source, target, group = graph.source[edge], graph.target[edge], graph.group[edge]
    graph.left[item] -= units
    graph.edge_left[edge] -= units
    for kind in range(graph.counts.shape[1]):
        if graph.member[group, kind]:
            graph.counts[source, kind] -= units
            graph.counts[target, kind] += units
    for j in range(graph.sums.shape[1]):
        graph.sums[source, j] -= units * graph.values[item, j]
        graph.sums[target, j] += units * graph.values[item, j]


@jit
def advance(graph: Any, edge: int) -> None:
    """Skip the items at the head of an edge that have moved."""
    while graph.head[edge] < graph.first[edge + 1] and graph.left[graph.head[edge]] == 0:
        graph.head[edge] += 1


@jit
def move_at_random(graph: Any, uniform: Any, items: Any, units: Any) -> int:
    """Move along edges drawn at random from those that leave a surplus cluster, until there are none.

    Each move uses one of the `uniform` numbers; if they do not suffice, the moves continue in another call. The items
    and units moved are written in order; their number is returned.
    """
    n_edges = len(graph.source)
    open_edges, movable = np.empty(n_edges, np.int64), np.empty(n_edges, np.int64)
    for n_moves in range(len(uniform)):
        n_open = 0
        for edge in range(n_edges):
            item = first_movable(graph, edge)
            if item >= 0:
                open_edges[n_open], movable[n_open] = edge, item
                n_open += 1
        if n_open == 0:
            return n_moves
        drawn = int(uniform[n_moves] * n_open)
        edge, item = open_edges[drawn], movable[drawn]
        n_units = graph.left[item]
        if graph.sums.shape[1] > 0:
            n_units = 1
        n_units = min(n_units, surplus(graph, edge))
        move(graph, edge, item, n_units)
        advance(graph, edge)
        items[n_moves], units[n_moves] = item, n_units
    return len(uniform)


@jit
def best_path(graph: Any, edges: Any, items: Any) -> int:
    """Find the path of largest total gain with at most ``len(edges)`` moves; return its length, 0 if there is none.

    A path starts in a surplus cluster, and each further move leaves the cluster that the move before has entered.
    Moves are made and taken back during the search, so that an edge used twice moves its next-best item.
    """
    depth = len(edges)
    edge_at, item_at, cluster_at = np.empty(depth, np.int64), np.empty(depth, np.int64), np.empty(depth, np.int64)
    total = np.zeros(depth + 1)
    best, length = 0.0, 0
    for start in range(len(graph.outgoing) - 1):
        level = 0
        cluster_at[0], edge_at[0] = start, graph.outgoing[start] - 1
        while level >= 0:
            edge_at[level] += 1
            edge = edge_at[level]
            if edge == graph.outgoing[cluster_at[level] + 1]:
                level -= 1
                if level >= 0:
                    move(graph, edge_at[level], item_at[level], -1)
                continue
            item = first_movable(graph, edge)
            if item < 0:
                continue
            item_at[level] = item
            total[level + 1] = total[level] + graph.gain[item]
            if total[level + 1] > best:
                best, length = total[level + 1], level + 1
                edges[:length], items[:length] = edge_at[:length], item_at[:length]
            if level + 1 < depth:
                move(graph, edge, item, 1)
                level += 1
                cluster_at[level], edge_at[level] = graph.target[edge], graph.outgoing[graph.target[edge]] - 1
    return length


@jit
def move_by_lookahead(graph: Any, depth: int, items: Any, units: Any) -> int:
    """Make the moves of the best path again and again, until there is none or the record of moves is full.

    A path through shares of several units is repeated while it can be.
    """
    path_edges, path_items = np.empty(depth, np.int64), np.empty(depth, np.int64)
    n_moves, length = 0, 0
    while n_moves + depth <= len(items):
        if not is_open(graph, path_edges[:length], path_items[:length]):
            length = best_path(graph, path_edges, path_items)
        if length == 0:
            break
        for place in range(length):
            move(graph, path_edges[place], path_items[place], 1)
            items[n_moves], units[n_moves] = path_items[place], 1
            n_moves += 1
        for place in range(length):
            advance(graph, path_edges[place])
    return n_moves


@jit
def is_open(graph: Any, edges: Any, items: Any) -> bool:
    """Return whether the moves of a path can be made, one after the other; False for a path without moves."""
    n_made = 0
    for edge, item in zip(edges, items):  # noqa: B905  (numba knows no strict)
        if first_movable(graph, edge) != item:
            break
        move(graph, edge, item, 1)
        n_made += 1
    for place in range(n_made):
        move(graph, edges[place], items[place], -1)
    return 0 < n_made == len(edges)


@jit
def find_cycle(graph: Any, group: int, roots: Any, closed: Any, cycle: Any) -> int:
    """Find a cycle of edges with items of one group by depth-first search from the roots; return its length or 0."""
    n_clusters = len(graph.outgoing) - 1
    state = np.zeros(n_clusters, np.int8)  # 0: not seen, 1: on the path, 2: no cycle leads through it
    edge_at = np.empty(n_clusters, np.int64)
    path = np.empty(n_clusters, np.int64)
    for root in roots:
        if state[root]:
            continue
        depth = 0
        path[0], edge_at[0], state[root] = root, graph.outgoing[root] - 1, 1
        while depth >= 0:
            edge_at[depth] += 1
            edge = edge_at[depth]
            if edge == graph.outgoing[path[depth] + 1]:
                state[path[depth]] = 2
                depth -= 1
                continue
            if graph.group[edge] != group or graph.edge_left[edge] == 0 or closed[edge]:
                continue
            following = graph.target[edge]
            if state[following] == 1:
                begin = 0
                while path[begin] != following:
                    begin += 1
                length = depth + 1 - begin
                cycle[:length] = edge_at[begin : depth + 1]
                return length
            if state[following] == 0:
                depth += 1
                path[depth], edge_at[depth], state[following] = following, graph.outgoing[following] - 1, 1
    return 0


@jit
def move_round_cycle(graph: Any, cycle: Any, n_units: int, items: Any, units: Any) -> int:
    """Move the units of largest gain along each edge of a cycle; return the number of items moved.

    Returns 0, with nothing moved, if a checked sum would not hold afterwards.
    """
    n_moves = 0
    edges = np.empty(len(items), np.int64)
    for edge in cycle:
        wanted, item = n_units, graph.head[edge]
        while wanted > 0:
            taken = min(wanted, graph.left[item])
            if taken > 0:
                move(graph, edge, item, taken)
                edges[n_moves], items[n_moves], units[n_moves] = edge, item, taken
                n_moves += 1
                wanted -= taken
            item += 1
    for edge in cycle:
        for j in range(graph.sums.shape[1]):
            if not holds(graph.sums[graph.source[edge], j], graph.operator[j], graph.bound[j], graph.slack[j]):
                for place in range(n_moves):
                    move(graph, edges[place], items[place], -units[place])
                return 0
    for edge in cycle:
        advance(graph, edge)
    return n_moves
