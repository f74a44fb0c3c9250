"""The rounds of robust boosting, and the choice between their consensus and the base clusterer alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mustlink._types import Floats
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._boostcluster._consensus import Consensus, kmeans_on_codes
from mustlink.boosting._boostcluster._representations import Representation
from mustlink.boosting._boostcluster._rounds import BoostProblem, BoostResult, boost, draw_seeds
from mustlink.boosting._robust._resolution import LinkPrior, update_trust
from mustlink.boosting._robust._trials import Trials, draw_mask, draw_representations

__all__ = ["boost_robustly", "choose_consensus", "combine_voters"]

# After this fraction of the rounds they start again with updated trust. The links then count less beside distances than
# in the end: a link should not confirm itself.
RESTART_AFTER = 1 / 3
RESTART_PENALTY = 0.5
# The weight of the trials in the co-association while there are few rounds.
EARLY_TRIAL_WEIGHT = 0.6
# The base alone is taken only if it agrees better with the links by more than a standard error.
PLAIN_MARGIN = 0.5


def boost_robustly(
    problem: BoostProblem,
    representations: Sequence[Representation],
    trials: Trials,
    trust: Floats,
    prior: LinkPrior,
    rng: np.random.RandomState,
) -> BoostResult:
    """Run the rounds: each in a representation drawn by its weight, each with some links held out.

    After a third of the rounds, these and the trials give a new estimate of the trust in each link.
    """
    links, n_rounds = problem.links, problem.n_rounds
    drawn = [representations[r] for r in draw_representations(trials.weights(with_plain=False), n_rounds, rng)]
    seeds = draw_seeds(rng, n_rounds)
    seen = np.array([draw_mask(links.is_must, rng) for _ in drawn])
    cut = round(RESTART_AFTER * n_rounds)
    first = boost(problem, drawn[:cut], seeds[:cut], trust, seen=seen[:cut])
    if links.has_both_kinds:
        voters = combine_voters(first.voters, trials.voters(), EARLY_TRIAL_WEIGHT)
        early = replace(prior, penalty=RESTART_PENALTY * prior.penalty)
        trust = update_trust(trust, links, voters, problem.base, early)
    return first.continued(boost(problem, drawn[cut:], seeds[cut:], trust, seen=seen[cut:], first_round=cut + 1))


def combine_voters(rounds: list[BaseRun], trials: list[BaseRun], trial_weight: float) -> list[BaseRun]:
    """Scale the weights of rounds and trials to a sum of one, and leave out those without weight."""
    if not rounds or not trials:
        trial_weight = 0.0 if rounds else 1.0
    scaled = _scale_weights(rounds, 1 - trial_weight) + _scale_weights(trials, trial_weight)
    return [run for run in scaled if run.weight > 0]


def _scale_weights(runs: list[BaseRun], total: float) -> list[BaseRun]:
    whole = sum(run.weight for run in runs)
    return [replace(run, weight=run.weight * total / whole) for run in runs]


def choose_consensus(
    problem: BoostProblem, voters: list[BaseRun], trials: Trials, prior: LinkPrior
) -> tuple[Consensus, list[BaseRun]]:
    """Cluster the co-association, or take the base alone if that agrees clearly better with the links.

    Returns
    -------
    consensus : Consensus
        The clusters.
    voters : list of BaseRun
        The runs that they are made of; one if it is the base alone.
    """
    links, plain, reversed_links = problem.links, trials.runs[-1], trials.contradict_links()
    agreement = [links.agreement(run.labels) for run in plain]
    if voters and not reversed_links:
        consensus = kmeans_on_codes(voters, problem.base, links, prior.penalty * prior.log_odds)
        if links.agreement(consensus.labels) >= np.mean(agreement) - PLAIN_MARGIN / np.sqrt(len(links)):
            return consensus, voters
    best = plain[0 if reversed_links else int(np.argmax(agreement))]
    return Consensus.of_run(best), [best]
