"""The LogDet problem of ITML: what it asks, its value, its dual, and how it is solved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mustlink._sklearn_compat import one_blas_thread
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import Floats

EQUAL = np.finfo(np.float64).eps ** 2
"""Rows whose squared distance is this share of what is asked for differ by rounding only."""

FIRMER = 4.0
"""By how much links get dearer from one stage to the next, until they cost what they should."""

STAGE_TOL = 0.1
"""How near to the best each stage but the last must come."""

MOST_DIRECTIONS = 100
"""How many conjugate directions a Newton step is made of at most."""

SMALLEST_STEP = 1e-10

SMALL = 200_000
"""Up to this many numbers several threads wait for each other longer than they work."""


@dataclass(frozen=True)
class LogDetProblem:
    """Links as bounds on squared distances, in coordinates in which the prior metric is the identity.

    Differences are divided by the root of their bound, so that every must-link asks for a squared distance of at most
    one and every cannot-link for at least one. With fewer links than features they are written in a basis of the
    space that they span, because A stays the identity outside.

    `difference` has the shape (n_links, n_coordinates), `sign` is 1 for must- and -1 for cannot-links, `slack` is the
    price gamma of each, and `basis` holds the coordinate axes as rows; None is all features.
    """

    difference: Floats
    sign: Floats
    slack: Floats
    basis: Floats | None

    @classmethod
    def of(cls, must: Floats, cannot: Floats, links: Constraints, bounds: tuple[float, float], gamma: float) -> Self:
        """Set the problem up from the differences of the must-linked and of the cannot-linked rows."""
        near, far = np.sqrt(bounds)
        difference = np.concatenate([must / near, cannot / far])
        sign = np.repeat([1.0, -1.0], [len(must), len(cannot)])
        weight = np.concatenate([links.must_link_weight, links.cannot_link_weight])
        different = np.einsum("ij,ij->i", difference, difference) > EQUAL
        difference, sign, weight = difference[different], sign[different], weight[different]
        basis = None
        if 0 < len(difference) < difference.shape[1]:
            left, length, right = np.linalg.svd(difference, full_matrices=False)
            kept = length > length[0] * len(length) * np.finfo(np.float64).eps
            difference, basis = left[:, kept] * length[kept], right[kept]
        return cls(difference, sign, gamma * weight, basis)

    def __len__(self) -> int:
        return len(self.difference)

    def squared_distances(self, A: Floats) -> Floats:
        """Return the squared distance of each linked pair under A, over what the link asks for."""
        return np.einsum("ij,ij->i", self.difference @ A, self.difference)

    def value(self, A: Floats, squared: Floats) -> float:
        """Return the objective at A, under which the links have these squared distances; infinite outside the cone."""
        sign, log_det = np.linalg.slogdet(A)
        if sign <= 0 or not (squared > 0).all():
            return float("inf")
        missed = self._missed(squared)
        excess = squared[missed] - np.log(squared[missed]) - 1.0
        return float(np.trace(A) - log_det - len(A) + self.slack[missed] @ excess)

    def gradient(self, squared: Floats) -> tuple[Floats, float]:
        """Return G, where G - A^-1 is the gradient at A, and a number that the objective of no metric is below.

        The pull of the links at A makes a point of the dual problem, if it leaves G positive definite.
        """
        missed = self._missed(squared)
        difference, slack, squared = self.difference[missed], self.slack[missed], squared[missed]
        G = np.eye(difference.shape[1]) + (difference.T * (slack * (1.0 - 1.0 / squared))) @ difference
        values = np.linalg.eigvalsh(G)
        bound = float(np.log(values).sum() - slack @ np.log(squared)) if values[0] > 0 else -float("inf")
        return G, bound

    def curvature(self, root: Floats, squared: Floats) -> tuple[Floats, Floats]:
        """Return what the second derivative is made of at A = root root': unit differences, and the price of each."""
        missed = self._missed(squared)
        return self.difference[missed] @ root / np.sqrt(squared[missed])[:, None], self.slack[missed]

    def in_all_features(self, A: Floats, n_features: int) -> Floats:
        """Write a metric of the basis as one of all features."""
        if self.basis is None:
            return A
        return np.eye(n_features) + self.basis.T @ (A - np.eye(len(A))) @ self.basis

    def _missed(self, squared: Floats) -> NDArray[np.bool_]:
        """Tell which links are on the wrong side of their bound."""
        return self.sign * (squared - 1.0) > 0


