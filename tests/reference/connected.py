"""Slow and obvious versions of the connected k-center problem, of Algorithms 2 and 3 of its source, and of growth."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components


def is_connected(graph: Any, rows: Any) -> bool:
    """Whether the rows induce one connected subgraph."""
    rows = list(rows)
    return len(rows) > 0 and connected_components(graph[np.ix_(rows, rows)])[0] == 1


def simple_paths(graph: Any, start: int, end: int) -> Iterator[list[int]]:
    """All paths between two rows that visit no row twice."""

    def extend(path: list[int]) -> Iterator[list[int]]:
        if path[-1] == end:
            yield path
            return
        for other in np.flatnonzero(graph[path[-1]]):
            if int(other) not in path:
                yield from extend([*path, int(other)])

    yield from extend([start])


def reach_by_paths(graph: Any, distances: Any, u: int, v: int) -> float:
    """R(u, v) by its definition: the minimum over all paths of the largest distance from u."""
    return min((max(distances[u, s] for s in path) for path in simple_paths(graph, u, v)), default=math.inf)


def reach_by_balls(graph: Any, distances: Any) -> Any:
    """R as the least radius r for which v is connected with u inside the ball of radius r around u."""
    n = len(graph)
    reach = np.full((n, n), np.inf)
    for u in range(n):
        for r in sorted(set(distances[u]), reverse=True):
            ball = np.flatnonzero(distances[u] <= r)
            _, piece = connected_components(graph[np.ix_(ball, ball)])
            reach[u, ball[piece == piece[list(ball).index(u)]]] = r
    return reach


def partitions(n: int, k: int) -> Iterator[list[int]]:
    """All partitions of n rows into exactly k blocks, as labels."""

    def extend(labels: list[int], used: int) -> Iterator[list[int]]:
        if len(labels) == n:
            if used == k:
                yield labels
            return
        for label in range(min(used + 1, k)):
            yield from extend([*labels, label], max(used, label + 1))

    yield from extend([], 0)


def radius_of(distances: Any, labels: Any) -> float:
    """The largest radius of a cluster, around its best center inside it."""
    labels = np.asarray(labels)
    blocks = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return max(min(max(distances[c, v] for v in block) for c in block) for block in blocks)


def disjoint_optimum(graph: Any, distances: Any, k: int) -> float:
    """The optimum of CkC by trying all partitions."""
    best = math.inf
    for labels in partitions(len(graph), k):
        given = np.array(labels)
        if all(is_connected(graph, np.flatnonzero(given == label)) for label in range(k)):
            best = min(best, radius_of(distances, given))
    return best


def overlapping_optimum(graph: Any, distances: Any, k: int) -> float:
    """The optimum of CkC', whose clusters may overlap, by trying all sets of centers."""
    reach = reach_by_balls(graph, distances)
    return min(reach[list(centers)].min(axis=0).max() for centers in combinations(range(len(graph)), k))


def algorithm_2(graph: Any, members: list[set[int]], centers: list[int], order: list[int]) -> list[int]:
    """Disjoint clusters from overlapping ones, as printed: leftovers join assigned rows, searched from all at once."""
    labels = [-1] * len(graph)

    def spread(queue: list[int], inside: set[int]) -> None:
        while queue:
            row = queue.pop(0)
            for other in np.flatnonzero(graph[row]):
                if int(other) in inside and labels[other] < 0:
                    labels[other] = labels[row]
                    queue.append(int(other))

    for i in order:
        if labels[centers[i]] < 0:
            labels[centers[i]] = i
            spread([centers[i]], members[i])
        spread([row for row in sorted(members[i]) if labels[row] >= 0], members[i])
    return labels


def grow_with_heap(graph: Any, lines: Any, seeds: list[int]) -> tuple[list[int], list[float]]:
    """Continuous growth: one queue of (key, distance, row, cluster), of which entries of assigned rows are ignored."""
    labels, keys = [-1] * len(graph), [math.inf] * len(graph)
    queue: list[tuple[float, float, int, int]] = []
    for c, seed in enumerate(seeds):
        labels[seed], keys[seed] = c, lines[c][seed]

    def push(row: int) -> None:
        c = labels[row]
        for other in np.flatnonzero(graph[row]):
            if labels[other] < 0:
                heapq.heappush(queue, (max(keys[row], lines[c][other]), lines[c][other], int(other), c))

    for seed in seeds:
        push(seed)
    while queue:
        key, _, row, c = heapq.heappop(queue)
        if labels[row] < 0:
            labels[row], keys[row] = c, key
            push(row)
    return labels, keys


