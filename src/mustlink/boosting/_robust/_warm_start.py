"""How a fit starts: with trials and rounds of its own, or with those of the last fit and some more links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._rounds import BoostProblem, BoostResult
from mustlink.boosting._boostcluster._views import View
from mustlink.boosting._robust._automatic import AutomaticPlan
from mustlink.boosting._robust._trials import RoundPlan, Trials, plan_rounds, run_trials
from mustlink.constraints import Constraints

__all__ = ["FullStart", "LastFit", "Start", "WarmStart", "describe_fit"]

# All is tried again when there are more links than so many times those of the last full fit.
MAX_GROWTH = 1.5
# The fraction of the rounds that are new; the oldest are left out.
NEW_ROUNDS = 0.2
# Parameters that do not change the result.
WITHOUT_EFFECT = ("n_jobs", "verbose", "warm_start")


@dataclass(frozen=True)
class Start(ABC):
    """How a fit starts."""

    coordinates: Coordinates
    links: LinkSet
    rng: np.random.RandomState
    n_links_tried: int  # those of the last full fit
    n_refits: int  # since the last full fit

    @property
    @abstractmethod
    def n_trial_runs(self) -> int:
        """How often a base runs in the trials."""

    @abstractmethod
    def make_trials(self, problem: BoostProblem) -> Trials:
        """Return trials with votes on the links."""

    @abstractmethod
    def plan_rounds(self, trials: Trials, n_rounds: int) -> RoundPlan:
        """Return the rounds."""


@dataclass(frozen=True)
class FullStart(Start):
    """The start of a fit of its own."""

    plan: AutomaticPlan
    n_trials: int
    n_jobs: int | None

    @property
    def n_trial_runs(self) -> int:
        return self.n_trials * (self.plan.n_views + 1)

    def make_trials(self, problem: BoostProblem) -> Trials:
        """Try all views."""
        return run_trials(problem, self.plan, self.n_trials, self.n_jobs, self.rng)

    def plan_rounds(self, trials: Trials, n_rounds: int) -> RoundPlan:
        """Draw all rounds."""
        return plan_rounds(trials, self.links, n_rounds, self.rng)


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
class WarmStart(Start):
    """A start from the trials and rounds of the last fit."""

    past_trials: Trials
    past_rounds: BoostResult
    place: Ints  # of the links among those of the last fit; -1 for new ones

    @classmethod
    def after(cls, last: LastFit, constraints: Constraints) -> WarmStart | None:
        """Return the start from the last fit; None if links are gone, or if too many are new."""
        start = last.start
        if start is None or last.trials is None or last.rounds is None:
            return None
        if len(constraints) > MAX_GROWTH * start.n_links_tried:
            return None
        # With many columns, new links act in the span of the earlier ones until the next full fit.
        links = start.coordinates.with_columns(start.coordinates.place_links(constraints))
        if (start.links.places_in(links) < 0).any():
            return None
        return cls(
            start.coordinates,
            links,
            # A copy, so that a fit that fails leaves the last one as it was.
            deepcopy(start.rng),
            start.n_links_tried,
            start.n_refits + 1,
            last.trials,
            last.rounds,
            links.places_in(start.links),
        )

    @property
    def n_trial_runs(self) -> int:
        return 0

    def make_trials(self, problem: BoostProblem) -> Trials:
        """Return the past trials; new links are held out of all of them."""
        past = self.past_trials
        masks = [self._extend(mask) for mask in past.masks]
        return Trials.none(len(self.links)).with_views(past.views, past.runs, masks, self.links)

    def plan_rounds(self, trials: Trials, n_rounds: int) -> RoundPlan:
        """Return the past rounds without the oldest ones, and new rounds; new links are held out of the past ones."""
        past = self.past_rounds
        n_new = max(1, round(NEW_ROUNDS * n_rounds), n_rounds - len(past.runs))
        first = len(past.runs) - (n_rounds - n_new)
        kept: list[View] = [
            PastView(entry["base"], entry["representation"], run)
            for entry, run in zip(past.history[first:], past.runs[first:], strict=True)
        ]
        new = plan_rounds(trials, self.links, n_new, self.rng)
        seeds = np.concatenate([np.zeros(len(kept), dtype=np.int64), new.seeds])
        seen = np.array([*(self._extend(mask) for mask in past.shown[first:]), *new.seen])
        return RoundPlan(kept + new.views, seeds, seen)

    def _extend(self, mask: Mask) -> Mask:
        """Return which of the links were seen, given which of those of the last fit were."""
        return np.asarray(mask[..., self.place] & (self.place >= 0))


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
        rows: Indices | None = None,
    ) -> BaseRun | None:
        """Return the run as it was."""
        return self.past


def describe_fit(estimator: BaseEstimator, X: Any) -> dict[str, str]:
    """Describe all that must be the same for a fit to start from the last one."""
    parameters = {name: repr(value) for name, value in estimator.get_params().items() if name not in WITHOUT_EFFECT}
    return {**parameters, "X": joblib.hash(X)}
