"""The LogDet problem of ITML and its solution by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Floats, Mask
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import MAX_ONE_THREAD

# Rows with a smaller squared distance, relative to the bound, differ by rounding only.
MIN_SQUARED = np.finfo(np.float64).eps ** 2

# The factor between the penalties of one stage and the next.
STAGE_FACTOR = 4.0

# The tolerance of all stages but the last.
STAGE_TOL = 0.1

# The maximum number of conjugate directions of a Newton step.
MAX_DIRECTIONS = 100

MIN_STEP = 1e-10


@dataclass(frozen=True)
class LogDetProblem:
    """Links as bounds on squared distances, in coordinates in which the prior metric is the identity.

    Differences are divided by the root of their bound: the squared distance of a must-link should be at most one, and
    that of a cannot-link at least one. With fewer links than features the coordinates are those of a `basis` of the
    span of the differences, because A is the identity outside.
    """

    difference: Floats
    sign: Floats
    penalty: Floats
    basis: Floats | None

    @classmethod
    def of(cls, must: Floats, cannot: Floats, links: Constraints, bounds: tuple[float, float], gamma: float) -> Self:
        """Build the problem from the differences of the must-linked and of the cannot-linked rows."""
        near, far = np.sqrt(bounds)
        difference = np.concatenate([must / near, cannot / far])
        different = np.einsum("ij,ij->i", difference, difference) > MIN_SQUARED
        difference, sign = difference[different], links.sign[different].astype(np.float64)
        basis = None
        if 0 < len(difference) < difference.shape[1]:
            left, length, right = np.linalg.svd(difference, full_matrices=False)
            kept = length > length[0] * len(length) * np.finfo(np.float64).eps
            difference, basis = left[:, kept] * length[kept], right[kept]
        return cls(difference, sign, gamma * links.weight[different], basis)

    def squared_distances(self, A: Floats) -> Floats:
        """Return the squared distance of each linked pair under A, relative to its bound."""
        return np.einsum("ij,ij->i", self.difference @ A, self.difference)

    def value(self, A: Floats, squared: Floats) -> float:
        """Return the objective at A, given the squared distances; infinite if A is not positive definite."""
        sign, log_det = np.linalg.slogdet(A)
        if sign <= 0 or not (squared > 0).all():
            return float("inf")
        violated = self._violated(squared)
        excess = squared[violated] - np.log(squared[violated]) - 1.0
        return float(np.trace(A) - log_det - len(A) + self.penalty[violated] @ excess)

    def gradient(self, squared: Floats) -> tuple[Floats, float]:
        """Return G, where G - A^-1 is the gradient at A, and a lower bound on the optimum.

        The bound is the value of the dual problem at the multipliers that belong to A, if G is positive definite.
        """
        violated = self._violated(squared)
        difference, penalty, squared = self.difference[violated], self.penalty[violated], squared[violated]
        G = np.eye(difference.shape[1]) + (difference.T * (penalty * (1.0 - 1.0 / squared))) @ difference
        values = np.linalg.eigvalsh(G)
        bound = float(np.log(values).sum() - penalty @ np.log(squared)) if values[0] > 0 else -float("inf")
        return G, bound

    def curvature(self, root: Floats, squared: Floats) -> tuple[Floats, Floats]:
        """Return the parts of the second derivative at A = root root': unit differences, and the penalty of each."""
        violated = self._violated(squared)
        return self.difference[violated] @ root / np.sqrt(squared[violated])[:, None], self.penalty[violated]

    def in_all_features(self, A: Floats, n_features: int) -> Floats:
        """Return a metric in the basis as one of all features."""
        if self.basis is None:
            return A
        return np.eye(n_features) + self.basis.T @ (A - np.eye(len(A))) @ self.basis

    def _violated(self, squared: Floats) -> Mask:
        """Return which links are on the wrong side of their bound."""
        return self.sign * (squared - 1.0) > 0


@dataclass(frozen=True)
class Solution:
    """A metric, the objective after each step of the last stage, the number of all steps, and the relative gap."""

    A: Floats
    objective: list[float]
    n_steps: int
    gap: float


