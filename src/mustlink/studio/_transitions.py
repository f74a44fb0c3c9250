"""From one state to the next: what each action changes, and what is refused before anything has changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from mustlink._types import Array, Ints
from mustlink.errors import OptionError
from mustlink.studio._actions import (
    KEEP,
    MAX_NAME_LENGTH,
    Action,
    Answer,
    Choose,
    Link,
    Lock,
    Move,
    Rename,
    Replace,
    Unlink,
    Unpin,
)
from mustlink.studio._adapter import check_method
from mustlink.studio._conflicts import ActionRefused
from mustlink.studio._pins import Positions, place_around
from mustlink.studio._state import Given, Pair, State, StudioLink, as_pair
from mustlink.workflow import STRATEGIES

__all__ = ["Scene", "check_name", "release_candidates", "remove_link", "transition"]

# Bounds of positions and of eps, in units of the map's half width; a page may draw rows a little outside.
MAX_POSITION = 10.0
MAX_EPS = 2.0


@dataclass(frozen=True)
class Scene:
    """What an action is checked against, besides the state."""

    X: Array
    given: Given
    labels: Ints
    # The map reaches from -extent to extent.
    extent: float
    row_name: Callable[[int], str]
    group_name: Callable[[int], str]


def transition(state: State, action: Action, when: str, scene: Scene) -> State:
    """Return the state after an action; whether its links contradict others is checked by the caller."""
    match action:
        case Link(a, b, together):
            return _link(state, StudioLink(*_check_pair(a, b, scene, action), bool(together), "drawn", when), scene)
        case Answer(a, b, None):
            return replace(state, skipped=state.skipped | {_check_pair(a, b, scene, action)})
        case Answer(a, b, together):
            return _link(state, StudioLink(*_check_pair(a, b, scene, action), bool(together), "answer", when), scene)
        case Unlink(a, b):
            return remove_link(state, _check_pair(a, b, scene, action), scene, action)
        case Move():
            return _move(state, action, scene)
        case Unpin(rows):
            return _unpin(state, _check_rows(rows, scene, action), scene, action)
        case Rename(group, name):
            _check_group(group, scene, action)
            return replace(state, names={**state.names, group: check_name(name, action)})
        case Lock(group, locked):
            return _lock(state, group, locked, scene, action)
        case Choose():
            return _choose(state, action, scene)
    raise ActionRefused(f"{action!r} is not an action of the studio.")


def _check_pair(a: Any, b: Any, scene: Scene, action: Action) -> Pair:
    """Return two different rows, the smaller one first."""
    first, second = _check_rows((a, b), scene, action)
    return as_pair(first, second)


def _check_rows(rows: Iterable[Any], scene: Scene, action: Action) -> tuple[int, ...]:
    """Return row numbers as ints; refuse what is no row, and a row given twice."""
    rows = tuple(rows)
    for row in rows:
        if isinstance(row, bool) or not isinstance(row, Integral) or not 0 <= int(row) < scene.given.n_rows:
            raise ActionRefused(f"{row!r} is not a row; the rows are 0 to {scene.given.n_rows - 1}.", action)
    found = tuple(int(row) for row in rows)
    if not found:
        raise ActionRefused("The action names no row; give at least one.", action)
    if len(set(found)) < len(found):
        if isinstance(action, Move | Unpin):
            raise ActionRefused("A row is given twice; name each row once.", action)
        name = scene.row_name(found[0])
        raise ActionRefused(f"{name} cannot be linked with itself; choose two different rows.", action)
    return found


def _check_group(group: Any, scene: Scene, action: Action) -> None:
    """Refuse a group that does not exist."""
    if isinstance(group, bool) or not isinstance(group, Integral) or not (scene.labels == group).any() or group < 0:
        raise ActionRefused(f"There is no group {group!r} now; it may have been joined with another.", action)


def check_name(name: Any, action: Action) -> str:
    """Return a name without spaces around it; refuse one that is empty or too long."""
    if not isinstance(name, str) or not name.strip():
        raise ActionRefused("The name is empty; give a text.", action)
    if len(name) > MAX_NAME_LENGTH:
        raise ActionRefused(f"The name has {len(name):,} characters; give at most {MAX_NAME_LENGTH}.", action)
    return name.strip()


def _link(state: State, link: StudioLink, scene: Scene) -> State:
    """Add a link; refuse one that is known already. An answer replaces that the question was skipped."""
    a, b = link.a, link.b
    known = state.told.get((a, b))
    if known is None and (a, b) not in state.removed and (a, b) in scene.given.file_links:
        known = StudioLink(a, b, scene.given.file_links[a, b], "file")
    if known is None:
        return replace(state, told={**state.told, (a, b): link}, skipped=state.skipped - {(a, b)})
    kind = Answer if link.source == "answer" else Link
    action = kind(a, b, link.together)
    linked = f"{scene.row_name(a)} and {scene.row_name(b)} are linked as {'same' if known.together else 'different'}"
    if known.together == link.together:
        raise ActionRefused(f"{linked} already.", action)
    raise ActionRefused(f"{linked}; remove this link first.", action, [known, link], 0)


def remove_link(state: State, pair: Pair, scene: Scene, action: Action) -> State:
    """Remove a link of a person or of the file."""
    a, b = pair
    if pair in state.told:
        return replace(state, told={other: link for other, link in state.told.items() if other != pair})
    if pair in scene.given.file_links and pair not in state.removed:
        return replace(state, removed=state.removed | {pair})
    names = f"{scene.row_name(a)} and {scene.row_name(b)}"
    if a in state.pins and b in state.pins:
        raise ActionRefused(f"The link of {names} follows from where they are pinned; unpin or move one.", action)
    raise ActionRefused(f"{names} have no link that can be removed.", action)


def release_candidates(state: State, action: Replace, scene: Scene) -> list[State]:
    """Return the states without a link, in the order in which to try them; pinned rows are released one or both.

    A pair may be linked both by a person and by where its rows are pinned; then both are released last.
    """
    a, b = _check_pair(*action.remove, scene, action)
    are_pinned = a in state.pins and b in state.pins
    released = [(a,), (b,), (a, b)] if are_pinned else []
    try:
        removed = remove_link(state, (a, b), scene, action)
    except ActionRefused:
        if not are_pinned:
            raise
        return [_unpin(state, rows, scene, action) for rows in released]
    return [removed, *(_unpin(removed, rows, scene, action) for rows in released)]


def _move(state: State, action: Move, scene: Scene) -> State:
    """Pin rows around a position, and the row there."""
    x, y = _check_position(action.x, action.y, scene, action)
    rows = _check_rows(action.rows, scene, action)
    pins = {row: place for row, place in state.pins.items() if row not in set(rows)}
    joined = _without_joined(state, rows)
    if action.onto is not None:
        row, *place = action.onto
        (target,) = _check_rows((row,), scene, action)
        if target in rows:
            raise ActionRefused(f"{scene.row_name(target)} cannot be moved onto itself.", action)
        pins[target] = _check_position(place[0], place[1], scene, action)
        if math.dist(pins[target], (x, y)) >= state.eps:
            raise ActionRefused(
                f"{scene.row_name(target)} is farther than {state.eps:g} from where the rows were dropped, and they "
                "would not join it.",
                action,
            )
        joined |= _join_group(target, rows, pins, scene)
    pins |= place_around(rows, x, y, state.eps)
    moved = replace(state, pins=pins, joined=joined)
    if moved.pin_components == state.pin_components:
        # Nothing but the drawing changes: the row that the others were moved to stays the same.
        return replace(state, pins={row: pins[row] for row in state.pins}, joined=joined)
    # A new place beyond the number of groups is a new group.
    n_places = len(moved.pin_components)
    is_new = state.n_clusters is not None and n_places > max(state.n_clusters, len(state.pin_components))
    return replace(moved, n_clusters=n_places) if is_new else moved


def _check_position(x: Any, y: Any, scene: Scene, action: Action) -> tuple[float, float]:
    """Return a position as floats; refuse one that is not finite or far outside the map."""
    for value in (x, y):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
            raise ActionRefused(f"The position ({x!r}, {y!r}) must be two finite numbers.", action)
        if abs(float(value)) > MAX_POSITION * scene.extent:
            where = f"({float(x):g}, {float(y):g})"
            raise ActionRefused(
                f"The position {where} is outside the map, which reaches from {-scene.extent:g} to {scene.extent:g}.",
                action,
            )
    return float(x), float(y)


def _unpin(state: State, rows: tuple[int, ...], scene: Scene, action: Action) -> State:
    """Release pinned rows."""
    for row in rows:
        if row not in state.pins:
            raise ActionRefused(f"{scene.row_name(row)} is not pinned.", action)
    pins = {row: place for row, place in state.pins.items() if row not in set(rows)}
    return replace(state, pins=pins, joined=_without_joined(state, rows))


def _without_joined(state: State, rows: tuple[int, ...]) -> dict[int, int]:
    """Return which rows are joined with a row pinned elsewhere, without those that are moved or released.

    Where the row goes that others are joined with, the first of them takes its place.
    """
    gone = set(rows)
    heirs: dict[int, int] = {}
    kept = {}
    for row, other in state.joined.items():
        if row in gone:
            continue
        head = heirs.setdefault(other, row) if other in gone else other
        if head != row:
            kept[row] = head
    return kept


def _join_group(target: int, rows: tuple[int, ...], pins: Positions, scene: Scene) -> dict[int, int]:
    """Join rows and the one they are dropped onto with the row of its group that was pinned first.

    Otherwise a second drop onto a group would be a second place, and so another group.
    """
    group = int(scene.labels[target])
    if group < 0:
        return {}
    first = next((row for row in pins if row != target and int(scene.labels[row]) == group), None)
    return {} if first is None else dict.fromkeys((target, *rows), first)


def _lock(state: State, group: int, locked: bool, scene: Scene, action: Action) -> State:
    """Keep the rows that a group has now, or release them."""
    _check_group(group, scene, action)
    if locked == (group in state.locks):
        how = "locked already" if locked else "not locked"
        raise ActionRefused(f"{scene.group_name(group)} is {how}.", action)
    locks = {other: rows for other, rows in state.locks.items() if other != group}
    if locked:
        rows = np.flatnonzero(scene.labels == group)
        rows.flags.writeable = False
        locks[group] = rows
    return replace(state, locks=locks)


def _choose(state: State, action: Choose, scene: Scene) -> State:
    """Change the options that are given."""
    given = {name: value for name, value in vars(action).items() if value is not KEEP}
    if not given:
        raise ActionRefused("No option is given; name n_clusters, method, strategy or eps.", action)
    n_clusters = given.get("n_clusters")
    if n_clusters is not None:
        is_whole = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
        if not is_whole or not 1 <= n_clusters <= scene.given.n_rows:
            raise ActionRefused(
                f"The number of groups is {n_clusters!r}; give a whole number from 1 to {scene.given.n_rows:,}, the "
                "number of rows.",
                action,
            )
        given["n_clusters"] = int(n_clusters)
    if "method" in given or "n_clusters" in given:
        try:
            check_method(given.get("method", state.method), given.get("n_clusters", state.n_clusters), scene.X)
        except OptionError as error:
            raise ActionRefused(error.problem, action, remedy=error.remedy, **error.fields) from None
    if "strategy" in given and given["strategy"] not in STRATEGIES:
        names = ", ".join(STRATEGIES)
        raise ActionRefused(f"There is no strategy {given['strategy']!r}; the strategies are {names}.", action)
    eps, largest = given.get("eps", scene.extent), MAX_EPS * scene.extent
    if isinstance(eps, bool) or not isinstance(eps, int | float | np.number) or not 0 < eps <= largest:
        raise ActionRefused(f"The distance eps is {eps!r}; give a number above 0 and at most {largest:g}.", action)
    return replace(state, **given)
