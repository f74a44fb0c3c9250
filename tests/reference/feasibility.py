"""Coloring by trying everything, and cores by their definition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from reference.random_links import Pairs


@cache
def all_assignments(n: int, k: int) -> NDArray[np.int64]:
    """Write out every assignment of n things to k clusters, one per line."""
    return np.indices((k,) * n).reshape(n, -1).T


def can_be_colored(n: int, edges: Pairs, k: int) -> bool:
    """Say whether some assignment to at most k colors has different colors at the ends of every edge."""
    colors = all_assignments(n, k)
    return bool(np.all([colors[:, i] != colors[:, j] for i, j in edges], axis=0).any()) if edges else True


def can_be_clustered(n: int, must_link: Pairs, cannot_link: Pairs, k: int) -> bool:
    """Say whether some assignment of the rows to k clusters keeps all links and leaves no cluster empty."""
    clusters = all_assignments(n, k)
    good = np.ones(len(clusters), dtype=bool)
    for i, j in must_link:
        good &= clusters[:, i] == clusters[:, j]
    for i, j in cannot_link:
        good &= clusters[:, i] != clusters[:, j]
    for cluster in range(k):
        good &= (clusters == cluster).any(axis=1)
    return bool(good.any())


def core_numbers(n: int, edges: Pairs) -> list[int]:
    """For each node the largest d such that it survives when nodes with fewer than d neighbors are taken away."""
    numbers = [0] * n
    for d in range(1, n):
        inside = set(range(n))
        while True:
            degree = {v: sum((i == v and j in inside) or (j == v and i in inside) for i, j in edges) for v in inside}
            staying = {v for v in inside if degree[v] >= d}
            if staying == inside:
                break
            inside = staying
        for v in inside:
            numbers[v] = d
    return numbers


def mycielski(n: int, edges: Pairs) -> tuple[int, Pairs]:
    """Make a graph that needs one color more and has no new triangle: a shadow of every node, and one more node."""
    shadowed = [pair for i, j in edges for pair in ((i, j), (i, j + n), (j, i + n))]
    return 2 * n + 1, shadowed + [(v + n, 2 * n) for v in range(n)]


def groetzsch() -> tuple[int, Pairs]:
    """Return the smallest graph without a triangle that needs four colors: 11 nodes, 20 edges."""
    return mycielski(*mycielski(2, [(0, 1)]))


def can_be_partitioned(n: int, must_link: Pairs, cannot_link: Pairs, k: int) -> bool:
    """Answer as `can_be_clustered`, for more rows: go through the partitions into k groups, one component at a time.

    A component joins a group without a cannot-linked one or opens a group; a branch ends where too few components are
    left to fill k groups.
    """
    components = _components(n, must_link)
    number = {row: place for place, rows in enumerate(components) for row in rows}
    apart: list[set[int]] = [set() for _ in components]
    for i, j in cannot_link:
        if number[i] == number[j]:
            return False
        apart[number[i]].add(number[j])
        apart[number[j]].add(number[i])
    # Most cannot-links first, so that a branch without a solution ends soon.
    order = sorted(range(len(components)), key=lambda component: -len(apart[component]))

    def extend(n_placed: int, groups: list[set[int]]) -> bool:
        if len(groups) + len(order) - n_placed < k:
            return False
        if n_placed == len(order):
            return len(groups) == k
        component = order[n_placed]
        for group in groups:
            if not group & apart[component]:
                group.add(component)
                if extend(n_placed + 1, groups):
                    return True
                group.discard(component)
        return len(groups) < k and extend(n_placed + 1, [*groups, {component}])

    return extend(0, [])


def can_be_sized(
    n: int, must_link: Pairs, cannot_link: Pairs, size_min: Sequence[int], size_max: Sequence[int]
) -> bool:
    """Say whether some assignment keeps all links and the size bounds of each cluster, one component at a time."""
    components = sorted(_components(n, must_link), key=len, reverse=True)
    if any(i in rows and j in rows for rows in components for i, j in cannot_link):
        return False

    def extend(n_placed: int, clusters: tuple[frozenset[int], ...], n_left: int) -> bool:
        short = sum(max(0, lowest - len(rows)) for lowest, rows in zip(size_min, clusters, strict=True))
        if short > n_left:
            return False
        if n_placed == len(components):
            return True
        component = components[n_placed]
        enemies = {a + b - row for row in component for a, b in cannot_link if row in (a, b)}
        tried = set()
        for c, rows in enumerate(clusters):
            # Clusters with the same rows and bounds are alike.
            kind = rows, size_min[c], size_max[c]
            if kind in tried or rows & enemies or len(rows) + len(component) > size_max[c]:
                continue
            tried.add(kind)
            grown = (*clusters[:c], rows | component, *clusters[c + 1 :])
            if extend(n_placed + 1, grown, n_left - len(component)):
                return True
        return False

    return extend(0, (frozenset(),) * len(size_min), n)


def _components(n: int, must_link: Pairs) -> list[set[int]]:
    """Join sets of rows for as long as a must-link connects two of them."""
    components = [{row} for row in range(n)]
    for i, j in must_link:
        joined = [rows for rows in components if i in rows or j in rows]
        components = [rows for rows in components if rows not in joined] + [set().union(*joined)]
    return components
