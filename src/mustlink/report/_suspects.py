"""Links that look wrong, as they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["SuspectLink", "name_suspects"]

_MOST_SUSPECTS = 50


class Suspicion(Protocol):
    """What a clusterer says of a link that looks wrong, as :class:`mustlink.boosting.Suspect` does."""

    @property
    def a(self) -> int:
        """One row."""

    @property
    def b(self) -> int:
        """The other."""

    @property
    def link(self) -> str:
        """What was asked for, "must" or "cannot"."""

    @property
    def trust(self) -> float:
        """The estimated probability that the link is right."""


@dataclass(frozen=True)
class SuspectLink:
    """A link that looks wrong.

    Parameters
    ----------
    kind : {'must', 'cannot'}
        What was asked for.
    rows : tuple of (int, int)
        The two rows.
    names : tuple of (str, str)
        What they are called.
    trust : float
        The estimated probability that the link is right.

    Examples
    --------
    >>> from mustlink.report import SuspectLink
    >>> print(SuspectLink("must", (0, 7), ("ann", "bob"), 0.12))
    ann and bob must be together: right with probability 12%
    """

    kind: Literal["must", "cannot"]
    rows: tuple[int, int]
    names: tuple[str, str]
    trust: float

    def __str__(self) -> str:
        first, second = self.names
        return f"{first} and {second} {self.kind} be together: right with probability {self.trust:.0%}"


def name_suspects(suspects: Iterable[Suspicion], names: Sequence[str]) -> tuple[SuspectLink, ...]:
    """Name the rows of the links that look wrong, as many as can be shown, worst first as they come."""
    return tuple(
        SuspectLink(
            "must" if suspect.link == "must" else "cannot",
            (suspect.a, suspect.b),
            (names[suspect.a], names[suspect.b]),
            suspect.trust,
        )
        for suspect, _ in zip(suspects, range(_MOST_SUSPECTS), strict=False)
    )
