"""The dual of the pairwise support vector machine, and coordinate ascent over it until the duality gap is small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mustlink._types import Floats, Indices
from mustlink.pairwise._dual_kernels import ascend_dense, ascend_sparse
from mustlink.pairwise._terms import LinkedPairs

# The gap is computed after so many passes over all variables, and their changes are extrapolated.
PASSES_PER_CHECK = 5


@dataclass(frozen=True)
class DualProblem:
    """One variable for each label, then one for each link.

    The direction of a variable is the sum of the features of one or two rows with signs; `gain` is what a unit of it
    adds to the dual objective, and `lower` and `upper` are its bounds. `scale` is C. The primal objective is the sum
    over variables of their losses at their margins m, the products of direction and weights: upper * max(gain - m, 0)
    of a hinge, upper * |m| of a must-link or a cannot-link of two classes; plus the squared norm over 2 C.
    """

    features: Any
    first: Indices
    second: Indices
    sign: Floats
    gain: Floats
    lower: Floats
    upper: Floats
    scale: float

    @classmethod
    def build(
        cls, features: Any, place: Indices, side: Floats, weight: Floats, pairs: LinkedPairs, scale: float
    ) -> DualProblem:
        """Return the problem of labeled rows with their sides, 1 or -1, and of links."""
        n_labels, n_links = len(place), len(pairs.sign)
        own = np.column_stack([side, np.zeros(n_labels)])
        linked = np.column_stack([-np.ones(n_links), pairs.sign.astype(np.float64)])
        is_one_sided = pairs.is_one_sided
        return cls(
            features,
            np.concatenate([place, pairs.first]),
            np.concatenate([place, pairs.second]),
            np.concatenate([own, linked]),
            np.concatenate([np.ones(n_labels), is_one_sided.astype(np.float64)]),
            np.concatenate([np.zeros(n_labels), np.where(is_one_sided, 0.0, -pairs.weight)]),
            np.concatenate([weight, pairs.weight]),
            scale,
        )

    def directions(self) -> Any:
        """Return the matrix that takes the scores of rows to the margins of variables."""
        place = np.arange(len(self.first))
        where = np.concatenate([place, place]), np.concatenate([self.first, self.second])
        shape = (len(place), self.features.shape[0])
        return sparse.csr_array((self.sign.T.ravel(), where), shape=shape)

    def primal(self, weights: Floats, margins: Floats) -> float:
        """Return the primal objective."""
        is_two_sided = self.lower < 0
        loss = np.where(is_two_sided, np.abs(margins), np.maximum(self.gain - margins, 0.0))
        return float(self.upper @ loss + weights @ weights / (2 * self.scale))

    def dual(self, variables: Floats, weights: Floats) -> float:
        """Return the dual objective."""
        return float(self.gain @ variables - weights @ weights / (2 * self.scale))


@dataclass(frozen=True)
class DualSolution:
    """The primal weights and the dual variables, and the primal objectives and relative gaps found on the way."""

    weights: Floats
    variables: Floats
    history: list[float]
    gap: float
    n_iter: int


def ascend(problem: DualProblem, tol: float, max_iter: int) -> DualSolution:
    """Maximize the dual by passes over its variables, extrapolated after every few passes."""
    incidence = problem.directions()
    take_pass = _prepare_pass(problem, incidence)
    variables, weights = np.zeros(len(problem.first)), np.zeros(problem.features.shape[1])
    history: list[float] = []
    gap = np.inf
    n_iter = 0
    while n_iter < max_iter and gap > tol:
        iterates = [variables.copy()]
        for _ in range(min(PASSES_PER_CHECK, max_iter - n_iter)):
            take_pass(variables, weights)
            iterates.append(variables.copy())
            n_iter += 1
        dual = problem.dual(variables, weights)
        guess = np.clip(extrapolate(np.array(iterates)), problem.lower, problem.upper)
        guess_weights = problem.scale * (problem.features.T @ (incidence.T @ guess))
        if (guess_dual := problem.dual(guess, guess_weights)) > dual:
            variables, weights, dual = guess, guess_weights, guess_dual
        primal = problem.primal(weights, incidence @ (problem.features @ weights))
        history.append(primal)
        gap = (primal - dual) / max(primal, np.finfo(np.float64).tiny)
    return DualSolution(weights, variables, history, gap, n_iter)


def _prepare_pass(problem: DualProblem, incidence: Any) -> Callable[[Floats, Floats], None]:
    """Return the function that sets every variable to its best value given the others, and updates the weights."""
    bounds = (problem.gain, problem.upper, problem.lower, problem.scale)
    if sparse.issparse(problem.features):
        rows = sparse.csr_array(incidence @ problem.features)
        norms = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        return partial(ascend_sparse, rows.data, rows.indices, rows.indptr, *bounds, norms)
    pair = (problem.features, problem.first, problem.second, problem.sign)
    return partial(ascend_dense, *pair, *bounds, squared_norms(problem))


def extrapolate(iterates: Floats) -> Floats:
    """Return the combination of iterates whose last change would be smallest (Anderson acceleration)."""
    changes = np.diff(iterates, axis=0)
    inner = changes @ changes.T
    ridge = 1e-10 * np.trace(inner)
    if ridge == 0:
        return np.asarray(iterates[-1])
    share = np.linalg.solve(inner + ridge * np.eye(len(inner)), np.ones(len(inner)))
    return np.asarray(share / share.sum() @ iterates[1:])


def squared_norms(problem: DualProblem) -> Floats:
    """Return the squared length of the direction of every variable, of dense features."""
    features, sign = problem.features, problem.sign
    squares = np.einsum("ij,ij->i", features, features)
    links = np.flatnonzero(sign[:, 1] != 0)
    products = np.zeros(len(sign))
    for start in range(0, len(links), 1024):
        part = links[start : start + 1024]
        products[part] = np.einsum("ij,ij->i", features[problem.first[part]], features[problem.second[part]])
    found = sign[:, 0] ** 2 * squares[problem.first] + sign[:, 1] ** 2 * squares[problem.second]
    return np.maximum(found + 2 * sign[:, 0] * sign[:, 1] * products, 0.0)
