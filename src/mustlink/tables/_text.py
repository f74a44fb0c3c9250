"""Delimited text record by record, with the line of each, and the sentence for what is wrong with it."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO

from mustlink.errors import FileFormatError

__all__ = ["TextFile", "read_header"]

SEPARATORS = (",", ";", "\t")
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


def read_header(path: str | PathLike[str]) -> tuple[str, list[str]]:
    """Return the separator and the cells of the first line of a delimited text file.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8, plain or gzip.

    Returns
    -------
    separator : str
        Comma, semicolon or tab.
    cells : list of str
        The cells of the first line that is not blank, without the blanks around them.

    Raises
    ------
    FileFormatError
        If the file is empty, or its beginning is not such text.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mustlink.tables import read_header
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "links.csv")
    ...     _ = path.write_text("a;b;link\\n0;1;must\\n")
    ...     read_header(path)
    (';', ['a', 'b', 'link'])
    """
    text = TextFile(Path(path))
    return text.separator, [cell.strip() for cell in text.first[1]]


class TextFile:
    """A delimited text file, plain or gzip: its separator, its first record and, where it is unpacked, its content."""

    def __init__(self, path: Path, separator: str | None = None, expected: str = HEADER_AND_ROWS) -> None:
        self.path = path
        self.source = str(path)
        self.content: bytes | None = None
        if path.suffix.lower() == ".gz":
            self.content = self._unpack()
        elif not path.is_file():
            with path.open("rb") as stream:
                self.content = stream.read()
        self.separator = separator or self._sniff()
        first = next(self.records(), None)
        if first is None:
            raise FileFormatError(f"{self.source} is empty; {expected} are expected.")
        self.first = first

    def open(self) -> IO[bytes]:
        """Open the unpacked content."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

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

    def _unpack(self) -> bytes:
        """Read a gzip file."""
        with self.path.open("rb") as stream:
            try:
                return gzip.GzipFile(fileobj=stream).read()
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise FileFormatError(f"{self.source} is not a whole gzip file ({error}).") from None

    def error(self, line: int, problem: str) -> FileFormatError:
        """Return the error for a problem in a line."""
        return FileFormatError(f"{self.source}, line {line}: {problem}.")

    def _parsed(self) -> Iterator[tuple[int, list[str]]]:
        """Parse the lines, blank ones included."""
        line = 1
        with self.open() as stream:
            reader = csv.reader(self._lines(stream), delimiter=self.separator, strict=True, skipinitialspace=True)
            try:
                for cells in reader:
                    yield line, cells
                    line = reader.line_num + 1
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
            raise self.error(number, "this is not text but binary data or UTF-16; text in UTF-8 is expected")
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = f"the byte 0x{raw[error.start]:02x} at position {error.start + 1}"
            raise self.error(number, f"{byte} is not UTF-8; save the file with the encoding UTF-8") from None
        return line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line

    def _sniff(self) -> str:
        """Find the separator that cuts the first lines into equally many cells, and into most."""
        with self.open() as stream:
            lines = list(islice(self._lines(stream), N_SNIFFED_LINES))

        def fit(separator: str) -> tuple[bool, int]:
            try:
                # Not strict: the last of the lines may open a quotation that continues after them.
                records = csv.reader(lines, delimiter=separator, skipinitialspace=True)
                widths = [len(cells) for cells in records if any(cell.strip() for cell in cells)]
            except csv.Error:
                return False, 0
            if not widths:
                return False, 0
            return widths[0] > 1 and len(set(widths[:-1])) <= 1, widths[0]

        return max(SEPARATORS, key=fit)
