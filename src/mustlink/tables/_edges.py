"""Edges between rows from files and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from mustlink._spelling import count, spell_whole
from mustlink._types import Ints
from mustlink.errors import ConstraintError, FileFormatError
from mustlink.tables._links import (
    UnknownIds,
    _is_empty,
    _is_whole,
    _open,
    _row,
    _row_of_id,
    _Source,
    _spell_id,
    _unknown_problem,
)

__all__ = ["EdgeList", "read_edges"]

# How the sources end whose first line may be an edge: not data frames, which have names of their own.
HEADER = ": the header"
EXPECTED = "two columns that name the rows of each edge"
# Names of the two columns, where a file has more.
END_NAMES = (("a", "b"), ("source", "target"), ("from", "to"))


@dataclass(frozen=True)
class EdgeList:
    """The edges of a file or frame.

    Parameters
    ----------
    pairs : ndarray of shape (n_edges, 2)
        The rows of each edge, in the order of the file; edges that it has twice or both ways are kept.
    n_skipped : int, default=0
        The number of edges that were left out because they name an id which the table does not have.

    Examples
    --------
    >>> from mustlink.tables import read_edges
    >>> read_edges({"a": [0, 1], "b": [1, 2]}).pairs.tolist()
    [[0, 1], [1, 2]]
    """

    pairs: Ints
    n_skipped: int = 0


def read_edges(
    source: Any,
    ids: Sequence[Any] | None = None,
    *,
    n_rows: int | None = None,
    unknown_ids: UnknownIds = "raise",
) -> EdgeList:
    """Read edges between rows from a file or a data frame with two columns.

    Parameters
    ----------
    source : path-like, pandas or polars DataFrame, or mapping of columns
        A file is text with any separator, plain or gzip, ``.xlsx`` or ``.parquet``. Its two columns name rows; of more
        columns, those called a and b, source and target, or from and to are read. A text file or sheet may have a
        header line.
    ids : sequence, default=None
        The id of every row of the table, if the edges name ids; None means row numbers from 0.
    n_rows : int, default=None
        The number of rows of the table, if it is known.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with an edge that names an id which is not in `ids`: refuse it, or skip it.

    Returns
    -------
    EdgeList
        The edges.

    Raises
    ------
    FileFormatError, ConstraintError
        With the file and the line: no edges, a row that is not in the table, or an edge of a row with itself.

    Examples
    --------
    >>> from mustlink.tables import read_edges
    >>> read_edges({"from": ["u1"], "to": ["u3"]}, ids=["u1", "u2", "u3"]).pairs.tolist()
    [[0, 2]]
    """
    row_of = None if ids is None else _row_of_id(ids)
    opened = _open(source, EXPECTED)
    pairs: list[tuple[int, int]] = []
    unknown: dict[str, str] = {}
    n_skipped, missing = 0, ""
    for place, one, other in _ends(opened, row_of):
        first, second = _row(one, row_of, place), _row(other, row_of, place)
        if first is None or second is None:
            n_skipped += 1
            for cell in [cell for cell, row in ((one, first), (other, second)) if row is None]:
                unknown.setdefault(_spell_id(cell), place)
            continue
        if first == second:
            raise ConstraintError(f"{place}: connects {one} with itself; an edge needs two different rows.")
        pairs.append((first, second))
        if n_rows is not None and max(first, second) >= n_rows and not missing:
            missing = f"{place}: an edge names the rows {first} and {second}, but the table has"
    if unknown and unknown_ids == "raise":
        raise ConstraintError(_unknown_problem(unknown, "edges"), remedy="skip_unknown_edges")
    if not pairs:
        raise FileFormatError(f"{opened.what.partition(', ')[0]} has no edges; {EXPECTED} are expected.")
    if n_rows is not None and missing:
        raise ConstraintError(
            f"{missing} {count(n_rows, 'row')}, numbered 0 to {n_rows - 1}.",
            rows={row for pair in pairs for row in pair},
        )
    return EdgeList(np.array(pairs, dtype=np.int64), n_skipped)


def _ends(source: _Source, row_of: dict[str, int] | None) -> Iterator[tuple[str, Any, Any]]:
    """Yield the place of every edge and the cells of its two rows."""
    names = [str(name).strip().lower() for name in source.header]
    at = next(([names.index(name) for name in pair] for pair in END_NAMES if set(pair) <= set(names)), None)
    records = source.records
    if at is None:
        if len(names) != 2:
            raise FileFormatError(
                f"{source.what} has {count(len(names), 'column')}: {', '.join(map(str, source.header))}; edges need "
                "two that name rows, and if there are more, these two must be called a and b."
            )
        at = [0, 1]
        if source.what.endswith(HEADER) and _is_edge(source.header, row_of):
            records = chain([(source.what.removesuffix(HEADER), source.header)], records)
    for place, raw in records:
        cells = [raw[position].strip() if isinstance(raw[position], str) else raw[position] for position in at]
        if any(map(_is_empty, cells)):
            raise FileFormatError(f"{place}: a cell is empty; every edge needs two rows.")
        yield place, cells[0], cells[1]


def _is_edge(cells: Sequence[Any], row_of: dict[str, int] | None) -> bool:
    """Whether the first line is an edge and not a header: two row numbers, or the id of at least one row."""
    if row_of is None:
        return all(map(_is_whole, cells))
    return any(name in row_of or spell_whole(name) in row_of for name in map(_spell_id, cells))
