"""Links from files and data frames, and back."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mustlink._atomic import write_atomically
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
    return list(_links(_cells_by_name(rows, names, path), ids))


def links_of_frame(frame: Any, ids: Sequence[Any] | None) -> list[Link]:
    """Read the links from a pandas or polars frame, or a mapping of columns."""
    names = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise ConstraintError(
            f"The frame has the columns {', '.join(map(str, names))}, and {_and(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; a frame of links has a, b, link and optionally weight."
        )
    wanted = [*REQUIRED, "weight"] if "weight" in names else list(REQUIRED)
    columns = [list(frame[name]) for name in wanted]
    rows = (
        (f"Row {number} of the frame", dict(zip(wanted, cells, strict=True)))
        for number, cells in enumerate(zip(*columns, strict=True))
    )
    return list(_links(rows, ids))


def write_links(path: str | os.PathLike[str], links: Iterable[tuple[int, int, str, float]]) -> None:
    """Write links as CSV (TSV for a name that ends in .tsv), whole or not at all."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t" if Path(path).suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow([*REQUIRED, "weight"])
    writer.writerows((a, b, link, repr(float(weight))) for a, b, link, weight in links)
    write_atomically(path, out.getvalue().encode())


def _decode(path: Path) -> str:
    """Read a text file, unpacking .gz; say in which line the encoding is wrong."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise FileFormatError(f"{path} is not a gzip file that can be unpacked ({error}).") from None
    if b"\0" in data[:65536]:
        raise FileFormatError(f"{path} is not a text file; links are read from CSV or TSV.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{path}, line {line}: not UTF-8 text (byte 0x{data[error.start]:02x}); save the file as UTF-8."
        ) from None


def _rows_of(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Split text into rows of cells, passing over empty lines; each row comes with its line number."""
    header = text.split("\n", 1)[0]
    delimiter = max("\t;,", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {reader.line_num}: broken line ({error}).") from None


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
    try:
        row = int(cell)
    except (TypeError, ValueError):
        raise FileFormatError(
            f"{place}: {cell!r} is not a row number; for links by id, name the id column of the table."
        ) from None
    if row < 0:
        raise ConstraintError(f"{place}: a row number cannot be negative, and this is {row}.")
    return row


def _is_must(cell: Any, place: str) -> bool:
    word = str(cell).strip().lower()
    if word not in MUST and word not in CANNOT:
        raise FileFormatError(f"{place}: a link is must or cannot, or 1 or -1, and this is {str(cell)!r}.")
    return word in MUST


def _weight(cell: Any, place: str) -> float:
    if cell is None or cell == "":
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
