"""Chapter 2 from its formulas: multinomial EM, the divergence to the mean, and the warping of term weights."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

Rows = Any


def em(
    N: Rows, gamma: Rows, log_theta: Rows, log_prior: Rows, n_iter: int, alpha: float = 1.0, mstep: str = "rescaled"
):
    """A fixed number of iterations of EM; returns log theta, log priors, responsibilities and the objectives."""
    n, V = N.shape
    k = len(log_theta)
    objectives = []
    R = responsibilities(N, gamma, log_theta, log_prior)[0]
    for _ in range(n_iter):
        log_theta, log_prior = np.empty((k, V)), np.empty(k)
        for i in range(k):
            log_prior[i] = log(sum(R[x][i] for x in range(n)) / n)
            weight = [gamma[j] if mstep == "rescaled" else 1.0 for j in range(V)]
            counts = [alpha + sum(R[x][i] * weight[j] * N[x, j] for x in range(n)) for j in range(V)]
            log_theta[i] = [log(count / sum(counts)) for count in counts]
        R, log_likelihood = responsibilities(N, gamma, log_theta, log_prior)
        objectives.append(log_likelihood + alpha * log_theta.sum())
    return log_theta, log_prior, np.array(R), objectives


def responsibilities(N: Rows, gamma: Rows, log_theta: Rows, log_prior: Rows):
    """(2.1) with every count times the weight of its term."""
    R, log_likelihood = [], 0.0
    for x in range(len(N)):
        logs = [
            log_prior[i] + sum(gamma[j] * N[x, j] * log_theta[i][j] for j in range(N.shape[1]))
            for i in range(len(log_theta))
        ]
        top = max(logs)
        total = sum(exp(value - top) for value in logs)
        R.append([exp(value - top) / total for value in logs])
        log_likelihood += top + log(total)
    return R, log_likelihood


def theta_of(x: Rows, smoothing: float = 1.0):
    """The smoothed estimate of a document."""
    return [(count + smoothing) / (sum(x) + smoothing * len(x)) for count in x]


def gradient(p: Rows, q: Rows, p_length: float, q_length: float, mean: str = "equal"):
    """g_j = |x1| p_j log(p_j / m_j) + |x2| q_j log(q_j / m_j)."""
    share = 0.5 if mean == "equal" or p_length + q_length == 0 else p_length / (p_length + q_length)
    g = []
    for p_j, q_j in zip(p, q, strict=True):
        m_j = share * p_j + (1 - share) * q_j
        g.append((p_length * p_j * log(p_j / m_j) if p_j else 0.0) + (q_length * q_j * log(q_j / m_j) if q_j else 0.0))
    return np.array(g)


def pair_gradient(x1: Rows, x2: Rows, smoothing: float = 1.0, mean: str = "equal", cap: float = np.inf):
    """The gradient of the divergence between two documents."""
    lengths = min(sum(x1), cap), min(sum(x2), cap)
    return gradient(theta_of(x1, smoothing), theta_of(x2, smoothing), *lengths, mean)


def divergence(x1: Rows, x2: Rows, gamma: Rows, **options: Any) -> float:
    """D'_KLM."""
    return float(sum(weight * g_j for weight, g_j in zip(gamma, pair_gradient(x1, x2, **options), strict=True)))


def warp(gamma: Rows, gradients: Rows, factor: Rows, step: float, n_steps: int, update: str):
    """Steps along the mean of the gradients, each divided by its largest entry, then scaled to mean 1."""
    gamma = np.array(gamma, dtype=float)
    for _ in range(n_steps):
        change = np.zeros(len(gamma))
        for g, f in zip(gradients, factor, strict=True):
            scale = max(abs(g if update == "additive" else g * gamma))
            change += step * f * g / scale / sum(map(abs, factor)) if scale else 0.0
        for j in range(len(gamma)):
            if update == "multiplicative":
                gamma[j] *= exp(change[j] * gamma[j])
            elif change[j] > 0:
                gamma[j] += change[j]
            else:
                gamma[j] /= 1 - change[j]
        gamma /= gamma.mean()
    return gamma


def two_attributes(seed: int, n_rows: int = 200, length: int = 120) -> tuple[Any, Any, Any]:
    """Counts of two blocks of indicative terms, one for each of two independent attributes, and background terms."""
    rng = np.random.RandomState(seed)
    a, b = rng.randint(2, size=n_rows), rng.randint(2, size=n_rows)
    background = rng.dirichlet(np.ones(60))
    X = np.empty((n_rows, 80))
    for row in range(n_rows):
        p = np.concatenate([np.zeros(20), 0.5 * background])
        for block, value in ((0, a[row]), (10, b[row])):
            p[block : block + 5] += 0.25 * (0.8 if value else 0.2) / 5
            p[block + 5 : block + 10] += 0.25 * (0.2 if value else 0.8) / 5
        X[row] = rng.multinomial(rng.poisson(length) + 10, p)
    return X, a, b
