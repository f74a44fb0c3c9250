"""BoostCluster by its formulas: dense n x n matrices, one entry after the other."""

from __future__ import annotations

import numpy as np


def dense_coassociation(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """K_ij = sum_t weight_t [same label in round t]; noise is together with itself only."""
    n = len(codes)
    kernel = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for t, weight in enumerate(weights):
                if i == j or (codes[i, t] == codes[j, t] and codes[i, t] != -1):
                    kernel[i, j] += weight
    return kernel


def kernel_kmeans(
    kernel: np.ndarray, labels: np.ndarray, n_clusters: int, weight: np.ndarray, max_iter: int = 300
) -> tuple[np.ndarray, float]:
    """Lloyd's iteration in the space of a kernel, by distances to the members of the clusters."""
    labels = np.array(labels)
    for _ in range(max_iter):
        moved = np.argmin(kernel_distances(kernel, labels, n_clusters, weight), axis=1)
        if (moved == labels).all():
            break
        labels = moved
    distances = kernel_distances(kernel, labels, n_clusters, weight)
    return labels, float((weight * distances[np.arange(len(labels)), labels]).sum())


def kernel_distances(kernel: np.ndarray, labels: np.ndarray, n_clusters: int, weight: np.ndarray) -> np.ndarray:
    """Squared distance of every point to every cluster mean; infinite for an empty cluster."""
    distances = np.full((len(labels), n_clusters), np.inf)
    for c in range(n_clusters):
        share = np.where(labels == c, weight, 0.0)
        if share.sum() > 0:
            share = share / share.sum()
            distances[:, c] = np.diag(kernel) - 2 * kernel @ share + share @ kernel @ share
    return distances


def graph_components(linked: np.ndarray) -> np.ndarray:
    """Number the connected components of a dense graph in the order of their first nodes."""
    label = np.full(len(linked), -1)
    for start in range(len(linked)):
        if label[start] < 0:
            label[start] = label.max() + 1
            waiting = [start]
            while waiting:
                node = waiting.pop()
                for other in np.flatnonzero(linked[node]):
                    if label[other] < 0:
                        label[other] = label[start]
                        waiting.append(other)
    return label


def double_sum_objective(
    kernel: np.ndarray, must: np.ndarray, cannot: np.ndarray, must_weight: np.ndarray, cannot_weight: np.ndarray
) -> float:
    """Equation (1): every must-link against every cannot-link; a kind that is absent counts one."""
    total = 0.0
    for (i, j), p in zip(must, must_weight, strict=True):
        for (a, b), q in zip(cannot, cannot_weight, strict=True):
            total += p * q * np.exp(kernel[a, b] - kernel[i, j])
    if len(cannot) == 0:
        return float(sum(p * np.exp(-kernel[i, j]) for (i, j), p in zip(must, must_weight, strict=True)))
    if len(must) == 0:
        return float(sum(q * np.exp(kernel[a, b]) for (a, b), q in zip(cannot, cannot_weight, strict=True)))
    return total


def dense_inconsistency(
    kernel: np.ndarray, must: np.ndarray, cannot: np.ndarray, must_weight: np.ndarray, cannot_weight: np.ndarray
) -> np.ndarray:
    """T of equation (10) as an n x n symmetric matrix."""
    p, q = np.zeros_like(kernel), np.zeros_like(kernel)
    for (i, j), weight in zip(must, must_weight, strict=True):
        p[i, j] = p[j, i] = weight * np.exp(-kernel[i, j])
    for (i, j), weight in zip(cannot, cannot_weight, strict=True):
        q[i, j] = q[j, i] = weight * np.exp(kernel[i, j])
    return (p / p.sum() if p.any() else p) - (q / q.sum() if q.any() else q)


def form_matrix(X: np.ndarray, inconsistency: np.ndarray, form: str) -> np.ndarray:
    """X T X' of the paper, or the sum of -T_ij dd' over pairs, d = x_i - x_j."""
    n, d = X.shape
    matrix = np.zeros((d, d))
    for i in range(n):
        for j in range(n):
            if form == "projection":
                matrix += inconsistency[i, j] * np.outer(X[i], X[j])
            else:
                matrix -= inconsistency[i, j] * np.outer(X[i] - X[j], X[i] - X[j])
    return matrix


def metric_matrix(
    X: np.ndarray,
    must: np.ndarray,
    cannot: np.ndarray,
    must_weight: np.ndarray,
    cannot_weight: np.ndarray,
    ridge: float,
    identity: float,
) -> np.ndarray:
    """P P' of METRIC(w, ridge, identity), with matrix functions taken literally."""
    d = X.shape[1]

    def scatter(pairs: np.ndarray, weight: np.ndarray) -> np.ndarray:
        total = np.zeros((d, d))
        for (i, j), w in zip(pairs, weight, strict=True):
            total += w * np.outer(X[i] - X[j], X[i] - X[j])
        return total / weight.sum()

    together, apart = scatter(must, must_weight), scatter(cannot, cannot_weight)
    spread = np.trace(np.cov(X.T, bias=True).reshape(d, d)) / d
    values, vectors = np.linalg.eigh(together + ridge * spread * np.eye(d))
    whitener = vectors @ np.diag(values**-0.5) @ vectors.T
    matrix = whitener @ (apart - together) @ whitener
    matrix = matrix / np.linalg.norm(matrix, 2) + identity * np.eye(d)
    values, vectors = np.linalg.eigh(matrix)
    positive = vectors @ np.diag(np.maximum(values, 0)) @ vectors.T
    return whitener @ positive @ whitener


def positive_root(matrix: np.ndarray, identity: float) -> np.ndarray:
    """The symmetric root of the positive part of matrix / norm + identity I; of the matrix itself without identity."""
    if identity > 0:
        matrix = matrix / np.linalg.norm(matrix, 2) + identity * np.eye(len(matrix))
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def slow_boost(
    X: np.ndarray,
    must: np.ndarray,
    cannot: np.ndarray,
    must_weight: np.ndarray,
    cannot_weight: np.ndarray,
    cluster: object,
    *,
    form: str,
    identity: float,
    n_rounds: int,
    learning_rate: float,
    smoothing: float,
) -> tuple[list[float], list[float], np.ndarray]:
    """Rounds of BoostCluster with dense matrices; returns alphas, objectives and the kernel of the counted rounds."""
    n = len(X)
    kernel, result = np.zeros((n, n)), np.zeros((n, n))
    alphas, objectives = [], []
    m = len(must) + len(cannot)
    for _ in range(n_rounds):
        inconsistency = dense_inconsistency(kernel, must, cannot, must_weight, cannot_weight)
        labels = cluster(X @ positive_root(form_matrix(X, inconsistency, form), identity))  # type: ignore[operator]
        same = np.array([[float(labels[i] == labels[j]) for j in range(n)] for i in range(n)])
        p, q = np.maximum(inconsistency, 0), np.maximum(-inconsistency, 0)
        a, b = (p * (1 - same)).sum() + smoothing / m, (p * same).sum() + smoothing / m
        c, d = (q * (1 - same)).sum() + smoothing / m, (q * same).sum() + smoothing / m
        alpha = learning_rate * 0.5 * np.log(b / a * c / d)
        kernel = kernel + alpha * same
        if alpha > 0:
            result = result + alpha * same
        alphas.append(float(alpha))
        objectives.append(double_sum_objective(kernel, must, cannot, must_weight, cannot_weight))
    return alphas, objectives, result


def slow_votes(codes: np.ndarray, examples: np.ndarray, weights: np.ndarray, marginals: np.ndarray) -> np.ndarray:
    """Every example whose co-association with a row is at least 85% votes with that to the power of 32."""
    votes = np.zeros((len(codes), marginals.shape[1]))
    for i, code in enumerate(codes):
        for example, marginal in zip(examples, marginals, strict=True):
            shared = weights[(code == example) & (code >= 0)].sum()
            if shared >= 0.85:
                votes[i] += shared**32 * marginal
    return votes
