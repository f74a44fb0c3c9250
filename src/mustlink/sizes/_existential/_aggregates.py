"""Aggregates as in SQL, such as ``count >= 50`` or ``max(income) >= 100000``: their words, and what they reduce to.

Each is a sum over the rows of a cluster that is compared with a bound. Where the summands are 0 and 1 and the sum has a
minimum, it is an existential constraint: at least so many rows of a kind. All others are sums that have to be checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._spelling import spell_number
from mustlink._types import Array, Floats, Mask
from mustlink.errors import InfeasibleError

__all__ = ["Aggregate", "PivotKind", "SummedValue", "aggregate_values", "parse_aggregate"]

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    "!=": np.not_equal,
    "=": np.equal,
    ">=": np.greater_equal,
    ">": np.greater,
}
# No table has more rows; a larger count is as far out of reach.
MAX_COUNT = 2**40
SPELLINGS = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">="}
MIRRORED = {"<": ">", "<=": ">=", "!=": "!=", "=": "=", ">=": "<=", ">": "<"}
# The operators by which a number of rows has a maximum.
COUNT_LIMITS = ("<=", "<", "=")
FUNCTIONS = ("count", "sum", "avg", "max", "min")

_OPERATOR = r"<=|>=|=<|=>|!=|<>|==|=|<|>"
_AGGREGATE = re.compile(
    rf"\s*(?P<function>[A-Za-z]+)\s*(?:\((?P<argument>.*)\))?\s*(?P<operator>{_OPERATOR})\s*(?P<bound>[^<>=!]+?)\s*"
)
_CONDITION = re.compile(rf"\s*(?P<column>.+?)\s*(?P<operator>{_OPERATOR})\s*(?P<bound>[^<>=!]+?)\s*")
_EXAMPLES = '"count >= 50", "count(age >= 65) >= 5", "max(income) >= 100000", "sum(sales) >= 1e6" or "avg(age) <= 40"'


@dataclass(frozen=True)
class PivotKind:
    """Rows of which every cluster needs a minimum; the minimum is one for all clusters or one for each."""

    is_pivot: Mask
    minimum: Any
    wording: str


@dataclass(frozen=True)
class SummedValue:
    """Numbers of the rows whose sum over each cluster is compared with a bound.

    `overall` says what the constraint looks at is over all rows, where that is not the sum of the values.
    """

    values: Floats
    operator: str
    bound: float
    wording: str
    overall: str = ""

    @property
    def is_count_limit(self) -> bool:
        """Whether it is a number of rows with a maximum."""
        return self.operator in COUNT_LIMITS and bool(np.isin(self.values, (0.0, 1.0)).all())


@dataclass(frozen=True)
class Aggregate:
    """An aggregate as it was written: function, column, operator and bound; `condition` selects the rows to count."""

    text: str
    function: str
    column: str | None
    operator: str
    bound: float
    condition: tuple[str, float] | None = None

    def reduce(self, column: Floats | None, n_rows: int) -> tuple[list[PivotKind], list[SummedValue]]:
        """Return the existential constraints and the sums to check that together say the same.

        Parameters
        ----------
        column : ndarray of shape (n_rows,) or None
            The values of the column that it names, if it names one.
        n_rows : int
            The number of rows.

        Raises
        ------
        InfeasibleError
            If a single row makes it impossible, such as one above a maximum.
        """
        if self.function == "count":
            counted = np.ones(n_rows, dtype=bool)
            if self.condition is not None and column is not None:
                counted = COMPARE[self.condition[0]](column, self.condition[1])
            if self.operator in (">=", ">"):
                return [PivotKind(counted, self._least_whole(), self.text)], []
            if self.operator == "!=" and self.bound == 0:
                return [PivotKind(counted, 1, self.text)], []
            return [], [SummedValue(counted.astype(np.float64), self.operator, self.bound, self.text)]
        assert column is not None, self.text
        if self.function == "sum":
            return [], [SummedValue(column, self.operator, self.bound, self.text)]
        # The other functions have no value in an empty cluster.
        filled = PivotKind(np.ones(n_rows, dtype=bool), 1, f"{self.text}, in a cluster with rows")
        if self.function == "avg":
            overall = f"the average of all rows is {spell_number(float(column.mean()))}"
            return [filled], [SummedValue(column - self.bound, self.operator, 0.0, self.text, overall)]
        if self.function == "max":
            return self._reduce_maximum(column, self.operator, self.bound, filled)
        return self._reduce_maximum(-column, MIRRORED[self.operator], -self.bound, filled)

    def _reduce_maximum(
        self, column: Floats, operator: str, bound: float, filled: PivotKind
    ) -> tuple[list[PivotKind], list[SummedValue]]:
        """Return what a comparison of the maximum says; a minimum is that of the negative values."""
        if operator in (">=", ">"):
            return [PivotKind(COMPARE[operator](column, bound), 1, self.text)], []
        if operator == "!=":
            # Zero or above: a row exceeds the bound, or none is equal to it.
            values = len(column) * (column > bound).astype(np.float64) - (column == bound)
            return [filled], [SummedValue(values, ">=", 0.0, self.text)]
        beyond = ~COMPARE["<=" if operator == "=" else operator](column, bound)
        if beyond.any():
            row = int(np.argmax(beyond))
            value = column[row] if self.function == "max" else -column[row]
            raise InfeasibleError(
                f"No clustering satisfies {self.text!r}: row {row} has {value:g}, and every row is in some cluster",
                remedy="drop_aggregate",
            )
        return ([PivotKind(column == bound, 1, self.text)], []) if operator == "=" else ([filled], [])

    def _least_whole(self) -> int:
        """Return the least count that the operator and the bound allow."""
        least = math.ceil(self.bound) if self.operator == ">=" else math.floor(self.bound) + 1
        return min(max(0, least), MAX_COUNT)


def parse_aggregate(text: Any) -> Aggregate:
    """Read an aggregate such as ``max(income) >= 100000``.

    Parameters
    ----------
    text : str
        A function (count, sum, avg, max or min), for all but count a column in parentheses, an operator and a number.
        Count may have a condition in parentheses, and then counts the rows that satisfy it.

    Returns
    -------
    Aggregate

    Raises
    ------
    ValueError
        With what is wrong.
    """
    if not isinstance(text, str):
        raise TypeError(f"aggregates must be texts such as {_EXAMPLES}, got {text!r}.")
    found = _AGGREGATE.fullmatch(text)
    if found is None:
        raise ValueError(f"The aggregate {text!r} is not of the form {_EXAMPLES}.")
    function = found["function"].lower().replace("mean", "avg")
    operator = SPELLINGS.get(found["operator"], found["operator"])
    if function not in FUNCTIONS:
        raise ValueError(
            f"The aggregate {text!r} has the function {found['function']!r}; the functions are {', '.join(FUNCTIONS)}."
        )
    bound = _read_bound(found["bound"], text)
    argument = (found["argument"] or "").strip()
    if function == "count":
        if argument in ("", "*"):
            return Aggregate(text, function, None, operator, bound)
        condition = _CONDITION.fullmatch(argument)
        if condition is None:
            raise ValueError(
                f"The aggregate {text!r} counts {argument!r}; count takes nothing, or a condition as in "
                '"count(age >= 65) >= 5".'
            )
        inner = SPELLINGS.get(condition["operator"], condition["operator"])
        return Aggregate(
            text, function, condition["column"], operator, bound, (inner, _read_bound(condition["bound"], text))
        )
    if not argument:
        raise ValueError(f'The aggregate {text!r} names no column; write it in parentheses, as in "{function}(age)".')
    return Aggregate(text, function, argument, operator, bound)


def _read_bound(number: str, text: str) -> float:
    """Read a finite number."""
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise ValueError(f"The aggregate {text!r} compares with {number!r}, which is not a finite number.")
    return bound


def aggregate_values(
    aggregate: Aggregate, get_column: Callable[[str], Floats], labels: Array, n_clusters: int
) -> Floats:
    """Return the value of an aggregate in every cluster; NaN for an average, maximum or minimum of no rows."""
    column = np.ones(len(labels)) if aggregate.column is None else get_column(aggregate.column)
    if aggregate.condition is not None:
        column = COMPARE[aggregate.condition[0]](column, aggregate.condition[1]).astype(np.float64)
    if aggregate.function in ("count", "sum"):
        return np.bincount(labels, column, n_clusters).astype(np.float64)
    functions: dict[str, Callable[[Floats], Any]] = {"avg": np.mean, "max": np.max, "min": np.min}
    compute = functions[aggregate.function]
    parts = (column[labels == cluster] for cluster in range(n_clusters))
    return np.array([compute(part) if part.size else math.nan for part in parts])
