"""Links from files and data frames, and back."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mustlink._atomic import write_atomically
from mustlink.errors import ConstraintError, FileFormatError
from mustlink.tables._read import EXCEL, PARQUET, read_parquet, read_sheet
from mustlink.tables._table import first_repetition
from mustlink.tables._text import TextFile

__all__ = ["Link", "read_links", "write_links"]

MUST = {"must", "must-link", "must_link", "mustlink", "1", "+1", "1.0"}
CANNOT = {"cannot", "cannot-link", "cannot_link", "cannotlink", "-1", "-1.0"}
REQUIRED = ("a", "b", "link")
COLUMNS = (*REQUIRED, "weight")
EXPECTED = "the columns a, b, link and optionally weight"
MAX_ROW = np.iinfo(np.int64).max


class Link(NamedTuple):
    """One link of a file or frame, and its position in words."""

    a: int
    b: int
    is_must: bool
    weight: float
    place: str


def read_links(source: Any, ids: Sequence[Any] | None = None) -> list[Link]:
    """Read links from a file or a data frame, with the columns a, b, link (must/cannot or 1/-1), optionally weight.

    Parameters
    ----------
    source : path-like, pandas or polars DataFrame, or mapping of columns
        A file is text with any separator, plain or gzip, ``.xlsx`` or ``.parquet``.
    ids : sequence, default=None
        The id of every row of the table, if the links name ids; None means row numbers from 0.

    Returns
    -------
    list of Link
        Each with the fields a, b, is_must, weight and place (its position in words).

    Raises
    ------
    FileFormatError, ConstraintError
        With the file and the line.

    See Also
    --------
    mustlink.Constraints.read : Reads such a file as constraints.

    Examples
    --------
    >>> from mustlink.tables import read_links
    >>> read_links({"a": ["u1"], "b": ["u3"], "link": [-1]}, ids=["u1", "u2", "u3"])
    [Link(a=0, b=2, is_must=False, weight=1.0, place='Row 0 of the frame')]
    """
    if not isinstance(source, str | os.PathLike):
        return _links("The frame", *_frame_records(source, "Row {} of the frame".format), ids)
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        return _links(str(path), *_frame_records(read_parquet(path), lambda row: f"{path}, row {row}"), ids)
    records: Iterator[tuple[str, Sequence[Any]]]
    if suffix in EXCEL:
        sheet = read_sheet(path, EXPECTED)
        records = ((f"{path}, sheet row {row + 1}", list(sheet.loc[row])) for row in sheet.index)
    else:
        records = ((f"{path}, line {line}", cells) for line, cells in TextFile(path, expected=EXPECTED).records())
    place, names = next(records)
    return _links(f"{place}: the header", names, records, ids)


def _frame_records(frame: Any, place: Callable[[int], str]) -> tuple[list[Any], Iterator[tuple[str, Sequence[Any]]]]:
    """Return the names of the columns of a frame, and its rows with their positions in words."""
    if not (isinstance(frame, Mapping) or hasattr(frame, "columns")):
        raise TypeError(f"Links are read from a data frame or a mapping of columns, and this is a {type(frame)}.")
    names = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
    columns = [list(frame[name]) for name in names]
    if len({len(column) for column in columns}) > 1:
        lengths = [f"{name} has {len(column)}" for name, column in zip(names, columns, strict=True)]
        raise ConstraintError(f"The columns of links must be equally long: {', '.join(lengths)} entries.")
    return names, ((place(row), cells) for row, cells in enumerate(zip(*columns, strict=True)))


def write_links(path: str | os.PathLike[str], links: Iterable[tuple[int, int, str, float]]) -> None:
    """Write links as CSV, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file; a name that ends in .tsv gives tabs, and one that ends in .gz is compressed.
    links : iterable of (int, int, str, float)
        Two rows, "must" or "cannot", and the weight.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mustlink.tables import write_links
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "links.tsv")
    ...     write_links(path, [(0, 4, "must", 1.0)])
    ...     path.read_text()
    'a\\tb\\tlink\\tweight\\n0\\t4\\tmust\\t1.0\\n'
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t" if ".tsv" in suffixes[-2:] else ",", lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((a, b, link, repr(float(weight))) for a, b, link, weight in links)
    data = out.getvalue().encode()
    # Without a time in it, the same links give the same file.
    write_atomically(path, gzip.compress(data, mtime=0) if suffixes[-1:] == [".gz"] else data)


