"""Held-out trials: how well each representation predicts unseen links, and how likely each link is to be correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.utils.parallel import Parallel, delayed

from mustlink._types import Array, Floats, Indices, Mask
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._representations import Directions, Representation
from mustlink.boosting._boostcluster._rounds import BoostProblem, draw_seeds
from mustlink.constraints import Constraints

__all__ = [
    "MIN_TRUST",
    "Trials",
    "draw_mask",
    "draw_masks",
    "draw_representations",
    "estimate_trust",
    "run_trials",
]

# The fraction of the links that a trial or a round sees.
SEEN_FRACTION = 0.63
SCORE_SHARPNESS = 2.0
# Three standard errors of a balanced accuracy.
CHANCE_MARGIN = 1.5
# Tables with more rows are tried on a sample, small enough that all trials together cost as much as a few rounds.
MAX_ROWS_TRIED = 20_000
SAMPLE_FRACTION = 0.1
MIN_SAMPLE, MAX_SAMPLE = 3_000, 50_000
LOGISTIC_RIDGE = 0.1
MIN_TRUST = 1e-3


@dataclass(frozen=True)
class Trials:
    """Runs of the base in every representation, each with some links held out, and on the plain table."""

    runs: list[list[BaseRun]]  # of every representation, the plain table last
    votes: Floats  # for each of them and each link, the fraction of its held-out runs that puts the rows together
    scores: Floats  # the balanced accuracy of the votes on the links, the mean of the soft and the hard one

    def weights(self, with_plain: bool = True) -> Floats:
        """Return the weights of the representations, the plain table last if included; they sum to one."""
        scores = self.scores if with_plain else self.scores[:-1]
        return np.asarray(softmax(SCORE_SHARPNESS * np.sqrt(self.votes.shape[1]) * scores))

    def contradict_links(self) -> bool:
        """Whether the base alone contradicts the links beyond chance, and no representation beats chance.

        Then the links are most likely reversed, and a representation that follows them destroys what is there.
        """
        chance = CHANCE_MARGIN / np.sqrt(self.votes.shape[1])
        return bool(self.scores[-1] < 0.5 - chance and self.scores[:-1].max() < 0.5 + chance)

    def voters(self) -> list[BaseRun]:
        """Return the runs that count, weighted by the log-odds and the weight of their representation."""
        odds = np.clip(self.scores, 1e-6, 1 - 1e-6)
        weights = np.maximum(0.0, np.log(odds / (1 - odds))) * self.weights()
        return [
            replace(run, weight=float(weight))
            for runs, weight in zip(self.runs, weights, strict=True)
            for run in runs
            if weight > 0
        ]


def run_trials(
    problem: BoostProblem,
    representations: Sequence[Representation],
    n_trials: int,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> Trials:
    """Run the base in every representation, `n_trials` times with some links held out, and on the plain table."""
    links = problem.links
    masks = draw_masks(links.is_must, n_trials, rng)
    # Each trial has the same seed in all representations.
    seeds, plain_seeds = draw_seeds(rng, n_trials), draw_seeds(rng, n_trials)
    rows = sample_rows(links, problem.coordinates.linked.shape[0], rng)
    tasks = [
        (representation.directions(links, links.weight * mask), int(seed))
        for representation in representations
        for mask, seed in zip(masks, seeds, strict=True)
    ] + [(None, int(seed)) for seed in plain_seeds]
    made = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(run_trial)(problem.base, problem.coordinates, rows, *task) for task in tasks
    )
    flat = []
    for run in made:
        flat.append(run)
        problem.after_run()
    runs = [flat[start : start + n_trials] for start in range(0, len(flat), n_trials)]
    votes = [held_out_votes(links, row, masks) for row in runs[:-1]]
    votes.append(held_out_votes(links, runs[-1], np.zeros_like(masks)))
    scores = np.array([score(links, row, vote) for row, vote in zip(runs, votes, strict=True)])
    return Trials(runs, np.array(votes), scores)


def run_trial(
    base: BaseClusterer, coordinates: Coordinates, rows: Indices | None, directions: Directions | None, seed: int
) -> BaseRun:
    """Run the base once, in a representation or on the plain table, and label all rows; None for `rows` is all."""
    if directions is None or not directions.values.size:
        directions = None
        where, table = "on the plain table", coordinates.plain_for(base.takes_sparse)
    else:
        where, table = "in a trial of a representation", coordinates.represent(directions)
    if rows is None:
        run = base.run(table, seed, where)
    else:
        sample = table[rows]
        run = base.run(sample, seed, where).on_all_rows(sample, table, rows)
    return replace(run, directions=directions)


def sample_rows(links: LinkSet, n_samples: int, rng: np.random.RandomState) -> Indices | None:
    """Draw a sample with all linked rows if the table is large; None is all rows."""
    if n_samples <= MAX_ROWS_TRIED:
        return None
    size = int(np.clip(SAMPLE_FRACTION * n_samples, MIN_SAMPLE, MAX_SAMPLE))
    others = rng.choice(n_samples, size=size, replace=False)
    return np.union1d(links.rows, others).astype(np.intp)


def draw_mask(is_must: Mask, rng: np.random.RandomState) -> Mask:
    """Draw the links that are seen: the same fraction of each kind."""
    mask = np.zeros(len(is_must), dtype=bool)
    for kind in (True, False):
        of_kind = np.flatnonzero(is_must == kind)
        mask[rng.permutation(of_kind)[: round(SEEN_FRACTION * len(of_kind))]] = True
    return mask


def draw_masks(is_must: Mask, n_masks: int, rng: np.random.RandomState) -> Mask:
    """Draw the links that each trial sees; every link is held out at least once."""
    masks = np.array([draw_mask(is_must, rng) for _ in range(n_masks)])
    always = np.flatnonzero(masks.all(axis=0))
    masks[rng.randint(n_masks, size=len(always)), always] = False
    return masks


def draw_representations(weights: Floats, n_rounds: int, rng: np.random.RandomState) -> Indices:
    """Draw one for every round in proportion to the weights (systematic sampling), in random order."""
    drawn = np.searchsorted(np.cumsum(weights), (rng.uniform() + np.arange(n_rounds)) / n_rounds)
    return rng.permutation(np.minimum(drawn, len(weights) - 1))


def held_out_votes(links: LinkSet, runs: Sequence[BaseRun], masks: Mask) -> Floats:
    """Return the fraction of the runs that did not see a link that puts its rows together."""
    together = np.array([links.together(run.labels) for run in runs])
    return np.asarray((together & ~masks).sum(axis=0) / (~masks).sum(axis=0))


def score(links: LinkSet, runs: Sequence[BaseRun], vote: Floats) -> float:
    """Return the mean of soft and hard balanced accuracy.

    With one kind of link only, links are compared with random pairs of rows: must-links should be together more often,
    or cannot-links less often, than any two rows.
    """
    hard = (vote > 0.5) + 0.5 * (vote == 0.5)
    if links.has_both_kinds:
        return (links.balanced_mean(vote, 1 - vote) + links.balanced_mean(hard, 1 - hard)) / 2
    chance = float(np.mean([fraction_together(run.labels) for run in runs]))
    lift = float(np.average((vote + hard) / 2, weights=links.weight)) - chance
    return 0.5 + 0.5 * (lift if links.is_must.any() else -lift)


def fraction_together(labels: Array) -> float:
    """Return the fraction of all pairs of rows that a clustering puts together."""
    sizes = np.unique(labels[labels != -1], return_counts=True)[1].astype(float)
    return float((sizes * (sizes - 1)).sum() / (len(labels) * (len(labels) - 1)))


# ---- trust ----------------------------------------------------------------------------------------------------------


def estimate_trust(
    links: LinkSet, constraints: Constraints, vote: Floats, n_samples: int, max_error: float
) -> tuple[float, Floats]:
    """Estimate the fraction of wrong links, and the probability that each link is correct, from the held-out votes.

    The fraction is an upper bound less a margin. All links are trusted if the votes are unrelated to them, or if there
    is only one kind of link.
    """
    if not links.has_both_kinds:
        return 0.0, np.ones(len(links))
    intercept, slope = fit_logistic(vote - 0.5, links)
    if slope <= 0:
        return 0.0, np.ones(len(links))
    low, high = expit(intercept - slope / 2), expit(intercept + slope / 2)
    error = float(np.clip(min(low, 1 - high) - 0.5 / np.sqrt(len(links)), 0, max_error))
    error = min(error, conflict_bound(constraints, n_samples))
    must = expit(intercept + slope * (vote - 0.5))
    correct = np.clip((must - error) / (1 - 2 * error), 0, 1)
    trust = (1 - error) * np.where(links.is_must, correct / must, (1 - correct) / (1 - must))
    return error, np.maximum(trust, MIN_TRUST)


def fit_logistic(x: Floats, links: LinkSet) -> tuple[float, float]:
    """Fit P(must-link | x) = sigma(b0 + b1 x), both kinds with equal weight, with a ridge on b1; return b0 and b1."""
    weight = links.weight.copy()
    for kind in (links.is_must, ~links.is_must):
        weight[kind] *= len(links) / 2 / weight[kind].sum()
    model = LogisticRegression(C=1 / LOGISTIC_RIDGE, solver="newton-cg", tol=1e-8)
    model.fit(x[:, None], links.is_must, sample_weight=weight)
    return float(model.intercept_[0]), float(model.coef_[0, 0])


def conflict_bound(constraints: Constraints, n_samples: int) -> float:
    """Bound the error rate by the number of cannot-links inside must-link components.

    Random pairs of rows would fall inside components in a known number. Far fewer cannot-links inside them mean that
    the links agree with each other. The bound matters where links are dense.
    """
    component = constraints.components(n_samples)
    sizes = np.bincount(component).astype(float)
    cannot = constraints.cannot_link
    expected = len(cannot) * (sizes * (sizes - 1)).sum() / (n_samples * (n_samples - 1))
    inside = float((component[cannot[:, 0]] == component[cannot[:, 1]]).sum())
    return (inside + 1.65 * np.sqrt(inside) + 3) / expected if expected > 0 else np.inf
