"""The matrix of the trace one under which given vectors are longest together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from mustlink._sklearn_compat import one_blas_thread
from mustlink.metric_learning._base import Floats

STEPS_PER_CHECK = 5
"""The bound on the best value takes eigenvalues, so it is not asked for at every step."""

TINY = 1e-150
"""The least length, so that a step that maps a vector to nothing can be told for a bad one."""

SMALL = 200_000
"""Up to this many numbers several threads wait for each other longer than they work."""


@dataclass(frozen=True)
class Farthest:
    """A root of the matrix, scaled so that the lengths sum to one; its trace after each step; and the gap.

    The gap is by how much of itself the trace may at most be above the best possible.
    """

    root: Floats
    objective: list[float]
    gap: float


def farthest_apart(
    vectors: Floats,
    weight: Floats,
    diagonal: bool,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None],
) -> Farthest:
    """Find the positive semidefinite B of the least trace under which the weighted lengths sqrt(v'Bv) sum to one.

    Scaled to the trace one, B makes that sum largest, which is the same problem.
    """
    basis = None
    if not diagonal and len(vectors) < vectors.shape[1]:
        # B leaves out whatever the vectors do not span.
        left, length, basis = np.linalg.svd(vectors, full_matrices=False)
        vectors = left * length
    # The unit of length is of no account, and a good one keeps the numbers near one.
    unit = np.sqrt(np.einsum("ij,ij->i", vectors, vectors).mean())
    climb = (_DiagonalClimb if diagonal else _Climb)(vectors / unit, weight / weight.sum(), max_iter, tol, report)
    with one_blas_thread() if vectors.size <= SMALL else nullcontext():
        root, gap = climb.run()
    scale = unit * weight.sum()
    root = root / scale
    return Farthest(root if basis is None else basis.T @ root, [value / scale**2 for value in climb.objective], gap)


@dataclass
class _Climb:
    """Quasi-Newton steps on f(L) = |L|^2 / 2 - log(sum of weight * |L'v|), whose minimum has B = L L'.

    Every minimum of f is the best one, because L has as many columns as rows.
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
        """Return the root of the best B, scaled so that the lengths sum to one, and the gap."""
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
        """Note the objective, and stop when it is near enough to the best."""
        self.objective.append(self._last)
        self.report(len(self.objective), self._last)
        if len(self.objective) % STEPS_PER_CHECK == 0:
            _, gap = self._bounded(intermediate_result.x.reshape(self._shape))
            if gap <= self.tol:
                raise StopIteration

    def _bounded(self, L: Floats) -> tuple[float, float]:
        """Return the sum of lengths, and by how much of itself the objective may be above the best.

        The sum is concave in B, so that no matrix of the trace one has a sum above half of it plus the largest
        eigenvalue of its gradient.
        """
        size = float(np.linalg.norm(L))
        lengths, _ = self._lengths(L / size)
        total = float(self.weight @ lengths)
        highest = total / 2 + self._steepest(self.weight / (2 * lengths))
        return total * size, max(1.0 - (total / highest) ** 2, 0.0)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.vectors.shape[1], self.vectors.shape[1])

    def _start(self) -> Floats:
        return np.eye(self.vectors.shape[1]) / np.sqrt(self.vectors.shape[1])

    def _lengths(self, L: Floats) -> tuple[Floats, Floats]:
        """Return the length of every vector under L L', and the gradient of their weighted sum."""
        mapped = self.vectors @ L
        lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", mapped, mapped)), TINY)
        return lengths, (self.vectors.T * (self.weight / lengths)) @ mapped

    def _steepest(self, pull: Floats) -> float:
        """Return the largest eigenvalue of the sum of pull * vv'."""
        return float(np.linalg.eigvalsh((self.vectors.T * pull) @ self.vectors)[-1])

    def _as_root(self, L: Floats) -> Floats:
        return L


class _DiagonalClimb(_Climb):
    """The same with L diagonal and written as a row."""

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.vectors.shape[1],)

    def _start(self) -> Floats:
        return np.full(self.vectors.shape[1], 1.0 / np.sqrt(self.vectors.shape[1]))

    def _lengths(self, L: Floats) -> tuple[Floats, Floats]:
        squares = self.vectors**2
        lengths = np.maximum(np.sqrt(squares @ L**2), TINY)
        return lengths, ((self.weight / lengths) @ squares) * L

    def _steepest(self, pull: Floats) -> float:
        return float((pull @ self.vectors**2).max())

    def _as_root(self, L: Floats) -> Floats:
        return np.diag(L)
