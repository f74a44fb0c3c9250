"""Pairwise logistic regression and support vector machines as in chapter 17, one label and one pair at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
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
            "nonconvex svm": lambda: nonconvex(hinge, a, c * b) - 1,
        }
        return two_sided[kind]()
    one_sided = {
        "convex": lambda: logistic(-a - b),
        "nonconvex": lambda: not_both(a, b),
        "svm": lambda: hinge(-a - b),
        "nonconvex svm": lambda: min(hinge(-a), hinge(-b)),
    }
    return one_sided[kind]()


def objective(
    kind: str, alpha: Any, K: Any, labels: dict[int, int], pairs: Sequence[Pair], mu: float, lam: float, is_binary: bool
) -> float:
    """The objective of an expansion over all rows of K, without an intercept."""
    f = K @ alpha
    loss = hinge if "svm" in kind else logistic
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


def npsvm_of_slopes(
    K: Any, labels: dict[int, int], pairs: Sequence[Pair], slopes: Sequence[int], mu: float, lam: float
) -> float:
    """The least value of the convex problem in which L''(a + b) of every pair is a line with the slope -1, 0 or 1.

    By the dual, with one variable for each hinge: of labels, and of both sides of both rows of every pair.
    """
    directions = [y * np.eye(len(K))[i] for i, y in labels.items()]
    upper = [1.0] * len(labels)
    line, constant = np.zeros(len(K)), 0.0
    for (i, j, c, w), slope in zip(pairs, slopes, strict=True):
        for side in (1, -1):
            directions += [side * np.eye(len(K))[i], side * np.eye(len(K))[j]]
            upper += [mu * w, mu * w]
        line += mu * w * slope * (np.eye(len(K))[i] + c * np.eye(len(K))[j])
        # L'' is at least 2 and at least 1 + z and 1 - z.
        constant -= mu * w * ((1 if slope else 2) + 1)
    D = np.array(directions)

    def value(v: Any) -> tuple[float, Any]:
        at = D.T @ v + line
        return -float(v.sum() - at @ K @ at / (4 * lam)), -(1 - D @ K @ at / (2 * lam))

    bounds = [(0.0, u) for u in upper]
    found = minimize(value, np.zeros(len(D)), jac=True, bounds=bounds, method="L-BFGS-B",
                     options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 20_000, "maxfun": 100_000})  # fmt: skip
    return constant - float(found.fun)


def npsvm_least(K: Any, labels: dict[int, int], pairs: Sequence[Pair], mu: float, lam: float) -> float:
    """The least value of the non-convex objective of two classes, over all slopes of all pairs."""
    choices = product((-1, 0, 1), repeat=len(pairs))
    return min(npsvm_of_slopes(K, labels, pairs, slopes, mu, lam) for slopes in choices)
