"""Hard constraints by trying everything, and COP-KMeans as it was published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from reference.lloyd import Floats, inertia, means, squared_distance
from reference.random_links import Pairs


def valid_labelings(n: int, n_clusters: int, must_link: Pairs, cannot_link: Pairs) -> Iterator[list[int]]:
    """List all labelings that keep all links, empty clusters allowed."""
    for labels in product(range(n_clusters), repeat=n):
        if all(labels[i] == labels[j] for i, j in must_link) and all(labels[i] != labels[j] for i, j in cannot_link):
            yield list(labels)


def optimum(X: Floats, n_clusters: int, must_link: Pairs, cannot_link: Pairs) -> tuple[float, list[int]] | None:
    """Return the least inertia of a labeling that keeps all links and leaves no cluster empty, and the labeling."""
    weight, centers = np.ones(len(X)), np.zeros((n_clusters, X.shape[1]))
    best: tuple[float, list[int]] | None = None
    for labels in valid_labelings(len(X), n_clusters, must_link, cannot_link):
        if len(set(labels)) == n_clusters:
            value = inertia(X, labels, means(X, labels, weight, centers), weight)
            if best is None or value < best[0]:
                best = value, labels
    return best


def cheapest_placement(costs: Floats, edges: Pairs) -> float | None:
    """Return the least cost of giving each node a cluster, the two ends of an edge different ones."""
    n_nodes, n_clusters = costs.shape
    return min(
        (
            sum(float(costs[node, c]) for node, c in enumerate(labels))
            for labels in product(range(n_clusters), repeat=n_nodes)
            if all(labels[i] != labels[j] for i, j in edges)
        ),
        default=None,
    )


def published_assignment(
    X: Floats, centers: Floats, must_link: Pairs, cannot_link: Pairs, order: Sequence[int]
) -> list[int] | None:
    """Assign one row after the other to the nearest cluster that breaks no link with the rows before; None if stuck."""
    labels: dict[int, int] = {}

    def violates(i: int, c: int) -> bool:
        partners = [(a, b) for a, b in must_link if i in (a, b)]
        enemies = [(a, b) for a, b in cannot_link if i in (a, b)]
        return any(labels.get(a + b - i, c) != c for a, b in partners) or any(
            labels.get(a + b - i) == c for a, b in enemies
        )

    for i in order:
        nearest_first = np.argsort([squared_distance(X[i], center) for center in centers], kind="stable")
        allowed = [int(c) for c in nearest_first if not violates(i, int(c))]
        if not allowed:
            return None
        labels[i] = allowed[0]
    return [labels[i] for i in range(len(X))]
