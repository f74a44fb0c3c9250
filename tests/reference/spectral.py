"""Spectral clusterers by their formulas, with dense matrices and loops."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eig, eigh


def neighbor_affinity(X, n_neighbors, scale_neighbor):
    """exp(-d^2 / (s_i s_j)) where one row is among the nearest of the other, 0 elsewhere."""
    n = len(X)
    distance = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    scale = np.array([np.sort(np.delete(distance[i], i))[min(scale_neighbor, n - 1) - 1] for i in range(n)])
    A = np.zeros((n, n))
    for i in range(n):
        others = [j for j in np.argsort(distance[i], kind="stable") if j != i]
        for j in others[:n_neighbors]:
            A[i, j] = A[j, i] = np.exp(-(distance[i, j] ** 2) / (scale[i] * scale[j]))
    return A


def write_links(A, links):
    """A with 1 for must-links and 0 for cannot-links."""
    A = A.copy()
    for a, b in links.must_link:
        A[a, b] = A[b, a] = 1.0
    for a, b in links.cannot_link:
        A[a, b] = A[b, a] = 0.0
    return A


def additive(A):
    D = np.diag(A.sum(axis=1))
    d_max = D.max()
    return (A + d_max * np.eye(len(A)) - D) / d_max


def symmetric(A):
    root = np.sqrt(A.sum(axis=1))
    return A / np.outer(root, root)


def row_normalized_top(N, k):
    """The top k eigenvectors, with rows of unit length."""
    V = eigh(N)[1][:, ::-1][:, :k]
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def normalized_links(A, links):
    Q = np.zeros_like(A)
    for (a, b), w in zip(links.must_link, links.must_link_weight, strict=True):
        Q[a, b] = Q[b, a] = w
    for (a, b), w in zip(links.cannot_link, links.cannot_link_weight, strict=True):
        Q[a, b] = Q[b, a] = -w
    root = np.sqrt(A.sum(axis=1))
    return Q / np.outer(root, root)


def feasible_vectors(A, links, bound):
    """All solutions of L v = l (Q - b I) v with finite l > 0, by a general solver, in ascending order of costs."""
    L = np.eye(len(A)) - symmetric(A)
    Q = normalized_links(A, links)
    values, vectors = eig(L, Q - bound * np.eye(len(A)))
    good = np.isfinite(values) & (np.abs(values.imag) < 1e-7) & (values.real > 1e-9)
    vectors = vectors[:, good].real
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    costs = np.array([v @ L @ v for v in vectors.T])
    order = np.argsort(costs)
    return vectors[:, order], costs[order], np.array([v @ Q @ v for v in vectors.T])[order]


def propagate_links(A, links, alpha):
    """Links along columns, then along rows, until nothing changes; scaled by their median at the links."""
    L = symmetric(A)
    Z = np.zeros_like(A)
    for (a, b), sign, weight in zip(links.pairs, links.sign, links.weight, strict=True):
        Z[a, b] = Z[b, a] = sign * weight
    vertical, horizontal = np.zeros_like(A), np.zeros_like(A)
    for _ in range(2_000):
        vertical = alpha * L @ vertical + (1 - alpha) * Z
    for _ in range(2_000):
        horizontal = alpha * horizontal @ L + (1 - alpha) * vertical
    F = horizontal / np.median([abs(horizontal[a, b]) for a, b in links.pairs])
    return np.clip(F, -1, 1)


def adjust_affinity(A, F):
    """Affinities increased towards 1 by positive and decreased towards 0 by negative propagated links."""
    adjusted = np.zeros_like(A)
    for i in range(len(A)):
        for j in range(len(A)):
            if i != j:
                f, w = F[i, j], A[i, j]
                adjusted[i, j] = 1 - (1 - f) * (1 - w) if f >= 0 else (1 + f) * w
    return adjusted
