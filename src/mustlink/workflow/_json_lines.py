"""A file of JSON lines to which records are added one by one, each on the disk before the next."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from mustlink._atomic import check_writable, is_stream
from mustlink.errors import FileFormatError, OptionError

__all__ = ["JsonLines"]


class JsonLines:
    """Records on disk, one JSON object in each line.

    The file is created with the first record. An incomplete last line of an earlier run that was killed while writing
    it is removed, and kept as `cut_off`.
    """

    def __init__(self, path: Path) -> None:
        check_writable(path)
        if is_stream(path) or path.suffix.lower() == ".gz":
            raise OptionError(f"{path} is not a file that answers can be added to; give the name of a .jsonl file.")
        self.path = path
        self.cut_off = ""
        self.records: list[dict[str, Any]] = []
        self._ends: list[int] = []
        if path.exists():
            self._read()

    def append(self, record: dict[str, Any]) -> None:
        """Add a record; it is on the disk when this returns."""
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        with self.path.open("ab") as stream:
            before = stream.tell()
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
        self._ends.append(before)
        self.records.append(record)

    def remove_last(self) -> None:
        """Remove the last record."""
        with self.path.open("r+b") as stream:
            stream.truncate(self._ends.pop())
            os.fsync(stream.fileno())
        self.records.pop()

    def _read(self) -> None:
        """Read the records, and remove a last line that was not written to its end."""
        start = 0
        content = self.path.read_bytes()
        for number, line in enumerate(content.splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                self.cut_off = line.decode("utf-8", errors="replace")
                os.truncate(self.path, start)
                break
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict):
                raise FileFormatError(f"{self.path}, line {number}: a JSON object is expected; got {line[:60]!r}.")
            self._ends.append(start)
            self.records.append(record)
            start += len(line)
