"""The non-convex hinge loss of links, and its minimization by the concave-convex procedure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mustlink._types import Floats, Ints
from mustlink.pairwise._dual import DualProblem, ascend
from mustlink.pairwise._terms import LinkedPairs

# The hinge losses max(0, gain - side * f) of a row with the score f.
SIDES = np.array([1.0, -1.0, 1.0, -1.0])
GAINS = np.array([1.0, 1.0, -1.0, -1.0])


@dataclass(frozen=True)
class HingeStates:
    """The non-convex hinge loss of links, the smallest of one convex loss for each state of a link.

    With a = f_i, b = c f_j and L''(z) = max(0, 1 - z) + max(0, 1 + z) the loss is L''(a) + L''(b) - L''(a + b) - 1. In
    the states 1 and -1 both rows are on that side; in the state 0, where |a + b| < 1, there is no side yet. A
    cannot-link of more than two classes has the smaller of max(0, 1 + f_i) and max(0, 1 + f_j), and the state says
    which: 1 for the second row.
    """

    pairs: LinkedPairs

    def value(self, f: Floats) -> float:
        """Return the sum of the losses."""
        first, second = f[self.pairs.first], f[self.pairs.second]
        a, b = first, self.pairs.sign * second
        two_sided = both_sides(a) + both_sides(b) - both_sides(a + b) - 1
        one_sided = np.maximum(1 + np.minimum(first, second), 0.0)
        return float(self.pairs.weight @ np.where(self.pairs.is_one_sided, one_sided, two_sided))

    def states(self, f: Floats) -> Ints:
        """Return the state of every link in which its convex loss is the loss itself."""
        total = f[self.pairs.first] + self.pairs.sign * f[self.pairs.second]
        two_sided = np.where(np.abs(total) >= 1, np.sign(total), 0.0)
        one_sided = f[self.pairs.second] < f[self.pairs.first]
        return np.where(self.pairs.is_one_sided, one_sided, two_sided).astype(np.int64)

    def hinges(self, states: Ints) -> Floats:
        """Return the weight of every hinge of every row, (n_rows, 4), in the sum of the convex losses of states."""
        pairs, weights = self.pairs, np.zeros((self.pairs.n_rows, len(SIDES)))
        for rows, side, is_chosen in (
            (pairs.first, states, states == 0),
            (pairs.second, states * pairs.sign, states == 1),
        ):
            for kind in range(len(SIDES)):
                if GAINS[kind] > 0:
                    # Of a link with a side, the margin of its rows; of a one-sided link, that of the chosen row.
                    has_hinge = np.where(pairs.is_one_sided, is_chosen & (SIDES[kind] < 0), side == SIDES[kind])
                else:
                    has_hinge = ~pairs.is_one_sided & (side != -SIDES[kind])
                weights[:, kind] += np.bincount(rows, pairs.weight * has_hinge, pairs.n_rows)
        return weights


@dataclass
class HingeSolution:
    """Weights of the features, with the objective at the start and after each convex problem.

    `gap` is the relative duality gap of the last convex problem, `n_iter` the number of passes over all of them.
    """

    weights: Floats
    history: list[float]
    gap: float = np.inf
    n_iter: int = 0
    converged: bool = False


@dataclass(frozen=True)
class HingeObjective:
    """Hinges of labels, `label_hinges` of shape (n_rows, 4), the non-convex loss of links, and |w|^2 / (2 scale)."""

    features: Floats
    label_hinges: Floats
    links: HingeStates
    scale: float

    def value(self, weights: Floats) -> float:
        """Return the objective."""
        f = self.features @ weights
        labels = self.label_hinges * np.maximum(GAINS - SIDES * f[:, None], 0.0)
        return float(labels.sum() + self.links.value(f) + weights @ weights / (2 * self.scale))

    def minimize(self, start: Floats, tol: float, max_iter: int) -> HingeSolution:
        """Minimize the convex losses of the states of links at the last solution, until these or the objective stay.

        The convex losses are nowhere below the loss and equal to it at the last solution, so that the objective falls.
        """
        solution = HingeSolution(start, [self.value(start)])
        variables = np.zeros_like(self.label_hinges)
        previous: Ints | None = None
        while not solution.converged and solution.n_iter < max_iter:
            states = self.links.states(self.features @ solution.weights)
            if previous is not None and np.array_equal(states, previous):
                solution.converged = solution.gap <= tol
                break
            previous = states
            hinges = self.label_hinges + self.links.hinges(states)
            problem = DualProblem.of_hinges(self.features, hinges, SIDES, GAINS, self.scale)
            present = hinges > 0
            found = ascend(problem, tol, max_iter - solution.n_iter, start=variables[present])
            variables = np.zeros_like(hinges)
            variables[present] = found.variables
            solution.n_iter += found.n_iter
            solution.gap = found.gap
            value, last = self.value(found.weights), solution.history[-1]
            # A convex problem is solved up to `tol`, and a smaller fall says nothing.
            solution.converged = last - value <= tol * abs(last) and found.gap <= tol
            if value <= last:
                solution.weights = found.weights
                solution.history.append(value)
        return solution


def both_sides(z: Floats) -> Floats:
    """Return L''(z), the hinge loss of both sides."""
    return np.maximum(2.0, 1 + np.abs(z))
