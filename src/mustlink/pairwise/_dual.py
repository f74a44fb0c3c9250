"""The dual of the pairwise support vector machine, and coordinate ascent over it until the duality gap is small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mustlink._types import Floats, Indices, Mask
from mustlink.pairwise._dual_kernels import ascend_dense, ascend_sparse
from mustlink.pairwise._terms import LinkedPairs

# The gap is computed after so many passes over the variables, and their changes are extrapolated.
PASSES_PER_CHECK = 5
# A variable at a bound is left out until the next check if its slope there is so much, relative to its margin.
SETTLED = 0.1


@dataclass(frozen=True)
class DualProblem:
    """One variable for each label, then one for each link.

    The row of `directions` of a variable is the features of a labeled row times its side, or minus f_i - c f_j as a
    function of the weights; `gain` is what a unit of the variable adds to the dual objective, and `lower` and `upper`
    are its bounds. `scale` is C. The primal objective is the sum over variables of their losses at their margins m,
    the products of direction and weights: upper * max(gain - m, 0) of a hinge, upper * |m| of a must-link or a
    cannot-link of two classes; plus the squared norm over 2 C.
    """

    directions: Any
    gain: Floats
    lower: Floats
    upper: Floats
    scale: float

    @classmethod
    def build(
        cls, features: Any, place: Indices, side: Floats, weight: Floats, pairs: LinkedPairs, scale: float
    ) -> DualProblem:
        """Return the problem of labeled rows with their sides, 1 or -1, and of links."""
        n_labels, is_one_sided = len(place), pairs.is_one_sided
        labeled = sparse.csr_array((side, (np.arange(n_labels), place)), shape=(n_labels, pairs.n_rows))
        directions = sparse.vstack([labeled, -pairs.incidence], format="csr") @ features
        return cls(
            sparse.csr_array(directions) if sparse.issparse(directions) else np.ascontiguousarray(directions),
            np.concatenate([np.ones(n_labels), is_one_sided.astype(np.float64)]),
            np.concatenate([np.zeros(n_labels), np.where(is_one_sided, 0.0, -pairs.weight)]),
            np.concatenate([weight, pairs.weight]),
            scale,
        )

    @classmethod
    def of_hinges(cls, features: Any, hinges: Floats, sides: Floats, gains: Floats, scale: float) -> DualProblem:
        """Return the problem of the losses max(0, gain - side * f) of rows, with weights of shape (n_rows, n_kinds)."""
        rows, kinds = np.nonzero(hinges)
        entries = (sides[kinds], (np.arange(len(rows)), rows))
        directions = sparse.csr_array(entries, shape=(len(rows), hinges.shape[0])) @ features
        return cls(
            sparse.csr_array(directions) if sparse.issparse(directions) else np.ascontiguousarray(directions),
            gains[kinds],
            np.zeros(len(rows)),
            hinges[rows, kinds],
            scale,
        )

    def primal(self, weights: Floats, margins: Floats) -> float:
        """Return the primal objective."""
        loss = np.where(self.lower < 0, np.abs(margins), np.maximum(self.gain - margins, 0.0))
        return float(self.upper @ loss + weights @ weights / (2 * self.scale))

    def dual(self, variables: Floats, weights: Floats) -> float:
        """Return the dual objective."""
        return float(self.gain @ variables - weights @ weights / (2 * self.scale))

    def is_settled(self, variables: Floats, margins: Floats) -> Mask:
        """Return which variables are at a bound that their slope clearly holds them at."""
        slope = self.gain - margins
        at_upper = (variables == self.upper) & (slope > SETTLED)
        return np.asarray(at_upper | ((variables == self.lower) & (slope < -SETTLED)))

    def prepare_pass(self) -> Callable[[Indices, Floats, Floats], None]:
        """Return the function that sets chosen variables to their best values given the others."""
        bounds = (self.gain, self.lower, self.upper, self.scale)
        rows = self.directions
        if sparse.issparse(rows):
            norms = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            return partial(ascend_sparse, rows.data, rows.indices, rows.indptr, *bounds, norms)
        return partial(ascend_dense, rows, *bounds, np.einsum("ij,ij->i", rows, rows))


@dataclass(frozen=True)
class DualSolution:
    """The primal weights and the dual variables, the primal objectives on the way, and the relative gap at the end."""

    weights: Floats
    variables: Floats
    history: list[float]
    gap: float
    n_iter: int


def ascend(problem: DualProblem, tol: float, max_iter: int, start: Floats | None = None) -> DualSolution:
    """Maximize the dual by passes over its variables from `start`, or zero, extrapolated after every few passes."""
    take_pass = problem.prepare_pass()
    variables, weights = np.zeros(len(problem.gain)), np.zeros(problem.directions.shape[1])
    if start is not None:
        variables = np.clip(start, problem.lower, problem.upper)
        weights = problem.scale * np.asarray(problem.directions.T @ variables)
    chosen = np.arange(len(variables))
    history: list[float] = []
    gap = np.inf
    n_iter = 0
    while n_iter < max_iter and gap > tol:
        iterates = [variables.copy()]
        for _ in range(min(PASSES_PER_CHECK, max_iter - n_iter)):
            take_pass(chosen, variables, weights)
            iterates.append(variables.copy())
            n_iter += 1
        dual = problem.dual(variables, weights)
        guess = np.clip(extrapolate(np.array(iterates)), problem.lower, problem.upper)
        guess_weights = problem.scale * np.asarray(problem.directions.T @ guess)
        if (guess_dual := problem.dual(guess, guess_weights)) > dual:
            variables, weights, dual = guess, guess_weights, guess_dual
        margins = problem.directions @ weights
        history.append(problem.primal(weights, margins))
        gap = (history[-1] - dual) / max(history[-1], np.finfo(np.float64).tiny)
        chosen = np.flatnonzero(~problem.is_settled(variables, margins))
    return DualSolution(weights, variables, history, gap, n_iter)


def extrapolate(iterates: Floats) -> Floats:
    """Return the combination of iterates whose last change would be smallest (Anderson acceleration)."""
    changes = np.diff(iterates, axis=0)
    inner = changes @ changes.T
    ridge = 1e-10 * np.trace(inner)
    if ridge == 0:
        return np.asarray(iterates[-1])
    share = np.linalg.solve(inner + ridge * np.eye(len(inner)), np.ones(len(inner)))
    return np.asarray(share / share.sum() @ iterates[1:])
