"""The matrix of trace one that maximizes the weighted lengths of given vectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Floats
from mustlink.metric_learning._base import MAX_ONE_THREAD

# The bound on the optimum needs eigenvalues, and is computed once in so many steps.
STEPS_PER_CHECK = 5

# The minimum length, which avoids a division by zero.
MIN_LENGTH = 1e-150


def maximize_distances(
    vectors: Floats,
    weight: Floats,
    diagonal: bool,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None],
) -> tuple[Floats, list[float], float]:
    """Find the positive semidefinite B of minimum trace under which the weighted lengths sqrt(v'Bv) sum to one.

    Equivalently, scaled to trace one, B maximizes that sum. Returns a root of B, the trace after each step, and an
    upper bound on how far the trace is above the optimum, relative to the trace.
    """
    basis = None
    if not diagonal and len(vectors) < vectors.shape[1]:
        # B is zero outside the span of the vectors.
        left, length, basis = np.linalg.svd(vectors, full_matrices=False)
        vectors = left * length
    # Rescale for numerical stability; the optimum is scale-invariant.
    unit = np.sqrt(np.einsum("ij,ij->i", vectors, vectors).mean())
    problem = _Problem(vectors / unit, weight / weight.sum(), diagonal)
    shape = problem.start.shape
    objective: list[float] = []

    def after_step(intermediate_result: OptimizeResult) -> None:
        """Record the objective, and stop when the gap is small enough."""
        objective.append(problem.last_trace)
        report(len(objective), problem.last_trace)
        if len(objective) % STEPS_PER_CHECK == 0 and problem.bound(intermediate_result.x.reshape(shape))[1] <= tol:
            raise StopIteration

    with one_blas_thread() if vectors.size <= MAX_ONE_THREAD else nullcontext():
        found = minimize(
            problem.value,
            problem.start.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=after_step,
            options={"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 1e-12, "maxcor": 20},
        )
        L = found.x.reshape(shape)
        total, gap = problem.bound(L)
    objective = objective or [float(np.vdot(L, L)) / total**2]
    scale = unit * weight.sum()
    root = (np.diag(L) if diagonal else L) / total / scale
    return root if basis is None else basis.T @ root, [trace / scale**2 for trace in objective], gap


@dataclass
class _Problem:
    """The function f(L) = |L|^2 / 2 - log(sum of weight * |L'v|), whose minimum has B = L L'; a diagonal L is a vector.

    Every local minimum of f is global, because L has as many columns as rows.
    """

    vectors: Floats
    weight: Floats
    diagonal: bool
    last_trace: float = np.inf

    @property
    def start(self) -> Floats:
        """The multiple of the identity of trace one."""
        n_features = self.vectors.shape[1]
        return (np.ones(n_features) if self.diagonal else np.eye(n_features)) / np.sqrt(n_features)

    def value(self, x: Floats) -> tuple[float, Floats]:
        """Return f and its gradient."""
        L = x.reshape(self.start.shape)
        lengths, gradient_of_sum = self._lengths(L)
        total = float(self.weight @ lengths)
        self.last_trace = float(x @ x) / total**2
        return 0.5 * float(x @ x) - np.log(total), (L - gradient_of_sum / total).ravel()

    def bound(self, L: Floats) -> tuple[float, float]:
        """Return the weighted sum of lengths, and the relative gap.

        The sum is concave in B: for matrices of trace one it is at most half of the current sum plus the largest
        eigenvalue of its gradient.
        """
        size = float(np.linalg.norm(L))
        lengths, _ = self._lengths(L / size)
        total = float(self.weight @ lengths)
        weight = self.weight / (2 * lengths)
        if self.diagonal:
            largest = (weight @ self.vectors**2).max()
        else:
            largest = np.linalg.eigvalsh((self.vectors.T * weight) @ self.vectors)[-1]
        return total * size, max(1.0 - (total / (total / 2 + float(largest))) ** 2, 0.0)

    def _lengths(self, L: Floats) -> tuple[Floats, Floats]:
        """Return the length of every vector under L L', and the gradient of their weighted sum."""
        if self.diagonal:
            squares = self.vectors**2
            lengths = np.maximum(np.sqrt(squares @ L**2), MIN_LENGTH)
            return lengths, ((self.weight / lengths) @ squares) * L
        mapped = self.vectors @ L
        lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", mapped, mapped)), MIN_LENGTH)
        return lengths, (self.vectors.T * (self.weight / lengths)) @ mapped
