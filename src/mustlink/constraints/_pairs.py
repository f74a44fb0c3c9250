"""Pairs of rows as arrays: checked, each pair once, smaller index first, sorted."""

from __future__ import annotations

import reprlib
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mustlink._spelling import count
from mustlink.errors import ConstraintError

# The most pairs that an error message lists.
MAX_SHOWN = 5
MAX_ROW = int(np.iinfo(np.int64).max)
# The square of a larger sum of weights overflows a float.
MAX_TOTAL_WEIGHT = 1e150


def as_pairs(pairs: ArrayLike | None, kind: str) -> NDArray[np.int64]:
    """Check what the user gave as pairs and return it as an integer array of shape (m, 2)."""
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    try:
        array = np.asarray(pairs)
    except ValueError:  # lists of different lengths
        number, odd = next((i, pair) for i, pair in enumerate(pairs) if np.size(pair) != 2)  # type: ignore[arg-type]
        raise ConstraintError(f"A {kind} is a pair of two row numbers, and number {number} is {odd!r}.") from None
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ConstraintError(
            f"The {kind}s must be pairs of row numbers, an array of shape (m, 2); got shape {array.shape}."
        )
    rows = _as_row_numbers(array, kind)
    negative = np.flatnonzero((rows < 0).any(axis=1))
    if negative.size:
        pair = name_pair(rows[negative[0]])
        raise ConstraintError(
            f"A {kind} names the rows {pair}, and a row number cannot be negative.",
            to_tuples(rows[negative]),
        )
    same = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if same.size:
        raise ConstraintError(
            f"A {kind} joins row {rows[same[0], 0]} with itself; a link needs two different rows.",
            to_tuples(rows[same]),
        )
    return rows


def _as_row_numbers(array: NDArray[Any], kind: str) -> NDArray[np.int64]:
    """Convert numbers of any type to int64, and refuse those that are not integers."""
    if array.dtype.kind == "i":
        return array.astype(np.int64)
    if array.dtype.kind == "u":
        _refuse_pairs(array, kind, array > MAX_ROW)
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        _refuse_other_than_numbers(array, kind)
    numbers = array.astype(np.float64)
    # Beyond 2 ** 53 a float cannot represent every integer.
    _refuse_pairs(array, kind, ~((np.abs(numbers) < 2.0**53) & (numbers == np.floor(numbers))))
    return numbers.astype(np.int64)


def _refuse_other_than_numbers(array: NDArray[Any], kind: str) -> None:
    """Raise an error that shows the first entry that is text, a truth value or nothing.

    Text is refused even if it reads as a number, because it is more likely an id than the number of a row.
    """
    for value in array.ravel().tolist():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ConstraintError(
                f"The {kind}s must hold whole row numbers; got values such as {value!r}. For links by id, read them "
                "with ids=."
            )


def _refuse_pairs(array: NDArray[Any], kind: str, is_bad: NDArray[np.bool_]) -> None:
    """Raise an error that shows the first pair with a bad entry, if there is one."""
    bad = np.flatnonzero(is_bad.any(axis=1))
    if bad.size:
        raise ConstraintError(
            f"The {kind}s must hold whole row numbers; number {bad[0]} holds {array[bad[0]].tolist()}."
        )


