"""Constraints as rows of a file or frame, in and out: the errors that name places, and the ids of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mustlink._spelling import FRAME_PLACE
from mustlink.errors import ConstraintError

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints
    from mustlink.tables import LinkList


def name_places(error: ConstraintError, links: LinkList, ids: Sequence[Any] | None) -> ConstraintError:
    """Return an error about pairs with their places in the file or frame that they come from."""
    same_rows = [link for link in links if {link.a, link.b} == set(error.pairs[0])]
    first = same_rows[0]
    other = next((link for link in same_rows if link.is_must != first.is_must), None)
    if other is None:
        return error.with_problem(f"{first.place}: {error.problem}")
    places = _join_places(first.place, other.place)
    a, b = (first.a, first.b) if ids is None else (ids[first.a], ids[first.b])
    pair = f"{'rows ' if ids is None else ''}{a} and {b}"
    n_more = len(error.pairs) - 1
    more = f", as are {n_more} other pairs" if n_more > 1 else ", as is 1 other pair" if n_more else ""
    return error.with_problem(f"{places}: {pair} are given both as must-link and as cannot-link{more}")


def _join_places(first: str, other: str) -> str:
    """Name the places of two links, and their file only once."""
    of_frame = [FRAME_PLACE.fullmatch(place) for place in (first, other)]
    if of_frame[0] and of_frame[1]:
        return f"Link {of_frame[0][1]} and link {of_frame[1][1]}"
    source, _, _ = first.rpartition(", ")
    return f"{first} and {other.removeprefix(f'{source}, ') if source else other}"


def link_columns(constraints: Constraints, ids: Sequence[Any] | None) -> dict[str, list[Any]]:
    """Return the columns a, b, link and weight, with the ids of the rows, if given, in place of their numbers."""
    from mustlink.tables import spell_ids

    a, b = constraints.pairs.T.tolist()
    if ids is not None:
        names = list(ids)
        spell_ids(names)
        constraints.check_rows(len(names))
        a, b = [names[row] for row in a], [names[row] for row in b]
    kinds = np.where(constraints.sign > 0, "must", "cannot").tolist()
    return {"a": a, "b": b, "link": kinds, "weight": constraints.weight.tolist()}
