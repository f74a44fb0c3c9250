"""Results on disk: one line of JSON per finished run, from which an interrupted command resumes."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mustlink._version import __version__
from mustlink.errors import FileFormatError
from mustlink.reproduce.engine._run import Run

__all__ = ["Record", "ResultStore"]


@dataclass(frozen=True)
class Record:
    """The result of one run."""

    run: Run
    scores: dict[str, Any]  # numbers, and lists of numbers; empty if the run failed
    error: str | None = None  # why it failed
    warnings: list[str] = field(default_factory=list)  # of the method, each text once
    version: str = __version__  # of the package that computed it

    @property
    def key(self) -> str:
        """The text under which the record is stored."""
        return self.run.key(self.version)

    def to_line(self) -> str:
        """Write the record as one line, numbers that are not finite as null."""
        content: dict[str, Any] = {"version": self.version, "run": asdict(self.run), "scores": self.scores}
        if self.error is not None:
            content["error"] = self.error
        if self.warnings:
            content["warnings"] = self.warnings
        return json.dumps(_without_nan(content), allow_nan=False, separators=(",", ":")) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Read a line that `to_line` wrote."""
        content = json.loads(line)
        return cls(
            Run(**content["run"]),
            dict(content["scores"]),
            content.get("error"),
            list(content.get("warnings", ())),
            content["version"],
        )


def _without_nan(value: Any) -> Any:
    """Replace numbers that JSON does not have by None, also inside lists and dictionaries."""
    if isinstance(value, dict):
        return {name: _without_nan(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class ResultStore:
    """A file of results to which lines are only added; it is made when the first result is added."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._tail_checked = False

    def read(self) -> dict[str, Record]:
        """Read all results by their keys; a later line replaces an earlier one, and one that was cut off is ignored."""
        if not self.path.exists():
            return {}
        records: dict[str, Record] = {}
        for number, line in enumerate(self.path.read_bytes().splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                break
            try:
                record = Record.from_line(line.decode())
            except (ValueError, KeyError, TypeError) as error:
                raise FileFormatError(
                    f"{self.path}, line {number}: this is not a result ({type(error).__name__}: {error}). "
                    "Remove the line, or the file to compute all results again."
                ) from error
            records[record.key] = record
        return records

    def append(self, record: Record) -> None:
        """Add a result; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self._tail_checked:
            self._cut_unfinished_line()
            self._tail_checked = True
        with self.path.open("a", encoding="utf-8") as file:
            file.write(record.to_line())
            file.flush()
            os.fsync(file.fileno())

    def clear(self) -> None:
        """Delete all results."""
        self.path.unlink(missing_ok=True)

    def _cut_unfinished_line(self) -> None:
        """Cut off a half-written last line, to which the next result would otherwise be appended."""
        content = self.path.read_bytes() if self.path.exists() else b""
        complete = content.rfind(b"\n") + 1
        if complete < len(content):
            os.truncate(self.path, complete)