def as_count(value: object, name: str, *, least: int = 0) -> int:
    """Check a number of rows or clusters and return it as a plain integer."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        given = reprlib.repr(value)
        if hasattr(value, "__len__") and not isinstance(value, str):
            size = f"shape {value.shape}" if hasattr(value, "shape") else f"length {len(value)}"
            given = f"{type(value).__name__} of {size}"
        raise ConstraintError(f"{name} must be a whole number; got {given}.")
    if value < least:
        raise ConstraintError(f"{name} must be at least {least}; got {value}.")
    return int(value)


def as_weights(weights: ArrayLike | float | None, pairs: NDArray[np.int64], kind: str) -> NDArray[np.float64]:
    """Check the weights of pairs: one positive finite number each, or one number for all of them."""
    n_pairs = len(pairs)
    if weights is None:
        return np.ones(n_pairs)
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConstraintError(f"The weights of the {kind}s must be numbers.") from None
    if array.ndim == 0:
        array = np.full(n_pairs, float(array))
    if array.shape != (n_pairs,):
        given = count(array.size, "weight") if array.ndim == 1 else f"weights of shape {array.shape}"
        are = "is" if n_pairs == 1 else "are"
        raise ConstraintError(f"There {are} {count(n_pairs, kind)} but {given}; give one weight for each link.")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        first = bad[0]
        raise ConstraintError(
            f"The {kind} of rows {name_pair(pairs[first])} has the weight {array[first]:g}; "
            "a weight must be positive and finite.",
            to_tuples(pairs[bad]),
        )
    return array


def check_total_weight(pairs: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
    """Refuse weights so large that sums of penalties overflow."""
    with np.errstate(over="ignore"):
        is_too_large = weights.sum() > MAX_TOTAL_WEIGHT
    if is_too_large:
        largest = int(weights.argmax())
        raise ConstraintError(
            f"The weights are too large to be added: the link of rows {name_pair(pairs[largest])} has "
            f"{weights[largest]:g}, and the sum of all {len(weights):,} may be at most {MAX_TOTAL_WEIGHT:g}; divide "
            "them by a common factor.",
            to_tuples(pairs[[largest]]),
        )


def each_once(
    pairs: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.intp]]:
    """Put the smaller index first, sort, and merge equal pairs; return them with their summed weights and counts."""
    low, high = pairs.min(axis=1, initial=np.iinfo(np.int64).max), pairs.max(axis=1, initial=0)
    # The weight is the last sort key, so the rounded sums do not depend on the order of the pairs.
    order = np.lexsort((weights, high, low))
    low, high, weights = low[order], high[order], weights[order]
    if len(low) == 0:
        return np.empty((0, 2), dtype=np.int64), weights, np.empty(0, dtype=np.intp)
    first = np.flatnonzero(np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])])
    once = np.column_stack([low[first], high[first]])
    with np.errstate(over="ignore"):
        added = np.add.reduceat(weights, first)
    infinite = np.flatnonzero(np.isinf(added))
    if infinite.size:
        raise ConstraintError(
            f"The weights of rows {name_pair(once[infinite[0]])} overflow a float when added.",
            to_tuples(once[infinite]),
        )
    return once, added, np.diff(np.append(first, len(low)))


def in_both(one: NDArray[np.int64], other: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the pairs that are in both sorted lists; return their positions in each."""
    low, high = np.concatenate([one, other]).T
    side = np.repeat([0, 1], [len(one), len(other)])
    order = np.lexsort((side, high, low))
    low, high = low[order], high[order]
    twin = np.flatnonzero((low[1:] == low[:-1]) & (high[1:] == high[:-1]))
    return order[twin], order[twin + 1] - len(one)


def to_tuples(pairs: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Convert an array of pairs to plain tuples."""
    return [(int(a), int(b)) for a, b in pairs]


def name_pair(pair: NDArray[np.int64]) -> str:
    """Format the two rows of a pair for a sentence."""
    return f"{pair[0]} and {pair[1]}"


def name_pairs(pairs: NDArray[np.int64]) -> str:
    """List the first pairs, and how many more there are."""
    named = ", ".join(f"({a}, {b})" for a, b in pairs[:MAX_SHOWN])
    return named if len(pairs) <= MAX_SHOWN else f"{named} and {len(pairs) - MAX_SHOWN} more"


def name_rows(n_samples: int) -> str:
    """Word how many rows a table has, and how they are numbered."""
    if n_samples > 1:
        return f"{n_samples} rows, numbered 0 to {n_samples - 1}"
    return "1 row, number 0" if n_samples else "no rows"
