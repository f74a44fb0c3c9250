"""The table as it came in, with the cluster of every row as one more column."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from mustlink.errors import FileFormatError
from mustlink.tables._dates import DATE, DATE_TIME, HOURS
from mustlink.tables._dialect import Dialect
from mustlink.tables._read import EXCEL, PARQUET, SEPARATOR, read_npy, read_parquet, read_sheet, read_table
from mustlink.tables._table import Table, is_text
from mustlink.tables._text import TextFile, csv_options

__all__ = ["cluster_column", "frame_with_clusters", "is_tab_separated", "lines_with_clusters", "written_dialect"]

# A code such as 007, which is no number to a person.
ZEROS_IN_FRONT = re.compile(r"\s*[+-]?0[0-9]")


def cluster_column(names: Sequence[str], wanted: str = "cluster") -> str:
    """Return a name for the column of clusters that no other column has."""
    name = wanted if wanted not in names else f"{wanted}_found"
    number = 2
    while name in names:
        name, number = f"{wanted}_found_{number}", number + 1
    return name


def written_dialect(dialect: Dialect | None, suffix: str, *, keep_tabs: bool = False) -> Dialect:
    """Return how a text file is written: as the table that it is about, with the separator that its suffix asks for."""
    dialect = dialect or Dialect()
    if suffix == ".tsv":
        return replace(dialect, separator="\t")
    return dialect if dialect.separator != "\t" or keep_tabs else replace(dialect, separator=",")


def is_tab_separated(path: str | PathLike[str]) -> bool:
    """Return whether the suffix of a text file says that it has tabs."""
    return SEPARATOR.get(Path(str(path).lower().removesuffix(".gz")).suffix) == "\t"


def lines_with_clusters(
    source: str | PathLike[str], table: Table, clusters: Sequence[str], *, has_header: bool, dialect: Dialect, name: str
) -> bytes:
    """Return a text file with one more cell at the end of each record, and every other cell as it was written."""
    assert table.dialect is not None
    file = TextFile(Path(source), table.dialect.separator, encoding=table.dialect.encoding)
    names = [cell.strip() for cell in file.first[1]]
    cells = [cluster_column(names, name), *clusters] if has_header else list(clusters)
    separator, same_separator = file.separator.encode(), dialect.separator == file.separator
    written: list[bytes] = []
    n_records = 0
    for raw, is_record in _raw_records(file):
        if is_record and n_records == len(cells):
            raise _changed(source)
        body = raw.rstrip(b"\r\n")
        end = raw[len(body) :]
        if not is_record:
            written += [raw] if same_separator else []
        elif same_separator:
            written += [body, separator, cells[n_records].encode(), end]
        else:
            parsed = next(csv.reader(io.StringIO(raw.decode(), newline=""), **csv_options(file.separator)))
            written += [_joined([*parsed, cells[n_records]], dialect.separator).encode(), end]
        n_records += is_record
    if n_records < len(cells):
        raise _changed(source)
    content = b"".join(written)
    return content if dialect.encoding == "utf-8" else content.decode().encode(dialect.encoding)


def _changed(source: str | PathLike[str]) -> FileFormatError:
    """Return the error for a file that is not what was read."""
    return FileFormatError(f"{source} was changed after it was read; nothing was written.")


def _raw_records(file: TextFile) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes of each record, and those of the lines between records, which are none."""
    with file.open() as stream:
        content = stream.read().removeprefix(codecs.BOM_UTF8)
    lines = content.splitlines(keepends=True)
    yield from ((line, False) for line in lines[: file.n_skipped])
    lines = lines[file.n_skipped :]
    width, separator = len(file.first[1]), file.separator.encode()
    if b'"' not in content:
        for line in lines:
            yield line, separator in line or bool(line.rstrip(b"\r\n") if width == 1 else line.strip())
        return
    taken: list[bytes] = []

    def feed() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line.decode()

    # A record with a quoted line end spans several lines.
    for cells in csv.reader(feed(), **csv_options(file.separator)):
        yield b"".join(taken), bool(cells) and (width == 1 or len(cells) > 1 or bool(cells[0].strip()))
        taken.clear()


def _joined(cells: Sequence[str], separator: str) -> str:
    """Write one record, with quotation marks where they are needed."""
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="").writerow(cells)
    return line.getvalue()


def frame_with_clusters(
    source: str | PathLike[str], table: Table, clusters: Any, *, has_header: bool, name: str
) -> pd.DataFrame:
    """Return all columns of a file, typed as far as they are known, and the cluster of each row."""
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        frame = read_parquet(path)
    elif suffix == ".npy":
        frame = read_npy(path)
    elif suffix in EXCEL:
        sheet = read_sheet(path, name=table.sheet)
        names = sheet.iloc[0].tolist() if has_header else [f"x{place}" for place in range(sheet.shape[1])]
        frame = sheet.iloc[int(has_header) :].set_axis(names, axis=1).reset_index(drop=True)
    else:
        frame = _text_frame(path, table, has_header)
    if len(frame) != len(clusters):
        raise _changed(source)
    column = cluster_column([str(other).strip() for other in frame.columns], name)
    frame = frame.copy(deep=False)
    frame.insert(frame.shape[1], column, clusters)
    return frame


def _text_frame(path: Path, table: Table, has_header: bool) -> pd.DataFrame:
    """Read a text file cell by cell; numbers and dates get their types, and what would lose a sign stays text."""
    dialect = table.dialect
    assert dialect is not None
    # All columns, also those that are not used, are judged together.
    whole = read_table(
        path,
        text=[name for name in table.names if is_text(table.frame[name])],
        header=has_header,
        encoding=dialect.encoding,
        delimiter=dialect.separator,
        decimal="," if dialect.decimal == "," else None,
        problems="keep",
    )
    file = TextFile(path, dialect.separator, encoding=dialect.encoding)
    records = [cells for _, cells in file.records()]
    names = records.pop(0) if has_header else list(whole.names)
    unclear = {problem.fields.get("column") for problem in whole.problems}
    columns = {
        place: _typed_cells(whole, name, cells, is_clear=name not in unclear)
        for place, (name, cells) in enumerate(zip(whole.names, zip(*records, strict=True), strict=True))
    }
    return pd.DataFrame(columns).set_axis(names, axis=1)


def _typed_cells(table: Table, name: str, cells: Sequence[str], *, is_clear: bool) -> Any:
    """Return the cells of a column as numbers or dates, or as they are written."""
    column, unit = table.frame[name], table.units.get(name, "")
    if is_clear and not is_text(column) and unit in (DATE, DATE_TIME):
        return pd.to_datetime(column.to_numpy(), unit="D").round("ms")
    if is_clear and not is_text(column) and unit != HOURS and not any(map(ZEROS_IN_FRONT.match, cells)):
        return column.to_numpy()
    return pd.array([cell or None for cell in cells], dtype=object)
