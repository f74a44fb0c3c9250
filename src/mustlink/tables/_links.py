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
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from mustlink._atomic import is_stream, write_atomically
from mustlink._spelling import FRAME_PLACE, count, spell_whole
from mustlink.errors import ConstraintError, FileFormatError
from mustlink.tables._numbers import as_number
from mustlink.tables._read import EXCEL, PARQUET, read_parquet, read_sheet
from mustlink.tables._table import first_repetition, spell_cell
from mustlink.tables._text import TextFile

__all__ = [
    "Link",
    "LinkList",
    "UnknownIds",
    "find_linked_ids",
    "ids_in_links",
    "read_links",
    "read_links_between",
    "spell_ids",
    "write_links",
]

UnknownIds: TypeAlias = Literal["raise", "skip"]

MUST = {"must", "must-link", "must_link", "mustlink", "1", "+1", "1.0"}
CANNOT = {"cannot", "cannot-link", "cannot_link", "cannotlink", "-1", "-1.0"}
REQUIRED = ("a", "b", "link")
COLUMNS = (*REQUIRED, "weight")
MAX_SHOWN_IDS = 3
# Links are written as text; a name without a suffix gives CSV.
WRITTEN = ("", ".csv", ".tsv", ".txt")
EXPECTED = "the columns a, b, link and optionally weight"
MAX_ROW = np.iinfo(np.int64).max


class Link(NamedTuple):
    """One link of a file or frame, and its position in words."""

    a: int
    b: int
    is_must: bool
    weight: float
    place: str


class LinkList(list[Link]):
    """The links of a file or frame, and the ids because of which others were skipped.

    Parameters
    ----------
    links : iterable of Link, default=()
        The links.

    Attributes
    ----------
    unknown : dict of str to str
        The ids that are not in the table, in the order of the links that were skipped for them, with the position of
        the first such link in words.
    n_skipped : int
        The number of links that were skipped.

    Examples
    --------
    >>> from mustlink.tables import read_links
    >>> links = read_links({"a": ["u1", "u1"], "b": ["u2", "u9"], "link": [1, 1]}, ids=["u1", "u2"], unknown_ids="skip")
    >>> len(links), links.unknown
    (1, {'u9': 'Row 1 of the frame'})
    >>> print(links.skipped_notice)
    1 of 2 links names an id that is not in the table and was skipped: 'u9' (row 1 of the frame).
    """

    def __init__(self, links: Iterable[Link] = ()) -> None:
        super().__init__(links)
        self.unknown: dict[str, str] = {}
        self.n_skipped = 0

    @property
    def skipped_notice(self) -> str:
        """How many links were skipped and for which ids, as a sentence; empty if none was."""
        if not self.n_skipped:
            return ""
        skipped = f"{self.n_skipped:,} of {count(len(self) + self.n_skipped, 'link')} " + (
            "names an id that is not in the table and was skipped"
            if self.n_skipped == 1
            else "name ids that are not in the table and were skipped"
        )
        shown = [f"{name!r} ({_within_sentence(place)})" for name, place in list(self.unknown.items())[:MAX_SHOWN_IDS]]
        n_more = len(self.unknown) - len(shown)
        return f"{skipped}: {', '.join(shown)}{f' and {n_more:,} more' if n_more else ''}."


def _within_sentence(place: str) -> str:
    """Return a position as it is named within a sentence; the name of a file stays as it is."""
    return f"r{place[1:]}" if FRAME_PLACE.fullmatch(place) else place


class _Source(NamedTuple):
    """Where links are read from: what it is called, its header, its records with their positions in words."""

    what: str
    header: Sequence[Any]
    records: Iterator[tuple[str, Sequence[Any]]]
    # In text in which commas do not separate cells, they may be decimal signs.
    comma_is_decimal: bool = False


class _End(NamedTuple):
    """What an end of the links names, and where it is: its places by name, or None for numbers; the first place."""

    noun: str
    row_of: Mapping[str, int] | None
    first: int = 0


