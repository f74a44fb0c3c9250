"""Scouts and doubt: how well each form foretells links it has not seen, and how far each link is to be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils.parallel import Parallel, delayed

from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._coordinates import Coordinates
from mustlink.boosting._forms import Directions, Form, LinkGeometry
from mustlink.boosting._links import LinkSet
from mustlink.boosting._rounds import Problem
from mustlink.constraints import Constraints

__all__ = [
    "LEAST_TRUST",
    "Doubt",
    "ScoutView",
    "Scouts",
    "doubt",
    "draw_mask",
    "draw_masks",
    "links_say_the_opposite",
    "send_scouts",
]

Floats = NDArray[np.float64]
MASK_SHARE = 0.63
SCORE_SHARPNESS = 2.0
LOGISTIC_RIDGE = 0.1
LEAST_TRUST = 1e-3
# Three standard errors of a balanced accuracy.
CHANCE_MARGIN = 1.5
# Tables with more rows are scouted on a sample: so large a share of the rows that all scouts together cost as much as
# a few rounds.
MOST_SCOUTED = 20_000
SCOUTED_SHARE = 0.1
LEAST_SAMPLE, MOST_SAMPLE = 3_000, 50_000


@dataclass(frozen=True)
class ScoutView:
    """The rows that scouts look at: all of them, or a sample that holds every linked row.

    Attributes
    ----------
    coordinates : Coordinates
        Of all rows.
    rows : ndarray or None
        The sample, None for all rows.
    """

    coordinates: Coordinates
    rows: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, coordinates: Coordinates, linked: NDArray[np.int64], rng: np.random.RandomState) -> ScoutView:
        """Draw a sample if the table is large."""
        n_samples = coordinates.linked.shape[0]
        if n_samples <= MOST_SCOUTED:
            return cls(coordinates)
        size = int(np.clip(SCOUTED_SHARE * n_samples, LEAST_SAMPLE, MOST_SAMPLE))
        others = rng.choice(n_samples, size=size, replace=False)
        return cls(coordinates, np.union1d(linked, others).astype(np.intp))

    def run(self, base: BaseClusterer, directions: Directions | None, seed: int) -> BaseRun:
        """Run the base once, in a representation or on the plain table, and label all rows."""
        if directions is None:
            where, table = "on the plain table", self.coordinates.plain_for(base.takes_sparse)
        else:
            where, table = "in a trial of a representation", self.coordinates.represent(directions)
        if self.rows is None:
            return base.run(table, seed, where)
        sample = table[self.rows]
        return base.run(sample, seed, where).on_all_rows(sample, table, self.rows)


@dataclass(frozen=True)
class Scouts:
    """Runs of the base in every form, each on a part of the links, and on the plain table.

    Attributes
    ----------
    runs : list of list of BaseRun
        First index: the form, the plain table last; second index: the mask.
    directions : list of list of Directions or None
        What each run was given; None for the plain table.
    votes : ndarray of shape (n_forms + 1, n_links)
        Of the runs that had not seen a link, the share that puts its ends together.
    scores : ndarray of shape (n_forms + 1,)
        The balanced accuracy of the votes on the links, the mean of the soft and the hard one.
    """

    runs: list[list[BaseRun]]
    directions: list[list[Directions | None]]
    votes: Floats
    scores: Floats

    def form_weights(self, n_links: int, with_plain: bool = True) -> Floats:
        """Return how much each form counts, the plain table last if it is in; they sum to one."""
        scores = self.scores if with_plain else self.scores[:-1]
        return np.asarray(softmax(SCORE_SHARPNESS * np.sqrt(n_links) * scores))


@dataclass(frozen=True)
class Doubt:
    """How far the links are to be trusted.

    Attributes
    ----------
    error_rate : float
        An upper bound of the share of wrong links, less a margin.
    trust : ndarray of shape (n_links,)
        The posterior that each link is right.
    against : ndarray of shape (n_links,)
        Whether those that had not seen a link vote against it.
    """

    error_rate: float
    trust: Floats
    against: NDArray[np.bool_]

    @classmethod
    def none(cls, links: LinkSet, vote: Floats | None = None) -> Doubt:
        """Trust all links."""
        against = np.zeros(len(links), dtype=bool)
        if vote is not None:
            against = np.where(links.is_must, vote < 0.5, vote > 0.5)
        return cls(0.0, np.ones(len(links)), against)


def draw_mask(is_must: NDArray[np.bool_], rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Draw a share of the links of either kind."""
    mask = np.zeros(len(is_must), dtype=bool)
    for kind in (True, False):
        of_kind = np.flatnonzero(is_must == kind)
        mask[rng.permutation(of_kind)[: round(MASK_SHARE * len(of_kind))]] = True
    return mask


