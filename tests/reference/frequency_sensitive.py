"""Frequency-sensitive k-means row by row, written from the formulas of chapter 8."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def cosine_score(cosine: float, count: float, memory: float, n_features: int) -> float:
    """(8.10): the larger, the better."""
    return (1 / count) * (cosine + 1 - count / (memory * n_features) * math.log(count))


def euclidean_cost(square: float, count: float, sign: float, n_features: int) -> float:
    """The original rule, or (8.3) as printed (sign 1) or as the model gives it (sign -1)."""
    return count * square + sign * n_features * math.log(count)


def winner(x: Any, centers: Any, counts: Any, *, metric: str, sign: float, memory: float) -> int:
    """The cluster of a row by the rule."""
    counts = [max(count, 1.0) for count in counts]
    if metric == "cosine":
        scores = [
            cosine_score(float(x @ center), count, memory, len(x))
            for center, count in zip(centers, counts, strict=True)
        ]
        return int(np.argmax(scores))
    costs = [
        euclidean_cost(float(((x - center) ** 2).sum()), count, sign, len(x))
        for center, count in zip(centers, counts, strict=True)
    ]
    return int(np.argmin(costs))


def present(
    X: Any, order: Any, centers: Any, counts: Any, *, metric: str, sign: float, memory: float, moves: bool
) -> list[int]:
    """Present rows in an order; centers and counts, lists of arrays and numbers, are changed."""
    labels = [-1] * len(X)
    for row in order:
        best = winner(X[row], centers, counts, metric=metric, sign=sign, memory=memory)
        labels[row] = best
        for cluster in range(len(counts)):
            counts[cluster] *= 1 - 1 / memory
        counts[best] += 1
        if moves:
            centers[best] = centers[best] + (X[row] - centers[best]) / max(counts[best], 1.0)
            if metric == "cosine":
                centers[best] = centers[best] / np.linalg.norm(centers[best])
    return labels
