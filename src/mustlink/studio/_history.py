"""The steps of a studio: states in time, undo and redo, snapshots, and what each step did in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from mustlink._spelling import count
from mustlink.studio._actions import (
    KEEP,
    Action,
    Answer,
    Choose,
    Link,
    Lock,
    Move,
    Rename,
    Replace,
    Restore,
    Unlink,
    Unpin,
)
from mustlink.studio._state import State

__all__ = ["History", "SavedState", "Step", "describe_step"]


class Step(NamedTuple):
    """One step of a studio, which can be undone.

    Parameters
    ----------
    n : int
        The number of the step, from 1.
    text : str
        What was done.
    when : str
        When, in ISO 8601.

    Examples
    --------
    >>> from mustlink.studio import Step
    >>> Step(1, "Unpinned 3", "2026-03-01T12:00:00+00:00").text
    'Unpinned 3'
    """

    n: int
    text: str
    when: str


class SavedState(NamedTuple):
    """A snapshot: a state that is kept under a name.

    Parameters
    ----------
    name : str
        The name.
    when : str
        When it was made, in ISO 8601.
    state : State
        The state.
    """

    name: str
    when: str
    state: State


class History:
    """States in time. A step after an undo replaces those that were undone."""

    def __init__(self, first: State) -> None:
        self._states = [first]
        self._steps: list[Step] = []
        self._at = 0
        self.snapshots: dict[str, SavedState] = {}

    def copy(self) -> History:
        """Return the same history, which does not follow further steps."""
        other = History(self._states[0])
        other._states, other._steps, other._at = list(self._states), list(self._steps), self._at
        other.snapshots = dict(self.snapshots)
        return other

    @property
    def state(self) -> State:
        """The present state."""
        return self._states[self._at]

    @property
    def steps(self) -> list[Step]:
        """The steps that led to the present state."""
        return self._steps[: self._at]

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether a step was undone, and none was made since."""
        return self._at < len(self._steps)

    def add(self, state: State, text: str, when: str) -> None:
        """Add a step."""
        del self._states[self._at + 1 :], self._steps[self._at :]
        self._states.append(state)
        self._at += 1
        self._steps.append(Step(self._at, text, when))

    def move(self, by: int) -> None:
        """Go back (-1) or forth (1) by a step."""
        self._at += by

    def settle(self, state: State) -> None:
        """Replace the present state by one with what was computed of it."""
        self._states[self._at] = state

    def save(self, name: str, when: str) -> None:
        """Keep the present state under a name."""
        self.snapshots[name] = SavedState(name, when, replace(self.state))


def describe_step(action: Action, row_name: Callable[[int], str], group_name: Callable[[int], str]) -> str:
    """Tell what an action does, in a few words."""
    match action:
        case Link(a, b, together):
            return f"Linked {row_name(a)} and {row_name(b)} as {'same' if together else 'different'}"
        case Unlink(a, b):
            return f"Removed the link of {row_name(a)} and {row_name(b)}"
        case Answer(a, b, None):
            return f"Skipped the question about {row_name(a)} and {row_name(b)}"
        case Answer(a, b, together):
            return f"Answered {'same' if together else 'different'} for {row_name(a)} and {row_name(b)}"
        case Move(rows, _, _, onto):
            moved = row_name(rows[0]) if len(rows) == 1 else count(len(rows), "row")
            return f"Moved {moved}" + ("" if onto is None else f" to {row_name(onto[0])}")
        case Unpin(rows):
            return f"Unpinned {row_name(rows[0]) if len(rows) == 1 else count(len(rows), 'row')}"
        case Rename(group, name):
            return f"Renamed {group_name(group)} to {name}"
        case Lock(group, locked):
            return f"{'Locked' if locked else 'Unlocked'} {group_name(group)}"
        case Choose():
            return _describe_options(action)
        case Restore(name):
            return f"Restored the snapshot {name}"
        case Replace((a, b), then):
            did = describe_step(then, row_name, group_name)
            if isinstance(then, Link | Answer) and {then.a, then.b} == {a, b}:
                return f"{did}, in place of the link before"
            return f"{did}, without the link of {row_name(a)} and {row_name(b)}"
    return type(action).__name__


def _describe_options(options: Choose) -> str:
    """Tell which options were changed."""
    words = []
    if options.n_clusters is not KEEP:
        chosen = options.n_clusters
        words.append("as many groups as you build" if chosen is None else count(int(chosen), "group"))
    if options.method is not KEEP:
        words.append(f"method {options.method}")
    if options.strategy is not KEEP:
        words.append(f"questions by {options.strategy}")
    if options.eps is not KEEP:
        words.append(f"pins together within {options.eps:g}")
    return f"Chose {', '.join(words)}"
