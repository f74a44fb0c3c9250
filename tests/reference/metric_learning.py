"""Slow metric learning by the formulas, with loops over links and other methods than those of the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mustlink import Constraints

Floats = NDArray[np.float64]


def linked_differences(X: Floats, links: Constraints) -> tuple[Floats, Floats]:
    """The differences of the must-linked rows, and of the cannot-linked rows."""
    return X[links.must_link[:, 0]] - X[links.must_link[:, 1]], X[links.cannot_link[:, 0]] - X[links.cannot_link[:, 1]]


def itml_objective(A: Floats, prior: Floats, X: Floats, links: Constraints, bounds: Floats, gamma: float) -> float:
    """The LogDet divergence from the prior, and the penalty of every violated link."""
    product = A @ np.linalg.inv(prior)
    total = np.trace(product) - np.log(np.linalg.det(product)) - len(A)
    near, far = bounds
    for (i, j), weight in zip(links.must_link, links.must_link_weight, strict=True):
        ratio = (X[i] - X[j]) @ A @ (X[i] - X[j]) / near
        if ratio > 1:
            total += gamma * weight * (ratio - np.log(ratio) - 1)
    for (i, j), weight in zip(links.cannot_link, links.cannot_link_weight, strict=True):
        ratio = (X[i] - X[j]) @ A @ (X[i] - X[j]) / far
        if ratio < 1:
            total += gamma * weight * (ratio - np.log(ratio) - 1)
    return float(total)


def itml_by_projections(
    prior: Floats, X: Floats, links: Constraints, bounds: Floats, gamma: float, n_rounds: int
) -> Floats:
    """ITML as in the paper: Bregman projections on one link after the other, in rounds."""
    A = prior.copy()
    pairs = [*((i, j, 1.0) for i, j in links.must_link), *((i, j, -1.0) for i, j in links.cannot_link)]
    prices = gamma * np.concatenate([links.must_link_weight, links.cannot_link_weight])
    targets = [bounds[0] if sign > 0 else bounds[1] for _, _, sign in pairs]
    multipliers = [0.0] * len(pairs)
    for _ in range(n_rounds):
        for c, (i, j, sign) in enumerate(pairs):
            v = X[i] - X[j]
            p = v @ A @ v
            alpha = min(multipliers[c], sign * (1 / p - 1 / targets[c]) * prices[c] / (prices[c] + 1))
            beta = sign * alpha / (1 - sign * alpha * p)
            targets[c] = prices[c] * targets[c] / (prices[c] + sign * alpha * targets[c])
            multipliers[c] -= alpha
            A = A + beta * np.outer(A @ v, A @ v)
    return A


def mmc_value(A: Floats, X: Floats, links: Constraints) -> float:
    """The sum over must-links once A is scaled so that the sum over cannot-links is one."""
    near, far = linked_differences(X, links)
    squares = sum(w * v @ A @ v for v, w in zip(near, links.must_link_weight, strict=True))
    lengths = sum(w * np.sqrt(max(v @ A @ v, 0.0)) for v, w in zip(far, links.cannot_link_weight, strict=True))
    return float(squares / lengths**2)


def mmc_by_projected_gradients(X: Floats, links: Constraints, *, diagonal: bool, n_steps: int) -> Floats:
    """Minimise sum over must-links - log(sum over cannot-links) downhill, projecting on the cone after every step."""
    near, far = linked_differences(X, links)
    scatter = (near.T * links.must_link_weight) @ near

    def projected(A: Floats) -> Floats:
        if diagonal:
            return np.diag(np.maximum(np.diag(A), 0.0))
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    def value(A: Floats) -> float:
        squares = np.einsum("ij,jk,ik->i", far, A, far)
        total = links.cannot_link_weight @ np.sqrt(np.maximum(squares, 0.0))
        return float(np.sum(A * scatter) - np.log(total)) if total > 0 else np.inf

    A = np.eye(X.shape[1]) / np.trace(scatter)
    step = 1.0
    for _ in range(n_steps):
        lengths = np.sqrt(np.einsum("ij,jk,ik->i", far, A, far)) + 1e-12
        pull = (far.T * (links.cannot_link_weight / (2 * lengths))) @ far
        gradient = scatter - pull / (links.cannot_link_weight @ lengths)
        step = min(2 * step, 1e6)
        while value(projected(A - step * gradient)) > value(A) and step > 1e-14:
            step /= 2
        A = projected(A - step * gradient)
    return A


def mmc_diagonal_by_scipy(X: Floats, links: Constraints) -> Floats:
    """The diagonal problem as it stands, given to a general solver for constrained problems."""
    near, far = linked_differences(X, links)
    squares, scatter = far**2, (near**2).T @ links.must_link_weight

    def lengths(a: Floats) -> float:
        return float(links.cannot_link_weight @ np.sqrt(np.maximum(squares @ a, 1e-16)))

    start = np.ones(X.shape[1])
    start /= lengths(start) ** 2
    unit = float(scatter @ start)
    found = minimize(
        lambda a: float(scatter @ (a * start)) / unit,
        np.ones(X.shape[1]),
        method="SLSQP",
        bounds=[(0, None)] * X.shape[1],
        constraints=[{"type": "ineq", "fun": lambda a: lengths(a * start) - 1.0}],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return np.diag(found.x * start)


def within_covariance(Z: Floats, component: NDArray[np.intp]) -> Floats:
    """The covariance of rows about the means of their must-link components of two rows and more."""
    total, n_rows = np.zeros((Z.shape[1], Z.shape[1])), 0
    for number in np.unique(component):
        members = Z[component == number]
        if len(members) > 1:
            for row in members:
                total += np.outer(row - members.mean(axis=0), row - members.mean(axis=0))
                n_rows += 1
    return total / n_rows


def dca_scatters(X: Floats, links: Constraints) -> tuple[Floats, Floats]:
    """C_b and C_w of discriminative component analysis, set by set as the paper writes them."""
    component = links.components(len(X))
    chunklets = [X[component == number] for number in range(component.max() + 1)]
    apart: list[set[int]] = [set() for _ in chunklets]
    for i, j in links.cannot_link:
        if component[i] != component[j]:
            apart[component[i]].add(int(component[j]))
            apart[component[j]].add(int(component[i]))
    between, n_pairs = np.zeros((X.shape[1], X.shape[1])), 0
    for number, others in enumerate(apart):
        for other in others:
            gap = chunklets[number].mean(axis=0) - chunklets[other].mean(axis=0)
            between += np.outer(gap, gap)
            n_pairs += 1
    large = [chunklet for chunklet in chunklets if len(chunklet) > 1]
    within = sum(np.cov(chunklet.T, bias=True).reshape(between.shape) for chunklet in large)
    return between / n_pairs, within / len(large)


def alignment_by_leaving_out(X: Floats, links: Constraints, shrinkage: float) -> Floats:
    """The alignment of each must-linked row with the rest of its component, with RCA learned again without the row."""
    n_rows, n_features = X.shape
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    component = links.components(n_rows)

    def metric(rows: list[int]) -> Floats:
        scatter = np.zeros((n_features, n_features))
        for number in set(component[rows]):
            members = X[[i for i in rows if component[i] == number]]
            scatter += (members - members.mean(axis=0)).T @ (members - members.mean(axis=0))
        return (1 - shrinkage) * scatter

    linked = [i for i in range(n_rows) if (component == component[i]).sum() > 1]
    whole = metric(linked)
    ridge = shrinkage * np.trace(whole) / max(1 - shrinkage, 1e-300) / n_features * np.eye(n_features)
    root = np.linalg.cholesky(np.linalg.inv(whole + ridge))
    norm = np.linalg.norm(root.T @ (X.T @ X / n_rows) @ root)
    found = []
    for i in sorted(linked, key=lambda i: (component[i], i)):
        A = np.linalg.inv(metric([j for j in linked if j != i]) + ridge)
        others = [j for j in linked if j != i and component[j] == component[i]]
        found.append(X[i] @ A @ X[others].mean(axis=0) / norm)
    return np.array(found)
