"""The distortions of HMRFKMeans column by column, its objective, and spherical k-means by its definition."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from mustlink import Constraints
from reference.lloyd import Floats


def euclidean(x: Floats, y: Floats, weights: Floats) -> float:
    """Sum the weighted squared differences."""
    return float(sum(a * (p - q) ** 2 for p, q, a in zip(x, y, weights, strict=True)))


def cosine(x: Floats, y: Floats, weights: Floats) -> float:
    """Return one less the weighted cosine."""
    product = sum(a * p * q for p, q, a in zip(x, y, weights, strict=True))
    norms = sqrt(sum(a * p * p for p, a in zip(x, weights, strict=True)))
    norms *= sqrt(sum(a * q * q for q, a in zip(y, weights, strict=True)))
    return 1 - product / norms if norms else 1.0


def divergence(x: Floats, y: Floats, weights: Floats) -> float:
    """Sum the weighted I-divergences of the columns."""
    return float(
        sum(a * ((p * log(p / q) if p else 0.0) - p + q) for p, q, a in zip(x, y, weights, strict=True) if p or q)
    )


def divergence_from_mean(x: Floats, y: Floats, weights: Floats) -> float:
    """Sum the divergences of two rows from their mean."""
    return divergence(x, (x + y) / 2, weights) + divergence(y, (x + y) / 2, weights)


TO_CENTER = {"euclidean": euclidean, "cosine": cosine, "i-divergence": divergence}
BETWEEN = {"euclidean": euclidean, "cosine": cosine, "i-divergence": divergence_from_mean}


def objective(
    name: str,
    X: Floats,
    links: Constraints,
    penalty: float,
    labels: list[int],
    centers: Floats,
    weights: Floats,
    longest: float,
) -> float:
    """Return the objective without the prior of the weights."""
    total = sum(TO_CENTER[name](x, centers[c], weights) for x, c in zip(X, labels, strict=True))
    for (i, j), w in zip(links.must_link, links.must_link_weight, strict=True):
        if labels[i] != labels[j]:
            total += penalty * w * BETWEEN[name](X[i], X[j], weights)
    for (i, j), w in zip(links.cannot_link, links.cannot_link_weight, strict=True):
        if labels[i] == labels[j]:
            total += penalty * w * (longest - BETWEEN[name](X[i], X[j], weights))
    return total


def spherical_k_means(X: Floats, centers: Floats, max_iter: int = 100) -> tuple[list[int], Floats]:
    """Assign by the cosine and add up unit rows until no label changes; empty clusters stay where they are."""
    unit = np.array([x / sqrt(float(x @ x)) for x in X])
    labels: list[int] = []
    for _ in range(max_iter):
        new = [int(np.argmax([float(x @ c) / sqrt(float(c @ c)) for c in centers])) for x in unit]
        if new == labels:
            break
        labels = new
        for c in range(len(centers)):
            members = [x for x, label in zip(unit, labels, strict=True) if label == c]
            if members:
                total = np.sum(members, axis=0)
                centers[c] = total / sqrt(float(total @ total))
    return labels, centers
