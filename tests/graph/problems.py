"""Random small graphs with points, for the tests of connected clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist


def random_graph(rng: np.random.Generator, n: int, *, n_more: int | None = None, n_parts: int = 1) -> Any:
    """A random tree for each part, and some more edges within parts."""
    part = np.sort(np.concatenate([np.arange(n_parts), rng.integers(n_parts, size=n - n_parts)]))
    graph = np.zeros((n, n), dtype=int)
    for row in range(n):
        before = np.flatnonzero(part[:row] == part[row])
        if len(before):
            other = rng.choice(before)
            graph[row, other] = graph[other, row] = 1
    for _ in range(n // 2 if n_more is None else n_more):
        a, b = rng.integers(n, size=2)
        if a != b and part[a] == part[b]:
            graph[a, b] = graph[b, a] = 1
    order = rng.permutation(n)
    return graph[np.ix_(order, order)]


def random_points(rng: np.random.Generator, n: int) -> Any:
    """Points in the plane; on a small grid in some problems, so that there are ties and equal rows."""
    return rng.integers(4, size=(n, 2)).astype(float) if rng.random() < 0.4 else rng.normal(size=(n, 2))


def check_clusters(graph: Any, labels: Any, centers: Any = None) -> None:
    """Every cluster is connected, numbered from 0 without gaps, and has its center."""
    found = np.unique(labels[labels >= 0])
    assert np.array_equal(found, np.arange(len(found)))
    for label in found:
        rows = np.flatnonzero(labels == label)
        assert connected_components(graph[rows][:, rows])[0] == 1, f"cluster {label} is not connected"
    if centers is not None:
        assert np.array_equal(labels[centers], found)


def distances_between(X: Any) -> Any:
    """All Euclidean distances."""
    return cdist(X, X)
