"""k-means by its definition, one row at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def squared_distance(a: Floats, b: Floats) -> float:
    """Sum the squared differences of two rows."""
    return float(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def inertia(X: Floats, labels: list[int], centers: Floats, weight: Floats) -> float:
    """Return the weighted sum of squared distances of the rows to their centers."""
    return sum(w * squared_distance(x, centers[c]) for x, c, w in zip(X, labels, weight, strict=True))


def means(X: Floats, labels: list[int], weight: Floats, centers: Floats) -> Floats:
    """Return the weighted mean of each cluster; an empty one keeps its center."""
    new = centers.copy()
    for c in range(len(centers)):
        members = [i for i, label in enumerate(labels) if label == c]
        total = sum(weight[i] for i in members)
        if total > 0:
            new[c] = sum(weight[i] * X[i] for i in members) / total
    return new


def lloyd(X: Floats, centers: Floats, weight: Floats, max_iter: int = 300) -> tuple[list[int], Floats]:
    """Assign and average until no label changes; empty clusters stay where they are."""
    labels: list[int] = []
    for _ in range(max_iter):
        new = [int(np.argmin([squared_distance(x, center) for center in centers])) for x in X]
        if new == labels:
            break
        labels = new
        centers = means(X, labels, weight, centers)
    return labels, centers