def grow_by_rounds(
    graph: Any, lines: Any, seeds: list[int], first: float, step: float, orders: Any
) -> tuple[list[int], list[float]]:
    """Algorithm 3 as corrected: every round anew from the unassigned neighbors of all rows of a cluster.

    The order of the queue is that in which rows were assigned and, in a round, waited; later rounds without an
    assignment use up no order.
    """
    n, k = len(graph), len(seeds)
    labels, thresholds = [-1] * n, [math.inf] * n
    waiting: list[list[int]] = [[] for _ in range(k)]

    def neighbors(row: int) -> list[int]:
        return [int(other) for other in np.flatnonzero(graph[row])]

    def assign(row: int, c: int, radius: float) -> None:
        labels[row], thresholds[row] = c, radius
        waiting[c].extend(other for other in neighbors(row) if labels[other] < 0)

    for c, seed in enumerate(seeds):
        labels[seed], thresholds[seed] = c, first
    for c, seed in enumerate(seeds):
        waiting[c].extend(other for other in neighbors(seed) if labels[other] < 0)
    radius, n_rounds = first, 0
    while any(label < 0 for label in labels):
        before = list(labels)
        for c in orders[n_rounds % len(orders)]:
            queue, waiting[c] = waiting[c], []
            # Rows that are assigned to c in this turn append to waiting[c], which is worked off in the same turn.
            late: list[int] = []
            while queue or waiting[c]:
                if not queue:
                    queue, waiting[c] = waiting[c], []
                q = queue.pop(0)
                if labels[q] >= 0:
                    continue
                if lines[c][q] > radius:
                    late.append(q)
                    continue
                assign(q, choose(graph, lines, labels, q, c, radius, k), radius)
            waiting[c] = late
        if labels != before or radius == first:
            n_rounds += 1
        radius = radius + step
    return labels, thresholds


def choose(graph: Any, lines: Any, labels: list[int], q: int, c: int, radius: float, k: int) -> int:
    """The look-ahead for potential bridges."""
    around = [int(other) for other in np.flatnonzero(graph[q])]
    eligible = sorted({labels[other] for other in around if labels[other] >= 0 and lines[labels[other]][q] <= radius})
    unassigned = [other for other in around if labels[other] < 0]
    if len(eligible) < 2 or not unassigned:
        return c
    unary = [other for other in unassigned if np.count_nonzero(graph[other]) == 1]
    if not unary:
        return min(eligible, key=lambda j: (lines[j][q], j))
    if len(unary) == 1:
        return min(eligible, key=lambda j: (lines[j][unary[0]], lines[j][q], j))

    def increase(j: int) -> float:
        now = max((lines[j][row] for row in range(len(labels)) if labels[row] == j), default=0.0)
        return max(now, lines[j][q], *(lines[j][row] for row in unary)) - now

    return min(eligible, key=lambda j: (increase(j), lines[j][q], j))


def farthest_first(reach: Any, k: int, start: int) -> tuple[list[int], float]:
    """Each next center is the row that those before reach last."""
    centers = [start]
    while len(centers) < k:
        least = reach[centers].min(axis=0).copy()
        least[centers] = -1.0
        centers.append(int(least.argmax()))
    return centers, float(reach[centers].min(axis=0).max())


def caterpillar(k: int) -> tuple[Any, Any, list[int]]:
    """The example in which Algorithm 2 reaches 2 k - 1 times the radius: points on a line, edges, and the centers."""
    points = [2.0 * i for i in range(k)] + [2.0 * i + 1 for i in range(k)]
    graph = np.zeros((2 * k, 2 * k), dtype=int)
    edges = [(0, k), *((i, k + i - 1) for i in range(1, k)), *((k + i - 1, k + i) for i in range(1, k))]
    for a, b in edges:
        graph[a, b] = graph[b, a] = 1
    return np.array(points)[:, None], graph, list(range(k))


def is_satisfiable(formula: list[list[int]], n_variables: int) -> bool:
    """Whether a formula, clauses of literals such as 1 or -1, is satisfiable, by trying all assignments."""
    return any(
        all(any((mask >> (abs(lit) - 1) & 1) == (lit > 0) for lit in clause) for clause in formula)
        for mask in range(2**n_variables)
    )


def gadget(formula: list[list[int]], n_variables: int) -> tuple[Any, Any]:
    """Points on a line and a graph with two connected clusters of radius 1 if and only if a formula is satisfiable."""
    literals = [sign * variable for variable in range(1, n_variables + 1) for sign in (1, -1)]
    names: list[Any] = ["p0", "p1", *literals]
    points = [1.0, 3.0, *[2.0] * len(literals)]
    edges = [(end, literal) for literal in literals for end in ("p0", "p1")]
    for number, clause in enumerate(formula):
        names.append(("clause", number))
        points.append(4.0)
        edges += [(("clause", number), literal) for literal in set(clause)]
    for variable in range(1, n_variables + 1):
        for kind, place in (("a", 4.0), ("b", 0.0)):
            names.append((kind, variable))
            points.append(place)
            edges += [((kind, variable), variable), ((kind, variable), -variable)]
    graph = np.zeros((len(names), len(names)), dtype=int)
    for one, other in edges:
        a, b = names.index(one), names.index(other)
        graph[a, b] = graph[b, a] = 1
    return np.array(points)[:, None], graph


def all_orders(k: int) -> list[list[int]]:
    """All orders of k centers."""
    return [list(order) for order in permutations(range(k))]
