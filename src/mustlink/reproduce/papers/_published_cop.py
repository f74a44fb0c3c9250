"""COP k-means as published, which gives up when a row has no cluster left; COPKMeans searches further."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import euclidean_distances

from mustlink._types import Array, Floats, Ints
from mustlink.constraints import Closure, Constraints


def published_cop(X: Array, links: Constraints, init: Floats, max_iter: int, rng: np.random.RandomState) -> Ints | None:
    """Cluster from given centers, the rows in random order; None if a row has no cluster left."""
    closure, centers = links.closure(len(X)), init.copy()
    labels = np.full(len(X), -1)
    for _ in range(max_iter):
        placed = place_in_order(X, centers, closure, rng)
        if placed is None or np.array_equal(placed, labels):
            return placed
        labels = placed
        for cluster in np.unique(labels):
            centers[cluster] = X[labels == cluster].mean(axis=0)
    return labels


def place_in_order(X: Array, centers: Floats, closure: Closure, rng: np.random.RandomState) -> Ints | None:
    """Put each row, in random order, into the nearest cluster that its links allow; None if there is none."""
    distance, graph = euclidean_distances(X, centers, squared=True), closure.graph()
    blocked = np.zeros((closure.n_components, len(centers)), dtype=bool)
    cluster = np.full(closure.n_components, -1)
    for row in rng.permutation(len(X)):
        component = closure.component[row]
        if cluster[component] < 0:
            if blocked[component].all():
                return None
            cluster[component] = np.where(blocked[component], np.inf, distance[row]).argmin()
            apart = graph.indices[graph.indptr[component] : graph.indptr[component + 1]]
            blocked[apart, cluster[component]] = True
    return np.asarray(cluster[closure.component], dtype=np.int64)
