"""How a fit starts: with trials and rounds of its own, or with those of the last fit and some more links.

Rounds are replaced gradually, so that one more link does not change everything. Trials, which count little in the
co-association, are all run again when the links have grown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from mustlink._types import Floats, Ints, Mask
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._rounds import BoostProblem, BoostResult
from mustlink.boosting._boostcluster._views import Sample, View
from mustlink.boosting._robust._automatic import AutomaticPlan
from mustlink.boosting._robust._trials import RoundPlan, Trials, plan_rounds, run_trials
from mustlink.constraints import Constraints

__all__ = ["FullStart", "LastFit", "Start", "WarmStart", "describe_fit"]

# The trials are run again when there are more links than so many times those that they were run with.
MAX_GROWTH = 1.5
# The fraction of the rounds that are new; the oldest are left out.
NEW_ROUNDS = 0.2
# Parameters that do not change the result.
WITHOUT_EFFECT = ("n_jobs", "verbose", "warm_start")


@dataclass(frozen=True)
class LastFit:
    """What a fit leaves for the next one."""

    description: dict[str, str]  # of the table and the parameters
    labels: Ints | None = None
    # Without links there is no more.
    start: Start | None = None
    trials: Trials | None = None
    rounds: BoostResult | None = None


@dataclass(frozen=True)
class Start(ABC):
    """How a fit starts."""

    coordinates: Coordinates
    links: LinkSet
    rng: np.random.RandomState
    past: PastRounds | None
    n_links_tried: int  # those that the trials were run with
    n_refits: int  # since the trials were run

    @property
    @abstractmethod
    def n_trial_runs(self) -> int:
        """How often a base runs in the trials."""

    @abstractmethod
    def make_trials(self, problem: BoostProblem) -> Trials:
        """Return trials with votes on the links."""

    def plan_rounds(self, trials: Trials, n_rounds: int) -> RoundPlan:
        """Return the past rounds without the oldest ones, and new rounds; without past rounds, all are new."""
        if self.past is None:
            return plan_rounds(trials, self.links, n_rounds, self.rng)
        n_new = max(1, round(NEW_ROUNDS * n_rounds), n_rounds - len(self.past.views))
        return self.past.last(n_rounds - n_new).followed_by(plan_rounds(trials, self.links, n_new, self.rng))


@dataclass(frozen=True)
class FullStart(Start):
    """A start with trials of its own."""

    plan: AutomaticPlan
    n_trials: int
    n_jobs: int | None

    @property
    def n_trial_runs(self) -> int:
        return self.n_trials * (self.plan.n_views + 1)

    def make_trials(self, problem: BoostProblem) -> Trials:
        """Try all views."""
        return run_trials(problem, self.plan, self.n_trials, self.n_jobs, self.rng)


@dataclass(frozen=True)
class WarmStart(Start):
    """A start with the trials of the last fit."""

    trials: Trials

    @classmethod
    def after(cls, last: LastFit, constraints: Constraints) -> WarmStart | None:
        """Return the start from the last fit; None if links are gone, or if too many are new."""
        start = last.start
        if start is None or last.trials is None or len(constraints) > MAX_GROWTH * start.n_links_tried:
            return None
        # With many columns, new links act in the span of the earlier ones until the trials are run again.
        links = start.coordinates.with_columns(start.coordinates.place_links(constraints))
        past = PastRounds.of(last, links)
        if past is None:
            return None
        masks = [extend(mask, links.places_in(start.links)) for mask in last.trials.masks]
        trials = Trials.none(len(links)).with_views(last.trials.views, last.trials.runs, masks, links)
        # A copy, so that a fit that fails leaves the last one as it was.
        rng = deepcopy(start.rng)
        return cls(start.coordinates, links, rng, past, start.n_links_tried, start.n_refits + 1, trials)

    @property
    def n_trial_runs(self) -> int:
        return 0

    def make_trials(self, problem: BoostProblem) -> Trials:
        """Return the trials of the last fit with votes on all links; new links are held out of all of them."""
        return self.trials


@dataclass(frozen=True)
class PastRounds:
    """The rounds of the last fit; new links are held out of all of them."""

    views: list[View]
    seen: list[Mask]

    @classmethod
    def of(cls, last: LastFit, links: LinkSet) -> PastRounds | None:
        """Return the rounds of the last fit; None if there are none, or if links of it are gone."""
        if last.start is None or last.rounds is None or (last.start.links.places_in(links) < 0).any():
            return None
        place = links.places_in(last.start.links)
        views: list[View] = [
            PastView(entry["base"], entry["representation"], run)
            for entry, run in zip(last.rounds.history, last.rounds.runs, strict=True)
        ]
        return cls(views, [extend(mask, place) for mask in last.rounds.shown])

    def last(self, n_rounds: int) -> PastRounds:
        """Return the last of the rounds."""
        first = len(self.views) - n_rounds
        return PastRounds(self.views[first:], self.seen[first:])

    def followed_by(self, new: RoundPlan) -> RoundPlan:
        """Return these rounds and new ones."""
        seeds = np.concatenate([np.zeros(len(self.views), dtype=np.int64), new.seeds])
        return RoundPlan(self.views + new.views, seeds, np.array([*self.seen, *new.seen]))


def extend(mask: Mask, place: Ints) -> Mask:
    """Return which links were seen, given which of the earlier ones were, and their places among these or -1."""
    return np.asarray(mask[..., place] & (place >= 0))


@dataclass(frozen=True)
class PastView:
    """A past run in the place of a new one."""

    name: str
    label: str
    past: BaseRun
    weighs_columns = False

    def run(
        self,
        coordinates: Coordinates,
        links: LinkSet,
        weight: Floats,
        seed: int,
        where: str,
        *,
        column_evidence: Floats | None = None,
        sample: Sample | None = None,
    ) -> BaseRun | None:
        """Return the run as it was."""
        return self.past


def describe_fit(estimator: BaseEstimator, X: Any) -> dict[str, str]:
    """Describe all that must be the same for a fit to start from the last one."""
    parameters = {name: repr(value) for name, value in estimator.get_params().items() if name not in WITHOUT_EFFECT}
    return {**parameters, "X": joblib.hash(X)}
