"""The columns of quasi-identifiers: as scaled features to group by, and as published values of a group.

Every column that varies gets features of total variance 1, so that each counts equally in the sum of squares, and the
information lost in all is the mean of that lost in the columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.errors import OptionError

__all__ = ["Column", "Values", "is_identifying", "make_column"]

Values = Literal["ranges", "centers", "modes"]

# More categories make too many features; the rows of a group would share none of them anyway.
MAX_CATEGORIES = 256
# Centers are rounded to a step of at least this part of the standard deviation.
STEP_PART = 0.1
# From here on a float64 does not hold every whole number.
MAX_WHOLE = 2**53
# What stands between the two ends of a range. A spreadsheet would read 3-5 as a date.
RANGE = " to "
SET = " | "
ANY = "*"


@dataclass(frozen=True)
class Column:
    """A quasi-identifier whose values are numbers, or places in an order or a list of categories.

    Parameters
    ----------
    name : str
        The name of the column.
    values : ndarray of float64, shape (n_rows,)
        Its numbers, or the places of its categories in `categories`.
    exact : ndarray of shape (n_rows,)
        The same without rounding, in the same order: large whole numbers, and times, are more than a float64 can hold.
    restore : callable
        Returns published values for an array of exact values.
    spell : callable
        Returns the text of one exact value.
    from_mean : callable
        Returns exact values for an array of rounded means.
    categories : tuple of str, default=()
        The categories of a column without an order.
    """

    name: str
    values: Floats
    exact: Array
    restore: Callable[[Array], Any]
    spell: Callable[[Any], str]
    from_mean: Callable[[Floats], Array] = np.asarray
    categories: tuple[str, ...] = ()
    is_ordered: bool = False

    @property
    def kind(self) -> str:
        """What the column holds: numbers, ordered categories or categories."""
        if self.categories:
            return "categories"
        return "ordered categories" if self.is_ordered else "numbers"

    @cached_property
    def features(self) -> Floats:
        """The features, of mean 0 and total variance 1 (0 if the column is constant)."""
        if not self.categories:
            # Divided first: the squares of large numbers overflow.
            features = (self.values / (np.abs(self.values).max() or 1.0))[:, None]
        else:
            features = (self.values[:, None] == np.arange(len(self.categories))).astype(np.float64)
        if (self.values == self.values[0]).all():
            return np.zeros_like(features)
        features = features - features.mean(axis=0)
        scaled: Floats = features / np.sqrt(features.var(axis=0).sum())
        return scaled

    def widths(self, labels: Ints) -> Floats:
        """Return the normalized certainty penalty of each group: the width of its range within that of the column.

        For categories it is the fraction of all categories that the group holds, 0 if it holds one.
        """
        if self.categories:
            held = _n_distinct(self.values.astype(np.int64), labels)
            return np.where(held > 1, held / len(self.categories), 0.0)
        low, high = _extremes(self.values, labels)
        # Divided before the difference, which may overflow.
        largest = np.abs(self.values).max() or 1.0
        spread = self.values.max() / largest - self.values.min() / largest
        return (high / largest - low / largest) / (spread or 1.0)

    def publish(self, labels: Ints, values: Values) -> Any:
        """Return the published value of each group."""
        if values == "modes" or (values == "centers" and (self.categories or self.is_ordered)):
            return self.restore(self.exact[_mode_rows(self.exact, self.values, labels)])
        if values == "centers":
            return self.restore(self.from_mean(self._rounded(_means(self.values, labels))))
        if self.categories:
            return self._sets(labels)
        ends = zip(*_extremes(self.exact, labels), strict=True)
        # A range whose ends have the same text is that text.
        return [RANGE.join(dict.fromkeys([self.spell(low), self.spell(high)])) for low, high in ends]

    def _rounded(self, means: Floats) -> Floats:
        """Round to 1, 2 or 5 times a power of ten, at least a tenth of the standard deviation."""
        size = np.abs(self.values).max() or 1.0
        spread = float((self.values / size).std() * size)
        if spread == 0:
            return means
        wanted = STEP_PART * spread
        power = 10.0 ** math.floor(math.log10(wanted))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * (1 - 1e-9))
        # Division by a whole number leaves fewer digits than multiplication by 0.1.
        rounded: Floats = np.round(means / step) / round(1 / step) if step < 1 else np.round(means / step) * step
        return rounded

    def _sets(self, labels: Ints) -> list[str]:
        """Return the categories of each group; all categories are one star."""
        pairs = np.unique(np.column_stack([labels, self.values.astype(np.int64)]), axis=0)
        starts = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
        held = np.split(pairs[:, 1], starts[1:])
        return [
            ANY if len(places) == len(self.categories) > 1 else SET.join(self.categories[place] for place in places)
            for places in held
        ]


def make_column(name: str, series: pd.Series, *, ordered: bool, decimal: str) -> Column:
    """Make the column of a quasi-identifier without missing cells, by its type.

    Numbers and times are numbers; everything else is categories, in an order if the type has one or it is asked for.
    Categories are sorted unless their type has an order.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.ordered:
            series = series.cat.remove_unused_categories()
            return _category_column(name, series.cat.codes.to_numpy(), series.cat.categories, ordered=True)
        series = series.astype(dtype.categories.dtype)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _time_column(name, series)
    is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    if is_number and not pd.api.types.is_complex_dtype(dtype) and not ordered:
        return _number_column(name, series, decimal)
    try:
        codes, values = pd.factorize(series, sort=True)
    except TypeError:
        # Values of several types have no order.
        codes, values = pd.factorize(series.astype(str), sort=True)
    return _category_column(name, *_by_number(codes, values), ordered)


