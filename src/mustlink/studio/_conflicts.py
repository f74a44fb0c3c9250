"""Actions that contradict earlier ones: the chain of links that causes it, and which of them to remove."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from mustlink._types import Array, Floats
from mustlink.constraints import Conflict
from mustlink.errors import ConstraintError
from mustlink.studio._actions import Action
from mustlink.studio._state import REMOVABLE, LinksInForce, StudioLink

__all__ = ["ActionRefused", "DistanceRanks", "chain_of", "find_weakest", "new_conflict"]

# How many random pairs of rows a distance is compared with.
N_SAMPLED_PAIRS = 2_000


class ActionRefused(ConstraintError):  # noqa: N818  (it is an answer to a person, and no fault)
    """An action of the studio cannot be done; nothing has changed.

    Takes the parameters of :class:`~mustlink.errors.MustlinkError` and those below.

    Parameters
    ----------
    problem : str
        Why, as a sentence.
    action : Action or None, default=None
        The action.
    chain : sequence of StudioLink, default=()
        The links that contradict each other, in order: must-links from one row to another, and the cannot-link between
        these two. Empty if the action is refused for another reason.
    weakest : int or None, default=None
        The position in the chain of the link to remove, see the notes of :class:`Engine`; None if none can be removed.

    Examples
    --------
    >>> from mustlink.studio import ActionRefused, Engine, Link, Undo
    >>> try:
    ...     Engine([[0.0], [1.0], [5.0]]).apply(Undo())
    ... except ActionRefused as error:
    ...     print(error)
    There is nothing to undo.
    """

    def __init__(
        self,
        problem: str,
        action: Action | None = None,
        chain: Sequence[StudioLink] = (),
        weakest: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(problem, [(link.a, link.b) for link in chain], **options)
        self.action = action
        self.chain = list(chain)
        self.weakest = weakest


class DistanceRanks:
    """How a distance between two rows ranks among those of random pairs, from 0 (nearest) to 1 (farthest)."""

    def __init__(self, X: Array, random_state: int = 0) -> None:
        self._X = X
        self._random_state = random_state

    @cached_property
    def _sorted(self) -> Floats:
        """The distances of random pairs in ascending order."""
        drawn = np.random.default_rng(self._random_state).integers(len(self._X), size=(2, N_SAMPLED_PAIRS))
        distances: Floats = np.sort(np.linalg.norm(self._X[drawn[0]] - self._X[drawn[1]], axis=1))
        return distances

    def rank(self, a: int, b: int) -> float:
        """Return the fraction of random pairs that are nearer than two rows."""
        distance = np.linalg.norm(self._X[a] - self._X[b])
        return float(np.searchsorted(self._sorted, distance)) / N_SAMPLED_PAIRS


def new_conflict(links: LinksInForce, before: LinksInForce) -> Conflict | None:
    """Return a conflict of the links that the links before did not have; None if there is none."""
    found = links.constraints.conflicts()
    if not len(found):
        return None
    earlier = {tuple(pair) for pair in before.constraints.conflicts().pairs.tolist()}
    return next((found[k] for k, pair in enumerate(found.pairs.tolist()) if tuple(pair) not in earlier), None)


def chain_of(conflict: Conflict, links: LinksInForce) -> list[StudioLink]:
    """Return the links of a conflict in order, the cannot-link last."""
    rows = conflict.chain
    together = [links.find(a, b, together=True) for a, b in pairwise(rows)]
    return [*together, links.find(*conflict.cannot_link, together=False)]


def find_weakest(
    chain: Sequence[StudioLink], ranks: DistanceRanks, kept: Collection[StudioLink], single_pins: Collection[int]
) -> int | None:
    """Return the position of the link that the data speak most against, of those that can be removed.

    A must-link is the weaker, the farther its rows are from each other, and a cannot-link, the nearer they are: both
    are measured by the rank of the distance among random pairs of rows. The links of the action itself (`kept`) are
    not removed for it, and a cannot-link between pinned rows only if one of them is the only one of its place
    (`single_pins`), since otherwise releasing it would change nothing.
    """
    best, weakest = -1.0, None
    for place, link in enumerate(chain):
        is_held = link.source == "pin" and not link.together and not {link.a, link.b} & set(single_pins)
        if link.source not in REMOVABLE or link in kept or is_held:
            continue
        rank = ranks.rank(link.a, link.b)
        doubt = rank if link.together else 1 - rank
        if doubt > best:
            best, weakest = doubt, place
    return weakest
