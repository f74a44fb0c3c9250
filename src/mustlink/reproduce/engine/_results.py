"""All results of a protocol as one table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from mustlink.reproduce.engine._store import Record

__all__ = ["Results", "nan_mean"]


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
