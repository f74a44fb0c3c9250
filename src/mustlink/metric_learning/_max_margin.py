"""The matrix of minimum norm under which given pairs of rows are at least one apart: dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.optimize import brentq

from mustlink._types import Floats, Ints
from mustlink.metric_learning._base import symmetric_root
from mustlink.metric_learning._max_margin_kernels import pass_over_dense, pass_over_gram, pass_over_sparse

# The order of the visits is random, for speed; the optimum does not depend on it.
ORDER_SEED = 0
# A pass over the active pairs that violates the optimality conditions by no more than this ends in a look at all pairs.
FIRST_VIOLATION = 0.1
VIOLATION_FACTOR = 0.3
MIN_VIOLATION = 1e-13
# Differences of so many numbers are computed at a time.
DIFFERENCES_AT_ONCE = 1 << 22
# After so many passes the multipliers between their bounds, up to so many, are optimized together after each look, in
# so many steps, with a relative ridge.
PASSES_ALONE = 40
MAX_FREE = 1000
MAX_FREE_STEPS = 20
RIDGE = 1e-10
# The search for a penalty: the steps of its logarithm, the largest one, and the precision.
LOG_STEP = 2.0
MAX_LOG_PENALTY = 60.0
SEARCH_PRECISION = 1e-6


@dataclass(frozen=True)
class PairProblem:
    """Pairs of rows, their weights, the penalty, and whether the matrix is diagonal.

    The problem is to minimize |A|^2 / 2 + penalty * sum of weight * max(0, 1 - d(A)) over the symmetric matrices A,
    with d(A) the squared distance of a pair. With an infinite penalty all are at least one. No two rows of a pair are
    equal. Rows are dense, or sparse with sorted columns.
    """

    X: Any
    pairs: Ints
    weight: Floats
    penalty: float
    diagonal: bool = False

    @property
    def upper(self) -> Floats:
        """The upper bound on the multiplier of each pair."""
        return self.penalty * self.weight

    def norms(self) -> Floats:
        """Return the squared norm of the matrix of each pair."""
        if self.diagonal:
            return squared_lengths(self.X, self.pairs, power=4)
        return squared_lengths(self.X, self.pairs) ** 2

    def matrix(self, alpha: Floats) -> Floats:
        """Return the sum of the pairs' matrices weighted by the multipliers; one row if it is diagonal."""
        support = np.flatnonzero(alpha)
        n_features = self.X.shape[1]
        total = np.zeros((1 if self.diagonal else n_features, n_features))
        step = max(1, DIFFERENCES_AT_ONCE // n_features)
        for start in range(0, len(support), step):
            some = support[start : start + step]
            delta = differences_of(self.X, self.pairs[some])
            if self.diagonal:
                total += alpha[some] @ delta**2
            else:
                product = delta.T @ (sparse.diags_array(alpha[some]) @ delta)
                total += product.toarray() if sparse.issparse(product) else product
        return total

    def root(self, alpha: Floats, tau: float) -> tuple[Floats, float]:
        """Return a root of the matrix plus tau times its mean eigenvalue, and that multiple of the identity.

        Without tau its rows are as many as the pairs with a multiplier, the rows or the features, whichever is fewest.
        """
        support = np.flatnonzero(alpha)
        n_rows, n_features = self.X.shape
        if self.diagonal or tau or n_features < min(len(support), n_rows):
            return root_of(self.matrix(alpha), tau)
        first, second = self.pairs[support].T
        if len(support) <= n_rows:
            delta = self.X[first] - self.X[second]
            return np.sqrt(alpha[support])[:, None] * (delta.toarray() if sparse.issparse(delta) else delta), 0.0
        # The matrix is X'LX with L the Laplacian of the graph of the pairs, weighted by the multipliers.
        graph = sparse.coo_array((alpha[support], (first, second)), shape=(n_rows, n_rows)).toarray()
        graph += graph.T
        return np.asarray(symmetric_root(np.diag(graph.sum(axis=1)) - graph) @ self.X), 0.0

    def gram(self, chosen: Ints | None = None) -> Floats:
        """Return the inner products of the matrices of all or of some pairs."""
        delta = differences_of(self.X, self.pairs if chosen is None else self.pairs[chosen])
        if self.diagonal:
            delta = delta**2
        product = delta @ delta.T
        dense = np.asarray(product.toarray() if sparse.issparse(product) else product)
        return dense if self.diagonal else dense**2


@dataclass(frozen=True)
class Solution:
    """Multipliers, the squared distance of each pair, the dual objective after each pass, and the relative gap."""

    alpha: Floats
    squared: Floats
    objective: list[float]
    gap: float


class _Ascent(Protocol):
    """A representation of the problem on which passes are made; `active` is reordered in place."""

    alpha: Floats
    squared: Floats

    def run(self, active: Ints, margin: float) -> tuple[int, float, float]:
        """Improve the multipliers of the active pairs."""

    def measure(self) -> Floats:
        """Return the squared distances of all pairs."""

    def products(self, chosen: Ints) -> Floats:
        """Return the inner products of the matrices of some pairs."""

    def refresh(self) -> None:
        """Take over multipliers that were changed from outside."""


class _MatrixAscent:
    """Passes with the matrix itself, whose memory is d x d."""

    def __init__(self, problem: PairProblem, alpha: Floats, matrix: Floats | None = None) -> None:
        self.alpha, self.squared, self._problem = alpha, np.zeros(len(alpha)), problem
        self._matrix = np.ascontiguousarray(problem.matrix(alpha) if matrix is None else matrix)
        state = (problem.pairs, self._matrix, alpha, problem.upper, problem.norms(), self.squared)
        self._is_sparse = sparse.issparse(problem.X)
        self._arguments: tuple[Any, ...]
        if self._is_sparse:
            X = problem.X
            places = X.indices.astype(np.int64), X.indptr.astype(np.int64)
            self._pass, self._arguments = pass_over_sparse, (X.data, *places, *state)
        else:
            self._pass, self._arguments = pass_over_dense, (problem.X, *state)

    def run(self, active: Ints, margin: float) -> tuple[int, float, float]:
        n_active, violation, gain = self._pass(*self._arguments, active, margin, True)
        return n_active, violation, gain

    def measure(self) -> Floats:
        self._pass(*self._arguments, np.arange(len(self.alpha)), np.inf, False)
        return self.squared

    def products(self, chosen: Ints) -> Floats:
        return self._problem.gram(chosen)

    def refresh(self) -> None:
        self._matrix[:] = self._problem.matrix(self.alpha)

    def whole_matrix(self) -> Floats:
        """Return the matrix, of which sparse passes update the lower half."""
        if not self._is_sparse or len(self._matrix) == 1:
            return self._matrix
        return np.tril(self._matrix) + np.tril(self._matrix, -1).T


class _GramAscent:
    """Passes with the inner products of all pairs, whose memory is m x m."""

    def __init__(self, gram: Floats, upper: Floats, alpha: Floats) -> None:
        self.alpha, self._gram, self._upper = alpha, gram, upper
        self.squared = gram @ alpha

    def run(self, active: Ints, margin: float) -> tuple[int, float, float]:
        n_active, violation, gain = pass_over_gram(self._gram, self.alpha, self._upper, self.squared, active)
        return n_active, violation, gain

    def measure(self) -> Floats:
        # Computed without the rounding errors of many steps.
        self.squared[:] = self._gram @ self.alpha
        return self.squared

    def products(self, chosen: Ints) -> Floats:
        return self._gram[np.ix_(chosen, chosen)]

    def refresh(self) -> None:
        self.measure()


def solve(
    problem: PairProblem,
    gram: Floats | None,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None],
    start: Floats | None = None,
) -> Solution:
    """Maximize the dual by passes over the pairs, until the relative duality gap is at most `tol`.

    With `gram`, the inner products of the pairs' matrices, the rows are not used. `start` has the first multipliers.
    """
    alpha = np.zeros(len(problem.pairs)) if start is None else np.minimum(start, problem.upper)
    upper = problem.upper
    ascent: _Ascent = _GramAscent(gram, upper, alpha) if gram is not None else _MatrixAscent(problem, alpha)
    dual = _dual(alpha, ascent.measure()) if start is not None else 0.0
    rng = np.random.default_rng(ORDER_SEED)
    active, margin, enough, gap, objective = np.arange(len(alpha)), np.inf, FIRST_VIOLATION, np.inf, [dual]
    for number in range(1, max_iter + 1):
        order = rng.permutation(active)
        n_active, violation, gain = ascent.run(order, margin)
        dual += gain
        objective.append(dual)
        report(number, dual)
        active, margin = order[:n_active], violation
        if violation > enough and n_active and number < max_iter:
            continue
        squared = ascent.measure()
        gap = _relative_gap(alpha, squared, upper)
        if gap <= tol:
            break
        if number >= PASSES_ALONE and _solve_free(ascent, upper):
            ascent.refresh()
            dual = max(dual, _dual(alpha, ascent.measure()))
        # The active pairs were not precise enough, or pairs at rest have to move again.
        enough = max(VIOLATION_FACTOR * min(violation, enough), MIN_VIOLATION)
        at_rest = ((alpha <= 0) & (squared > 1 + margin)) | ((alpha >= upper) & (squared < 1 - margin))
        active = np.flatnonzero(~at_rest) if not at_rest.all() else np.arange(len(alpha))
    return Solution(alpha, ascent.squared, objective[1:], gap)


