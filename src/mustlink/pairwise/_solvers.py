"""Minimizing the losses of labels and links over linear functions of the features of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from mustlink._types import Floats
from mustlink.pairwise._terms import LabelTerm, StatesTerm, Term

# The history of L-BFGS; longer than usual, as products with the features cost more than it does.
N_CORRECTIONS = 20
# A slope of so much per unit of weight, relative to that at the start, is rounding.
ROUNDED_SLOPE = 1e-7


@dataclass(frozen=True)
class Objective:
    """The sum of some terms, and `ridge` times the squared norm of the coefficients, the intercept left out.

    The score of a row is the product of its features with the coefficients, plus the intercept, which is the last
    parameter if there is one.
    """

    features: Any
    terms: Sequence[Term]
    ridge: float
    fit_intercept: bool

    @property
    def n_parameters(self) -> int:
        """The number of coefficients, and one for an intercept."""
        return int(self.features.shape[1]) + int(self.fit_intercept)

    def scores(self, parameters: Floats) -> Floats:
        """Return the score f of every row."""
        if self.fit_intercept:
            return np.asarray(self.features @ parameters[:-1] + parameters[-1])
        return np.asarray(self.features @ parameters)

    def value(self, parameters: Floats) -> float:
        """Return the objective."""
        return self.value_and_gradient(parameters)[0]

    def value_and_gradient(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        f, coefficients = self.scores(parameters), parameters[: self.features.shape[1]]
        value = sum(term.value(f) for term in self.terms) + self.ridge * float(coefficients @ coefficients)
        slope = np.sum([term.gradient(f) for term in self.terms], axis=0)
        return value, self._back(slope) + 2 * self.ridge * self._penalized(parameters)

    def hessian_product(self, parameters: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies the Hessian at these parameters with a vector."""
        f = self.scores(parameters)
        curvature = sum(term.hessian(f) for term in self.terms)
        return lambda v: self._back(curvature @ self.scores(v)) + 2 * self.ridge * self._penalized(v)

    def _back(self, by_row: Floats) -> Floats:
        """Return the sum of the features of the rows, weighted by a number per row."""
        summed = np.asarray(self.features.T @ by_row)
        return np.append(summed, by_row.sum()) if self.fit_intercept else summed

    def _penalized(self, parameters: Floats) -> Floats:
        return np.append(parameters[:-1], 0.0) if self.fit_intercept else parameters


@dataclass
class Solution:
    """Parameters, with the objective at the start and after each iteration."""

    parameters: Floats
    history: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = True


@dataclass(frozen=True)
class Limits:
    """When to stop: once no derivative of the objective exceeds `tol` per unit of weight, or after `max_iter` steps."""

    tol: float
    max_iter: int
    total_weight: float


def minimize_smooth(objective: Objective, start: Floats, limits: Limits, solver: str) -> Solution:
    """Minimize by L-BFGS, or by Newton's method in a trust region with conjugate gradients."""
    unit = 1.0 / limits.total_weight
    value, slope = objective.value_and_gradient(start)
    history = [value]
    last: dict[str, Any] = {}

    def fun(parameters: Floats) -> tuple[float, Floats]:
        value, gradient = objective.value_and_gradient(parameters)
        return unit * value, unit * gradient

    def hessian_product(parameters: Floats, v: Floats) -> Floats:
        # The conjugate gradients of one iteration are all at the same point.
        if "at" not in last or not np.array_equal(last["at"], parameters):
            last["at"], last["product"] = parameters.copy(), objective.hessian_product(parameters)
        return np.asarray(unit * last["product"](v))

    def keep(intermediate_result: Any) -> None:
        history.append(intermediate_result.fun / unit)

    if solver == "lbfgs":
        found = minimize(
            fun, start, jac=True, method="L-BFGS-B", callback=keep,
            options={
                "maxiter": limits.max_iter, "maxfun": 10 * limits.max_iter, "gtol": limits.tol, "maxcor": N_CORRECTIONS,
                "ftol": 8 * np.finfo(np.float64).eps,
            },
        )  # fmt: skip
    else:
        found = minimize(
            fun, start, jac=True, hessp=hessian_product, method="trust-ncg", callback=keep,
            options={"maxiter": limits.max_iter, "gtol": limits.tol},
        )  # fmt: skip
    # A line search that finds no lower value, or no finite one, is no success, unless the slope is within rounding.
    rounding = ROUNDED_SLOPE * max(unit * np.abs(slope).max(initial=0.0), 1.0)
    has_converged = bool(found.success or np.abs(found.jac).max(initial=0.0) <= max(limits.tol, rounding))
    # Without a gradient at the start there is no iteration; a fit has at least one.
    return Solution(found.x, history, max(int(found.nit), 1), has_converged)


def minimize_by_em(objective: Objective, start: Floats, limits: Limits) -> Solution:
    """Minimize a non-convex objective by expectation and maximization: sides of rows, then a weighted regression."""
    fixed = [term for term in objective.terms if isinstance(term, LabelTerm)]
    linked = [term for term in objective.terms if isinstance(term, StatesTerm)]
    solution = Solution(start, [objective.value(start)], converged=False)
    for _ in range(limits.max_iter):
        f = objective.scores(solution.parameters)
        labels = [*fixed, *(term.expected_sides(f) for term in linked)]
        regression = replace(objective, terms=labels)
        solution.parameters = minimize_smooth(regression, solution.parameters, limits, "lbfgs").parameters
        value, gradient = objective.value_and_gradient(solution.parameters)
        solution.history.append(value)
        solution.n_iter += 1
        # With a small tolerance the objective stops falling first, within its rounding.
        is_flat = solution.history[-2] - value <= 8 * np.finfo(np.float64).eps * abs(value)
        if is_flat or np.abs(gradient).max(initial=0.0) <= limits.tol * limits.total_weight:
            solution.converged = True
            break
    return solution
