"""Pairwise logistic regression and support vector machines as in chapter 17, one label and one pair at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

import numpy as np
from scipy.optimize import minimize

Pair = tuple[int, int, int, float]  # i, j, c, w


def logistic(z: float) -> float:
    return log(1 + exp(-z))


def hinge(z: float) -> float:
    return max(0.0, 1 - z)


def convex(loss: Callable[[float], float], a: float, b: float) -> float:
    return loss(a - b) + loss(b - a)


def nonconvex(loss: Callable[[float], float], a: float, b: float) -> float:
    def both(z: float) -> float:
        return loss(z) + loss(-z)

    return both(a) + both(b) - both(a + b)


def brace(a: float, b: float) -> float:
    """The pairwise term of NPKLR."""
    return log(1 + exp(a)) + log(1 + exp(b)) - log(1 + exp(a + b))


def sigmoid(z: float) -> float:
    return 1 / (1 + exp(-z))


def not_both(a: float, b: float) -> float:
    """Minus the log probability that not both rows are of the class."""
    return -log(1 - sigmoid(a) * sigmoid(b))


def link_loss(kind: str, a: float, b: float, c: int, is_binary: bool) -> float:
    """The loss of one link with the scores a and b of its rows."""
    if c == 1 or is_binary:
        two_sided = {
            "convex": lambda: convex(logistic, a, c * b),
            "nonconvex": lambda: brace(a, c * b),
            "svm": lambda: abs(a - c * b),
        }
        return two_sided[kind]()
    one_sided = {
        "convex": lambda: logistic(-a - b),
        "nonconvex": lambda: not_both(a, b),
        "svm": lambda: hinge(-a - b),
    }
    return one_sided[kind]()


def objective(
    kind: str, alpha: Any, K: Any, labels: dict[int, int], pairs: Sequence[Pair], mu: float, lam: float, is_binary: bool
) -> float:
    """The objective of an expansion over all rows of K, without an intercept."""
    f = K @ alpha
    loss = hinge if kind == "svm" else logistic
    total = sum(loss(y * f[i]) for i, y in labels.items())
    total += mu * sum(w * link_loss(kind, f[i], f[j], c, is_binary) for i, j, c, w in pairs)
    return float(total + lam * alpha @ K @ alpha)


def newton_cpklr(
    K: Any, labels: dict[int, int], pairs: Sequence[Pair], mu: float, lam: float, n_steps: int = 30
) -> Any:
    """CPKLR of two classes by Newton's method with the corrected gradient and Hessian of the chapter."""
    n = len(K)
    K_p = np.array([y * K[i] for i, y in labels.items()])
    K_c = np.array([K[i] - c * K[j] for i, j, c, _ in pairs]).reshape(-1, n)
    w = np.array([one[3] for one in pairs])
    alpha = np.zeros(n)
    for _ in range(30):
        p = 1 / (1 + np.exp(-K_p @ alpha))
        q = 1 / (1 + np.exp(-K_c @ alpha))
        gradient = -K_p.T @ (1 - p) + mu * K_c.T @ (w * (2 * q - 1)) + 2 * lam * K @ alpha
        hessian = K_p.T @ np.diag(p * (1 - p)) @ K_p + 2 * mu * K_c.T @ np.diag(w * q * (1 - q)) @ K_c + 2 * lam * K
        alpha = alpha - np.linalg.lstsq(hessian, gradient, rcond=1e-13)[0]
    return alpha


def cpsvm_dual(K: Any, labels: dict[int, int], pairs: Sequence[Pair], mu: float, lam: float) -> tuple[Any, Any, float]:
    """CPSVM of two classes by the expanded dual of the chapter: alpha, gamma and the value."""
    rows = list(labels)
    y = np.array([labels[i] for i in rows], dtype=float)
    n = len(rows)

    def value(v: Any) -> float:
        a, g = v[:n], v[n:]
        total = a.sum()
        for p in range(n):
            for q in range(n):
                total -= a[p] * a[q] * y[p] * y[q] * K[rows[p], rows[q]] / (4 * lam)
        for (i, j, c, _), one in zip(pairs, g, strict=True):
            for (k, m, d, _), other in zip(pairs, g, strict=True):
                total -= one * other * (K[i, k] + c * d * K[j, m] - c * K[j, k] - d * K[i, m]) / (4 * lam)
        for p in range(n):
            for (i, j, c, _), one in zip(pairs, g, strict=True):
                total += a[p] * y[p] * one * (K[rows[p], i] - c * K[rows[p], j]) / (2 * lam)
        return float(total)

    bounds = [(0.0, 1.0)] * n + [(-mu * w, mu * w) for *_, w in pairs]
    found = minimize(lambda v: -value(v), np.zeros(n + len(pairs)), bounds=bounds, method="L-BFGS-B")
    return found.x[:n], found.x[n:], -float(found.fun)