def _solve_free(ascent: _Ascent, upper: Floats) -> bool:
    """Move the multipliers between their bounds to their common optimum, and return whether there were any to move.

    Steps on one pair at a time are slow where many pairs have nearly the same matrix. A multiplier that reaches a bound
    stays there, and the others are moved on.
    """
    free = np.flatnonzero((ascent.alpha > 0) & (ascent.alpha < upper))
    if not 0 < len(free) <= MAX_FREE:
        return False
    gram, slope = ascent.products(free), 1.0 - ascent.squared[free]
    value, bound = ascent.alpha[free], upper[free]
    moving = np.arange(len(free))
    for _ in range(MAX_FREE_STEPS):
        block = gram[np.ix_(moving, moving)]
        ridge = RIDGE * np.trace(block) / len(block)
        step = np.linalg.solve(block + ridge * np.eye(len(block)), slope[moving])
        if not (np.isfinite(step).all() and step @ slope[moving] > 0):
            # Converged to the precision of the arithmetic.
            break
        # How far each may go, relative to the step.
        room = np.full(len(step), np.inf)
        up, down = step > 0, step < 0
        room[up] = (bound[moving] - value[moving])[up] / step[up]
        room[down] = -value[moving][down] / step[down]
        share = min(1.0, float(room.min()))
        value[moving] = np.clip(value[moving] + share * step, 0.0, bound[moving])
        slope -= gram[:, moving] @ (share * step)
        stopped = room <= share
        value[moving[stopped]] = np.where(step[stopped] > 0, bound[moving[stopped]], 0.0)
        moving = moving[~stopped]
        if share == 1.0 or not len(moving):
            break
    ascent.alpha[free] = value
    return True


