"""One run of HMRFKMeans: labels, centres and the weights of the columns in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mustlink._types import Floats
from mustlink.kmeans._hmrfkmeans_distortions import Labels
from mustlink.kmeans._hmrfkmeans_links import DistortedLinks
from mustlink.kmeans._mpckmeans_run import fill_empty_clusters

MOST_HALVINGS = 12
"""How often a step that would raise the objective is halved before the weights are left as they are."""


@dataclass
class Step:
    """One assignment: the cluster of every row, of the linked rows again, and the distortion of each row."""

    labels: Labels
    linked: NDArray[np.intp]
    own: Floats


@dataclass
class Run:
    """What one run comes to."""

    labels: Labels
    centers: Floats
    weights: Floats
    n_iter: int
    objective: list[float]


@dataclass(frozen=True)
class Rules:
    """When a run stops, how strong the prior of the weights is (0: they stay), and how centres are rounded."""

    max_iter: int
    tol: float
    metric_prior: float
    rounded: Callable[[Floats], Floats]


def run(
    links: DistortedLinks,
    centers: Floats,
    rules: Rules,
    report: Callable[[int, float], None],
) -> Run:
    """Assign rows, move centres and weights in turn, until the objective falls no more."""
    distortion = links.distortion
    weights = np.ones(distortion.n_features)
    strength = distortion.spread() * rules.metric_prior if rules.metric_prior else np.zeros(distortion.n_features)
    objective: list[float] = []
    linked: NDArray[np.intp] | None = None
    n_iter, settled, moved = 0, False, False
    while n_iter < rules.max_iter and not settled:
        n_iter += 1
        step = assign(links, weights, centers, linked)
        objective.append(value(step, links, weights, strength))
        report(n_iter, objective[-1])
        settled = n_iter > 1 and not moved and objective[-2] - objective[-1] <= rules.tol * objective[-2]
        if settled:
            break
        noise = 1e-12 * distortion.longest(weights)
        moved = fill_empty_clusters(step.labels, step.own.copy(), noise, links.rows, len(centers))
        linked = step.linked = step.labels[links.rows].astype(np.intp)
        centers = rules.rounded(distortion.centers(step.labels, weights, centers))
        if rules.metric_prior:
            weights = descend(links, step, centers, weights, strength)
    if not settled:
        step = assign(links, weights, centers, linked)
        objective.append(value(step, links, weights, strength))
    return Run(step.labels, centers, weights, n_iter, objective)


def assign(
    links: DistortedLinks,
    weights: Floats,
    centers: Floats,
    previous: NDArray[np.intp] | None,
) -> Step:
    """Give rows without links their nearest centre, and place the linked rows among each other."""
    distortion = links.distortion
    labels, own = distortion.nearest(distortion.X, weights, centers)
    if len(links.rows) == 0:
        return Step(labels, np.empty(0, dtype=np.intp), own)
    costs = distortion.costs(distortion.X[links.rows], weights, centers)
    linked = links.place(costs, weights, previous)
    labels[links.rows] = linked
    own[links.rows] = costs[np.arange(len(linked)), linked]
    return Step(labels, linked, own)


def value(step: Step, links: DistortedLinks, weights: Floats, strength: Floats) -> float:
    """Return the objective after an assignment."""
    return float(step.own.sum()) + links.penalty(step.linked, weights) + prior(weights, strength)


def prior(weights: Floats, strength: Floats) -> float:
    """Return what the weights of the columns add to the objective: nothing if all are one, more as any nears zero."""
    return -float(strength @ np.log(weights))


def gradient(links: DistortedLinks, step: Step, centers: Floats, weights: Floats, strength: Floats) -> Floats:
    """Return the derivative of the objective by the weights, the largest distortion held fast."""
    total = links.distortion.gradient(step.labels, weights, centers) - strength / weights
    return total + links.gradient(step.linked, weights) if len(links.rows) else total


def descend(links: DistortedLinks, step: Step, centers: Floats, weights: Floats, strength: Floats) -> Floats:
    """Return weights of the mean one, a step down the gradient, at which the objective is lower.

    Each weight is multiplied by a power of e, in proportion to the gradient per strength: so all stay positive, and
    columns with large and with small numbers change alike. The mean is one in which columns count by their strength.
    """
    counts = strength > 0
    if not counts.any():
        return weights

    def objective(trial: Floats) -> float:
        data = links.distortion.value(step.labels, trial, centers)
        return data + links.penalty(step.linked, trial) + prior(trial, strength)

    slope = np.zeros(len(weights))
    slope[counts] = (weights * gradient(links, step, centers, weights, strength))[counts] / strength[counts]
    # Along the mean there is no way, for it stays one.
    slope[counts] -= (strength * weights * slope).sum() / (strength * weights).sum()
    now, size = objective(weights), 1.0 / max(1.0, np.abs(slope).max())
    for _ in range(MOST_HALVINGS):
        trial = weights * np.exp(-size * slope)
        trial[counts] *= strength.sum() / (strength @ trial)
        if objective(trial) < now:
            return trial
        size *= 0.5
    return weights