def solve(problem: LogDetProblem, max_iter: int, tol: float, report: Callable[[int, float], None]) -> Solution:
    """Solve the problem by Newton's method, in stages of increasing penalties.

    Newton steps are short far from the optimum, and with small penalties the optimum is near the prior.
    """
    n_steps = 0
    solution = Solution(np.eye(problem.difference.shape[1]), [], 0, float("inf"))
    with one_blas_thread() if problem.difference.size <= MAX_ONE_THREAD else nullcontext():
        for share in _stages(problem):
            stage = replace(problem, penalty=share * problem.penalty)
            left = max(max_iter - n_steps, 1) if share == 1.0 else max_iter // 2 - n_steps
            solution = _newton(stage, solution.A, left, tol if share == 1.0 else STAGE_TOL)
            n_steps += solution.n_steps
            report(n_steps, solution.objective[-1])
    return replace(solution, n_steps=n_steps)


def _stages(problem: LogDetProblem) -> list[float]:
    """Return the factor of the penalties in each stage, 1 in the last."""
    start = problem.difference.shape[1] / problem.penalty.sum()
    n_stages = max(int(np.ceil(np.log(1.0 / start) / np.log(STAGE_FACTOR))), 0)
    return [STAGE_FACTOR**-number for number in range(n_stages, -1, -1)]


def _newton(problem: LogDetProblem, A: Floats, max_iter: int, tol: float) -> Solution:
    """Minimize from A by Newton steps, each solved by conjugate gradients, until the gap to the dual is small."""
    squared = problem.squared_distances(A)
    objective, bound = [problem.value(A, squared)], 0.0
    for _ in range(max_iter):
        G, dual = problem.gradient(squared)
        bound = max(bound, dual)
        if objective[-1] - bound <= tol * objective[-1]:
            break
        root: Floats = np.linalg.cholesky(A).astype(np.float64, copy=False)
        slope = root.T @ G @ root - np.eye(len(A))
        direction = _newton_direction(slope, *problem.curvature(root, squared))
        step = _line_search(problem, root, slope, direction, objective[-1])
        if step is None:
            # Converged to the precision of the arithmetic.
            break
        A, squared, value = step
        objective.append(value)
    gap = (objective[-1] - bound) / objective[-1] if objective[-1] > bound else 0.0
    return Solution(A, objective, len(objective) - 1, gap)


def _newton_direction(slope: Floats, unit: Floats, penalty: Floats) -> Floats:
    """Solve E + sum of penalty * (u'Eu) uu' = -slope for E by conjugate gradients."""
    direction, residual = np.zeros_like(slope), -slope
    along, squared = residual, float(np.vdot(residual, residual))
    enough = min(0.01, squared) * squared
    for _ in range(MAX_DIRECTIONS):
        if squared <= enough:
            break
        image = along + (unit.T * (penalty * np.einsum("ij,ij->i", unit @ along, unit))) @ unit
        length = squared / float(np.vdot(along, image))
        direction = direction + length * along
        residual = residual - length * image
        before, squared = squared, float(np.vdot(residual, residual))
        along = residual + squared / before * along
    return direction


def _line_search(
    problem: LogDetProblem, root: Floats, slope: Floats, direction: Floats, value: float
) -> tuple[Floats, Floats, float] | None:
    """Halve the step until the objective decreases sufficiently; return None if it never does.

    The new metric root (I + step * direction) root' is positive definite.
    """
    values, vectors = np.linalg.eigh((direction + direction.T) / 2)
    axes = root @ vectors
    descent = float(np.vdot(slope, direction))
    step = min(1.0, 0.95 / -values[0]) if values[0] < 0 else 1.0
    while step > MIN_STEP:
        A = (axes * (1.0 + step * values)) @ axes.T
        squared = problem.squared_distances(A)
        lower = problem.value(A, squared)
        if lower <= value + 1e-4 * step * descent and lower < value:
            return A, squared, lower
        step /= 2
    return None
