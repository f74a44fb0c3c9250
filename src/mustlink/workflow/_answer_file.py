"""A file of links to which answers are added one by one, each on the disk before the next question."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from mustlink._atomic import check_writable, is_stream
from mustlink.errors import OptionError
from mustlink.tables import Dialect, read_dialect

__all__ = ["AnswerFile"]

SUFFIXES = (".csv", ".tsv", ".txt", "")
HEADER = ("a", "b", "link")


class AnswerFile:
    """Links on disk, in the form that :meth:`mustlink.Constraints.read` reads.

    The file is created with the first answer; an existing one keeps its own separator, columns, line ends and encoding.
    An incomplete last line of an earlier run that was killed while writing it is removed, and kept as `cut_off`.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() == ".gz":
            raise OptionError(f"{path} is compressed, and answers cannot be added to it; decompress it first.")
        check_writable(path)
        if is_stream(path):
            raise OptionError(
                f"{path} is not a file that answers can be kept in; give the name of a .csv or .tsv file."
            )
        if path.suffix.lower() not in SUFFIXES:
            raise OptionError(
                f"{path}: answers are added as text to a .csv, .tsv or .txt file, and {path.suffix} is none of them."
            )
        self.path = path
        self.cut_off = ""
        self._ends: list[int] = []
        self._remove_incomplete_line()

    @property
    def is_begun(self) -> bool:
        """Whether the file has content."""
        return self.path.exists() and self.path.stat().st_size > 0

    def append(self, a: str, b: str, together: bool) -> None:
        """Add an answer about two rows, named as in the table; it is on the disk when this returns."""
        dialect, names = self._form()
        cells = {"a": a, "b": b, "link": "must" if together else "cannot"}
        lead = b""
        if not self.is_begun:
            lead = self._line(names, dialect)
        elif not self.path.read_bytes().endswith(b"\n"):
            lead = dialect.line_end.encode()
        line = self._line([cells.get(name, "") for name in names], dialect)
        with self.path.open("ab") as stream:
            before = stream.tell() + len(lead)
            stream.write(lead + line)
            stream.flush()
            os.fsync(stream.fileno())
        self._ends.append(before)

    def remove_last(self) -> None:
        """Remove the last answer that was added here."""
        with self.path.open("r+b") as stream:
            stream.truncate(self._ends.pop())
            os.fsync(stream.fileno())

    def _form(self) -> tuple[Dialect, list[str]]:
        """Return how the file is written and its columns, or the default ones."""
        if not self.is_begun:
            return Dialect("\t" if self.path.suffix.lower() == ".tsv" else ","), list(HEADER)
        dialect, names = read_dialect(self.path)
        if dialect.encoding.startswith(("utf-16", "utf-32")):
            raise OptionError(
                f"{self.path} is written in {dialect.encoding.upper()}, and answers cannot be added to it",
                remedy="save_utf8",
            )
        return dialect, [name.lower() for name in names]

    def _line(self, cells: list[str], dialect: Dialect) -> bytes:
        """Write one line of the file."""
        out = io.StringIO()
        csv.writer(out, delimiter=dialect.separator, lineterminator=dialect.line_end).writerow(cells)
        # The byte order mark of a file stands at its beginning only.
        encoding = "utf-8" if dialect.encoding == "utf-8-sig" else dialect.encoding
        try:
            return out.getvalue().encode(encoding)
        except UnicodeEncodeError as error:
            lacking = error.object[error.start : error.end]
            raise OptionError(
                f"{self.path} is written in {dialect.encoding}, which has no {lacking!r}", remedy="save_utf8"
            ) from None

    def _remove_incomplete_line(self) -> None:
        """Remove a last line that an earlier run did not finish writing."""
        if not self.is_begun:
            return
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        tail = content[end:].decode("utf-8", errors="replace")
        is_kept = not ",".join(HEADER).startswith(tail)
        if end:
            dialect, names = self._form()
            is_kept = _is_complete(tail, dialect.separator, names)
        if tail and not is_kept:
            self.cut_off = tail
            os.truncate(self.path, end)


def _is_complete(tail: str, delimiter: str, names: list[str]) -> bool:
    """Return whether a last line without a line end is complete, as one written by hand may be."""
    cells = next(csv.reader([tail], delimiter=delimiter))
    if len(cells) != len(names) or "link" not in names:
        return False
    return cells[names.index("link")].strip().lower() in {"must", "cannot", "1", "-1"}
