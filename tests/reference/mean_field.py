"""Mean field on linked rows, from the formulas of chapters 4 and 5."""

from __future__ import annotations

import numpy as np


def couplings(n_rows, pairs, is_must, penalty):
    """The symmetric matrix rho: the penalty of each link, negative for a cannot-link."""
    rho = np.zeros((n_rows, n_rows))
    for (i, j), must, cost in zip(pairs, is_must, penalty, strict=True):
        rho[i, j] = rho[j, i] = cost if must else -cost
    return rho


def free_energy(q, h, rho):
    """F(q) of chapter 5, section 3.1, where h are the negative log-potentials."""
    links = sum(rho[i, j] * (q[i] * q[j]).sum() for j in range(len(q)) for i in range(j))
    return (q * (np.log(q) + h)).sum() - links


def update_row(i, q, h, rho):
    """The update of row i in chapter 5: exp(-h_i + sum_j rho_ij q_j), divided by its sum."""
    weight = np.exp(-h[i] + sum(rho[i, j] * q[j] for j in range(len(q)) if j != i))
    return weight / weight.sum()


def update_row_by_ordered_pairs(i, q, density, w):
    """The update of row i in chapter 4 (4.12): weights w of ordered pairs, so that every link counts twice."""
    weight = density[i] * np.exp(2 * sum(w[i, j] * q[j] for j in range(len(q)) if j != i))
    return weight / weight.sum()


def update_all_at_once(q, h, rho):
    """All rows from the distributions before the sweep; this can cycle."""
    return np.array([update_row(i, q, h, rho) for i in range(len(q))])


def bound(q, h, rho):
    """The lower bound of the log-normalizer, where a labeling loses the penalties of the links that it breaks."""
    return -free_energy(q, h, rho) - np.maximum(rho, 0).sum() / 2
