"""Runs, their results on disk, and all results as one table."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mustlink._atomic import check_writable, make_folder
from mustlink._version import __version__
from mustlink.errors import FileFormatError


@dataclass(frozen=True)
class Run:
    """One run of one method on one draw of links."""

    paper: str  # the name of the protocol
    dataset: str  # a name that mustlink.datasets.load knows
    method: str  # the name of the method in the protocol
    amount: float  # how much is known: a number of links, or a fraction of labeled points
    trial: int  # the repetition, from 0
    noise: float = 0.0  # the fraction of the links that is flipped to the other kind
    rows: int | None = None  # the maximum number of rows, drawn at random; all if None
    measure: str = "scores"  # "scores", or "seconds" for a run that is timed with nothing else running

    def key(self, version: str = __version__) -> str:
        """Return the text under which the result is stored: all fields and the version of the package."""
        return _to_json(asdict(self) | {"version": version})

    @property
    def seed(self) -> int:
        """The seed of the method, a function of all fields."""
        return _seed(asdict(self))

    @property
    def problem_seed(self) -> int:
        """The seed of the links, the same for all methods."""
        fields = asdict(self)
        del fields["method"], fields["measure"]
        return _seed(fields)

    @property
    def rows_seed(self) -> int:
        """The seed of the draw of rows, the same for all methods and all links of a trial."""
        return _seed({"dataset": self.dataset, "rows": self.rows, "trial": self.trial})


def _to_json(fields: dict[str, Any]) -> str:
    """Write fields as one line of JSON, always in the same order."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def _seed(fields: dict[str, Any]) -> int:
    """Return a seed that depends on the fields alone, not on the process or the platform."""
    digest = hashlib.blake2b(_to_json(fields).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


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
        return cls(**content | {"run": Run(**content["run"])})


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

    def check_writable(self) -> None:
        """Make the folder, and raise OSError if results cannot be stored in it, before the first is computed."""
        make_folder(self.path.parent)
        check_writable(self.path)

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


class Results:
    """The results of many runs, with means over the trials; those that failed are listed apart, in `failures`."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records: list[Record] = []
        self.failures: list[Record] = []
        for record in records:
            (self.records if record.error is None else self.failures).append(record)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per result: the fields of the run, and the scores."""
        return pd.DataFrame([asdict(record.run) | record.scores for record in self.records])

    def select(self, **wanted: Any) -> Results:
        """Return the results whose runs have these values of the fields."""
        return Results(
            record
            for record in (*self.records, *self.failures)
            if all(getattr(record.run, field) == value for field, value in wanted.items())
        )

    def unique(self, field: str) -> list[Any]:
        """Return the values of a field of the runs, in order of appearance."""
        return list(dict.fromkeys(getattr(record.run, field) for record in self.records))

    def amounts(self, **wanted: Any) -> list[float]:
        """Return the amounts that were tried, in ascending order."""
        return sorted(self.select(**wanted).unique("amount"))

    def values(self, score: str, **wanted: Any) -> list[Any]:
        """Return a score of every selected result that has it."""
        selected = (record.scores.get(score) for record in self.select(**wanted))
        return [value for value in selected if value is not None]

    def mean(self, score: str, **wanted: Any) -> float:
        """Return the mean of a score over the selected results; NaN if there is none."""
        return nan_mean(self.values(score, **wanted))

    def means(self, score: str, *fields: str) -> dict[Any, float]:
        """Return the mean of a score for every combination of some fields; empty if no result has the score."""
        if score not in self.frame:
            return {}
        found: dict[Any, float] = self.frame.groupby(list(fields), sort=False)[score].mean().to_dict()
        return found


def nan_mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are numbers; NaN if none is."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
