"""What the engine shows: groups, which clustering they are from, and what an action has changed."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mustlink._types import Floats, Ints
from mustlink.studio._actions import Action

__all__ = ["Change", "Group", "Layout", "Shown", "describe_absent", "describe_gone"]

# The most groups that a notice names.
MAX_NAMED_GROUPS = 5


class Layout(Protocol):
    """A drawing of the rows that follows pinned rows and groups, such as :class:`SpringLayout`."""

    @property
    def positions(self) -> Floats:
        """The position of every row."""

    def pin(self, pins: Mapping[int, tuple[float, float]]) -> None:
        """Hold these rows, and release all others."""

    def settle(self, labels: Any = None) -> Any:
        """Move the rows that are not pinned until they rest."""


@dataclass(frozen=True)
class Group:
    """One group of rows.

    Parameters
    ----------
    id : int
        Its id, which stays the same while its rows change.
    name : str
        Its name.
    size : int
        The number of its rows.
    locked : bool
        Whether its rows are kept in it.
    is_named : bool
        Whether a person gave it its name.

    Examples
    --------
    >>> from mustlink.studio import Group
    >>> Group(0, "Group 1", 12, locked=False, is_named=False).size
    12
    """

    id: int
    name: str
    size: int
    locked: bool
    is_named: bool


@dataclass(frozen=True)
class Shown:
    """Which clustering is shown.

    Parameters
    ----------
    method : str
        "instant", or the name of the clusterer that ran in the background.
    status : {"instant", "final", "working"}
        Whether it is the instant clustering and no other is expected, the result of the background for all links, or
        one that the background will replace.
    n_changed : int
        How many rows are in another group than before the last change.
    text : str
        The same in a sentence.

    Examples
    --------
    >>> from mustlink.studio import Engine
    >>> Engine([[0.0], [1.0], [5.0]]).shown.status
    'instant'
    """

    method: str
    status: str
    n_changed: int
    text: str


@dataclass(frozen=True, eq=False)
class Change:
    """What an action or a result of the background has changed.

    Parameters
    ----------
    revision : int
        The revision of the engine after it.
    action : Action or None
        The action; None for a result of the background.
    text : str
        What was done, in a few words.
    rows : ndarray of int
        The rows that are in another group than before.
    links_changed : bool
        Whether the links in force or an option of the clustering changed, so that the background should fit again.
    notices : tuple of str
        What the person should know, as sentences.

    Examples
    --------
    >>> from mustlink.studio import Engine, Link
    >>> change = Engine([[0.0], [1.0], [5.0]]).apply(Link(0, 2, together=False))
    >>> change.text, change.rows
    ('Linked 0 and 2 as different', array([0, 1, 2]))
    """

    revision: int
    action: Action | None
    text: str
    rows: Ints
    links_changed: bool
    notices: tuple[str, ...] = ()


def describe_gone(before: Sequence[Group], now: Sequence[Group]) -> tuple[str, ...]:
    """Tell which groups an action has ended."""
    ids = {group.id for group in now}
    gone = [group.name for group in before if group.id not in ids]
    if not gone:
        return ()
    are_gone = "is no longer a group" if len(gone) == 1 else "are no longer groups"
    return (f"{_list_names(gone)} {are_gone}; undo brings {'it' if len(gone) == 1 else 'them'} back.",)


def describe_absent(before: Sequence[Group], absent: Container[int]) -> tuple[str, ...]:
    """Tell which groups with a name a result of the background does not have."""
    gone = [group.name for group in before if group.id in absent]
    if not gone:
        return ()
    are_gone = "is no group" if len(gone) == 1 else "are no groups"
    return (
        f"{_list_names(gone)} {are_gone} in this result; the name comes back with the rows. Lock a group to keep it.",
    )


def _list_names(names: Sequence[str]) -> str:
    """List a few names."""
    more = f" and {len(names) - MAX_NAMED_GROUPS:,} more" if len(names) > MAX_NAMED_GROUPS else ""
    return ", ".join(names[:MAX_NAMED_GROUPS]) + more
