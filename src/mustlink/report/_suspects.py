"""Links that may be wrong, as they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["SuspectLink", "name_suspects"]

MAX_SUSPECTS = 50


@dataclass(frozen=True)
class SuspectLink:
    """A link that may be wrong.

    Parameters
    ----------
    kind : {'must', 'cannot'}
        The kind of the link.
    rows : tuple of (int, int)
        The two rows.
    names : tuple of (str, str)
        The names of the rows.
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


def name_suspects(suspects: Iterable[Any], names: Sequence[str]) -> tuple[SuspectLink, ...]:
    """Name the rows of the first suspects, up to the maximum shown."""
    return tuple(
        SuspectLink(
            "must" if suspect.link == "must" else "cannot",
            (suspect.a, suspect.b),
            (names[suspect.a], names[suspect.b]),
            suspect.trust,
        )
        for suspect, _ in zip(suspects, range(MAX_SUSPECTS), strict=False)
    )