def _by_number(codes: Array, values: Any) -> tuple[Array, Any]:
    """Return sorted categories with texts of digits by their numbers: 9 before 10."""
    if not all(isinstance(value, str) and value.isascii() and value.isdigit() for value in values):
        return codes, values
    numbers = [value.lstrip("0") for value in values]
    order = sorted(range(len(numbers)), key=lambda place: (len(numbers[place]), numbers[place]))
    return np.argsort(order)[codes], values[order]


def _number_column(name: str, series: pd.Series, decimal: str) -> Column:
    """Make a column of numbers; whole ones stay whole where they are published as they are."""
    numbers = series.to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise OptionError(f"Row {row} of the quasi-identifier {name!r} is {numbers[row]}, which is no finite number.")
    if pd.api.types.is_integer_dtype(series.dtype):
        unsigned = pd.api.types.is_unsigned_integer_dtype(series.dtype)
        whole = series.to_numpy(dtype=np.uint64 if unsigned else np.int64)
        return Column(name, numbers, whole, _restore_numbers, str)
    # A float32 is spelled with its own digits.
    of_type = np.float32 if str(series.dtype).lower() == "float32" else np.float64

    def spell(value: np.float64) -> str:
        if value.is_integer() and abs(value) < MAX_WHOLE:
            return str(int(value))
        return str(of_type(value)).replace(".", decimal)

    def restore(values: Floats) -> Any:
        restored = _restore_numbers(values)
        return restored.astype(of_type) if restored.dtype.kind == "f" else restored

    return Column(name, numbers, numbers, restore, spell)


def _restore_numbers(values: Array) -> Array:
    """Return numbers as they are published: whole ones without decimals."""
    if values.dtype.kind != "f":
        return values
    is_whole = np.equal(np.round(values), values).all() and np.abs(values).max(initial=0.0) < MAX_WHOLE
    return values.astype(np.int64) if is_whole else values


def _time_column(name: str, series: pd.Series) -> Column:
    """Make a column of dates or times, as days since 1970."""
    zone = getattr(series.dtype, "tz", None)
    stamps = series.dt.tz_convert("UTC").dt.tz_localize(None) if zone is not None else series
    days = (stamps - pd.Timestamp(0)).to_numpy() / np.timedelta64(1, "D")

    def restore(values: Array) -> Any:
        times = pd.DatetimeIndex(values)
        return times if zone is None else times.tz_localize("UTC").tz_convert(zone)

    def spell(value: Any) -> str:
        return str(restore(np.array([value]))[0].isoformat(sep=" ")).removesuffix(" 00:00:00")

    def from_mean(means: Floats) -> Array:
        return pd.to_datetime(means, unit="D").round("s").to_numpy()

    return Column(
        name, np.asarray(days, dtype=np.float64), pd.DatetimeIndex(stamps).to_numpy(), restore, spell, from_mean
    )


def _category_column(name: str, codes: Array, values: Any, ordered: bool | None) -> Column:
    """Make a column of categories."""
    texts = [str(value) for value in values]
    if not ordered and len(texts) > MAX_CATEGORIES:
        raise OptionError(
            f"The quasi-identifier {name!r} has {count(len(texts), 'category', 'categories')}, and at most "
            f"{MAX_CATEGORIES} can be compared without an order",
            remedy="order_categories",
            column=name,
        )
    kept = pd.Index(values)

    def spell(place: Any) -> str:
        return texts[place]

    return Column(
        name,
        codes.astype(np.float64),
        codes.astype(np.intp),
        kept.take,
        spell,
        categories=() if ordered else tuple(texts),
        is_ordered=bool(ordered),
    )


def is_identifying(series: pd.Series) -> bool:
    """Return whether a column names the rows: no two cells are equal, and it is no measurement."""
    is_measured = pd.api.types.is_float_dtype(series.dtype) and not (series.dropna() % 1 == 0).all()
    return len(series) > 1 and not is_measured and bool(series.is_unique)


def _extremes(values: Array, labels: Ints) -> tuple[Array, Array]:
    """Return the least and the greatest value of each group."""
    order = np.lexsort((values, labels))
    sizes = np.bincount(labels)
    ends = np.cumsum(sizes)
    return values[order[ends - sizes]], values[order[ends - 1]]


def _means(values: Floats, labels: Ints) -> Floats:
    """Return the mean of each group."""
    sizes = np.bincount(labels)
    return np.bincount(labels, values / sizes[labels]).astype(np.float64)


def _mode_rows(exact: Array, values: Floats, labels: Ints) -> Indices:
    """Return a row with the most frequent value of each group; of several, the one nearest to its mean."""
    places = np.unique(exact, return_inverse=True)[1]
    pairs, rows, counts = np.unique(np.column_stack([labels, places]), axis=0, return_index=True, return_counts=True)
    groups = pairs[:, 0]
    order = np.lexsort((np.abs(values[rows] - _means(values, labels)[groups]), -counts, groups))
    firsts = np.unique(groups[order], return_index=True)[1]
    return rows[order[firsts]]


def _n_distinct(codes: Ints, labels: Ints) -> Ints:
    """Return the number of different codes in each group."""
    return np.bincount(np.unique(np.column_stack([labels, codes]), axis=0)[:, 0])
