"""Delimited text record by record, with the line of each, and the sentence for what is wrong with it."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Any

from mustlink.errors import FileFormatError
from mustlink.tables._dialect import Dialect, find_encoding

__all__ = ["TextFile", "csv_options", "read_dialect"]

SEPARATORS = (",", ";", "\t", "|")
# The first line by which Excel is told the separator.
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.I)
UTF8 = ("utf-8", "utf-8-sig")
BLOCK_BYTES = 2**18
MAX_LINE_BYTES = 64 * 2**20
N_SNIFFED_LINES = 20
BYTE_ORDER_MARK = "\ufeff"
# What an empty file lacks.
HEADER_AND_ROWS = "a header line and data rows"
# Parts of the messages of the csv module, and what they mean.
CSV_ERRORS = {
    "unexpected end of data": "a quotation mark is opened here and never closed",
    "field larger": "a cell is longer than 131,072 characters, most likely because a quotation mark is not closed",
    "expected after": "a quotation mark closes in the middle of a cell",
}


def read_dialect(path: str | PathLike[str]) -> tuple[Dialect, list[str]]:
    """Return how a delimited text file is written, and the cells of its first line.

    Parameters
    ----------
    path : str or path-like
        A text file, plain or gzip.

    Returns
    -------
    dialect : Dialect
        The separator, the encoding and the line end; the decimal sign is not looked for.
    cells : list of str
        The cells of the first line that is not blank, without the blanks around them.

    Raises
    ------
    FileFormatError
        If the file is empty, or its beginning is not such text.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mustlink.tables import read_dialect
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "links.csv")
    ...     _ = path.write_bytes(b"a;b;link\\r\\n0;1;must\\r\\n")
    ...     read_dialect(path)[0].line_end
    '\\r\\n'
    """
    text = TextFile(Path(path))
    return text.dialect, [cell.strip() for cell in text.first[1]]


class TextFile:
    """A delimited text file, plain or gzip: how it is written, its first record, its content if that is not UTF-8.

    What pandas and :meth:`records` read is UTF-8: text in another encoding is recoded in memory.
    """

    def __init__(
        self,
        path: Path,
        separator: str | None = None,
        expected: str = HEADER_AND_ROWS,
        *,
        suggested: str | None = None,
        encoding: str | None = None,
        remedy: str | Sequence[str] = "save_utf8",
    ) -> None:
        """Find out how the file is written.

        `suggested` is its separator if neither the user nor the file says another, `remedy` what helps against an
        unknown encoding.
        """
        self.path = path
        self.source = str(path)
        self.content: bytes | None = None
        self._remedy = remedy
        if path.suffix.lower() == ".gz":
            self.content = self._unpack()
        elif not path.is_file():
            with path.open("rb") as stream:
                self.content = stream.read()
        self.encoding = self._recode(encoding)
        lines = self._first_lines()
        named = SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
        self.skipped = lines[0] if named else ""
        self.n_skipped = int(named is not None)
        self.separator = separator or (named[1] if named else _best_separator(lines, suggested))
        first = next(self.records(), None)
        if first is None:
            raise FileFormatError(f"{self.source} is empty; {expected} are expected.")
        self.first = first

    @property
    def dialect(self) -> Dialect:
        """How the file is written, as far as it is known without reading its numbers."""
        with self.open() as stream:
            line_end = "\r\n" if stream.readline(MAX_LINE_BYTES).endswith(b"\r\n") else "\n"
        return Dialect(self.separator, self.encoding, ".", line_end)

    def open(self) -> IO[bytes]:
        """Open the unpacked content, in UTF-8."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def blocks(self) -> Iterator[bytes]:
        """Yield the content in blocks."""
        with self.open() as stream:
            yield from iter(partial(stream.read, BLOCK_BYTES), b"")

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each record with the line it begins in; blank lines are skipped, broken lines refused."""
        width = blank_line = 0
        for line, cells in self._parsed():
            if not cells or (width != 1 and len(cells) == 1 and not cells[0].strip()):
                blank_line = blank_line or line
            elif not width:
                width, blank_line = len(cells), 0
                yield line, cells
            elif len(cells) != width:
                counted = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                raise self.error(line, f"{counted} where the first line has {width}")
            elif width == 1 and blank_line:
                # It could be an empty cell, and then all row numbers after it would be wrong.
                raise self.error(blank_line, "an empty line between the rows of a table of one column")
            else:
                yield line, cells

    def record(self, number: int) -> tuple[int, list[str]]:
        """Return one record and its line, counting the first record as 0."""
        return next(islice(self.records(), number, None))

    def error(self, line: int, problem: str, remedy: str | Sequence[str] | None = None) -> FileFormatError:
        """Return the error for a problem in a line."""
        place = f"{self.source}, line {line}: {problem}"
        return FileFormatError(place if remedy else f"{place}.", remedy=remedy)

    def _unpack(self) -> bytes:
        """Read a gzip file."""
        with self.path.open("rb") as stream:
            try:
                return gzip.GzipFile(fileobj=stream).read()
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise FileFormatError(f"{self.source} is not a whole gzip file ({error}).") from None

    def _recode(self, encoding: str | None) -> str:
        """Find the encoding if it is not given; hold text in another one than UTF-8 in memory, as UTF-8."""
        found = codecs.lookup(encoding).name if encoding else find_encoding(self.blocks())
        if found in UTF8:
            with self.open() as stream:
                return UTF8[stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8]
        with self.open() as stream:
            raw = stream.read()
        try:
            self.content = raw.decode(found).removeprefix(BYTE_ORDER_MARK).encode("utf-8")
        except UnicodeError as error:
            start = error.start if isinstance(error, UnicodeDecodeError) else 0
            line = raw[:start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
            raise self.error(line, f"{_shown_byte(raw, start)} is not {found}", self._remedy) from None
        return found

    def _parsed(self) -> Iterator[tuple[int, list[str]]]:
        """Parse the lines, blank ones included."""
        line = 1 + self.n_skipped
        with self.open() as stream:
            lines = islice(self._lines(stream), self.n_skipped, None)
            reader = csv.reader(lines, strict=True, **csv_options(self.separator))
            try:
                for cells in reader:
                    yield line, cells
                    line = reader.line_num + 1 + self.n_skipped
            except csv.Error as error:
                words = next((words for part, words in CSV_ERRORS.items() if part in str(error)), str(error))
                raise self.error(line, words) from None

    def _lines(self, stream: IO[bytes]) -> Iterator[str]:
        """Decode line by line, so that a wrong byte is reported with its own line."""
        number = 0
        # Bounded, so that a binary file without line ends is not read into memory whole.
        while raw := stream.readline(MAX_LINE_BYTES):
            if len(raw) == MAX_LINE_BYTES:
                raise FileFormatError(f"{self.source} has a line of more than 64 MB; this is not a table in text form.")
            # A line that ends with a carriage return alone is a line of its own.
            for part in io.BytesIO(raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")) if b"\r" in raw else (raw,):
                number += 1
                yield self._decode(part, number)

    def _decode(self, raw: bytes, number: int) -> str:
        """Decode one line."""
        if b"\0" in raw:
            problem = "this is not text but binary data, or text in UTF-16 without a byte order mark"
            raise self.error(number, problem, self._remedy)
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(number, f"{_shown_byte(raw, error.start)} is not UTF-8", self._remedy) from None
        return line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line

    def _first_lines(self) -> list[str]:
        """Return the lines by which the separator is found."""
        with self.open() as stream:
            return list(islice(self._lines(stream), N_SNIFFED_LINES))


def _shown_byte(raw: bytes, start: int) -> str:
    """Word a byte that cannot be decoded, with its position in the line."""
    in_line = start - max(raw.rfind(b"\n", 0, start), raw.rfind(b"\r", 0, start))
    return f"the byte 0x{raw[start]:02x} at position {in_line}"


def csv_options(separator: str) -> dict[str, Any]:
    """Return the options of the csv module."""
    return {"delimiter": separator, "skipinitialspace": separator != " "}


def _best_separator(lines: list[str], suggested: str | None) -> str:
    """Find the separator that cuts the first lines into equally many cells, and into most; the suggested one if any."""
    if suggested is not None and any(suggested in line for line in lines):
        return suggested

    def fit(separator: str) -> tuple[bool, int]:
        try:
            # Not strict: the last of the lines may open a quotation that continues after them.
            records = csv.reader(lines, **csv_options(separator))
            widths = [len(cells) for cells in records if any(cell.strip() for cell in cells)]
        except csv.Error:
            return False, 0
        if not widths:
            return False, 0
        return widths[0] > 1 and len(set(widths[:-1])) <= 1, widths[0]

    return max(SEPARATORS, key=fit)
