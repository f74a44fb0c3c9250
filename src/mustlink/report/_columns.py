"""What the columns count in a clustering, as data and as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._drawn import heaviest_columns
from mustlink._spelling import count

__all__ = ["ColumnWeights", "weigh_columns"]

MAX_COLUMNS = 10
MAX_IN_SENTENCE = 3


@dataclass(frozen=True)
class ColumnWeights:
    """What the columns count in a clustering.

    Parameters
    ----------
    heaviest : tuple of (str, float)
        The names of the columns that count most, at most ten, each with its part of the largest weight.
    n_columns : int
        The number of columns.
    n_nothing : int
        How many of them count nothing, or less than a thousandth of the first.

    Examples
    --------
    >>> from mustlink.report import ColumnWeights
    >>> print(ColumnWeights((("age", 1.0), ("income", 0.4)), 12, 10))
    Columns that count most: age, income; 10 of 12 count nothing.
    """

    heaviest: tuple[tuple[str, float], ...]
    n_columns: int
    n_nothing: int

    def __str__(self) -> str:
        names = ", ".join(name for name, _ in self.heaviest[:MAX_IN_SENTENCE])
        return f"Columns that count most: {names}; {self.nothing}."

    @property
    def nothing(self) -> str:
        """How many columns count nothing, in words."""
        if self.n_nothing == 0:
            return f"all {count(self.n_columns, 'column')} count something"
        return f"{self.n_nothing:,} of {self.n_columns:,} {'counts' if self.n_nothing == 1 else 'count'} nothing"

    @property
    def n_less(self) -> int:
        """How many columns count something, but less than those listed."""
        return self.n_columns - self.n_nothing - len(self.heaviest)


def weigh_columns(estimator: Any, names: Sequence[str]) -> ColumnWeights | None:
    """Return what the columns count, or None for a clusterer without column weights or with equal ones."""
    weights = np.asarray(getattr(estimator, "column_weights_", ()), dtype=np.float64)
    if weights.shape != (len(names),) or not np.isfinite(weights).all() or np.ptp(weights) <= 1e-9 * weights.max():
        return None
    chosen, n_nothing = heaviest_columns(weights, MAX_COLUMNS)
    heaviest = tuple((names[column], float(weights[column] / weights.max())) for column in chosen.tolist())
    return ColumnWeights(heaviest, len(names), n_nothing)