def read_links(
    source: Any,
    ids: Sequence[Any] | Mapping[str, int] | None = None,
    *,
    unknown_ids: UnknownIds = "raise",
    noun: Literal["row", "column"] = "row",
) -> LinkList:
    """Read links from a file or a data frame, with the columns a, b, link (must/cannot or 1/-1), optionally weight.

    Parameters
    ----------
    source : path-like, pandas or polars DataFrame, or mapping of columns
        A file is text with any separator, plain or gzip, ``.xlsx`` or ``.parquet``.
    ids : sequence or mapping of str to int, default=None
        The id of every row of the table, if the links name ids, or the rows of at least the ids that they name; None
        means row numbers from 0.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with a link that names an id which is not in `ids`: refuse it, or skip it.
    noun : {"row", "column"}, default="row"
        What is linked, for messages. Columns are linked by their names, which are given as `ids`.

    Returns
    -------
    LinkList
        A list of Link, each with the fields a, b, is_must, weight (1 where the cell is empty) and place (its position
        in words), with the ids of the skipped links in ``unknown``.

    Raises
    ------
    FileFormatError, ConstraintError
        With the file and the line.

    See Also
    --------
    mustlink.Constraints.read : Reads such a file as constraints.
    read_links_between : Reads links of rows and columns.

    Examples
    --------
    >>> from mustlink.tables import read_links
    >>> read_links({"a": ["u1"], "b": ["u3"], "link": [-1]}, ids=["u1", "u2", "u3"])
    [Link(a=0, b=2, is_must=False, weight=1.0, place='Row 0 of the frame')]
    """
    end = _End(noun, None if ids is None else _row_of_id(ids))
    return _collect(source, (end, end), unknown_ids)


def read_links_between(
    source: Any, ids: Sequence[Any] | None, columns: Sequence[str], *, n_rows: int, unknown_ids: UnknownIds = "raise"
) -> LinkList:
    """Read links of a row and a column each, with the columns a (the row), b (the column), link, optionally weight.

    Parameters
    ----------
    source : path-like, pandas or polars DataFrame, or mapping of columns
        As for :func:`read_links`.
    ids : sequence or None
        The id of every row of the table, if the links name ids; None means row numbers from 0.
    columns : sequence of str
        The names of the columns.
    n_rows : int
        The number of rows, after which the columns are counted.
    unknown_ids : {"raise", "skip"}, default="raise"
        As for :func:`read_links`.

    Returns
    -------
    LinkList
        As of :func:`read_links`; the field b is that of the column plus `n_rows`.

    Examples
    --------
    >>> from mustlink.tables import read_links_between
    >>> read_links_between({"a": [1], "b": ["milk"], "link": ["must"]}, None, ["hair", "milk"], n_rows=4)
    [Link(a=1, b=5, is_must=True, weight=1.0, place='Row 0 of the frame')]
    """
    rows = _End("row", None if ids is None else _row_of_id(ids))
    return _collect(source, (rows, _End("column", _row_of_id(columns), n_rows)), unknown_ids)


def _collect(source: Any, ends: tuple[_End, _End], unknown_ids: UnknownIds) -> LinkList:
    """Read the links between two kinds of ends."""
    if unknown_ids not in ("raise", "skip"):
        raise ValueError(f'unknown_ids must be "raise" or "skip"; got {unknown_ids!r}.')
    opened = _open(source)
    links = LinkList()
    nouns: dict[str, str] = {}
    for place, a, b, link, weight in _cells(opened):
        found = [_row(cell, end.row_of, place) for cell, end in zip((a, b), ends, strict=True)]
        if found == [None, None]:
            _refuse_swapped(a, b, ends, place)
        if None in found:
            links.n_skipped += 1
            for cell, row, end in zip((a, b), found, ends, strict=True):
                if row is None:
                    links.unknown.setdefault(_spell_id(cell), place)
                    nouns.setdefault(_spell_id(cell), end.noun)
            continue
        first, second = (row + end.first for row, end in zip(found, ends, strict=True) if row is not None)
        if first == second:
            problem = f"{place}: links {a} with itself; a link needs two different {ends[0].noun}s."
            raise ConstraintError(problem, [(first, second)])
        how = _is_must(link, place), _weight(weight, place, opened.comma_is_decimal), place
        links.append(Link(first, second, *how))
    if links.unknown and unknown_ids == "raise":
        raise ConstraintError(_unknown_problem(links.unknown, nouns=nouns), remedy="skip_unknown")
    return links


def _refuse_swapped(a: Any, b: Any, ends: tuple[_End, _End], place: str) -> None:
    """Refuse a link whose ends are in each other's columns."""
    if None not in [_row(cell, end.row_of, place) for cell, end in zip((b, a), ends, strict=True)]:
        first, second = (end.noun for end in ends)
        raise ConstraintError(
            f"{place}: {a!r} is a {second} and {b!r} is a {first}; the column a of a link names the {first}, and b the "
            f"{second}."
        )


def _unknown_problem(unknown: Mapping[str, str], what: str = "links", nouns: Mapping[str, str] | None = None) -> str:
    """Name the first ids of links or edges that the table does not have, and say how many there are."""
    (name, place), *others = unknown.items()
    is_column = nouns is not None and nouns[name] == "column"
    problem = f"{place}: there is no {'column' if is_column else 'row with the id'} {name!r} in the table"
    if not others:
        return problem
    shown = [repr(other) for other, _ in others[: MAX_SHOWN_IDS - 1]]
    more = f" and {len(others) - len(shown):,} more" if len(others) > len(shown) else ""
    more_of = count(len(others), "other name") if is_column else f"with {count(len(others), 'other id')}"
    return f"{problem}, nor {more_of} of the {what}: {', '.join(shown)}{more}"


