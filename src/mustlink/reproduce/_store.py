"""Results on disk: one line of JSON per finished cell, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mustlink._version import __version__
from mustlink.errors import FileFormatError
from mustlink.reproduce._cell import Cell

__all__ = ["Record", "ResultStore"]


@dataclass(frozen=True)
class Record:
    """What came of one cell.

    Parameters
    ----------
    cell : Cell
        The cell.
    scores : dict of str to object
        Its figures: numbers, and lists of numbers; empty if the cell failed.
    error : str, default=None
        Why it failed.
    warnings : list of str
        What the method warned of, each text once.
    version : str
        The version of the package that computed it.
    """

    cell: Cell
    scores: dict[str, Any]
    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    version: str = __version__

    @property
    def key(self) -> str:
        """The text under which the record is kept."""
        return self.cell.key(self.version)

    def to_line(self) -> str:
        """Write the record as one line, numbers that are none as null."""
        content: dict[str, Any] = {"version": self.version, "cell": self.cell.description(), "scores": self.scores}
        if self.error is not None:
            content["error"] = self.error
        if self.warnings:
            content["warnings"] = self.warnings
        return json.dumps(_without_nan(content), allow_nan=False, separators=(",", ":")) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Read what `to_line` wrote."""
        content = json.loads(line)
        return cls(
            Cell(**content["cell"]),
            dict(content["scores"]),
            content.get("error"),
            list(content.get("warnings", ())),
            content["version"],
        )


def _without_nan(value: Any) -> Any:
    """Replace what JSON cannot say by None, all the way down."""
    if isinstance(value, dict):
        return {name: _without_nan(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class ResultStore:
    """A file of results that is only ever added to.

    Parameters
    ----------
    path : path-like
        The file; it and its folder are made when the first result is added.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mustlink.reproduce import Cell, Record, ResultStore
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = ResultStore(Path(folder.name) / "bckm.jsonl")
    >>> store.append(Record(Cell("bckm", "iris", "BCKM", 100, trial=0), {"nmi": 0.9}))
    >>> [record.scores for record in store.read().values()]
    [{'nmi': 0.9}]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._tail_checked = False

    def read(self) -> dict[str, Record]:
        """Read all results; a last line that was cut off is ignored, and a later line replaces an earlier one.

        Returns
        -------
        dict of str to Record
            By the keys of their cells.

        Raises
        ------
        FileFormatError
            If a line before the last is not a result.
        """
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
                    "Remove the line, or the file to start anew."
                ) from error
            records[record.key] = record
        return records

    def append(self, record: Record) -> None:
        """Add a result, on disk when this returns.

        Parameters
        ----------
        record : Record
            The result.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self._tail_checked:
            self._cut_unfinished_tail()
            self._tail_checked = True
        with self.path.open("a", encoding="utf-8") as file:
            file.write(record.to_line())
            file.flush()
            os.fsync(file.fileno())

    def clear(self) -> None:
        """Forget all results."""
        self.path.unlink(missing_ok=True)

    def _cut_unfinished_tail(self) -> None:
        """Cut off a half-written last line, which the next result would otherwise be glued to."""
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)
