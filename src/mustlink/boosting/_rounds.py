"""The boosting rounds: a representation for what is still broken, a run of the base, a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._coassociation import CoAssociation, label_names
from mustlink.boosting._coordinates import Coordinates
from mustlink.boosting._forms import Directions, Form, LinkGeometry
from mustlink.boosting._links import LinkSet, LinkWeights, Masses

__all__ = ["Boosted", "Problem", "Round", "RoundSettings", "Voter", "boost", "count_clusters", "kernel_of"]

HALF_A_LINK = 0.5


@dataclass
class Voter:
    """A clustering that takes part in the codes: where it was made, and what it says.

    Attributes
    ----------
    run : BaseRun
        The labels and the fitted base.
    directions : Directions or None
        The representation it was made in; None is the plain table.
    weight : float
        Its weight in the co-association.
    """

    run: BaseRun
    directions: Directions | None
    weight: float = 0.0


@dataclass(frozen=True)
class Round:
    """What happened in one round."""

    representation: str
    alpha: float
    masses: Masses
    counted: bool
    log_objective: float
    n_clusters: int
    directions: Directions


@dataclass
class Boosted:
    """The weights of the links after the rounds, reports of all rounds, and those that count as voters."""

    weights: LinkWeights
    rounds: list[Round] = field(default_factory=list)
    voters: list[Voter] = field(default_factory=list)


@dataclass(frozen=True)
class Problem:
    """What is to be clustered: the base, the rows in space, and the links on them."""

    base: BaseClusterer
    coordinates: Coordinates
    geometry: LinkGeometry
    links: LinkSet


@dataclass(frozen=True)
class RoundSettings:
    """The parameters of BoostCluster that the rounds use."""

    n_rounds: int
    learning_rate: float
    smoothing: float
    on_bad_round: str


def boost(
    problem: Problem,
    settings: RoundSettings,
    forms: Sequence[Form],
    seeds: NDArray[np.int64],
    trust: NDArray[np.float64],
    after_round: Callable[[], Any],
    *,
    seen: NDArray[np.bool_] | None = None,
    first_round: int = 1,
) -> Boosted:
    """Run the rounds, one for each form, the first of them under a given number.

    Alpha is 1/2 log((B/A)(C/D)), smoothed and shortened by the learning rate. It is positive if and only if the round
    puts must-links together more often than cannot-links, and is then the round's weight as a voter.

    With `seen` (n_rounds, n_links) the representation of a round is made from some of the links only. Its step is
    worked out from all links as before; but its weight as a voter is the same figure of the links it has not seen, each
    counting by the trust in it, and a round that foretells them no better than chance has none.
    """
    links = problem.links
    weights = LinkWeights(links, trust)
    done = Boosted(weights)
    before: tuple[NDArray[np.float64], NDArray[Any]] | None = None
    for t, (form, seed) in enumerate(zip(forms, seeds, strict=True), start=first_round):
        must, cannot = weights.of_kind(True), weights.of_kind(False)
        mask = None if seen is None else seen[t - first_round]
        if mask is not None:
            must, cannot = must * mask[links.is_must], cannot * mask[~links.is_must]
        directions = form.directions(problem.geometry, must, cannot)
        if not directions.values.size:
            continue
        table = problem.coordinates.represent(directions)
        run = problem.base.run(table, int(seed), f"in round {t} of {settings.n_rounds}")
        # The same weights that gave the same labels will do so for ever, if every round sees all links.
        if (
            seen is None
            and before is not None
            and np.array_equal(before[0], weights.kernel)
            and np.array_equal(before[1], run.labels)
        ):
            break
        before = weights.kernel, run.labels
        together = links.together(run.labels)
        masses = weights.masses(together)
        alpha = settings.learning_rate * masses.step(settings.smoothing / len(links))
        vote = max(alpha, 0.0)
        if mask is not None and not mask.all() and alpha > 0:
            vote = foresight(links, trust * ~mask, together)
        if alpha > 0 or settings.on_bad_round == "reweight":
            weights.add(alpha, together)
        done.rounds.append(
            Round(form.label, alpha, masses, vote > 0, weights.log_objective(), count_clusters(run.labels), directions)
        )
        after_round()
        if vote > 0:
            done.voters.append(Voter(run, directions, vote))
        if alpha <= 0 and settings.on_bad_round == "stop":
            break
    return done


def foresight(links: LinkSet, trust: NDArray[np.float64], together: NDArray[np.bool_]) -> float:
    """Return 1/2 log((B/A)(C/D)) of the links, weighed by trust; zero if that is negative.

    Half a link is added to each of the four, so that a round that keeps them all does not count infinitely.
    """
    weight = links.weight * trust
    must, cannot = links.is_must, ~links.is_must
    masses = Masses(
        must_apart=float(weight[must & ~together].sum()),
        must_together=float(weight[must & together].sum()),
        cannot_apart=float(weight[cannot & ~together].sum()),
        cannot_together=float(weight[cannot & together].sum()),
    )
    return max(0.0, masses.step(HALF_A_LINK))


def kernel_of(voters: Sequence[Voter]) -> CoAssociation:
    """Return the co-association of some voters."""
    return CoAssociation.from_labels([voter.run.labels for voter in voters], [voter.weight for voter in voters])


def count_clusters(labels: NDArray[Any]) -> int:
    """Return the number of clusters, noise left out."""
    return len(label_names(labels))
