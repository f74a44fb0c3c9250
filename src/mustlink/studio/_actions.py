"""What a person can do in the studio: one immutable value per action, and its form as a message."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, TypeAlias

from mustlink.errors import OptionError

__all__ = [
    "KEEP",
    "Action",
    "Answer",
    "Choose",
    "Keep",
    "Link",
    "Lock",
    "Move",
    "Redo",
    "Rename",
    "Replace",
    "Restore",
    "Snapshot",
    "Undo",
    "Unlink",
    "Unpin",
    "as_action",
    "as_message",
]

# The longest name of a group or a snapshot.
MAX_NAME_LENGTH = 200


class Keep(Enum):
    """The value of an option that an action leaves as it is.

    Examples
    --------
    >>> from mustlink.studio import KEEP, Choose
    >>> Choose(eps=0.1).method is KEEP
    True
    """

    KEEP = "keep"

    def __repr__(self) -> str:
        return "KEEP"


KEEP = Keep.KEEP


@dataclass(frozen=True)
class Link:
    """Say that two rows belong together, or that they do not.

    Parameters
    ----------
    a, b : int
        The rows.
    together : bool
        Whether they belong together.

    Examples
    --------
    >>> from mustlink.studio import Link
    >>> Link(3, 7, together=False)
    Link(a=3, b=7, together=False)
    """

    a: int
    b: int
    together: bool


@dataclass(frozen=True)
class Unlink:
    """Remove the link of two rows that was drawn, answered or read from a file.

    Parameters
    ----------
    a, b : int
        The rows, in any order.

    Examples
    --------
    >>> from mustlink.studio import Unlink
    >>> Unlink(3, 7).b
    7
    """

    a: int
    b: int


@dataclass(frozen=True)
class Answer:
    """Answer a question about two rows.

    Parameters
    ----------
    a, b : int
        The rows.
    together : bool or None
        Whether they belong together; None if the person is unsure, and the question is not asked again.

    Examples
    --------
    >>> from mustlink.studio import Answer
    >>> Answer(3, 7, None).together is None
    True
    """

    a: int
    b: int
    together: bool | None


@dataclass(frozen=True)
class Move:
    """Drag rows to a place on the map, where they stay pinned.

    Pinned rows nearer than `eps` to each other, directly or through other pinned rows, belong together; those farther
    apart do not.

    Parameters
    ----------
    rows : tuple of int
        The rows. Several rows are placed closely around the position.
    x, y : float
        The position, in the units of the map, which reaches from -1 to 1.
    onto : tuple of (int, float, float) or None, default=None
        A row that is drawn near the position, and where: it is pinned there too, so that the rows join its group.

    Examples
    --------
    >>> from mustlink.studio import Move
    >>> Move((3, 4), 0.5, -0.25).rows
    (3, 4)
    """

    rows: tuple[int, ...]
    x: float
    y: float
    onto: tuple[int, float, float] | None = None


@dataclass(frozen=True)
class Unpin:
    """Release pinned rows; the links that follow from their positions are removed.

    Parameters
    ----------
    rows : tuple of int
        The rows.

    Examples
    --------
    >>> from mustlink.studio import Unpin
    >>> Unpin((3,)).rows
    (3,)
    """

    rows: tuple[int, ...]


@dataclass(frozen=True)
class Rename:
    """Give a group a name.

    Parameters
    ----------
    group : int
        The id of the group.
    name : str
        Its new name.

    Examples
    --------
    >>> from mustlink.studio import Rename
    >>> Rename(0, "regular customers").name
    'regular customers'
    """

    group: int
    name: str


@dataclass(frozen=True)
class Lock:
    """Keep the rows of a group in it, or release them.

    Parameters
    ----------
    group : int
        The id of the group.
    locked : bool, default=True
        Whether its rows are kept together, and apart from those of other locked groups.

    Examples
    --------
    >>> from mustlink.studio import Lock
    >>> Lock(2).locked
    True
    """

    group: int
    locked: bool = True


@dataclass(frozen=True)
class Choose:
    """Change options; those that are not given stay as they are.

    Parameters
    ----------
    n_clusters : int or None, optional
        The number of groups; None for as many as the person builds.
    method : str, optional
        "auto", "instant", or the name of a clusterer in the catalogue.
    strategy : str, optional
        How questions are chosen, a key of :data:`mustlink.workflow.STRATEGIES`.
    eps : float, optional
        The distance on the map below which pinned rows belong together.

    Examples
    --------
    >>> from mustlink.studio import Choose
    >>> Choose(n_clusters=4)
    Choose(n_clusters=4, method=KEEP, strategy=KEEP, eps=KEEP)
    """

    n_clusters: int | Keep | None = KEEP
    method: str | Keep = KEEP
    strategy: str | Keep = KEEP
    eps: float | Keep = KEEP


@dataclass(frozen=True)
class Undo:
    """Undo the last step.

    Examples
    --------
    >>> from mustlink.studio import Undo
    >>> Undo()
    Undo()
    """


@dataclass(frozen=True)
class Redo:
    """Repeat the step that was undone last.

    Examples
    --------
    >>> from mustlink.studio import Redo
    >>> Redo()
    Redo()
    """


@dataclass(frozen=True)
class Snapshot:
    """Keep the present state under a name.

    Parameters
    ----------
    name : str
        The name, one that no other snapshot has.

    Examples
    --------
    >>> from mustlink.studio import Snapshot
    >>> Snapshot("before lunch").name
    'before lunch'
    """

    name: str


@dataclass(frozen=True)
class Restore:
    """Return to a snapshot; this is a step that can be undone.

    Parameters
    ----------
    name : str
        The name of the snapshot.

    Examples
    --------
    >>> from mustlink.studio import Restore
    >>> Restore("before lunch").name
    'before lunch'
    """

    name: str


@dataclass(frozen=True)
class Replace:
    """Remove a link that stands in the way of an action, and then do the action, as one step.

    Parameters
    ----------
    remove : tuple of (int, int)
        The rows of the link. A link that follows from pinned rows is removed by releasing a row.
    then : Link, Answer, Move, Lock or Choose
        The action.

    Examples
    --------
    >>> from mustlink.studio import Link, Replace
    >>> Replace((3, 7), Link(3, 9, together=True)).then.b
    9
    """

    remove: tuple[int, int]
    then: Action


Action: TypeAlias = (
    Link | Unlink | Answer | Move | Unpin | Rename | Lock | Choose | Undo | Redo | Snapshot | Restore | Replace
)

KINDS: Mapping[str, type[Any]] = {
    kind.__name__.lower(): kind
    for kind in (Link, Unlink, Answer, Move, Unpin, Rename, Lock, Choose, Undo, Redo, Snapshot, Restore, Replace)
}


def as_message(action: Action) -> dict[str, Any]:
    """Return an action as a message of plain values, ready for JSON.

    Parameters
    ----------
    action : Action
        The action.

    Returns
    -------
    dict
        The kind of the action as "do", and its fields.

    Examples
    --------
    >>> from mustlink.studio import Move, as_message
    >>> as_message(Move((3, 4), 0.5, 0.0))
    {'do': 'move', 'rows': [3, 4], 'x': 0.5, 'y': 0.0, 'onto': None}
    """
    message: dict[str, Any] = {"do": type(action).__name__.lower()}
    for one in fields(action):
        value = getattr(action, one.name)
        if value is not KEEP:
            message[one.name] = as_message(value) if one.name == "then" else _plain(value)
    return message


def _plain(value: Any) -> Any:
    """Return tuples as lists, and numbers of numpy as those of Python."""
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value.item() if hasattr(value, "item") else value


def as_action(message: Any) -> Action:
    """Return the action of a message, which may come from anywhere.

    Parameters
    ----------
    message : dict
        As :func:`as_message` returns it.

    Returns
    -------
    Action
        The action. Whether the rows and groups exist is checked when it is applied.

    Raises
    ------
    OptionError
        If the message is not an action.

    Examples
    --------
    >>> from mustlink.studio import as_action
    >>> as_action({"do": "link", "a": 3, "b": 7, "together": True})
    Link(a=3, b=7, together=True)
    >>> as_action({"do": "link", "a": 3, "b": "7", "together": True})
    Traceback (most recent call last):
        ...
    mustlink.errors.OptionError: The field 'b' of 'link' must be a row number; got '7'.
    """
    kind = _kind_of(message)
    name = message["do"]
    given = {key: value for key, value in message.items() if key != "do"}
    known = {one.name for one in fields(kind)}
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise OptionError(f"The action {name!r} has no field {unknown[0]!r}.")
    missing = [one.name for one in fields(kind) if _is_required(kind, one.name) and one.name not in given]
    if missing:
        raise OptionError(f"The action {name!r} needs the field {missing[0]!r}.")
    if kind is Choose and not given:
        raise OptionError("The action 'choose' needs an option: n_clusters, method, strategy or eps.")
    values = {key: _parse(kind, key, value) for key, value in given.items()}
    action: Action = kind(**values)
    return action


def _kind_of(message: Any) -> type[Any]:
    """Return the class of a message's action."""
    if not isinstance(message, dict):
        raise OptionError(f"An action must be an object with the field 'do'; got {_short(message)}.")
    if not isinstance(message.get("do"), str) or message["do"] not in KINDS:
        raise OptionError(f"There is no action {_short(message.get('do'))}; the actions are {', '.join(KINDS)}.")
    return KINDS[message["do"]]


