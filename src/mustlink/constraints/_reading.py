"""Links from files and data frames, and back."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from mustlink._atomic import write_atomically
from mustlink.constraints._pairs import MAX_ROW
from mustlink.errors import ConstraintError, FileFormatError

MUST = {"must", "must-link", "must_link", "mustlink", "1", "+1", "1.0"}
CANNOT = {"cannot", "cannot-link", "cannot_link", "cannotlink", "-1", "-1.0"}
REQUIRED = ("a", "b", "link")


class Link(NamedTuple):
    """One link as it stands in a file or frame, with words for where it stands."""

    a: int
    b: int
    is_must: bool
    weight: float
    place: str


def read_links(path: str | os.PathLike[str], ids: Sequence[Any] | None) -> list[Link]:
    """Read a CSV or TSV file of links; every error names the file and the line."""
    path = Path(path)
    text = _decode(path)
    rows = _rows_of(text, path)
    try:
        first_line, header = next(rows)
    except StopIteration:
        raise FileFormatError(f"{path} is empty; it needs a header line with the columns a, b, link.") from None
    names = [name.strip().lower() for name in header]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise FileFormatError(
            f"{path}, line {first_line}: the header has the columns {', '.join(header)}, and {_and(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; a file of links has a, b, link and optionally weight."
        )
    twice = [name for name in (*REQUIRED, "weight") if names.count(name) > 1]
    if twice:
        raise FileFormatError(f"{path}, line {first_line}: the header has the column {_and(twice)} more than once.")
    return list(_links(_cells_by_name(rows, names, path), ids))


def links_of_frame(frame: Any, ids: Sequence[Any] | None) -> list[Link]:
    """Read the links from a pandas or polars frame, or a mapping of columns."""
    if not (isinstance(frame, Mapping) or hasattr(frame, "columns")):
        raise TypeError(f"Links are read from a data frame or a mapping of columns, and this is a {type(frame)}.")
    names = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise ConstraintError(
            f"The frame has the columns {', '.join(map(str, names))}, and {_and(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; a frame of links has a, b, link and optionally weight."
        )
    wanted = [*REQUIRED, "weight"] if "weight" in names else list(REQUIRED)
    columns = [list(frame[name]) for name in wanted]
    if len({len(column) for column in columns}) > 1:
        lengths = [f"{name} has {len(column)}" for name, column in zip(wanted, columns, strict=True)]
        raise ConstraintError(f"The columns of links must be equally long: {', '.join(lengths)} entries.")
    rows = (
        (f"Row {number} of the frame", dict(zip(wanted, cells, strict=True)))
        for number, cells in enumerate(zip(*columns, strict=True))
    )
    return list(_links(rows, ids))


def write_links(path: str | os.PathLike[str], links: Iterable[tuple[int, int, str, float]]) -> None:
    """Write links as CSV (TSV for a name that ends in .tsv; packed for .gz), whole or not at all."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t" if ".tsv" in suffixes[-2:] else ",", lineterminator="\n")
    writer.writerow([*REQUIRED, "weight"])
    writer.writerows((a, b, link, repr(float(weight))) for a, b, link, weight in links)
    data = out.getvalue().encode()
    # Without a time in it, the same links give the same file.
    write_atomically(path, gzip.compress(data, mtime=0) if suffixes[-1:] == [".gz"] else data)


def _decode(path: Path) -> str:
    """Read a text file, unpacking .gz; say in which line the encoding is wrong."""
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"{path} is not a gzip file that can be unpacked ({error}).") from None
    if b"\0" in data[:65536]:
        raise FileFormatError(f"{path} is not a text file in UTF-8; links are read from CSV or TSV.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{path}, line {line}: not UTF-8 text (byte 0x{data[error.start]:02x}); save the file as UTF-8."
        ) from None


def _rows_of(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Split text into rows of cells, passing over empty lines; each row comes with the line it begins in."""
    header = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {line}: broken line ({error}).") from None


def _cells_by_name(
    rows: Iterator[tuple[int, list[str]]], names: list[str], path: Path
) -> Iterator[tuple[str, dict[str, str]]]:
    for line, cells in rows:
        if len(cells) != len(names):
            raise FileFormatError(f"{path}, line {line}: {len(cells)} cells where the header has {len(names)} columns.")
        yield f"{path}, line {line}", {name: cell.strip() for name, cell in zip(names, cells, strict=True)}


def _links(rows: Iterable[tuple[str, dict[str, Any]]], ids: Sequence[Any] | None) -> Iterator[Link]:
    row_of = None if ids is None else _row_of_id(ids)
    for place, cells in rows:
        a, b = (_row(cells[end], row_of, place) for end in ("a", "b"))
        if a == b:
            raise ConstraintError(
                f"{place}: links {cells['a']} with itself; a link needs two different rows.", [(a, b)]
            )
        yield Link(a, b, _is_must(cells["link"], place), _weight(cells.get("weight"), place), place)


def _row_of_id(ids: Sequence[Any]) -> dict[str, int]:
    row_of: dict[str, int] = {}
    for row, name in enumerate(ids):
        key = str(name).strip()
        if key in row_of:
            raise ConstraintError(f"The id {key!r} occurs twice, at rows {row_of[key]} and {row}; ids must differ.")
        row_of[key] = row
    return row_of


def _row(cell: Any, row_of: dict[str, int] | None, place: str) -> int:
    if row_of is not None:
        try:
            return row_of[str(cell).strip()]
        except KeyError:
            raise ConstraintError(f"{place}: there is no row with the id {str(cell)!r} in the table.") from None
    if not _is_whole(cell):
        raise FileFormatError(
            f"{place}: {cell!r} is not a row number; for links by id, name the id column of the table."
        )
    row = int(cell)
    if row < 0:
        raise ConstraintError(f"{place}: a row number cannot be negative, and this is {row}.")
    if row > MAX_ROW:
        raise ConstraintError(f"{place}: no table has so many rows as to have a row {row}.")
    return row


def _is_whole(cell: Any) -> bool:
    """Say whether a cell is a whole number: 3 or 3.0 in a frame, digits in a file."""
    if isinstance(cell, str):
        return re.fullmatch(r"[+-]?[0-9]+", cell.strip()) is not None
    if isinstance(cell, bool):
        return False
    return isinstance(cell, Real) and float(cell).is_integer()


def _is_must(cell: Any, place: str) -> bool:
    word = str(cell).strip().lower()
    if word not in MUST and word not in CANNOT:
        raise FileFormatError(f"{place}: a link is must or cannot, or 1 or -1, and this is {str(cell)!r}.")
    return word in MUST


def _weight(cell: Any, place: str) -> float:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return 1.0
    try:
        weight = float(cell)
    except (TypeError, ValueError):
        raise FileFormatError(f"{place}: the weight {cell!r} is not a number.") from None
    if not (math.isfinite(weight) and weight > 0):
        raise ConstraintError(f"{place}: the weight is {weight:g}; a weight must be positive and finite.")
    return weight


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