def spell_ids(ids: Sequence[Any]) -> list[str]:
    """Return the ids of rows as they are written in a file.

    Parameters
    ----------
    ids : sequence
        The id of every row.

    Returns
    -------
    list of str

    Raises
    ------
    ConstraintError
        If two rows have the same.

    Examples
    --------
    >>> from mustlink.tables import spell_ids
    >>> spell_ids([7.0, "u1 "])
    ['7', 'u1']
    """
    names = [spell_cell(name).strip() for name in ids]
    if twice := first_repetition(names):
        a, b = twice
        raise ConstraintError(f"The id {names[a]!r} occurs twice, at rows {a} and {b}; ids must differ.")
    return names


def ids_in_links(source: Any) -> list[str] | None:
    """Return the ids that links name, for links whose table is not at hand.

    Parameters
    ----------
    source : path-like, pandas or polars DataFrame, or mapping of columns
        As for :func:`read_links`.

    Returns
    -------
    list of str or None
        Each id once, in the order of the links; None if all links name rows by number.

    Examples
    --------
    >>> from mustlink.tables import ids_in_links
    >>> ids_in_links({"a": ["u1", "u1"], "b": ["u3", "u2"], "link": [1, -1]})
    ['u1', 'u3', 'u2']
    >>> ids_in_links({"a": [0], "b": [4], "link": [1]}) is None
    True
    """
    ends = [cell for _, a, b, *_ in _cells(_open(source)) for cell in (a, b)]
    if all(map(_is_whole, ends)):
        return None
    return list(dict.fromkeys(spell_whole(spell_cell(cell)) for cell in ends))


def find_linked_ids(source: Any, column: Iterable[tuple[int, Sequence[str]]], name: str, table: str) -> dict[str, int]:
    """Find the rows of the ids that links name, in one pass over the ids of a table.

    Parameters
    ----------
    source : path-like, pandas or polars DataFrame, or mapping of columns
        The links, as for :func:`read_links`.
    column : iterable of (int, sequence of str)
        The ids of all rows in order, some at a time, each time after the number of the first row.
    name : str
        What the column of the ids is called, for messages.
    table : str
        What the table is called, for messages.

    Returns
    -------
    dict of str to int
        The rows of those ids that the table has. Other ids of the table are not kept.

    Raises
    ------
    FileFormatError
        If a row has no id, or two rows have one that a link names.

    Examples
    --------
    >>> from mustlink.tables import find_linked_ids
    >>> links = {"a": ["u1"], "b": ["u3"], "link": [-1]}
    >>> find_linked_ids(links, [(0, ["u0", "u1"]), (2, ["u2", "u3"])], "user", "users.parquet")
    {'u1': 1, 'u3': 3}
    """
    ends = {_spell_id(cell) for _, a, b, *_ in _cells(_open(source)) for cell in (a, b)}
    wanted = ends | {spell_whole(end) for end in ends}
    exact: dict[str, int] = {}
    whole: dict[str, int] = {}
    for start, ids in column:
        for row, one in enumerate(ids, start):
            if one in wanted:
                if one in exact:
                    raise FileFormatError(
                        f"{table}: the id {one!r} occurs in row {exact[one]} and again in row {row} of the column "
                        f"{name!r}; an id must belong to one row."
                    )
                exact[one] = row
            elif not one:
                raise FileFormatError(f"{table}, row {row}: the id column {name!r} is empty; every row needs an id.")
            elif one.endswith("0") and spell_whole(one) in wanted:
                whole.setdefault(spell_whole(one), row)
    return whole | exact


def _open(source: Any, expected: str = EXPECTED) -> _Source:
    """Find the header and the records of a file or a data frame."""
    if not isinstance(source, str | os.PathLike):
        return _Source("The frame", *_frame_records(source, "Row {} of the frame".format))
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        return _Source(str(path), *_frame_records(read_parquet(path), lambda row: f"{path}, row {row}"))
    if suffix in EXCEL:
        sheet = read_sheet(path, expected)
        cells_of = {row: list(sheet.loc[row]) for row in sheet.index}
        first, *others = cells_of
        records = ((f"{path}, sheet row {row + 1}", cells_of[row]) for row in others)
        return _Source(f"{path}, sheet row {first + 1}: the header", cells_of[first], records)
    text = TextFile(path, expected=expected)
    lines = text.records()
    first, header = next(lines)
    numbered = ((f"{path}, line {line}", cells) for line, cells in lines)
    return _Source(f"{path}, line {first}: the header", header, numbered, text.separator != ",")


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