def _is_required(kind: type[Any], name: str) -> bool:
    """Return whether a field of an action must be given in a message."""
    return kind is not Choose and (kind, name) not in {(Move, "onto")}


def _parse(kind: type[Any], name: str, value: Any) -> Any:
    """Return the value of a field, or raise if it is not what the field holds."""
    if kind is Replace and name == "then":
        # Checked before it is read, since one could be inside the other many times.
        if issubclass(_kind_of(value), Replace | Undo | Redo | Snapshot | Restore):
            raise OptionError(f"The action {value['do']!r} cannot follow a removed link.")
        return as_action(value)
    what, read = PARSERS[(kind, name)] if (kind, name) in PARSERS else PARSERS[(None, name)]
    try:
        return read(value)
    except (TypeError, ValueError, OverflowError):
        action = kind.__name__.lower()
        raise OptionError(f"The field {name!r} of {action!r} must be {what}; got {_short(value)}.") from None


def _short(value: Any) -> str:
    """Return a value in few characters, for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _row(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise TypeError
    return value


def _rows(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise TypeError
    return tuple(_row(one) for one in value)


def _pair(value: Any) -> tuple[int, int]:
    if not isinstance(value, list | tuple):
        raise TypeError
    a, b = value
    return _row(a), _row(b)


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME_LENGTH:
        raise TypeError
    return value.strip()


def _target(value: Any) -> tuple[int, float, float] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise TypeError
    row, x, y = value
    return _row(row), _number(x), _number(y)


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a parser that also takes None."""
    return lambda value: None if value is None else read(value)


# What a field holds, in words, and the function that reads it; of one action, or (None) of all with this field.
PARSERS: Mapping[tuple[type[Any] | None, str], tuple[str, Callable[[Any], Any]]] = {
    (None, "a"): ("a row number", _row),
    (None, "b"): ("a row number", _row),
    (None, "together"): ("true or false", _truth),
    (Answer, "together"): ("true, false or null", _optional(_truth)),
    (None, "rows"): ("a list of row numbers", _rows),
    (None, "x"): ("a finite number", _number),
    (None, "y"): ("a finite number", _number),
    (None, "onto"): ("null, or a row number and two finite numbers", _target),
    (None, "group"): ("the number of a group", _row),
    (None, "name"): (f"a text of 1 to {MAX_NAME_LENGTH} characters", _name),
    (None, "locked"): ("true or false", _truth),
    (None, "n_clusters"): ("a whole number, or null", _optional(_row)),
    (None, "method"): (f"a text of 1 to {MAX_NAME_LENGTH} characters", _name),
    (None, "strategy"): (f"a text of 1 to {MAX_NAME_LENGTH} characters", _name),
    (None, "eps"): ("a finite number", _number),
    (None, "remove"): ("two row numbers", _pair),
}
