"""The boosting rounds: a representation for what is still broken, a run of a base clusterer, a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mustlink._types import Array, Floats, Ints, Mask
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._boostcluster._consensus import count_clusters
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._links import LinkSet, LinkWeights, optimal_step
from mustlink.boosting._boostcluster._views import View

if TYPE_CHECKING:
    from mustlink.boosting._blocked._elsewhere import Elsewhere

__all__ = ["BoostProblem", "BoostResult", "boost", "draw_seeds", "held_out_log_odds"]

HALF_A_LINK = 0.5


@dataclass(frozen=True)
class BoostProblem:
    """What is boosted, and how rounds count, by parameters of :class:`BoostCluster`."""

    base: BaseClusterer  # the first one, if there are several
    coordinates: Coordinates
    links: LinkSet
    after_run: Callable[[], Any]  # moves the progress bar
    n_rounds: int
    learning_rate: float = 0.5
    smoothing: float = 0.5
    on_bad_round: str = "reweight"
    elsewhere: Elsewhere | None = None  # the rows that have no coordinates here, of a table in blocks


@dataclass(frozen=True)
class BoostResult:
    """The result of some rounds."""

    weights: LinkWeights  # after the rounds
    history: list[dict[str, Any]] = field(default_factory=list)
    runs: list[BaseRun] = field(default_factory=list)  # of every round
    shown: list[Mask] = field(
        default_factory=list
    )  # the links that the representation of every round was computed from
    voters: list[BaseRun] = field(default_factory=list)  # the runs that count, with their weights

    def continued(self, later: BoostResult) -> BoostResult:
        """Return the result of these rounds and of later ones."""
        return BoostResult(
            later.weights,
            self.history + later.history,
            self.runs + later.runs,
            self.shown + later.shown,
            self.voters + later.voters,
        )


def boost(
    problem: BoostProblem,
    views: Sequence[View],
    seeds: Ints,
    trust: Floats,
    *,
    seen: Mask | None = None,
    first_round: int = 1,
) -> BoostResult:
    """Run a round for each view; the first of them has the number `first_round`.

    Alpha is 1/2 log((B/A)(C/D)), smoothed and multiplied by the learning rate. It is positive if and only if the round
    puts must-links together more often than cannot-links, and is then the weight of the round.

    With `seen` (n_rounds, n_links) the representation of a round is computed from some of the links only. Its step is
    computed from all links as before, but its weight from the held-out links: that of a round that predicts them no
    better than chance is zero.
    """
    links = problem.links
    weights = LinkWeights(links, trust)
    result = BoostResult(weights)
    before: tuple[Floats, Array] | None = None
    for t, (view, seed) in enumerate(zip(views, seeds, strict=True), start=first_round):
        mask = None if seen is None else seen[t - first_round]
        weight = weights.normalized()
        shown = np.ones(len(links), dtype=np.bool_) if mask is None else mask
        where = f"in round {t} of {problem.n_rounds}"
        # Columns are weighted by what the links say, and not by what is still broken.
        evidence = links.weight * trust * shown
        run = view.run(problem.coordinates, links, weight * shown, int(seed), where, column_evidence=evidence)
        if run is None:
            problem.after_run()
            continue
        if problem.elsewhere is not None:
            run = problem.elsewhere.finish(run, int(seed))
        # If every round sees all links, weights and labels that repeat once repeat for all further rounds.
        now = weights.kernel, run.labels
        if seen is None and before is not None and all(map(np.array_equal, before, now)):
            break
        before = now
        together = links.together(run.labels)
        masses = links.split(weight, together)
        alpha = problem.learning_rate * optimal_step(masses, problem.smoothing / len(links))
        vote = max(alpha, 0.0)
        if mask is not None and not mask.all() and alpha > 0:
            vote = held_out_log_odds(links, trust * ~mask, together)
        if alpha > 0 or problem.on_bad_round == "reweight":
            weights.add(alpha, together)
        result.runs.append(run)
        result.shown.append(shown)
        result.history.append(
            {
                "base": view.name,
                "representation": view.label,
                "objective": float(np.exp(weights.log_objective())),
                "alpha": alpha,
                **masses,
                "counted": vote > 0,
                "n_clusters": count_clusters(run.labels),
            }
        )
        problem.after_run()
        if vote > 0:
            result.voters.append(replace(run, weight=vote))
        if alpha <= 0 and problem.on_bad_round == "stop":
            break
    return result


def held_out_log_odds(links: LinkSet, trust: Floats, together: Mask) -> float:
    """Return 1/2 log((B/A)(C/D)) of links weighted by trust, which is zero for links that are not held out.

    Negative values become zero. Half a link is added to each of the four masses to keep the result finite.
    """
    return max(0.0, optimal_step(links.split(links.weight * trust, together), HALF_A_LINK))


def draw_seeds(rng: np.random.RandomState, count: int) -> Ints:
    """Draw seeds for runs of the base clusterer."""
    return rng.randint(np.iinfo(np.int32).max, size=count).astype(np.int64)