def write_links(path: str | os.PathLike[str], links: Iterable[tuple[Any, Any, str, float]]) -> None:
    """Write links as CSV, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file, .csv, .tsv (with tabs) or .txt; compressed if its name ends in .gz as well.
    links : iterable of (object, object, str, float)
        Two rows, by number or id, "must" or "cannot", and the weight.

    Raises
    ------
    FileFormatError
        For any other suffix.

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
    name = Path(path).name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in WRITTEN and not is_stream(path):
        raise FileFormatError(
            f"{path}: links are written as .csv or .tsv, also compressed as .csv.gz or .tsv.gz, and {suffix} is none "
            "of them."
        )
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((spell_cell(a), spell_cell(b), link, repr(float(weight))) for a, b, link, weight in links)
    data = out.getvalue().encode()
    # Without a time in it, the same links give the same file.
    write_atomically(path, gzip.compress(data, mtime=0) if name.endswith(".gz") else data)


def _cells(source: _Source) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    """Yield the place of every link, and its cells a, b, link and weight, None where there is no such column."""
    names = [str(name).strip().lower() for name in source.header]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise FileFormatError(
            f"{source.what} has the columns {', '.join(map(str, source.header))}, and {_and(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; links have a, b, link and optionally weight."
        )
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise FileFormatError(f"{source.what} has the column {_and(twice)} more than once.")
    at = [names.index(name) for name in COLUMNS if name in names]
    for place, raw in source.records:
        cells = [raw[position].strip() if isinstance(raw[position], str) else raw[position] for position in at]
        empty = [name for name, cell in zip(REQUIRED, cells, strict=False) if _is_empty(cell)]
        if empty:
            columns = f"the column {empty[0]} is" if len(empty) == 1 else f"the columns {_and(empty)} are"
            raise FileFormatError(f"{place}: {columns} empty; every link needs a, b and link.")
        a, b, link, *weight = cells
        yield place, a, b, link, weight[0] if weight else None


def _is_empty(cell: Any) -> bool:
    """Return whether a cell holds nothing."""
    return not cell if isinstance(cell, str) else bool(pd.isna(cell))


def _row_of_id(ids: Sequence[Any] | Mapping[str, int]) -> Mapping[str, int]:
    """Return the row of every id; a whole number may be written as 1 and as 1.0."""
    if isinstance(ids, Mapping):
        return ids
    names = spell_ids(ids)
    row_of = {name: row for row, name in enumerate(names)}
    for row, name in enumerate(names):
        row_of.setdefault(spell_whole(name), row)
    return row_of


def _spell_id(cell: Any) -> str:
    """Write the id that a cell holds."""
    return spell_cell(cell).strip()


def _row(cell: Any, row_of: Mapping[str, int] | None, place: str) -> int | None:
    """Return the row that a cell names by its id or its number; None if no row has the id."""
    if row_of is not None:
        name = _spell_id(cell)
        return row_of.get(name, row_of.get(spell_whole(name)))
    if not _is_whole(cell):
        raise FileFormatError(
            f"{place}: {cell!r} is not a row number, and the ids of the rows are not known", remedy="give_ids"
        )
    row = int(spell_whole(cell) if isinstance(cell, str) else cell)
    if row < 0:
        raise ConstraintError(f"{place}: a row number cannot be negative, and this is {row}.")
    if row > MAX_ROW:
        raise ConstraintError(f"{place}: the row number {row} is larger than any table has.")
    return row


def _is_whole(cell: Any) -> bool:
    """Return whether a cell is a whole number, such as 3 or 3.0."""
    if isinstance(cell, str):
        return re.fullmatch(r"[+-]?[0-9]+", spell_whole(cell)) is not None
    return not isinstance(cell, bool) and isinstance(cell, Real) and float(cell).is_integer()


def _is_must(cell: Any, place: str) -> bool:
    """Return whether a cell means must rather than cannot."""
    word = str(cell).lower()
    if word not in MUST and word not in CANNOT:
        raise FileFormatError(f"{place}: a link is must or cannot, or 1 or -1, and this is {str(cell)!r}.")
    return word in MUST


def _weight(cell: Any, place: str, comma_is_decimal: bool) -> float:
    """Return the weight in a cell; 1 if it is empty."""
    if _is_empty(cell):
        return 1.0
    if isinstance(cell, str):
        weight = as_number(cell.replace(",", ".") if comma_is_decimal else cell)
    else:
        try:
            weight = float(cell)
        except (TypeError, ValueError):
            weight = None
    if weight is None:
        raise FileFormatError(f"{place}: the weight {cell!r} is not a number.")
    if not (math.isfinite(weight) and weight > 0):
        raise ConstraintError(f"{place}: the weight is {weight:g}; a weight must be positive and finite.")
    return weight


def _and(names: Sequence[str]) -> str:
    """Join names for a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
