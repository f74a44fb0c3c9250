"""What is known already: splits of the rows into classes, and columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from mustlink._information import share_explained, variation
from mustlink._spelling import count
from mustlink._types import Array, Floats, Ints, Mask
from mustlink._warnings import warn_caller

__all__ = [
    "KnownColumn",
    "KnownNumbers",
    "KnownSplit",
    "TakesNumbers",
    "check_finite",
    "check_known",
    "columns_of",
    "have_classes",
    "is_constant",
]


@dataclass(frozen=True)
class KnownSplit:
    """A known split: the number of each row's class, -1 where a new row has another, and the names of the classes."""

    codes: Ints
    classes: Array

    def describes(self, labels: Ints) -> tuple[float, float]:
        """Return I(C;Z)/H(Z), how much of the split clusters explain, and the variation of information."""
        return share_explained(self.codes, labels), variation(self.codes, labels)


@dataclass(frozen=True)
class KnownNumbers:
    """A known column of numbers."""

    values: Floats

    def describes(self, labels: Ints) -> tuple[float, float]:
        """Return the fraction of the variance between clusters, and NaN, as there are no classes."""
        deviation = self.values - self.values.mean()
        total = float(deviation @ deviation)
        sums, sizes = np.bincount(labels, deviation), np.bincount(labels)
        between = float((sums[sizes > 0] ** 2 / sizes[sizes > 0]).sum())
        return (min(between / total, 1.0) if total > 0 else 0.0), np.nan


KnownColumn = KnownSplit | KnownNumbers
TakesNumbers = bool | Literal["fractions"]


def check_known(known: Any, n_rows: int, *, takes_numbers: TakesNumbers = False) -> list[KnownColumn]:
    """Validate what is known of the rows.

    Parameters
    ----------
    known : array-like of shape (n_rows,) or (n_rows, n_splits), list of arrays of length n_rows, or None
        The class of every row in each known split, or numbers.
    n_rows : int
        The number of rows of X.
    takes_numbers : bool or "fractions", default=False
        Which columns of floats are numbers: none (False), all (True), or those with fractions. Others are classes.

    Returns
    -------
    list of KnownSplit and KnownNumbers
        One for each column. A constant column comes with a warning.

    Raises
    ------
    ValueError
        If it has another number of rows, a row without a value, numbers where classes are needed, or one row in
        every class; with the row in the message.
    """
    found = [_check_column(column, where, takes_numbers) for column, where in columns_of(known, n_rows)]
    n_constant = sum(map(is_constant, found))
    if n_constant:
        which = "known is" if len(found) == 1 else f"{count(n_constant, 'column')} of known {_be(n_constant)}"
        warn_caller(f"{which} constant: one class only, which excludes no clustering.", UserWarning)
    splits = [column.codes for column in found if isinstance(column, KnownSplit)]
    if splits and n_rows > 1 and len(np.unique(np.column_stack(splits), axis=0)) == n_rows:
        which = "known has" if len(splits) == 1 else f"The {len(splits)} splits of known together have"
        raise ValueError(
            f"{which} one row in every class, {n_rows:,} classes of {n_rows:,} rows: within a class there is nothing "
            "left to cluster; give a split with fewer classes."
        )
    return found


def columns_of(known: Any, n_rows: int) -> list[tuple[pd.Series[Any], str]]:
    """Return the columns of what is known as they were given, each with its name in messages."""
    if known is None:
        return []
    is_list = isinstance(known, list | tuple) and len(known) not in (0, n_rows)
    if is_list and all(np.ndim(part) == 1 and len(part) == n_rows for part in known):
        # Several splits, one after another.
        known = pd.concat([pd.Series(np.asarray(part)) for part in known], axis=1)
    frame = known if isinstance(known, pd.DataFrame | pd.Series) else pd.DataFrame(_as_array(known))
    frame = frame.to_frame() if isinstance(frame, pd.Series) else frame
    if len(frame) != n_rows:
        raise ValueError(
            f"known must hold one value per row and split: X has {count(n_rows, 'row')}, and known has the shape "
            f"{np.shape(known)}."
        )
    if not frame.shape[1]:
        raise ValueError("known has no column; pass the class of every row, or None if nothing is known.")
    where = ["known"] if frame.shape[1] == 1 else [f"column {place} of known" for place in range(frame.shape[1])]
    return [(frame.iloc[:, place], name) for place, name in enumerate(where)]


def _as_array(known: Any) -> Array:
    """Return anything but a frame as an array of one or two dimensions."""
    if hasattr(known, "to_pandas"):
        return np.asarray(known.to_pandas())
    # NumPy would write out the numbers of a list with text.
    array = np.asarray(known, dtype=None if hasattr(known, "__array__") else object)
    if array.dtype == object:
        array = np.asarray(pd.DataFrame(array.tolist() if array.ndim else [array]).infer_objects())
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise ValueError(
            "known must hold the class of every row, of shape (n_samples,), or one column per known split, of shape "
            f"(n_samples, n_splits); got the shape {np.shape(known)}."
        )
    return array


def _check_column(column: pd.Series[Any], where: str, takes_numbers: TakesNumbers) -> KnownColumn:
    """Return the classes or numbers of a column."""
    column = column.infer_objects()
    is_missing = np.asarray(column.isna() | (column.astype(object) == ""))
    if is_missing.any():
        raise ValueError(
            f"{where} has no value at row {int(is_missing.argmax())} ({count(int(is_missing.sum()), 'row')} in all); "
            "leave out such rows, or give them a class of their own."
        )
    values = np.asarray(column)
    if values.dtype.kind == "f":
        check_finite(values, where)
        is_fraction = values != np.round(values)
        if takes_numbers is True or (takes_numbers == "fractions" and is_fraction.any()):
            return KnownNumbers(values.astype(np.float64))
        if is_fraction.any():
            row = int(is_fraction.argmax())
            raise ValueError(
                f"{where} must hold classes, and has the number {values[row]:g} at row {row}; use "
                'ResidualClustering or CCIB(model="glm") for numbers, or cut them into classes.'
            )
    codes, classes = pd.factorize(column, sort=_can_be_sorted(column))
    return KnownSplit(np.asarray(codes, dtype=np.int64), np.asarray(classes))


def check_finite(values: Array, where: str) -> None:
    """Refuse infinite numbers and NaN in a known column."""
    is_finite = np.isfinite(values)
    if not is_finite.all():
        row = int(is_finite.argmin())
        raise ValueError(f"{where} has the number {values[row]} at row {row}; finite numbers are needed.")


def _can_be_sorted(column: pd.Series[Any]) -> bool:
    """Return whether all classes are of one type; classes of several are numbered by their first rows."""
    return column.dtype != object or column.map(type).nunique() == 1


def _be(number: int) -> str:
    """Return the verb for so many columns."""
    return "is" if number == 1 else "are"


def have_classes(columns: list[KnownColumn], n_rows: int) -> Mask:
    """Return which new rows have a class of the fit in every split."""
    codes = [column.codes for column in columns if isinstance(column, KnownSplit)]
    return np.asarray(np.column_stack(codes).min(axis=1) >= 0) if codes else np.ones(n_rows, dtype=bool)


def is_constant(column: KnownColumn) -> bool:
    """Return whether a column has the same value in every row."""
    values = column.codes if isinstance(column, KnownSplit) else column.values
    return len(values) == 0 or bool((values == values[0]).all())
