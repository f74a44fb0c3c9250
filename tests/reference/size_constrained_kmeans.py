"""k-means with sizes by its definition: every assignment by copies of clusters and the Hungarian method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.float64]

# More than any row costs: places that must be filled, or rows that may not be in them.
NEVER = 1e7


def cost(x: Floats, center: Floats, metric: str) -> float:
    """Return the squared distance, or the sum of absolute differences."""
    powers = {"sqeuclidean": 2, "manhattan": 1}
    return float(sum(abs(a - b) ** powers[metric] for a, b in zip(x, center, strict=True)))


def cheapest(costs: Floats, size_min: Any, size_max: Any) -> tuple[list[int], float]:
    """Assign rows by a square table of places: those up to the minimum must be filled, those beyond it may be."""
    n, k = costs.shape
    lowest = np.broadcast_to(0 if size_min is None else size_min, k)
    highest = np.minimum(np.broadcast_to(n if size_max is None else size_max, k), n)
    required = [c for c in range(k) for _ in range(lowest[c])]
    optional = [c for c in range(k) for _ in range(highest[c] - lowest[c])]
    places = required + optional
    table = costs[:, places]
    # Padding rows fill the places that no row takes, at a cost that keeps them out of the required ones.
    n_empty = len(places) - n
    nobody = np.zeros((n_empty, len(places)))
    nobody[:, : len(required)] = NEVER
    rows, columns = linear_sum_assignment(np.vstack([table, nobody]))
    labels = [places[column] for column in columns[:n]]
    return labels, float(sum(costs[i, labels[i]] for i in rows[:n]))


def center_of(members: Floats, metric: str) -> Floats:
    """Return the mean, or the median of each column."""
    return members.mean(axis=0) if metric == "sqeuclidean" else np.median(members, axis=0)


def size_constrained_kmeans(
    X: Floats, centers: Floats, *, size_min: Any = None, size_max: Any = None, metric: str = "sqeuclidean"
) -> tuple[list[int], Floats, list[float]]:
    """Assign and update until the objective no longer falls; return labels, centers and the objectives."""
    objective: list[float] = []
    labels: list[int] = []
    while True:
        costs = np.array([[cost(x, center, metric) for center in centers] for x in X])
        new, total = cheapest(costs, size_min, size_max)
        if objective and total >= sum(costs[i, c] for i, c in enumerate(labels)) * (1 - 1e-12):
            return labels, centers, objective
        labels = new
        objective.append(total)
        centers = centers.copy()
        for c in set(labels):
            centers[c] = center_of(X[[i for i, label in enumerate(labels) if label == c]], metric)


class SlowSizeConstrainedKMeans:
    """The slow version as a clusterer, from the parameters of the fast one."""

    def __init__(self, fast: Any) -> None:
        self._init = np.asarray(fast.init, dtype=np.float64)
        self._options = {"size_min": fast.size_min, "size_max": fast.size_max, "metric": fast.metric}

    def fit_predict(self, X: Floats) -> Any:
        """Find the clusters."""
        labels, self.cluster_centers_, self.objective_ = size_constrained_kmeans(X, self._init, **self._options)
        return np.array(labels)
