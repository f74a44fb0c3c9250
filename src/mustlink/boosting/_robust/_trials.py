"""Held-out trials: how well each view predicts links that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.parallel import Parallel, delayed

from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._explained import average_explained
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._rounds import BoostProblem, draw_seeds
from mustlink.boosting._boostcluster._subsample import subsample_with_linked
from mustlink.boosting._boostcluster._views import Sample, View, label_all_rows, run_base
from mustlink.boosting._robust._neighbor_votes import NeighborVotes

if TYPE_CHECKING:
    from mustlink.boosting._robust._automatic import AutomaticPlan

__all__ = ["RoundPlan", "Trials", "draw_mask", "draw_masks", "draw_views", "plan_rounds", "run_trials"]

# The fraction of the links that a trial or a round sees.
SEEN_FRACTION = 0.63
SCORE_SHARPNESS = 3.0
# The weight of all views of weighted columns together, if their scores are those of the others. With a quarter, tables
# with columns of noise and wrong links were clustered worse, with three quarters as well.
WEIGHTED_PRIOR = 0.5
# Three standard errors of a balanced accuracy.
CHANCE_MARGIN = 1.5
# Views with less weight, a third of them in experiments, are left out of votes by neighbors, to save time.
MIN_WEIGHT_OF_VOTER = 0.01
# With many links one view says as much as all. So many votes are cast by each trial, one view's votes at least.
MAX_VOTES = 20_000
# So many runs on a sample count in the end. All together have a tenth of the weight of the rounds, which are drawn from
# all views.
MAX_VOTERS_OF_SAMPLE = 12
# Tables with more rows are tried on a sample, small enough that all trials together cost as much as a few rounds.
MAX_ROWS_TRIED = 20_000
SAMPLE_FRACTION = 0.1
MIN_SAMPLE, MAX_SAMPLE = 3_000, 50_000


@dataclass(frozen=True)
class Trials:
    """Runs of every view, each with some links held out, and of the first base on the plain table."""

    views: list[View]
    runs: list[list[BaseRun]]  # of every view; when all are done, those of the plain table last
    masks: list[Mask]  # for each of them, the links that its runs saw
    votes: Floats  # for each of them and each link, the fraction of its held-out runs that puts the rows together
    scores: Floats  # the balanced accuracy of the votes on the links, the mean of the soft and the hard one

    @classmethod
    def none(cls, n_links: int) -> Trials:
        """Return no trials, of so many links."""
        return cls([], [], [], np.empty((0, n_links)), np.empty(0))

    def with_views(self, views: list[View], runs: list[list[BaseRun]], masks: Sequence[Mask], links: LinkSet) -> Trials:
        """Return these trials and those of more views; without views, of the plain table."""
        trials = list(zip(runs, masks, strict=True))
        votes = [held_out_mean([links.together(run.labels) for run in row], mask) for row, mask in trials]
        scores = [score(links, row, vote) for row, vote in zip(runs, votes, strict=True)]
        return Trials(
            self.views + views,
            self.runs + runs,
            [*self.masks, *masks],
            np.vstack([self.votes, *votes]),
            np.concatenate([self.scores, scores]),
        )

    def weights(self, with_plain: bool = True) -> Floats:
        """Return the weights of the views, the plain table last if included; they sum to one."""
        log_odds = SCORE_SHARPNESS * np.sqrt(self.votes.shape[1]) * self.scores + np.log(self._prior())
        return np.asarray(softmax(log_odds if with_plain else log_odds[:-1]))

    def _prior(self) -> Floats:
        """Return the weights of views with equal scores."""
        is_weighted = np.array([view.weighs_columns for view in self.views] + [False])
        share = WEIGHTED_PRIOR if is_weighted.any() else 0.0
        return np.where(is_weighted, share / max(is_weighted.sum(), 1), (1 - share) / (~is_weighted).sum())

    def neighbor_vote(self, links: LinkSet) -> tuple[Floats, float]:
        """Return the weighted mean of the held-out votes by neighbors, and what it would be without evidence.

        See :class:`NeighborVotes`. Views of little weight are left out and, with many links, all but the heaviest.
        """
        rows = self.runs[-1][0].rows
        neighbors = NeighborVotes.of(links if rows is None else links.among(rows))
        weights = self.weights()
        lightest_first = np.argsort(weights, kind="stable")
        weights[lightest_first[: -max(MAX_VOTES // len(links), 1)]] = 0.0
        weights[weights < min(MIN_WEIGHT_OF_VOTER, weights.max())] = 0.0
        weights /= weights.sum()
        vote, chance = np.zeros(len(links)), 0.0
        for view in np.flatnonzero(weights):
            votes, numbers = zip(*(neighbors.vote(run.labels) for run in self.runs[view]), strict=True)
            vote += weights[view] * held_out_mean(votes, self.masks[view])
            chance += weights[view] * float(np.mean(1 / np.array(numbers)))
        return vote, chance

    def contradict_links(self) -> bool:
        """Whether the base alone contradicts the links beyond chance, and no view beats chance.

        Then the links are most likely reversed, and a representation that follows them destroys what is there.
        """
        chance = CHANCE_MARGIN / np.sqrt(self.votes.shape[1])
        return bool(self.scores[-1] < 0.5 - chance and self.scores[:-1].max() < 0.5 + chance)

    def voters(self) -> list[BaseRun]:
        """Return the runs that count, weighted by the log-odds and the weight of their view."""
        odds = np.clip(self.scores, 1e-6, 1 - 1e-6)
        weights = np.maximum(0.0, np.log(odds / (1 - odds))) * self.weights()
        return [
            replace(run, weight=float(weight))
            for runs, weight in zip(self.runs, weights, strict=True)
            for run in runs
            if weight > 0
        ]

    def on_all_rows(self, coordinates: Coordinates, takes_sparse: bool) -> Trials:
        """Return trials that label all rows, given trials of a sample."""
        runs = [[label_all_rows(run, coordinates, takes_sparse) for run in row] for row in self.runs]
        return replace(self, runs=runs)

    def final_voters(self) -> list[BaseRun]:
        """Return the runs that count in the end; of runs on a sample only a few, as each has to label all rows.

        These are the first runs of the views with the largest weights, then their second ones, and so on.
        """
        voters = self.voters()
        if not voters or voters[0].rows is None:
            return voters
        number = np.arange(len(voters)) % len(self.runs[0])
        lightness = np.array([-run.weight for run in voters])
        order = np.lexsort((lightness, number))[:MAX_VOTERS_OF_SAMPLE]
        return [voters[i] for i in np.sort(order)]


def run_trials(
    problem: BoostProblem, plan: AutomaticPlan, n_trials: int, n_jobs: int | None, rng: np.random.RandomState
) -> Trials:
    """Run the planned views, `n_trials` times each with some links held out, and the first base on the plain table."""
    links, coordinates = problem.links, problem.coordinates
    masks = draw_masks(links.is_must, n_trials, rng)
    # Each trial has the same seed in all views.
    seeds, plain_seeds = draw_seeds(rng, n_trials), draw_seeds(rng, n_trials)
    sample = draw_sample(links, coordinates, rng)
    there = links if sample is None else links.among(sample.labeled)
    labeled = np.arange(coordinates.linked.shape[0]) if sample is None else sample.labeled

    def try_views(trials: Trials, views: list[View], seen: list[LinkSet]) -> Trials:
        tasks = [
            delayed(run_view)(view, problem.base, coordinates, given, mask, int(seed), sample)
            for view in views
            for given, mask, seed in zip(seen, masks, seeds, strict=True)
        ]
        runs = run_tasks(tasks, problem, n_trials, n_jobs)
        return trials.with_views(views, runs, [masks] * len(runs), there)

    seen = [links] * n_trials
    trials = try_views(Trials.none(len(links)), plan.first_views(), seen)
    if plan.weighs_columns:
        # Each trial weighs columns by the clusters of runs that saw the same links.
        seen = [
            replace(links, explained=average_explained(runs, coordinates.plain, labeled))
            for runs in zip(*trials.runs, strict=True)
        ]
        trials = try_views(trials, plan.second_views(), seen)
    trials = try_views(trials, plan.further_views(trials.scores, len(links)), seen)
    where = "on the plain table"
    tasks = [delayed(run_base)(problem.base, coordinates, None, int(seed), where, sample) for seed in plain_seeds]
    runs = run_tasks(tasks, problem, n_trials, n_jobs)
    return trials.with_views([], runs, [np.zeros_like(masks)], there)


def run_tasks(tasks: list[Any], problem: BoostProblem, n_trials: int, n_jobs: int | None) -> list[list[BaseRun]]:
    """Run the tasks in parallel, and return their runs in groups of `n_trials`."""
    runs = []
    for run in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        runs.append(run)
        problem.after_run()
    return [runs[start : start + n_trials] for start in range(0, len(runs), n_trials)]


def run_view(
    view: View,
    base: BaseClusterer,
    coordinates: Coordinates,
    links: LinkSet,
    mask: Mask,
    seed: int,
    sample: Sample | None,
) -> BaseRun:
    """Run a view once with the links of a mask, or the base on the plain table if these give no representation."""
    run = view.run(coordinates, links, links.weight * mask, seed, "in a trial of a representation", sample=sample)
    return run_base(base, coordinates, None, seed, "on the plain table", sample) if run is None else run


def draw_sample(links: LinkSet, coordinates: Coordinates, rng: np.random.RandomState) -> Sample | None:
    """Draw a sample if the table is large, with all linked rows unless these are too many; None is all rows."""
    n_samples = coordinates.linked.shape[0]
    if n_samples <= MAX_ROWS_TRIED:
        return None
    size = int(np.clip(SAMPLE_FRACTION * n_samples, MIN_SAMPLE, MAX_SAMPLE))
    clustered = np.sort(rng.choice(n_samples, size=size, replace=False))
    if len(links.rows) <= size:
        clustered = np.union1d(links.rows, clustered)
    # The rows that the trust is updated with get a label, too; the rest only if the run counts in the end.
    labeled = np.union1d(clustered, subsample_with_linked(links, n_samples)).astype(np.intp)
    return Sample(labeled, np.searchsorted(labeled, clustered), coordinates.take(labeled))


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


def draw_views(weights: Floats, n_rounds: int, rng: np.random.RandomState) -> Indices:
    """Draw one for every round in proportion to the weights (systematic sampling), in random order."""
    drawn = np.searchsorted(np.cumsum(weights), (rng.uniform() + np.arange(n_rounds)) / n_rounds)
    return rng.permutation(np.minimum(drawn, len(weights) - 1))


@dataclass(frozen=True)
class RoundPlan:
    """The view of every round, its seed, and the links that it sees."""

    views: list[View]
    seeds: Ints
    seen: Mask  # (n_rounds, n_links)


def plan_rounds(trials: Trials, links: LinkSet, n_rounds: int, rng: np.random.RandomState) -> RoundPlan:
    """Draw views by their weights, seeds, and links."""
    views = [trials.views[v] for v in draw_views(trials.weights(with_plain=False), n_rounds, rng)]
    seeds = draw_seeds(rng, n_rounds)
    return RoundPlan(views, seeds, np.array([draw_mask(links.is_must, rng) for _ in views]))


def held_out_mean(votes: Sequence[Array], masks: Mask) -> Floats:
    """Return the mean vote of the runs that did not see a link, given the votes of all runs."""
    return np.asarray((np.array(votes) * ~masks).sum(axis=0) / (~masks).sum(axis=0))


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