def draw_masks(is_must: NDArray[np.bool_], n_masks: int, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Draw which links each scout sees: a share of either kind; every link is left out at least once."""
    masks = np.array([draw_mask(is_must, rng) for _ in range(n_masks)])
    always = np.flatnonzero(masks.all(axis=0))
    masks[rng.randint(n_masks, size=len(always)), always] = False
    return masks


def send_scouts(
    problem: Problem,
    view: ScoutView,
    forms: Sequence[Form],
    masks: NDArray[np.bool_],
    *,
    seeds: NDArray[np.int64],
    plain_seeds: NDArray[np.int64],
    n_jobs: int | None,
    after_run: Callable[[], Any],
) -> Scouts:
    """Run the base in every form on every mask, with one seed per mask, and on the plain table."""
    links = problem.links
    directions: list[list[Directions | None]] = [
        [masked_directions(form, problem.geometry, links, mask) for mask in masks] for form in forms
    ]
    directions.append([None] * len(masks))
    all_seeds = [seeds] * len(forms) + [plain_seeds]
    flat = []
    for run in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(view.run)(problem.base, chosen, int(seed))
        for row, row_seeds in zip(directions, all_seeds, strict=True)
        for chosen, seed in zip(row, row_seeds, strict=True)
    ):
        flat.append(run)
        after_run()
    by_form = [flat[start : start + len(masks)] for start in range(0, len(flat), len(masks))]
    votes = np.array([unseen_votes(links, row, masks) for row in by_form[:-1]] + [plain_votes(links, by_form[-1])])
    scores = np.array([score(links, row, vote) for row, vote in zip(by_form, votes, strict=True)])
    return Scouts(by_form, directions, votes, scores)


def masked_directions(form: Form, geometry: LinkGeometry, links: LinkSet, mask: NDArray[np.bool_]) -> Directions | None:
    """Return the directions of a form that sees only the links of a mask; None, the plain table, if it has none."""
    weight = links.weight * mask
    directions = form.directions(geometry, weight[links.is_must], weight[~links.is_must])
    return directions if directions.values.size else None


def unseen_votes(links: LinkSet, runs: Sequence[BaseRun], masks: NDArray[np.bool_]) -> Floats:
    """Of the runs whose mask left a link out, return the share that puts its ends together."""
    together = np.array([links.together(run.labels) for run in runs])
    return np.asarray((together & ~masks).sum(axis=0) / (~masks).sum(axis=0))


def plain_votes(links: LinkSet, runs: Sequence[BaseRun]) -> Floats:
    """Return the share of the runs that puts the ends of each link together."""
    return np.asarray(np.mean([links.together(run.labels) for run in runs], axis=0))


def score(links: LinkSet, runs: Sequence[BaseRun], vote: Floats) -> float:
    """Return the mean of soft and hard balanced accuracy.

    With one kind of link only, the links are set against random pairs of rows: what counts is that must-links are
    together more often, or cannot-links less often, than any two rows.
    """
    hard = (vote > 0.5) + 0.5 * (vote == 0.5)
    if links.has_both_kinds:
        return (links.balanced_mean(vote, 1 - vote) + links.balanced_mean(hard, 1 - hard)) / 2
    chance = float(np.mean([share_together(run.labels) for run in runs]))
    lift = float(np.average((vote + hard) / 2, weights=links.weight)) - chance
    return 0.5 + 0.5 * (lift if links.is_must.any() else -lift)


def share_together(labels: NDArray[Any]) -> float:
    """Return the share of all pairs of rows that a clustering puts together."""
    sizes = np.unique(labels[labels != -1], return_counts=True)[1].astype(float)
    return float((sizes * (sizes - 1)).sum() / (len(labels) * (len(labels) - 1)))


def doubt(links: LinkSet, constraints: Constraints, vote: Floats, n_samples: int, max_error: float) -> Doubt:
    """Estimate the share of wrong links, and the posterior of each, from the votes of those that had not seen it.

    Where the votes say nothing of the links, or there is only one kind of them, every link is trusted.
    """
    if not links.has_both_kinds:
        return Doubt.none(links, vote)
    intercept, slope = fit_logistic(vote - 0.5, links)
    if slope <= 0:
        return Doubt.none(links, vote)
    low, high = expit(intercept - slope / 2), expit(intercept + slope / 2)
    error = float(np.clip(min(low, 1 - high) - 0.5 / np.sqrt(len(links)), 0, max_error))
    error = min(error, conflict_bound(constraints, n_samples))
    must = expit(intercept + slope * (vote - 0.5))
    right = np.clip((must - error) / (1 - 2 * error), 0, 1)
    trust = (1 - error) * np.where(links.is_must, right / must, (1 - right) / (1 - must))
    return Doubt(error, np.maximum(trust, LEAST_TRUST), Doubt.none(links, vote).against)


def links_say_the_opposite(scores: Floats, n_links: int) -> bool:
    """Say whether the base alone contradicts the links beyond chance, and no form foretells them beyond chance.

    Then the links are most likely the wrong way round, and any metric that follows them destroys what is there.
    """
    chance = CHANCE_MARGIN / np.sqrt(n_links)
    return bool(scores[-1] < 0.5 - chance and scores[:-1].max() < 0.5 + chance)


def fit_logistic(x: Floats, links: LinkSet, n_iter: int = 100) -> tuple[float, float]:
    """Fit P(must-link | x) = sigma(b0 + b1 x) by Newton's method, the two kinds weighted equally, with a ridge."""
    target = links.is_must.astype(np.float64)
    weight = links.weight.copy()
    for kind in (True, False):
        weight[links.is_must == kind] *= len(links) / 2 / weight[links.is_must == kind].sum()
    design = np.column_stack([np.ones_like(x), x])
    beta = np.zeros(2)
    ridge = np.array([1e-6, LOGISTIC_RIDGE])

    def loss(b: Floats) -> float:
        z = design @ b
        return float((weight * (np.logaddexp(0, z) - target * z)).sum() + 0.5 * ridge @ b**2)

    for _ in range(n_iter):
        p = expit(design @ beta)
        gradient = design.T @ (weight * (p - target)) + ridge * beta
        hessian = (design * (weight * p * (1 - p))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-6 and loss(beta - length * step) > loss(beta):
            length /= 2
        beta = beta - length * step
        if np.abs(length * step).max() < 1e-10:
            break
    return float(beta[0]), float(beta[1])


def conflict_bound(constraints: Constraints, n_samples: int) -> float:
    """Bound the error rate by how seldom a cannot-link stands inside a must-link component.

    If the cannot-links were random pairs, a known number of them would fall inside components. Far fewer can only
    be if the links agree with each other. It acts where links are dense.
    """
    component = constraints.components(n_samples)
    sizes = np.bincount(component).astype(float)
    cannot = constraints.cannot_link
    expected = len(cannot) * (sizes * (sizes - 1)).sum() / (n_samples * (n_samples - 1))
    inside = float((component[cannot[:, 0]] == component[cannot[:, 1]]).sum())
    return (inside + 1.65 * np.sqrt(inside) + 3) / expected if expected > 0 else np.inf
