"""Edges between rows from files and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

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
    _weight,
)
from mustlink.tables._numbers import as_number

__all__ = ["EdgeList", "read_edges"]

# How the sources end whose first line may be an edge.
HEADER = ": the header"
EXPECTED = "two columns that name the rows of each edge"
# Names of the two columns, where a file has more.
END_NAMES = (("a", "b"), ("source", "target"), ("from", "to"))
WEIGHT = "weight"


@dataclass(frozen=True)
class EdgeList:
    """The edges of a file or frame.

    Parameters
    ----------
    pairs : ndarray of shape (n_edges, 2)
        The rows of each edge, in the order of the file; edges that it has twice or both ways are kept.
    n_skipped : int, default=0
        The number of edges that were left out because they name an id which the table does not have.
    has_weights : bool, default=False
        Whether there was a column of weights, which are checked and not kept.

    Examples
    --------
    >>> from mustlink.tables import read_edges
    >>> read_edges({"a": [0, 1], "b": [1, 2]}).pairs.tolist()
    [[0, 1], [1, 2]]
    """

    pairs: Ints
    n_skipped: int = 0
    has_weights: bool = False


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
        header line; a first line of two ids is an edge. A column called weight must hold positive numbers, which are
        not used.
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
        With the file and the line: no edges, a row that is not in the table, an edge of a row with itself, or a weight
        that is not a positive number.

    Examples
    --------
    >>> from mustlink.tables import read_edges
    >>> read_edges({"from": ["u1"], "to": ["u3"]}, ids=["u1", "u2", "u3"]).pairs.tolist()
    [[0, 2]]
    """
    row_of = None if ids is None else _row_of_id(ids)
    opened = _open(source, EXPECTED)
    columns = _find_columns(opened, row_of)
    pairs: list[tuple[int, int]] = []
    unknown: dict[str, str] = {}
    n_skipped, missing = 0, ""
    for place, one, other in _cells(opened, columns):
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
    return EdgeList(np.array(pairs, dtype=np.int64), n_skipped, columns.weight is not None)


class _Columns(NamedTuple):
    """The positions of the two columns that name rows and of the weights, and whether the first line is an edge."""

    ends: list[int]
    weight: int | None
    has_header: bool


def _find_columns(source: _Source, row_of: Mapping[str, int] | None) -> _Columns:
    """Find the columns by their names; without a header there must be two."""
    names = [str(name).strip().lower() for name in source.header]
    named = next(([names.index(name) for name in pair] for pair in END_NAMES if set(pair) <= set(names)), None)
    # A data frame has names of its own.
    is_edge = source.what.endswith(HEADER) and _is_edge(source.header, named, row_of)
    if len(names) != 2 and (named is None or is_edge):
        raise FileFormatError(
            f"{source.what} has {count(len(names), 'column')}: {', '.join(map(str, source.header))}; edges need two "
            "that name rows, and if there are more, a header must call these two a and b, source and target, or from "
            "and to."
        )
    weight = names.index(WEIGHT) if len(names) > 2 and WEIGHT in names else None
    return _Columns([0, 1] if named is None or is_edge else named, weight, not is_edge)


def _is_edge(header: Sequence[Any], named: list[int] | None, row_of: Mapping[str, int] | None) -> bool:
    """Whether the first line is an edge and not a header.

    It is if it has two row numbers or the id of a row. If it could be a header by its names (in the columns `named`),
    it is only if these are two ids and no other cell is a name.
    """
    if row_of is None:
        return named is None and all(map(_is_whole, header))
    is_id = [name in row_of or spell_whole(name) in row_of for name in map(_spell_id, header)]
    if named is None:
        return any(is_id)
    others = [cell for position, cell in enumerate(header) if position not in named]
    return all(is_id[position] for position in named) and all(as_number(str(cell)) is not None for cell in others)


def _cells(source: _Source, columns: _Columns) -> Iterator[tuple[str, Any, Any]]:
    """Yield the place of every edge and the cells of its two rows."""
    records = source.records
    if not columns.has_header:
        records = chain([(source.what.removesuffix(HEADER), source.header)], records)
    for place, raw in records:
        cells = [cell.strip() if isinstance(cell, str) else cell for cell in raw]
        one, other = (cells[position] for position in columns.ends)
        if _is_empty(one) or _is_empty(other):
            raise FileFormatError(f"{place}: a cell is empty; every edge needs two rows.")
        if columns.weight is not None:
            _weight(cells[columns.weight], place, source.comma_is_decimal)
        yield place, one, other
