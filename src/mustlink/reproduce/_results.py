"""All results of a protocol as one table to ask."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mustlink.reproduce._store import Record

__all__ = ["Results", "mean_known"]


class Results:
    """The results of many cells, with means over the trials.

    Parameters
    ----------
    records : iterable of Record
        The results. Those that failed are kept apart, in `failures`.

    Attributes
    ----------
    records : list of Record
        The results that have scores.
    failures : list of Record
        The others.

    Examples
    --------
    >>> from mustlink.reproduce import Cell, Record, Results
    >>> results = Results(
    ...     Record(Cell("bckm", "iris", method, 100, trial), {"nmi": nmi})
    ...     for method, trial, nmi in [("BCKM", 0, 0.8), ("BCKM", 1, 0.9), ("CKM", 0, 0.6)]
    ... )
    >>> results.unique("method")
    ['BCKM', 'CKM']
    >>> round(results.mean("nmi", dataset="iris", method="BCKM", amount=100), 3)
    0.85
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.records: list[Record] = []
        self.failures: list[Record] = []
        for record in records:
            (self.records if record.error is None else self.failures).append(record)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def select(self, **wanted: Any) -> Results:
        """Return the results whose cells have these fields.

        Parameters
        ----------
        **wanted : object
            Fields of :class:`Cell` and the value each must have.

        Returns
        -------
        Results
        """
        chosen = Results(())
        chosen.records = [record for record in self.records if _fits(record, wanted)]
        chosen.failures = [record for record in self.failures if _fits(record, wanted)]
        return chosen

    def unique(self, field: str) -> list[Any]:
        """Return the values that a field of the cells takes, in order of appearance.

        Parameters
        ----------
        field : str
            A field of :class:`Cell`.

        Returns
        -------
        list
        """
        return list(dict.fromkeys(getattr(record.cell, field) for record in self.records))

    def amounts(self, **wanted: Any) -> list[float]:
        """Return the amounts that were tried, from the smallest.

        Parameters
        ----------
        **wanted : object
            Fields of :class:`Cell` and the value each must have.

        Returns
        -------
        list of float
        """
        return sorted(self.select(**wanted).unique("amount"))

    def values(self, score: str, **wanted: Any) -> list[Any]:
        """Return a score of every result chosen that has it.

        Parameters
        ----------
        score : str
            Such as ``nmi`` or ``nmi_unconstrained``.
        **wanted : object
            Fields of :class:`Cell` and the value each must have.

        Returns
        -------
        list
        """
        chosen = (record.scores.get(score) for record in self.select(**wanted))
        return [value for value in chosen if value is not None]

    def mean(self, score: str, **wanted: Any) -> float:
        """Return the mean of a score over the results chosen; NaN if there is none.

        Parameters
        ----------
        score : str
            Such as ``nmi``.
        **wanted : object
            Fields of :class:`Cell` and the value each must have.

        Returns
        -------
        float
        """
        values = self.values(score, **wanted)
        return float(np.mean(values)) if values else math.nan

    def spread(self, score: str, **wanted: Any) -> float:
        """Return the standard deviation of a score over the results chosen; NaN if there are fewer than two.

        Parameters
        ----------
        score : str
            Such as ``nmi``.
        **wanted : object
            Fields of :class:`Cell` and the value each must have.

        Returns
        -------
        float
        """
        values = self.values(score, **wanted)
        return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def _fits(record: Record, wanted: dict[str, Any]) -> bool:
    """Say whether a cell has the fields wanted."""
    return all(getattr(record.cell, field) == value for field, value in wanted.items())


def mean_known(values: Iterable[float]) -> float:
    """Return the mean of the values that are numbers; NaN if none is."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
