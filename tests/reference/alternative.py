"""Non-redundant clustering from the formulas: information by sums over all cells, memberships row by row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mustlink._types import Floats, Ints


def entropy(labels: Ints) -> float:
    """H(C), class by class."""
    return -sum(p * math.log(p) for p in (np.mean(labels == name) for name in np.unique(labels)))


def conditional_mutual_information(joint: Floats) -> float:
    """I(A;B|Z) of a joint distribution with the axes a, b, z."""
    total = 0.0
    for a, b, z in np.argwhere(joint > 0):
        p_z = joint[:, :, z].sum()
        p_ab, p_a, p_b = joint[a, b, z] / p_z, joint[a, :, z].sum() / p_z, joint[:, b, z].sum() / p_z
        total += joint[a, b, z] * math.log(p_ab / (p_a * p_b))
    return total


def joint_of(X: Floats, weight: Floats, memberships: Floats, cell: Ints) -> Floats:
    """P(c,f,z) of rows that are distributions over the features."""
    joint = np.zeros((memberships.shape[1], X.shape[1], int(cell.max()) + 1))
    for x, w, p, z in zip(X, weight, memberships, cell, strict=True):
        joint[:, :, z] += w * np.outer(p, x)
    return joint


def objective(X: Floats, weight: Floats, memberships: Floats, cell: Ints, lam: float) -> float:
    """I(C;F|Z) + lam I(C;F)."""
    joint = joint_of(X, weight, memberships, cell)
    return conditional_mutual_information(joint) + lam * conditional_mutual_information(
        joint.sum(axis=2, keepdims=True)
    )


def variance_decrease(X: Floats, labels: Ints, cell: Ints, lam: float) -> float:
    """What takes the place of the objective for points: the decrease of squared distances, within cells and overall."""

    def scatter(groups: Any) -> float:
        return sum(float(np.square(X[rows] - X[rows].mean(axis=0)).sum()) for rows in groups) / len(X)

    def split(*parts: Ints) -> list[Ints]:
        keys = np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1].ravel()
        return [np.flatnonzero(keys == key) for key in np.unique(keys)]

    everything = [np.arange(len(X))]
    within = scatter(split(cell)) - scatter(split(cell, labels))
    return within + lam * (scatter(everything) - scatter(split(labels)))


def membership_update(
    X: Floats, weight: Floats, memberships: Floats, cell: Ints, lam: float, beta: float
) -> tuple[Floats, Floats]:
    """Equation 11.6 for counts, row by row, and the exponents."""
    joint = joint_of(X, weight, memberships, cell)
    p_c = joint.sum(axis=(1, 2))
    new, exponents = np.zeros_like(memberships), np.zeros_like(memberships)
    for i, (x, z) in enumerate(zip(X, cell, strict=True)):
        for c in range(len(p_c)):
            overall = joint[c].sum(axis=1) / p_c[c]
            within = joint[c, :, z] / joint[c, :, z].sum()
            exponents[i, c] = lam * (x[x > 0] @ np.log(overall[x > 0])) + x[x > 0] @ np.log(within[x > 0])
        row = np.log(p_c) + beta * exponents[i]
        row = np.exp(row - row.max())
        new[i] = row / row.sum()
    return new, exponents


def merge_cost(X: Floats, weight: Floats, labels: Ints, cell: Ints, lam: float, row: int, cluster: int) -> float:
    """The cost d(x,c) of putting a single row into a cluster, by Jensen-Shannon divergences."""
    others = np.arange(len(X)) != row

    def divergence(chosen: Any) -> float:
        mass = weight[chosen].sum()
        if mass == 0:
            return 0.0
        p, q = X[row], (weight[chosen, None] * X[chosen]).sum(axis=0) / mass
        share = weight[row] / (weight[row] + mass)
        mean = share * p + (1 - share) * q
        parts = [(share, p), (1 - share, q)]
        return (weight[row] + mass) * sum(part * float(r[r > 0] @ np.log(r[r > 0] / mean[r > 0])) for part, r in parts)

    inside = others & (labels == cluster)
    return lam * divergence(inside) + divergence(inside & (cell == cell[row]))


def category_utility(labels: Ints, other: Ints) -> float:
    """U(C,C'): how much better classes are guessed with the clusters known."""
    found = 0.0
    for name in np.unique(labels):
        inside = labels == name
        found += inside.mean() * sum(np.mean(other[inside] == q) ** 2 for q in np.unique(other))
    return found - sum(np.mean(other == q) ** 2 for q in np.unique(other))


def quadratic_entropy(labels: Ints) -> float:
    """Generalized entropy of degree 2."""
    return (sum(np.mean(labels == name) ** 2 for name in np.unique(labels)) - 1) / (2 ** (1 - 2) - 1)


def quadratic_information(labels: Ints, other: Ints) -> float:
    """I^2(C;C') = H^2(C') - H^2(C'|C)."""
    left = sum(np.mean(labels == name) * quadratic_entropy(other[labels == name]) for name in np.unique(labels))
    return quadratic_entropy(other) - left


def residuals(X: Floats, cell: Ints, numbers: Floats) -> Floats:
    """What is left of the rows without the part that cells and numbers explain: one regression per column."""
    design = np.zeros((len(X), int(cell.max()) + 1 + numbers.shape[1]))
    for row in range(len(X)):
        design[row, cell[row]] = 1.0
        design[row, int(cell.max()) + 1 :] = numbers[row]
    found = np.zeros(X.shape)
    for column in range(X.shape[1]):
        found[:, column] = X[:, column] - design @ (np.linalg.pinv(design) @ X[:, column])
    return found
