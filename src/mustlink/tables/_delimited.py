"""Reading CSV and TSV in blocks, so that a long file never stands in memory as strings."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np

from mustlink.errors import FileFormatError
from mustlink.tables._columns import ColumnBuilder, is_missing, is_number
from mustlink.tables._table import NumericColumn, Table, TextColumn, check_columns

__all__ = ["read_delimited"]

_BLOCK_ROWS = 50_000
_SNIFFED_LINES = 20
_LONGEST_LINE = 64 * 2**20
_DELIMITERS = (",", ";", "\t")
_BYTE_ORDER_MARK = "\ufeff"


def read_delimited(
    path: Path,
    *,
    delimiter: str | None,
    text: Collection[str] = (),
    ignore: Collection[str] = (),
    header: bool | None = None,
) -> Table:
    """Read a delimited text file, gzipped or not; a delimiter of None is found from the first lines."""
    source = str(path)
    with _open_binary(path) as stream:
        lines = _decoded_lines(stream, source)
        first_lines = list(islice(lines, _SNIFFED_LINES))
        if delimiter is None:
            delimiter = _sniff_delimiter(first_lines)
        records = _records(chain(first_lines, lines), delimiter, source)
        opening = next(records, None)
        if opening is None:
            raise FileFormatError(f"{source} is empty; a table with a header line and data rows is expected.")
        names, records = _column_names(opening, records, header, source)
        check_columns(source, names, (*text, *ignore))
        return _collect(source, names, records, delimiter, text, ignore)


def _collect(
    source: str,
    names: Sequence[str],
    records: Iterator[tuple[int, list[str]]],
    delimiter: str,
    text: Collection[str],
    ignore: Collection[str],
) -> Table:
    """Feed the records block by block to one builder per column."""
    builders = {
        place: ColumnBuilder(source, name, as_text=name in text, comma_is_decimal=delimiter == ";")
        for place, name in enumerate(names)
        if name not in ignore
    }
    lines = array("q")
    while block := list(islice(records, _BLOCK_ROWS)):
        block_lines = [line for line, _ in block]
        _check_width(block, len(names), source)
        lines.extend(block_lines)
        cells = list(zip(*(record for _, record in block), strict=True))
        for place, builder in builders.items():
            builder.feed(cells[place], block_lines)
    columns: list[NumericColumn | TextColumn] = [builder.finish() for builder in builders.values()]
    notices = tuple(notice for builder in builders.values() for notice in builder.notices)
    return Table(source, tuple(columns), len(lines), np.array(lines, dtype=np.int64), notices)


def _check_width(block: list[tuple[int, list[str]]], width: int, source: str) -> None:
    """Refuse a row with more or fewer cells than the header."""
    for line, record in block:
        if len(record) != width:
            raise FileFormatError(
                f"{source}, line {line}: {_counted(len(record), 'cell')} where the first line has {width}."
            )


def _counted(number: int, noun: str) -> str:
    """Word a number of things."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _open_binary(path: Path) -> IO[bytes]:
    """Open the file, unpacking gzip by its suffix."""
    if path.suffix.lower() == ".gz":
        return io.BufferedReader(gzip.open(path, "rb"))
    return path.open("rb")


def _decoded_lines(stream: IO[bytes], source: str) -> Iterator[str]:
    """Decode line by line, so that a wrong byte is blamed on its own line."""
    for number, raw in enumerate(_unpacked(stream, source), start=1):
        if b"\0" in raw:
            raise FileFormatError(
                f"{source}, line {number}: this is not text but binary data or UTF-16; a table in UTF-8 is expected."
            )
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"{source}, line {number}: the byte 0x{raw[error.start]:02x} at place {error.start + 1} "
                "is not UTF-8; save the file with the encoding UTF-8."
            ) from None
        yield line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line


def _unpacked(stream: IO[bytes], source: str) -> Iterator[bytes]:
    """Give the raw lines, with a broken gzip file reported as what it is."""
    try:
        # Bounded, so that a binary file without line ends is not read into memory whole.
        while raw := stream.readline(_LONGEST_LINE):
            if len(raw) == _LONGEST_LINE:
                raise FileFormatError(f"{source} has a line of more than 64 MB; this is not a table in text form.")
            yield raw
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"{source} is not a whole gzip file ({error}).") from None


def _records(lines: Iterator[str], delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Parse the lines into records, each with the line it begins in; empty lines are passed over."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    begins = 1
    empty_line = 0
    try:
        for record in reader:
            if record:
                if empty_line and len(record) == 1:
                    # In a table of one column an empty line could be an empty cell, and row numbers hang on it.
                    raise FileFormatError(
                        f"{source}, line {empty_line}: an empty line between the rows of a table of one column."
                    )
                yield begins, record
            elif begins > 1:
                empty_line = empty_line or begins
            begins = reader.line_num + 1
    except csv.Error as error:
        raise FileFormatError(f"{source}, line {begins}: {_worded(error)}.") from None


def _worded(error: csv.Error) -> str:
    """Say in plain words what the parser of the standard library complains of."""
    message = str(error)
    if "unexpected end of data" in message:
        return "a quotation mark is opened here and never closed"
    if "field larger" in message:
        return "a cell is longer than 131,072 characters, most likely because a quotation mark is not closed"
    if "expected after" in message:
        return "a quotation mark closes in the middle of a cell"
    return message


def _sniff_delimiter(first_lines: list[str]) -> str:
    """Choose comma, semicolon or tab: the one that cuts the first lines into equally many cells, and most."""

    def fit(delimiter: str) -> tuple[bool, int]:
        """Say whether the lines agree on a number of cells, and which number the first has."""
        try:
            # The last of the lines may open a quotation that goes on beyond them; not strict, so that this is fine.
            widths = [len(record) for record in csv.reader(first_lines, delimiter=delimiter) if record]
        except csv.Error:
            return False, 0
        if not widths:
            return False, 0
        return widths[0] > 1 and len(set(widths[:-1])) <= 1, widths[0]

    return max(_DELIMITERS, key=fit)


def _column_names(
    opening: tuple[int, list[str]],
    records: Iterator[tuple[int, list[str]]],
    header: bool | None,
    source: str,
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Take the names from the first record, or make some up when the file has no header."""
    line, cells = opening
    if header is None and all(is_number(cell) or is_missing(cell) for cell in cells) and any(map(is_number, cells)):
        raise FileFormatError(
            f"{source}, line {line}: the first line holds only numbers; say --no-header if they are data, "
            "or --header if they are the names of the columns."
        )
    if header is False:
        return [f"x{place}" for place in range(len(cells))], chain([opening], records)
    names = [cell.strip() or f"unnamed_{place}" for place, cell in enumerate(cells)]
    return names, records