@dataclass(frozen=True)
class Solution:
    """A metric, the objective after each step of the last stage, the number of all steps, and the gap.

    The gap is by how much of itself the objective may at most be above the best possible.
    """

    A: Floats
    objective: list[float]
    n_steps: int
    gap: float


def solve(problem: LogDetProblem, max_iter: int, tol: float, report: Callable[[int, float], None]) -> Solution:
    """Solve the problem by Newton's method, with cheap links first and dearer ones from there on.

    Far from the best metric Newton's steps are short; while links cost little, the best metric is near the prior.
    """
    n_steps = 0
    solution = Solution(np.eye(problem.difference.shape[1]), [], 0, float("inf"))
    with one_blas_thread() if problem.difference.size <= SMALL else nullcontext():
        for share in _stages(problem):
            stage = replace(problem, slack=share * problem.slack)
            left = max(max_iter - n_steps, 1) if share == 1.0 else max_iter // 2 - n_steps
            solution = _newton(stage, solution.A, left, tol if share == 1.0 else STAGE_TOL)
            n_steps += solution.n_steps
            report(n_steps, solution.objective[-1])
    return replace(solution, n_steps=n_steps)


def _stages(problem: LogDetProblem) -> list[float]:
    """Return the share of their price that links cost in each stage, the last of them 1."""
    start = problem.difference.shape[1] / problem.slack.sum()
    n_stages = max(int(np.ceil(np.log(1.0 / start) / np.log(FIRMER))), 0)
    return [FIRMER**-number for number in range(n_stages, -1, -1)]


def _newton(problem: LogDetProblem, A: Floats, max_iter: int, tol: float) -> Solution:
    """Go downhill from A by Newton steps, each solved by conjugate gradients, until the gap to the dual is small."""
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
        step = _downhill(problem, root, slope, direction, objective[-1])
        if step is None:
            # The arithmetic can tell no better metric from this one.
            break
        A, squared, value = step
        objective.append(value)
    gap = (objective[-1] - bound) / objective[-1] if objective[-1] > bound else 0.0
    return Solution(A, objective, len(objective) - 1, gap)


def _newton_direction(slope: Floats, unit: Floats, price: Floats) -> Floats:
    """Solve E + sum of price * (u'Eu) uu' = -slope for E by conjugate gradients, the closer the flatter it is."""
    direction, residual = np.zeros_like(slope), -slope
    along, squared = residual, float(np.vdot(residual, residual))
    enough = min(0.01, squared) * squared
    for _ in range(MOST_DIRECTIONS):
        if squared <= enough:
            break
        image = along + (unit.T * (price * np.einsum("ij,ij->i", unit @ along, unit))) @ unit
        length = squared / float(np.vdot(along, image))
        direction = direction + length * along
        residual = residual - length * image
        before, squared = squared, float(np.vdot(residual, residual))
        along = residual + squared / before * along
    return direction


def _downhill(
    problem: LogDetProblem, root: Floats, slope: Floats, direction: Floats, value: float
) -> tuple[Floats, Floats, float] | None:
    """Take the longest of ever shorter steps that lowers the objective enough; None if none does.

    The metric is root (I + step * direction) root', and stays positive definite.
    """
    values, vectors = np.linalg.eigh((direction + direction.T) / 2)
    axes = root @ vectors
    descent = float(np.vdot(slope, direction))
    step = min(1.0, 0.95 / -values[0]) if values[0] < 0 else 1.0
    while step > SMALLEST_STEP:
        A = (axes * (1.0 + step * values)) @ axes.T
        squared = problem.squared_distances(A)
        lower = problem.value(A, squared)
        if lower <= value + 1e-4 * step * descent and lower < value:
            return A, squared, lower
        step /= 2
    return None
