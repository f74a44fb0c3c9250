"""Weights of columns from links, from the formulas, one column and one link at a time."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm


def weigh_columns(weighting, differences, is_must, weight, variance):
    """Return sqrt(max(0, (q - m) / (m + v))) or the screen of z; the largest is one."""
    n_columns = differences.shape[1]
    together = [moments(differences[:, j], weight * is_must, variance[j]) for j in range(n_columns)]
    apart = [moments(differences[:, j], weight * ~is_must, variance[j]) for j in range(n_columns)]
    if weighting == "ratio":
        found = [
            math.sqrt(max(0.0, (q - m) / (m + variance[j]))) if m + variance[j] > 0 else 0.0
            for j, ((m, _), (q, _)) in enumerate(zip(together, apart, strict=True))
        ]
    else:
        z = [
            (q - m) / math.sqrt(m_error + q_error) if m_error + q_error > 0 else 0.0
            for (m, m_error), (q, q_error) in zip(together, apart, strict=True)
        ]
        found = screen(z)
    largest = max(found, default=0.0)
    return np.array([each / largest for each in found] if largest > 0 else [1.0] * n_columns)


def moments(column, weight, variance):
    """Return the weighted mean square of one column and its squared error; of random pairs if there is no weight."""
    total = sum(weight)
    if total == 0:
        return 2 * variance, 0.0
    mean = sum(w / total * d**2 for w, d in zip(weight, column, strict=True))
    spread = sum(w / total * (d**2 - mean) ** 2 for w, d in zip(weight, column, strict=True))
    n_effective = 1 / sum((w / total) ** 2 for w in weight)
    return mean, spread / max(n_effective - 1, 1.0)


def screen(z):
    """Return 1 for the columns that Benjamini and Hochberg's rule lets pass at level .2, .05 for the others."""
    p = [norm.sf(each) for each in z]
    passing = 0
    for rank, value in enumerate(sorted(p), start=1):
        if value <= 0.2 * rank / len(p):
            passing = rank
    limit = sorted(p)[passing - 1] if passing else -1.0
    return [1.0 if value <= limit else 0.05 for value in p]


def explained_variance(table, labels):
    """Return max(0, 1 - (W / (n - k)) / (T / (n - 1))), W and T the squares within clusters and in all; no noise."""
    rows = [i for i, label in enumerate(labels) if label != -1]
    names = {labels[i] for i in rows}
    n, k = len(rows), len(names)
    found = []
    for column in table.T:
        total = sum_of_squares([column[i] for i in rows])
        within = sum(sum_of_squares([column[i] for i in rows if labels[i] == name]) for name in names)
        says_something = k > 1 and n > k and total > 0
        found.append(max(0.0, 1 - (within / (n - k)) / (total / (n - 1))) if says_something else 0.0)
    return np.array(found)


def sum_of_squares(values):
    """Return the squared distances to the mean."""
    mean = sum(values) / max(len(values), 1)
    return sum((value - mean) ** 2 for value in values)
