"""Agglomeration by the definitions: every step compares all pairs of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from mustlink.constraints import Constraints

Cluster = frozenset[int]


def between(one: Cluster, other: Cluster, distances: np.ndarray, linkage: str) -> float:
    """Return the distance of two clusters by the definition of the linkage."""
    block = distances[np.ix_(sorted(one), sorted(other))]
    if linkage == "ward":
        # The increase of the sum of squares, from distances alone: that of a set is sum d^2 / (2 size).
        def scatter(rows: Cluster) -> float:
            inner = distances[np.ix_(sorted(rows), sorted(rows))]
            return float((inner**2).sum() / (2 * len(rows)))

        growth = scatter(one | other) - scatter(one) - scatter(other)
        return float(np.sqrt(max(0.0, 2 * growth)))
    return float({"single": block.min, "complete": block.max, "average": block.mean}[linkage]())


def allowed_pairs(clusters: list[Cluster], links: Constraints) -> list[tuple[Cluster, Cluster]]:
    """Return the pairs of clusters without a cannot-link between them."""
    forbidden = [set(pair) for pair in links.cannot_link.tolist()]
    return [
        (one, other)
        for one, other in combinations(clusters, 2)
        if not any(pair <= one | other and pair & one and pair & other for pair in forbidden)
    ]


def within_reach(links: Constraints, n_rows: int, n_clusters: int) -> Callable[[list[Cluster]], bool]:
    """Return a function that checks whether n_clusters clusters can still be reached, by Constraints.feasible."""

    def can(clusters: list[Cluster]) -> bool:
        chains = [(a, b) for rows in clusters for a, b in zip(sorted(rows), sorted(rows)[1:], strict=False)]
        return bool(Constraints(chains, links.cannot_link, contradictions="majority").feasible(n_clusters, n_rows))

    return can


def replay(linkage_matrix: np.ndarray, n_rows: int) -> Iterator[tuple[list[Cluster], Cluster, Cluster, float]]:
    """Yield for every row of a linkage matrix the clusters before it, the two joined, and the height."""
    nodes: dict[int, Cluster] = {row: frozenset([row]) for row in range(n_rows)}
    for number, (a, b, height, size) in enumerate(linkage_matrix):
        one, other = nodes[int(a)], nodes[int(b)]
        assert size == len(one | other)
        yield list(nodes.values()), one, other, float(height)
        del nodes[int(a)], nodes[int(b)]
        nodes[n_rows + number] = one | other


def klein_distances(distances: np.ndarray, must_link: np.ndarray) -> np.ndarray:
    """Set must-linked pairs to 0, and take the shortest paths through all rows (Floyd and Warshall)."""
    shortest = distances.copy()
    for a, b in must_link:
        shortest[a, b] = shortest[b, a] = 0.0
    for stop in range(len(shortest)):
        shortest = np.minimum(shortest, shortest[:, [stop]] + shortest[[stop], :])
    return shortest
