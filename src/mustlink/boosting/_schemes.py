"""The two ways to a result: rounds in one form; several forms, and doubt of the links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.boosting._beliefs import Stakes
from mustlink.boosting._code_kmeans import CodeTable
from mustlink.boosting._doubt import (
    LEAST_TRUST,
    Doubt,
    Scouts,
    ScoutView,
    doubt,
    draw_mask,
    draw_masks,
    links_say_the_opposite,
    send_scouts,
)
from mustlink.boosting._final import FinalModel, FinalStep, settle_links, with_spaced_rows
from mustlink.boosting._forms import Form
from mustlink.boosting._links import LinkSet
from mustlink.boosting._rounds import Boosted, Problem, RoundSettings, Voter, boost
from mustlink.constraints import Constraints

__all__ = ["DoubtSettings", "Outcome", "boost_in_one_form", "boost_with_doubt", "draw_seeds"]

LEAST_ERROR = 0.02
# The base alone is taken only if it agrees better with the links by more than a standard error.
CHECK_MARGIN = 0.5
# After this share of the rounds the links are looked at again. A link then counts less beside distances than in the
# end: whoever doubts a link should not lean on it.
SECOND_LOOK = 1 / 3
SECOND_PRICE = 0.5
# How much of the co-association are the trials when there are few rounds yet.
EARLY_SHARE = 0.6


@dataclass(frozen=True)
class DoubtSettings:
    """The parameters of BoostCluster that only metric="auto" uses."""

    n_masks: int
    share: float
    price: float
    max_error: float
    n_jobs: int | None


@dataclass(frozen=True)
class Outcome:
    """A result.

    Attributes
    ----------
    boosted : Boosted
        The rounds.
    voters : list of Voter
        Those that the result is made of.
    model : FinalModel
        The clusters.
    doubt : Doubt
        Error rate and trust.
    form_weights : ndarray of shape (n_forms + 1,)
        How much each form counted, the plain table last.
    is_plain : bool
        Whether it is the result of the base alone.
    """

    boosted: Boosted
    voters: list[Voter]
    model: FinalModel
    doubt: Doubt
    form_weights: NDArray[np.float64]
    is_plain: bool


def boost_in_one_form(
    problem: Problem,
    settings: RoundSettings,
    form: Form,
    final: FinalStep,
    rng: np.random.RandomState,
    after_run: Callable[[], Any],
) -> Outcome:
    """Run the rounds in one form, trusting all links; if none counts, the base alone gives the result."""
    trust = np.ones(len(problem.links))
    forms = [form] * settings.n_rounds
    boosted = boost(problem, settings, forms, draw_seeds(rng, settings.n_rounds), trust, after_run)
    doubted = Doubt.none(problem.links)
    if boosted.voters:
        return Outcome(boosted, boosted.voters, final.model(boosted.voters), doubted, np.array([1.0, 0.0]), False)
    table = problem.coordinates.plain_for(problem.base.takes_sparse)
    run = problem.base.run(table, int(draw_seeds(rng, 1)[0]), "on the plain table")
    return Outcome(boosted, [Voter(run, None, 1.0)], FinalModel.of_run(run), doubted, np.array([0.0, 1.0]), True)


def boost_with_doubt(
    problem: Problem,
    settings: RoundSettings,
    doubting: DoubtSettings,
    forms: Sequence[Form],
    constraints: Constraints,
    final: FinalStep,
    rng: np.random.RandomState,
    after_run: Callable[[], Any],
) -> Outcome:
    """Scout, doubt, boost, collect the codes, cluster them, check."""
    links = problem.links
    # 1. Scout.
    masks = draw_masks(links.is_must, doubting.n_masks, rng)
    seeds, plain_seeds = draw_seeds(rng, doubting.n_masks), draw_seeds(rng, doubting.n_masks)
    view = ScoutView.of(problem.coordinates, links.rows, rng)
    scouts = send_scouts(
        problem, view, forms, masks, seeds=seeds, plain_seeds=plain_seeds, n_jobs=doubting.n_jobs, after_run=after_run
    )
    form_weights = scouts.form_weights(len(links))
    # 2. Doubt.
    n_samples = problem.coordinates.linked.shape[0]
    doubted = doubt(links, constraints, form_weights @ scouts.votes, n_samples, doubting.max_error)
    is_contrary = links_say_the_opposite(scouts.scores, len(links))
    stakes = Stakes(0.0 if is_contrary else doubting.price, log_odds_of(doubted.error_rate))
    # 3. Boost and 4. codes. After some rounds, these and the scouts tell once more how far to trust each link.
    drawn = [forms[f] for f in draw_forms(scouts.form_weights(len(links), with_plain=False), settings.n_rounds, rng)]
    round_seeds = draw_seeds(rng, settings.n_rounds)
    seen = np.array([draw_mask(links.is_must, rng) for _ in drawn])
    first = slice(0, round(SECOND_LOOK * settings.n_rounds))
    rest = slice(first.stop, settings.n_rounds)
    boosted = boost(problem, settings, drawn[first], round_seeds[first], doubted.trust, after_run, seen=seen[first])
    trust = doubted.trust
    if links.has_both_kinds and not is_contrary:
        voters = collect_voters(boosted.voters, scouts, form_weights, EARLY_SHARE)
        trust = second_look(trust, links, voters, final, replace(stakes, price=SECOND_PRICE * stakes.price))
    later = boost(
        problem,
        settings,
        drawn[rest],
        round_seeds[rest],
        trust,
        after_run,
        seen=seen[rest],
        first_round=rest.start + 1,
    )
    boosted = Boosted(later.weights, boosted.rounds + later.rounds, boosted.voters + later.voters)
    voters = collect_voters(boosted.voters, scouts, form_weights, doubting.share)
    # 5. Final, and 6. check.
    agreement = [links.agreement(run.labels) for run in scouts.runs[-1]]
    if voters and not is_contrary:
        model = final.model(voters, links, stakes)
        if links.agreement(model.labels) >= np.mean(agreement) - CHECK_MARGIN / np.sqrt(len(links)):
            return Outcome(boosted, voters, model.weigh_links(links, stakes), doubted, form_weights, False)
    plain = scouts.runs[-1][0 if is_contrary else int(np.argmax(agreement))]
    model = FinalModel.of_run(plain).weigh_links(links, stakes)
    return Outcome(boosted, [Voter(plain, None, 1.0)], model, doubted, form_weights, True)


def second_look(
    trust: NDArray[np.float64], links: LinkSet, voters: list[Voter], final: FinalStep, stakes: Stakes
) -> NDArray[np.float64]:
    """Return how likely each link is right, given a result of these voters and all other links.

    The result is made for the linked rows and some others only. Without voters, or if all is one cluster, the trust
    stays as it was.
    """
    if not voters or stakes.price <= 0:
        return trust
    rows = with_spaced_rows(links, len(voters[0].run.labels))
    shown = [replace(voter, run=replace(voter.run, labels=voter.run.labels[rows])) for voter in voters]
    model = replace(final, kind="codes").model(shown)
    if model.labels.max() < 1:
        return trust
    _, beliefs = settle_links(CodeTable.of(model.kernel), model.labels, links.among(rows), stakes)
    return np.maximum(beliefs.of_links, LEAST_TRUST)


def collect_voters(rounds: list[Voter], scouts: Scouts, form_weights: NDArray[np.float64], share: float) -> list[Voter]:
    """Give the rounds and the scouts their weights, which sum to one; those without weight are left out."""
    odds = np.clip(scouts.scores, 1e-6, 1 - 1e-6)
    per_form = np.maximum(0.0, np.log(odds / (1 - odds))) * form_weights
    scouted = [
        Voter(run, directions, float(weight))
        for runs, row, weight in zip(scouts.runs, scouts.directions, per_form, strict=True)
        for run, directions in zip(runs, row, strict=True)
        if weight > 0
    ]
    if not rounds or not scouted:
        share = 0.0 if rounds else 1.0
    return [voter for voter in with_total(rounds, 1 - share) + with_total(scouted, share) if voter.weight > 0]


def with_total(voters: list[Voter], total: float) -> list[Voter]:
    """Scale the weights of voters to a sum."""
    whole = sum(voter.weight for voter in voters)
    return [replace(voter, weight=voter.weight * total / whole) for voter in voters]


def log_odds_of(error_rate: float) -> float:
    """Return the log-odds that a link is right."""
    error = max(error_rate, LEAST_ERROR)
    return float(np.log((1 - error) / error))


def draw_forms(weights: NDArray[np.float64], n_rounds: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw a form for every round in proportion to its weight (systematic sampling), in random order."""
    drawn = np.searchsorted(np.cumsum(weights), (rng.uniform() + np.arange(n_rounds)) / n_rounds)
    return rng.permutation(np.minimum(drawn, len(weights) - 1))


def draw_seeds(rng: np.random.RandomState, count: int) -> NDArray[np.int64]:
    """Draw seeds for runs of the base."""
    return rng.randint(np.iinfo(np.int32).max, size=count).astype(np.int64)