def _links(
    what: str, header: Sequence[Any], records: Iterable[tuple[str, Sequence[Any]]], ids: Sequence[Any] | None
) -> list[Link]:
    """Turn records into links, with the positions of their columns from the header."""
    names = [str(name).strip().lower() for name in header]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise FileFormatError(
            f"{what} has the columns {', '.join(map(str, header))}, and {_and(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; links have a, b, link and optionally weight."
        )
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise FileFormatError(f"{what} has the column {_and(twice)} more than once.")
    at_a, at_b, at_link = map(names.index, REQUIRED)
    at_weight = names.index("weight") if "weight" in names else None
    row_of = None if ids is None else _row_of_id(ids)
    links = []
    for place, raw in records:
        cells = [cell.strip() if isinstance(cell, str) else cell for cell in raw]
        empty = [name for name, at in zip(REQUIRED, (at_a, at_b, at_link), strict=True) if _is_empty(cells[at])]
        if empty:
            columns = f"the column {empty[0]} is" if len(empty) == 1 else f"the columns {_and(empty)} are"
            raise FileFormatError(f"{place}: {columns} empty; every link needs a, b and link.")
        a, b = _row(cells[at_a], row_of, place), _row(cells[at_b], row_of, place)
        if a == b:
            raise ConstraintError(
                f"{place}: links {cells[at_a]} with itself; a link needs two different rows.", [(a, b)]
            )
        weight = 1.0 if at_weight is None else _weight(cells[at_weight], place)
        links.append(Link(a, b, _is_must(cells[at_link], place), weight, place))
    return links


def _is_empty(cell: Any) -> bool:
    """Return whether a cell holds nothing."""
    return not cell if isinstance(cell, str) else bool(pd.isna(cell))


def _row_of_id(ids: Sequence[Any]) -> dict[str, int]:
    """Return the row of every id."""
    names = [str(name).strip() for name in ids]
    if twice := first_repetition(names):
        a, b = twice
        raise ConstraintError(f"The id {names[a]!r} occurs twice, at rows {a} and {b}; ids must differ.")
    return {name: row for row, name in enumerate(names)}


def _row(cell: Any, row_of: dict[str, int] | None, place: str) -> int:
    """Return the row that a cell names by its id or its number."""
    if row_of is not None:
        try:
            return row_of[str(cell).strip()]
        except KeyError:
            raise ConstraintError(f"{place}: there is no row with the id {str(cell)!r} in the table.") from None
    if not _is_whole(cell):
        raise FileFormatError(
            f"{place}: {cell!r} is not a row number, and the ids of the rows are not known", remedy="give_ids"
        )
    row = int(cell)
    if row < 0:
        raise ConstraintError(f"{place}: a row number cannot be negative, and this is {row}.")
    if row > MAX_ROW:
        raise ConstraintError(f"{place}: the row number {row} is larger than any table has.")
    return row


def _is_whole(cell: Any) -> bool:
    """Return whether a cell is a whole number: 3 or 3.0 in a frame, digits in a file."""
    if isinstance(cell, str):
        return re.fullmatch(r"[+-]?[0-9]+", cell) is not None
    return not isinstance(cell, bool) and isinstance(cell, Real) and float(cell).is_integer()


def _is_must(cell: Any, place: str) -> bool:
    """Return whether a cell means must rather than cannot."""
    word = str(cell).lower()
    if word not in MUST and word not in CANNOT:
        raise FileFormatError(f"{place}: a link is must or cannot, or 1 or -1, and this is {str(cell)!r}.")
    return word in MUST


def _weight(cell: Any, place: str) -> float:
    """Return the weight in a cell; 1 if it is empty."""
    if cell is None or (isinstance(cell, str) and not cell):
        return 1.0
    try:
        weight = float(cell)
    except (TypeError, ValueError):
        raise FileFormatError(f"{place}: the weight {cell!r} is not a number.") from None
    if not (math.isfinite(weight) and weight > 0):
        raise ConstraintError(f"{place}: the weight is {weight:g}; a weight must be positive and finite.")
    return weight


def _and(names: Sequence[str]) -> str:
    """Join names for a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
