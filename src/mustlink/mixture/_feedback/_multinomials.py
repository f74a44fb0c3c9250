"""EM for a mixture of multinomials on weighted counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from mustlink._counts import scale_columns
from mustlink._types import Floats, Indices, Ints
from mustlink.mixture._feedback._advice import Advice

__all__ = ["EMOptions", "MStep", "Multinomials", "Run", "draw_start", "is_numbered_as", "numbered_as", "run_em"]

MStep = Literal["rescaled", "counts"]

# Stands for the logarithm of the weight of a mixture component that owns nothing.
LOG_NOTHING = float(np.log(np.finfo(np.float64).tiny))


@dataclass(frozen=True, eq=False)
class Multinomials:
    """A mixture of multinomials: logarithms of the weights (k) and of the probabilities of the terms (k x terms)."""

    log_weights: Floats
    log_probabilities: Floats

    @classmethod
    def estimate(cls, counts: Any, responsibilities: Floats, alpha: float) -> Multinomials:
        """Return the mixture of the M-step: sums of the rows by responsibility, with `alpha` added to every term."""
        owned = responsibilities.sum(axis=0) / len(responsibilities)
        log_weights = np.log(owned, out=np.full(len(owned), LOG_NOTHING), where=owned > 0)
        totals = np.asarray(counts.T @ responsibilities).T + alpha
        return cls(log_weights, np.log(totals) - np.log(totals.sum(axis=1, keepdims=True)))

    def log_joint(self, scaled: Any) -> Floats:
        """Return the logarithm of weight times likelihood of every component for rows of counts times term weights."""
        return np.asarray(scaled @ self.log_probabilities.T) + self.log_weights

    def take(self, order: Indices) -> Multinomials:
        """Return the components in another order."""
        return Multinomials(self.log_weights[order], self.log_probabilities[order])


@dataclass(frozen=True)
class EMOptions:
    """How EM runs; the parameters of the same names of :class:`~mustlink.mixture.FeedbackMixture`."""

    alpha: float = 1.0
    mstep: MStep = "rescaled"
    temperature: float = 1.0
    tol: float = 1e-6
    max_iter: int = 200


@dataclass(frozen=True, eq=False)
class Run:
    """One run of EM: the mixture, responsibilities and labels given it, and the objective of every iteration."""

    mixture: Multinomials
    responsibilities: Floats
    labels: Ints
    objective: list[float]
    converged: bool

    def take(self, order: Indices) -> Run:
        """Return the run with the mixture components in another order."""
        place = np.argsort(order)
        shares = self.responsibilities[:, order]
        return Run(self.mixture.take(order), shares, place[self.labels], self.objective, self.converged)


def draw_start(
    owned: Any, n_components: int, alpha: float, rng: np.random.RandomState, kept: Mapping[int, Floats]
) -> Multinomials:
    """Draw mixture components, each a randomly weighted sample of the rows; those in `kept` stay as they are."""
    n_rows = owned.shape[0]
    # Exponential variables, scaled to a sum, have a Dirichlet distribution; each component owns its share of the rows.
    share = rng.exponential(size=(n_rows, n_components))
    share *= n_rows / n_components / share.sum(axis=0)
    start = Multinomials.estimate(owned, share, alpha)
    for component, log_probabilities in kept.items():
        start.log_probabilities[component] = log_probabilities
    return Multinomials(np.full(n_components, -np.log(n_components)), start.log_probabilities)


def run_em(counts: Any, term_weights: Floats, start: Multinomials, advice: Advice, options: EMOptions) -> Run:
    """Alternate E-steps and M-steps from a start until the objective no longer changes.

    The objective is the log-likelihood of the counts times the term weights, given the advice, plus `alpha` times the
    logarithms of all term probabilities. With the M-step "rescaled" it never decreases.

    In the first steps the evidence is divided by a temperature, halved from step to step: long rows would otherwise
    stay where a random start puts them.
    """
    scaled = scale_columns(counts, term_weights)
    owned = scaled if options.mstep == "rescaled" else counts
    mixture, temperature = start, options.temperature
    while temperature > 1.0:
        responsibilities, _ = advice.responsibilities(mixture.log_joint(scaled) / temperature)
        mixture = Multinomials.estimate(owned, responsibilities, options.alpha)
        temperature /= 2.0
    responsibilities, _ = advice.responsibilities(mixture.log_joint(scaled))
    objective, converged = list[float](), False
    while len(objective) < options.max_iter and not converged:
        mixture = Multinomials.estimate(owned, responsibilities, options.alpha)
        responsibilities, log_evidence = advice.responsibilities(mixture.log_joint(scaled))
        objective.append(log_evidence + options.alpha * float(mixture.log_probabilities.sum()))
        converged = len(objective) > 1 and abs(objective[-1] - objective[-2]) <= options.tol * abs(objective[-1])
    labels = advice.labels(mixture.log_joint(scaled), responsibilities)
    return Run(mixture, responsibilities, labels, objective, converged)


def numbered_as(labels: Ints, run: Run) -> Run:
    """Return a run whose mixture components are numbered like the clusters with which they have most rows in common."""
    common = _common_rows(labels, run)
    return run.take(linear_sum_assignment(common, maximize=True)[1])


def is_numbered_as(labels: Ints, run: Run) -> bool:
    """Return whether another numbering would have no more rows in common with given clusters."""
    common = _common_rows(labels, run)
    return bool(np.trace(common) == common[linear_sum_assignment(common, maximize=True)].sum())


def _common_rows(labels: Ints, run: Run) -> Ints:
    """Count the rows of each old cluster in each new one."""
    n_clusters = run.responsibilities.shape[1]
    common = np.bincount(labels * n_clusters + run.labels, minlength=n_clusters**2)
    return common.reshape(n_clusters, n_clusters)
