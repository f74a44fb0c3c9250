"""Losses of labels and links as functions of the scores f of the rows: values, gradients and Hessians.

One problem has a class on the positive side and all others on the negative side. Of two classes every link tells a
side from the other; of more, a cannot-link only forbids that both rows are on the positive side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, logsumexp

from mustlink._types import Floats, Indices, Ints

# The sides of the two rows of a link in each of its four states, 1 for positive.
FIRST_SIDE = np.array([1.0, 1.0, 0.0, 0.0])
SECOND_SIDE = np.array([1.0, 0.0, 1.0, 0.0])
# The states that are allowed by a must-link, by a cannot-link of two classes, and by one of more classes.
SAME = np.array([1.0, 0.0, 0.0, 1.0])
DIFFERENT = np.array([0.0, 1.0, 1.0, 0.0])
NOT_BOTH = np.array([0.0, 1.0, 1.0, 1.0])


@dataclass(frozen=True)
class LinkedPairs:
    """Links as pairs of places in a list of rows.

    `sign` is 1 for must-links and -1 for cannot-links; `weight` is what a link counts beside a label of weight one.
    With `is_binary` there are two classes.
    """

    first: Indices
    second: Indices
    sign: Ints
    weight: Floats
    n_rows: int
    is_binary: bool

    @cached_property
    def is_one_sided(self) -> Any:
        """Whether a link only bounds the sum of the two scores: a cannot-link of more than two classes."""
        return np.zeros(len(self.sign), dtype=bool) if self.is_binary else self.sign < 0

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """The matrix E for which (E f) of a link is f_i - c f_j."""
        place = np.arange(len(self.sign))
        entries = np.concatenate([np.ones(len(place)), -self.sign.astype(np.float64)])
        where = (np.concatenate([place, place]), np.concatenate([self.first, self.second]))
        return sparse.csr_array((entries, where), shape=(len(place), self.n_rows))


class Term(Protocol):
    """A part of the objective, a function of the scores of all rows."""

    def value(self, f: Floats) -> float:
        """Return the sum of the losses."""

    def gradient(self, f: Floats) -> Floats:
        """Return the derivative by each score."""

    def hessian(self, f: Floats) -> Any:
        """Return the sparse matrix of second derivatives."""


@dataclass(frozen=True)
class LabelTerm:
    """The logistic loss of rows with a side; `positive` and `negative` are the weights of a row on either side."""

    positive: Floats
    negative: Floats

    def value(self, f: Floats) -> float:
        return float(-self.positive @ log_expit(f) - self.negative @ log_expit(-f))

    def gradient(self, f: Floats) -> Floats:
        return np.asarray(self.negative * expit(f) - self.positive * expit(-f))

    def hessian(self, f: Floats) -> Any:
        return sparse.diags_array((self.positive + self.negative) * expit(f) * expit(-f))


@dataclass(frozen=True)
class ConvexTerm:
    """The convex loss of links, L(f_i - c f_j) + L(c f_j - f_i), of which a one-sided link has L(-f_i - f_j) alone."""

    pairs: LinkedPairs

    def value(self, f: Floats) -> float:
        difference = self.pairs.incidence @ f
        losses = log_expit(-difference) + np.where(self.pairs.is_one_sided, 0.0, log_expit(difference))
        return float(-self.pairs.weight @ losses)

    def gradient(self, f: Floats) -> Floats:
        difference = self.pairs.incidence @ f
        slope = expit(difference) - np.where(self.pairs.is_one_sided, 0.0, expit(-difference))
        return np.asarray(self.pairs.incidence.T @ (self.pairs.weight * slope))

    def hessian(self, f: Floats) -> Any:
        difference = self.pairs.incidence @ f
        n_losses = np.where(self.pairs.is_one_sided, 1.0, 2.0)
        curvature = self.pairs.weight * n_losses * expit(difference) * expit(-difference)
        return self.pairs.incidence.T @ (sparse.diags_array(curvature) @ self.pairs.incidence)


class StatesTerm:
    """The non-convex loss of links, -log of the probability of the states of the two rows that a link allows.

    Rows have their sides independently of each other, with the probability 1 / (1 + exp(-f)) of the positive one. With
    `confidence`, one number per link, a link is right with that probability, and the opposite holds otherwise.
    """

    def __init__(self, pairs: LinkedPairs, confidence: Floats | None = None) -> None:
        self.pairs = pairs
        is_must = (pairs.sign > 0)[:, None]
        allowed = np.where(is_must, SAME, DIFFERENT if pairs.is_binary else NOT_BOTH)
        if confidence is not None:
            opposite = np.where(is_must, DIFFERENT if pairs.is_binary else NOT_BOTH, SAME)
            allowed = confidence[:, None] * allowed + (1 - confidence[:, None]) * opposite
        with np.errstate(divide="ignore"):
            self.log_allowed = np.log(allowed)

    def joint(self, f: Floats) -> Floats:
        """Return the log of the probability of every state of every link, with what the link allows of it."""
        a, b = f[self.pairs.first, None], f[self.pairs.second, None]
        sides = log_expit(np.where(FIRST_SIDE > 0, a, -a)) + log_expit(np.where(SECOND_SIDE > 0, b, -b))
        return np.asarray(self.log_allowed + sides)

    def posterior(self, f: Floats) -> Floats:
        """Return the probability of every state given the link (the E-step)."""
        joint = self.joint(f)
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def value(self, f: Floats) -> float:
        return float(-self.pairs.weight @ logsumexp(self.joint(f), axis=1))

    def gradient(self, f: Floats) -> Floats:
        posterior = self.posterior(f)
        first = self.pairs.weight * (expit(f[self.pairs.first]) - posterior @ FIRST_SIDE)
        second = self.pairs.weight * (expit(f[self.pairs.second]) - posterior @ SECOND_SIDE)
        return self._sum_over_rows(first, second)

    def hessian(self, f: Floats) -> Any:
        posterior = self.posterior(f)
        p_first, p_second = posterior @ FIRST_SIDE, posterior @ SECOND_SIDE
        own = {"first": p_first, "second": p_second}
        variance = [
            expit(f[place]) * expit(-f[place]) - own[name] * (1 - own[name])
            for name, place in (("first", self.pairs.first), ("second", self.pairs.second))
        ]
        both = self.pairs.weight * (p_first * p_second - posterior[:, 0])
        i, j = self.pairs.first, self.pairs.second
        entries = np.concatenate([self.pairs.weight * variance[0], self.pairs.weight * variance[1], both, both])
        where = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])
        return sparse.csr_array((entries, where), shape=(len(f), len(f)))

    def expected_sides(self, f: Floats) -> LabelTerm:
        """Return the rows of links with their expected sides as weights, for the M-step."""
        posterior, weight = self.posterior(f), self.pairs.weight
        sides = [
            self._sum_over_rows(weight * (posterior @ first), weight * (posterior @ second))
            for first, second in ((FIRST_SIDE, SECOND_SIDE), (1 - FIRST_SIDE, 1 - SECOND_SIDE))
        ]
        return LabelTerm(*sides)

    def _sum_over_rows(self, first: Floats, second: Floats) -> Floats:
        """Add up a number of the first and one of the second row of every link for each row."""
        n_rows = self.pairs.n_rows
        sums = [np.bincount(self.pairs.first, first, n_rows), np.bincount(self.pairs.second, second, n_rows)]
        return np.sum(sums, axis=0, dtype=np.float64)
