"""Kernels for graph coloring: smallest-last order, greedy coloring, cliques, and DSATUR with a budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mustlink._jit import jit


@jit
def smallest_last_order(
    indptr: NDArray[np.int64], indices: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order the nodes so that none has more neighbors after it than its core number; return order and numbers.

    The core number of a node is the largest d such that it belongs to a part of the graph in which all have d
    or more neighbors. The order is ascending in it, and its maximum is the degeneracy of the graph.

    Nodes are kept sorted by degree in one array; a node whose degree falls by one changes places with the first
    node of its degree (Batagelj and Zaversnik 2003).
    """
    n = len(indptr) - 1
    degree = indptr[1:] - indptr[:-1]
    most = 0
    for node in range(n):
        most = max(most, degree[node])
    start = np.zeros(most + 2, dtype=np.int64)
    for node in range(n):
        start[degree[node] + 1] += 1
    for d in range(most + 1):
        start[d + 1] += start[d]
    order = np.empty(n, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    free = start.copy()
    for node in range(n):
        place[node] = free[degree[node]]
        order[place[node]] = node
        free[degree[node]] += 1
    for position in range(n):
        node = order[position]
        for edge in range(indptr[node], indptr[node + 1]):
            neighbor = indices[edge]
            d = degree[neighbor]
            if d > degree[node]:
                first = max(start[d], position + 1)
                other = order[first]
                order[place[neighbor]], order[first] = other, neighbor
                place[other], place[neighbor] = place[neighbor], first
                start[d] = first + 1
                degree[neighbor] = d - 1
    return order, degree


@jit
def color_greedily(
    indptr: NDArray[np.int64], indices: NDArray[np.int64], order: NDArray[np.int64], given: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give each node in turn the smallest color that no neighbor has; colors given are kept, -1 is none."""
    n = len(order)
    colors = given.copy()
    taken_by = np.full(n + 1, -1, dtype=np.int64)
    for node in order:
        if colors[node] >= 0:
            continue
        for edge in range(indptr[node], indptr[node + 1]):
            color = colors[indices[edge]]
            if color >= 0:
                taken_by[color] = node
        color = 0
        while taken_by[color] == node:
            color += 1
        colors[node] = color
    return colors


@jit
def grow_clique(indptr: NDArray[np.int64], indices: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Grow a clique from each of the first nodes of the order, and return the largest."""
    n = len(order)
    best = np.empty(0, dtype=np.int64)
    clique = np.empty(n, dtype=np.int64)
    n_met = np.zeros(n, dtype=np.int64)
    for position in range(min(n, 200)):
        n_met[:] = 0
        size = 0
        candidate = order[position]
        while candidate >= 0:
            clique[size] = candidate
            size += 1
            for edge in range(indptr[candidate], indptr[candidate + 1]):
                n_met[indices[edge]] += 1
            # A node adjacent to the whole clique is adjacent to its latest member; take the one of highest degree.
            latest, candidate = candidate, -1
            for edge in range(indptr[latest], indptr[latest + 1]):
                node = indices[edge]
                degree = indptr[node + 1] - indptr[node]
                if n_met[node] == size and (candidate < 0 or degree > indptr[candidate + 1] - indptr[candidate]):
                    candidate = node
        if size > len(best):
            best = clique[:size].copy()
    return best


@jit
def most_saturated(colors: NDArray[np.int64], saturation: NDArray[np.int64], indptr: NDArray[np.int64]) -> int:
    """Choose the uncolored node whose neighbors have most colors; among those, the one of highest degree."""
    best = -1
    for node in range(len(colors)):
        if colors[node] < 0 and (
            best < 0
            or saturation[node] > saturation[best]
            or (
                saturation[node] == saturation[best]
                and indptr[node + 1] - indptr[node] > indptr[best + 1] - indptr[best]
            )
        ):
            best = node
    return best


@jit
def color_by_search(
    indptr: NDArray[np.int64], indices: NDArray[np.int64], n_colors: int, budget: int
) -> tuple[int, NDArray[np.int64], int]:
    """Color a graph with at most n_colors colors, backtracking, most saturated node first (Brelaz 1979).

    Returns 1 with the colors, 0 if there is none, or -1 when the budget is used up; and the steps taken.
    """
    n = len(indptr) - 1
    colors = np.full(n, -1, dtype=np.int64)
    met = np.zeros((n, n_colors), dtype=np.int64)
    saturation = np.zeros(n, dtype=np.int64)
    node_at = np.empty(n + 1, dtype=np.int64)
    next_color = np.zeros(n + 1, dtype=np.int64)
    n_used = np.zeros(n + 1, dtype=np.int64)
    depth, steps = 0, 0
    node_at[0] = most_saturated(colors, saturation, indptr)
    while depth < n:
        node = node_at[depth]
        color = next_color[depth]
        # All unused colors are equivalent; only the first of them is tried.
        while color < min(n_colors, n_used[depth] + 1) and met[node, color] > 0:
            color += 1
        if color < min(n_colors, n_used[depth] + 1):
            colors[node] = color
            for edge in range(indptr[node], indptr[node + 1]):
                neighbor = indices[edge]
                if met[neighbor, color] == 0:
                    saturation[neighbor] += 1
                met[neighbor, color] += 1
            next_color[depth] = color + 1
            n_used[depth + 1] = max(n_used[depth], color + 1)
            depth += 1
            steps += n + indptr[node + 1] - indptr[node]
            if depth < n:
                node_at[depth] = most_saturated(colors, saturation, indptr)
                next_color[depth] = 0
        else:
            depth -= 1
            if depth < 0:
                return 0, colors, steps
            node = node_at[depth]
            color = colors[node]
            colors[node] = -1
            for edge in range(indptr[node], indptr[node + 1]):
                neighbor = indices[edge]
                met[neighbor, color] -= 1
                if met[neighbor, color] == 0:
                    saturation[neighbor] -= 1
        if steps > budget:
            return -1, colors, steps
    return 1, colors, steps
