"""The metric from cannot-links by general solvers, without the dual of the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

Floats = NDArray[np.float64]


def pair_matrices(delta: Floats, diagonal: bool = False) -> Floats:
    """The products of two entries of each difference, or the squares, as one row for each pair."""
    if diagonal:
        return np.array([v * v for v in delta])
    return np.array([np.outer(v, v).ravel() for v in delta])


def hard_by_nnls(delta: Floats, diagonal: bool = False) -> Floats:
    """The multipliers of the hard problem, from a problem of non-negative least squares."""
    phi = pair_matrices(delta, diagonal)
    u, _ = nnls(np.vstack([phi.T, np.ones(len(phi))]), np.append(np.zeros(phi.shape[1]), 1.0))
    return u / (1 - u.sum())


def soft_primal(A: Floats, phi: Floats, upper: Floats) -> float:
    """The primal objective: half the squared norm, and the penalties of pairs closer than one."""
    return float(0.5 * A @ A + upper @ np.maximum(0.0, 1.0 - phi @ A))


def soft_by_general_solver(delta: Floats, upper: Floats, diagonal: bool = False) -> Floats:
    """The matrix of the soft problem with its slacks, as a vector, without any condition of definiteness."""
    phi = pair_matrices(delta, diagonal)
    n_entries, n_pairs = phi.shape[1], len(phi)
    start = np.concatenate([np.zeros(n_entries), np.ones(n_pairs)])
    slacks = np.eye(n_pairs, n_entries + n_pairs, n_entries)
    apart = np.hstack([phi, np.eye(n_pairs)])
    conditions = [
        {"type": "ineq", "fun": lambda x: apart @ x - 1.0, "jac": lambda x: apart},
        {"type": "ineq", "fun": lambda x: slacks @ x, "jac": lambda x: slacks},
    ]
    found = minimize(
        lambda x: 0.5 * x[:n_entries] @ x[:n_entries] + upper @ x[n_entries:],
        start,
        jac=lambda x: np.concatenate([x[:n_entries], upper]),
        constraints=conditions,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return np.asarray(found.x[:n_entries])


def by_coordinate_ascent(delta: Floats, upper: Floats, n_rounds: int) -> tuple[Floats, Floats]:
    """The multipliers and the matrix after rounds of steps on one pair after the other, as the source words them."""
    d = delta.shape[1]
    alpha, A = np.zeros(len(delta)), np.zeros((d, d))
    for _ in range(n_rounds):
        for p, v in enumerate(delta):
            step = (1.0 - v @ A @ v) / (v @ v) ** 2
            new = min(max(alpha[p] + step, 0.0), upper[p])
            A += (new - alpha[p]) * np.outer(v, v)
            alpha[p] = new
    return alpha, A


def online(delta: Floats, A: Floats) -> Floats:
    """The online rule of the source: a step for each pair that is closer than one."""
    A = A.copy()
    for v in delta:
        squared = v @ A @ v
        if squared < 1.0:
            A += (1.0 - squared) / (v @ v) ** 2 * np.outer(v, v)
    return A
