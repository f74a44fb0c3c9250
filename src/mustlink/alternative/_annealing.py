"""Deterministic annealing: soft memberships that become hard as the temperature falls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import xlogy

from mustlink._progress import Advance
from mustlink._types import Floats

__all__ = ["Annealed", "Schedule", "anneal", "hard", "information", "membership_step"]

# Memberships above it are hard.
HARD = 1.0 - 1e-4
# After each temperature step memberships are multiplied by 1 plus so much noise, or equal clusters would stay equal.
NOISE = 1e-3
# The first inverse temperature, relative to the largest gain of a row.
FIRST_BETA = 0.1
# The annealing ends at this multiple of the first inverse temperature, as ties between clusters stay soft.
MAX_RISE = 1e8
# The least share of a cluster, so that its logarithm is finite.
MIN_SHARE = 1e-300


@dataclass(frozen=True)
class Schedule:
    """How the temperature falls."""

    growth: float  # of the inverse temperature, per step
    tol: float  # the change of a membership at which a temperature is done
    max_iter: int  # at each temperature
    max_information: float | None  # of I(C;X), at which to stop


@dataclass
class Annealed:
    """Memberships at the last inverse temperature, and the objective and inverse temperature of every iteration."""

    memberships: Floats
    beta: float = 0.0
    objective: list[float] = field(default_factory=list)
    betas: list[float] = field(default_factory=list)


def membership_step(model: Any, memberships: Floats, beta: float) -> tuple[Floats, float]:
    """Re-estimate the model, then the memberships (11.6); return them and L, which no step at this beta decreases."""
    share = np.maximum(model.weight @ memberships, MIN_SHARE)
    exponents = model.score_all(model.estimate(memberships))
    exponents *= beta
    exponents += np.log(share)
    # In place, as this is most of the time of tables with few columns.
    largest = exponents.max(axis=1, keepdims=True)
    exponents -= largest
    np.exp(exponents, out=exponents)
    whole = exponents.sum(axis=1, keepdims=True)
    exponents /= whole
    value = float(model.weight @ ((largest + np.log(whole))[:, 0] / beta - model.baseline))
    return exponents, value


def information(memberships: Floats, weight: Floats) -> float:
    """Return I(C;X), by which memberships are hard."""
    share = weight @ memberships
    return float((weight[:, None] * xlogy(memberships, memberships)).sum() - xlogy(share, share).sum())


def anneal(model: Any, n_clusters: int, schedule: Schedule, rng: np.random.RandomState, report: Advance) -> Annealed:
    """Lower the temperature until memberships are hard and stay, or as informative as is allowed."""
    start = np.abs(1.0 + NOISE * rng.standard_normal((model.n_rows, n_clusters)))
    run = Annealed(start / start.sum(axis=1, keepdims=True))
    largest = float((model.ceiling() - model.baseline).max())
    run.beta = FIRST_BETA / largest if largest > 0 else 1.0
    last_beta, before = MAX_RISE * run.beta, np.full(model.n_rows, -1)
    while n_clusters > 1:
        _converge(model, run, schedule)
        labels = run.memberships.argmax(axis=1)
        report(None, f"{(run.memberships.max(axis=1) > HARD).mean():.0%} hard")
        bound = schedule.max_information
        if bound is not None and information(run.memberships, model.weight) >= bound:
            break
        is_hard = bool((run.memberships.max(axis=1) > HARD).all())
        if run.beta >= last_beta or (is_hard and (labels == before).all()):
            return _settle(model, run, schedule)
        before = labels
        run.beta *= schedule.growth
        noisy = run.memberships * np.abs(1.0 + NOISE * rng.standard_normal(run.memberships.shape))
        run.memberships = noisy / noisy.sum(axis=1, keepdims=True)
    return run


def _converge(model: Any, run: Annealed, schedule: Schedule) -> None:
    """Iterate at one temperature."""
    for _ in range(schedule.max_iter):
        memberships, value = membership_step(model, run.memberships, run.beta)
        change = float(np.abs(memberships - run.memberships).max())
        run.memberships = memberships
        run.objective.append(value)
        run.betas.append(run.beta)
        if change < schedule.tol:
            return


def _settle(model: Any, run: Annealed, schedule: Schedule) -> Annealed:
    """Reassign hard labels at the last temperature until none changes."""
    labels = run.memberships.argmax(axis=1)
    for _ in range(schedule.max_iter):
        memberships, _ = membership_step(model, hard(labels, run.memberships.shape[1]), run.beta)
        if (memberships.argmax(axis=1) == labels).all():
            run.memberships = memberships
            break
        labels = memberships.argmax(axis=1)
    return run


def hard(labels: Any, n_clusters: int) -> Floats:
    """Return labels as memberships of 0 and 1."""
    found = np.zeros((len(labels), n_clusters))
    found[np.arange(len(labels)), labels] = 1.0
    return found
