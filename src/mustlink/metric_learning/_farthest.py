"""The matrix of trace one that maximizes the weighted lengths of given vectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field

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
    problem = (_DiagonalProblem if diagonal else _FullProblem)(
        vectors / unit, weight / weight.sum(), max_iter, tol, report
    )
    with one_blas_thread() if vectors.size <= MAX_ONE_THREAD else nullcontext():
        root, gap = problem.run()
    scale = unit * weight.sum()
    root = root / scale
    return root if basis is None else basis.T @ root, [value / scale**2 for value in problem.objective], gap


@dataclass
class _FullProblem:
    """Quasi-Newton steps on f(L) = |L|^2 / 2 - log(sum of weight * |L'v|), whose minimum has B = L L'.

    Every local minimum of f is global, because L has as many columns as rows.
    """

    vectors: Floats
    weight: Floats
    max_iter: int
    tol: float
    report: Callable[[int, float], None]
    objective: list[float] = field(default_factory=list)
    _last: float = float("inf")
    _gap: float = float("inf")

    def run(self) -> tuple[Floats, float]:
        """Return the root of the optimal B, scaled to a weighted sum of lengths of one, and the gap."""
        found = minimize(
            self._value,
            self._start().ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=self._after_step,
            options={"maxiter": self.max_iter, "maxfun": 20 * self.max_iter, "ftol": 0.0, "gtol": 1e-12, "maxcor": 20},
        )
        L = found.x.reshape(self._shape)
        total, gap = self._bounded(L)
        self.objective = self.objective or [float(np.vdot(L, L)) / total**2]
        return self._as_root(L) / total, gap

    def _value(self, x: Floats) -> tuple[float, Floats]:
        """Return f and its gradient."""
        L = x.reshape(self._shape)
        lengths, gradient_of_sum = self._lengths(L)
        total = float(self.weight @ lengths)
        self._last = float(x @ x) / total**2
        return 0.5 * float(x @ x) - np.log(total), (L - gradient_of_sum / total).ravel()

    def _after_step(self, intermediate_result: OptimizeResult) -> None:
        """Record the objective, and stop when the gap is small enough."""
        self.objective.append(self._last)
        self.report(len(self.objective), self._last)
        if len(self.objective) % STEPS_PER_CHECK == 0:
            _, gap = self._bounded(intermediate_result.x.reshape(self._shape))
            if gap <= self.tol:
                raise StopIteration

    def _bounded(self, L: Floats) -> tuple[float, float]:
        """Return the weighted sum of lengths, and the relative gap.

        The sum is concave in B: for matrices of trace one it is at most half of the current sum plus the largest
        eigenvalue of its gradient.
        """
        size = float(np.linalg.norm(L))
        lengths, _ = self._lengths(L / size)
        total = float(self.weight @ lengths)
        bound = total / 2 + self._largest_eigenvalue(self.weight / (2 * lengths))
        return total * size, max(1.0 - (total / bound) ** 2, 0.0)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.vectors.shape[1], self.vectors.shape[1])

    def _start(self) -> Floats:
        return np.eye(self.vectors.shape[1]) / np.sqrt(self.vectors.shape[1])

    def _lengths(self, L: Floats) -> tuple[Floats, Floats]:
        """Return the length of every vector under L L', and the gradient of their weighted sum."""
        mapped = self.vectors @ L
        lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", mapped, mapped)), MIN_LENGTH)
        return lengths, (self.vectors.T * (self.weight / lengths)) @ mapped

    def _largest_eigenvalue(self, weight: Floats) -> float:
        """Return the largest eigenvalue of the sum of weight * vv'."""
        return float(np.linalg.eigvalsh((self.vectors.T * weight) @ self.vectors)[-1])

    def _as_root(self, L: Floats) -> Floats:
        return L


class _DiagonalProblem(_FullProblem):
    """The same problem with a diagonal L, as a vector."""

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.vectors.shape[1],)

    def _start(self) -> Floats:
        return np.full(self.vectors.shape[1], 1.0 / np.sqrt(self.vectors.shape[1]))

    def _lengths(self, L: Floats) -> tuple[Floats, Floats]:
        squares = self.vectors**2
        lengths = np.maximum(np.sqrt(squares @ L**2), MIN_LENGTH)
        return lengths, ((self.weight / lengths) @ squares) * L

    def _largest_eigenvalue(self, weight: Floats) -> float:
        return float((weight @ self.vectors**2).max())

    def _as_root(self, L: Floats) -> Floats:
        return np.diag(L)