def solve_for_fraction(
    problem: PairProblem,
    gram: Floats | None,
    fraction: float,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None],
) -> tuple[PairProblem, Solution]:
    """Find the penalty for which the multipliers are this fraction of the sum of their upper bounds.

    The fraction is that of a one-class support vector machine, and decreases with the penalty. It bounds from above the
    weight of the pairs that are closer than one, whose multipliers are at the bound.
    """
    solved: list[tuple[PairProblem, Solution]] = []

    def excess(log_penalty: float) -> float:
        one = replace(problem, penalty=float(np.exp(log_penalty)))
        start = solved[-1][1].alpha if solved else None
        solved.append((one, solve(one, gram, max_iter, tol, report, start)))
        return float(solved[-1][1].alpha.sum() / one.upper.sum()) - fraction

    low = high = 0.0
    if excess(0.0) > 0:
        while excess(high) > 0 and high < MAX_LOG_PENALTY:
            low, high = high, high + LOG_STEP
    else:
        while excess(low) < -SEARCH_PRECISION and low > -MAX_LOG_PENALTY:
            low, high = low - LOG_STEP, low
    if low < high and excess(low) > 0 > excess(high):
        brentq(excess, low, high, xtol=SEARCH_PRECISION, rtol=SEARCH_PRECISION)
    return solved[-1]


def _dual(alpha: Floats, squared: Floats) -> float:
    """Return the dual objective; |A|^2 is the sum of multipliers times squared distances."""
    return float(alpha.sum() - 0.5 * (alpha @ squared))


def _relative_gap(alpha: Floats, squared: Floats, upper: Floats) -> float:
    """Return the gap between the dual objective and the best primal one of A and of A scaled to be feasible."""
    half = 0.5 * float(alpha @ squared)
    nearest = float(squared.min())
    primal = half / nearest**2 if nearest > 0 else np.inf
    missing = 1.0 - squared
    short = missing > 0
    primal = min(primal, half + float(upper[short] @ missing[short]))
    if not np.isfinite(primal):
        return np.inf
    return max((primal - _dual(alpha, squared)) / primal, 0.0)


def differences_of(X: Any, pairs: Ints) -> Any:
    """Return the difference of the two rows of each pair, sparse if X is."""
    return X[pairs[:, 0]] - X[pairs[:, 1]]


def squared_lengths(X: Any, pairs: Ints, power: int = 2) -> Floats:
    """Return the sum of squares, or of another power, of the differences of each pair."""
    total = np.empty(len(pairs))
    step = max(1, DIFFERENCES_AT_ONCE // max(X.shape[1], 1))
    for start in range(0, len(pairs), step):
        some = slice(start, start + step)
        total[some] = np.asarray((differences_of(X, pairs[some]) ** power).sum(axis=1)).ravel()
    return total


def root_of(A: Floats, tau: float) -> tuple[Floats, float]:
    """Return the symmetric root of A, a matrix or one row for a diagonal, plus tau times its mean eigenvalue."""
    if len(A) == 1 < A.shape[1]:
        identity_weight = tau * float(A.mean())
        return np.diag(np.sqrt(A[0] + identity_weight)), identity_weight
    identity_weight = tau * float(np.trace(A)) / len(A)
    return symmetric_root(A + identity_weight * np.eye(len(A))), identity_weight


def learn_online(problem: PairProblem, A: Floats) -> Floats:
    """Return the matrix after one step for each pair, in their order, none of which lowers a multiplier."""
    ascent = _MatrixAscent(problem, np.zeros(len(problem.pairs)), A)
    ascent.run(np.arange(len(problem.pairs)), np.inf)
    return ascent.whole_matrix()
