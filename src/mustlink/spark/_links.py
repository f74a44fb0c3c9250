"""Links between ids: which rows they name, and the ids of rows in results and messages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mustlink._types import Indices
from mustlink.constraints import Constraints
from mustlink.errors import MustlinkError
from mustlink.spark._rows import SparkRows

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Contradictions
    from mustlink.tables import UnknownIds

__all__ = ["LinkedIds", "find_linked_rows", "open_links"]


@dataclass(frozen=True)
class LinkedIds:
    """Links between rows, and the ids of the rows that they name, in the order of their numbers."""

    links: Constraints
    rows: Indices
    ids: list[Any]

    def to_frame(self, links: Constraints) -> Any:
        """Return some of the links as a pandas DataFrame that names ids."""
        rows, local = links.compact()
        return local.to_frame([self.ids[place] for place in np.searchsorted(self.rows, rows)])

    def with_ids(self, error: MustlinkError) -> MustlinkError:
        """Return an error that names ids where it named the numbers of rows."""
        # Here, since every executor imports this module, and the workflow takes long to import.
        from mustlink.workflow import name_rows

        names = _Names(self.rows, self.ids)
        return error.with_problem(name_rows(error.problem, cast(list[str], names)))


class _Names(Sequence[str]):
    """The ids of linked rows by the numbers of the rows, and of other rows these numbers."""

    def __init__(self, rows: Indices, ids: list[Any]) -> None:
        self._id_of = dict(zip(rows.tolist(), ids, strict=True))

    def __len__(self) -> int:
        return max(self._id_of, default=-1) + 1

    def __getitem__(self, row: Any) -> Any:
        return str(self._id_of.get(row, row))


def open_links(source: Any) -> tuple[Any, list[str]]:
    """Return links as `find_linked_rows` takes them, and the ids that they name; no row is looked at."""
    from mustlink.tables import read_links

    if isinstance(source, Constraints):
        raise TypeError(
            "links must name ids, and Constraints name rows by number, which rows of Spark do not have; pass a file or "
            "a DataFrame with the columns a, b, link and optionally weight."
        )
    if source is None:
        return None, []
    source = _as_columns(source)
    # Without a row, every id is unknown.
    return source, list(read_links(source, [], unknown_ids="skip").unknown)


def find_linked_rows(
    source: Any, names: list[str], rows: SparkRows, unknown_ids: UnknownIds, contradictions: Contradictions
) -> LinkedIds:
    """Find the rows that links name, in one pass over the ids."""
    if source is None:
        return LinkedIds(Constraints(), np.empty(0, dtype=np.intp), [])
    index, ids = _find(rows, names)
    read = Constraints.read if isinstance(source, str | os.PathLike) else Constraints.from_frame
    local = read(source, ids=ids, unknown_ids=unknown_ids, contradictions=contradictions)
    links = Constraints(
        must_link=index[local.must_link],
        cannot_link=index[local.cannot_link],
        must_link_weight=local.must_link_weight,
        cannot_link_weight=local.cannot_link_weight,
        # What was to be refused or outvoted was so above.
        contradictions="keep",
    )
    return LinkedIds(links, index, ids)


def _as_columns(source: Any) -> Any:
    """Return links in a DataFrame of Spark as a mapping of columns, and others as they are."""
    if not hasattr(source, "sparkSession"):
        return source
    collected = source.collect()
    return {name: [row[place] for row in collected] for place, name in enumerate(source.columns)}


def _find(rows: SparkRows, names: list[str]) -> tuple[Indices, list[Any]]:
    """Return the rows whose ids may be among some names, and their ids."""
    found = rows.find_ids(names)
    index = np.concatenate([start + places for start, (places, _) in zip(rows.bounds[:-1], found, strict=True)])
    return index.astype(np.intp), [id for _, ids in found for id in ids]
