"""A table of numbers and categories, and the way back to the line of the file."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from mustlink.errors import FileFormatError, join_problems
from mustlink.tables._dates import DATE, DATE_TIME, HOURS, days_of, days_unit, spell_time
from mustlink.tables._dialect import Dialect
from mustlink.tables._judge import Judgement, column_problem, judge_columns, shorten
from mustlink.tables._numbers import is_padded

__all__ = ["Table", "check_columns", "columns_left_out", "is_text", "make_frame", "text_column", "tidy_frame"]

# Cells that count as empty, in any file.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "?")
MAX_SHOWN_COLUMNS = 12
# What is read as a date, a time of day or a duration.
TIMES = (datetime.date, datetime.time, datetime.timedelta)

Where = Callable[[int], str]


@dataclass(frozen=True)
class Table:
    """Columns of numbers and of categories, and where they came from.

    Parameters
    ----------
    source : str
        The name of the file, for messages.
    frame : pandas.DataFrame
        Columns of float32 or float64, and categorical columns of strings in the order of their first row.
    notices : tuple of str, default=()
        What the reader decided and the user should know.
    where : callable, optional
        Returns the position of a row in the file as text, such as "line 3" for row 1. By default "row 1".
    dialect : Dialect or None, default=None
        How the file is written, if it is a text file.
    left_out : tuple of str, default=()
        The names of the columns that were not read.
    sheet : str or None, default=None
        The sheet that was read, if the file is one of Excel.
    units : mapping of str to str, default={}
        What the numbers of a column stand for: "date" or "date and time" (days since 1970-01-01), "hours", "%" or a
        currency.
    problems : tuple of FileFormatError, default=()
        What is wrong with columns. :func:`encode` refuses a table with problems.

    See Also
    --------
    read_table : Reads one from a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink.tables import Table
    >>> table = Table.from_frame(pd.DataFrame({"age": [31, 40], "plan": ["pro", "basic"]}))
    >>> table.names, table.strings("age"), table.where(1)
    (('age', 'plan'), ['31', '40'], 'row 1')
    """

    source: str
    frame: pd.DataFrame
    notices: tuple[str, ...] = ()
    # Made by a factory: Sphinx would take the docstring of str.format for that of the field.
    where: Where = field(default_factory=lambda: "row {}".format, repr=False, compare=False)
    dialect: Dialect | None = None
    left_out: tuple[str, ...] = ()
    sheet: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[FileFormatError, ...] = ()

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        source: str = "The data frame",
        text: Collection[str] = (),
        ignore: Collection[str] = (),
        columns: Collection[str] | None = None,
        problems: Literal["raise", "keep"] = "raise",
    ) -> Table:
        """Make a table of a data frame.

        Parameters
        ----------
        frame : pandas or polars DataFrame
            Columns of numbers, dates, times, text, categories and truth values; the index is not used.
        source : str, default="The data frame"
            What the frame is called in messages.
        text : collection of str, default=()
            Numeric columns to take as categories.
        ignore : collection of str, default=()
            Columns to leave out.
        columns : collection of str or None, default=None
            The columns to take; None takes all.
        problems : {"raise", "keep"}, default="raise"
            What to do about columns that cannot be used, as in :func:`read_table`.

        Returns
        -------
        Table
        """
        frame = _as_pandas(frame)
        judged = tidy_frame(source, frame, text=text, ignore=ignore, columns=columns)
        if problems == "raise" and judged.problems:
            raise join_problems(source, judged.problems)
        return cls.from_judged(source, judged, len(frame))

    @classmethod
    def from_judged(cls, source: str, judged: Judgement, n_rows: int) -> Table:
        """Make a table of columns, with what was found out about them.

        Parameters
        ----------
        source : str
            What the table is called in messages.
        judged : Judgement
            The columns.
        n_rows : int
            The number of rows.

        Returns
        -------
        Table
        """
        return cls(
            source,
            make_frame(judged.columns, n_rows),
            tuple(judged.notices(list(judged.columns))),
            left_out=judged.left_out,
            units=judged.units,
            problems=tuple(judged.problems),
        )

    @property
    def n_rows(self) -> int:
        """The number of data rows."""
        return len(self.frame)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.frame.columns)

    def column(self, name: str) -> pd.Series:
        """Return the column of that name.

        Parameters
        ----------
        name : str
            The column's name.

        Returns
        -------
        pandas.Series
        """
        check_columns(self.source, self.names, [name])
        return self.frame[name]

    def holds_codes(self, name: str) -> bool:
        """Return whether a column of text holds codes with leading zeros, which are lost if it is read as numbers.

        Parameters
        ----------
        name : str
            The name of a column.

        Returns
        -------
        bool
            Whether all cells have equally many digits, at least two, and some begin with a zero.

        Examples
        --------
        >>> import pandas as pd
        >>> from mustlink.tables import Table
        >>> frame = pd.DataFrame({"zip": ["01067", "10117"]})
        >>> Table.from_frame(frame, text=["zip"]).holds_codes("zip")
        True
        """
        column = self.frame[name]
        return isinstance(column.dtype, pd.CategoricalDtype) and is_padded(
            [str(text) for text in column.cat.categories]
        )

    def strings(self, name: str) -> list[str]:
        """Return the cells of a column as text: whole numbers without a decimal point, empty cells as "".

        Parameters
        ----------
        name : str
            The column's name.

        Returns
        -------
        list of str
        """
        column = self.column(name)
        if is_text(column):
            spelling = [*column.cat.categories, ""]
            return [spelling[code] for code in column.cat.codes.tolist()]
        unit = self.units.get(name, "")
        if unit in (DATE, DATE_TIME):
            return ["" if value != value else spell_time(value, unit) for value in column.tolist()]
        return ["" if value != value else spell_cell(value) for value in column.tolist()]

    def row_ids(self, name: str) -> list[str]:
        """Return the ids of the rows from a column in which every row must hold a different one.

        Parameters
        ----------
        name : str
            The column's name.

        Returns
        -------
        list of str
        """
        ids = self.strings(name)
        if "" in ids:
            place = self.where(ids.index(""))
            raise FileFormatError(f"{self.source}, {place}: the id column {name!r} is empty; every row needs an id.")
        if twice := first_repetition(ids):
            places = " and again in ".join(map(self.where, twice))
            raise FileFormatError(
                f"{self.source}: the id {ids[twice[0]]!r} occurs in {places} of the column {name!r}; an id must belong "
                "to one row."
            )
        return ids


def _as_pandas(frame: Any) -> pd.DataFrame:
    """Return a data frame of pandas, polars or Arrow as one of pandas."""
    converted = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    if isinstance(converted, pd.DataFrame):
        return converted
    kind = type(frame)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    raise TypeError(f"A table is a pandas or polars DataFrame, or what read_table returns, and this is a {name}.")


def is_text(column: pd.Series) -> bool:
    """Return whether a column of a table holds categories rather than numbers."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def first_repetition(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the positions of the first name that occurs again, and of its repetition; None if all differ."""
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if first.setdefault(name, place) != place:
            return first[name], place
    return None


def check_columns(source: str, names: Sequence[str], wanted: Iterable[str] = ()) -> None:
    """Raise if two columns have one name, or a wanted column is not there."""
    if twice := first_repetition(names):
        raise FileFormatError(
            f"{source}: the columns {twice[0] + 1} and {twice[1] + 1} are both called {names[twice[0]]!r}; "
            "every column needs its own name."
        )
    missing = [name for name in dict.fromkeys(wanted) if name not in names]
    if missing:
        shown = ", ".join(names[:MAX_SHOWN_COLUMNS])
        more = f" and {len(names) - MAX_SHOWN_COLUMNS} more" if len(names) > MAX_SHOWN_COLUMNS else ""
        there = f"its columns are {shown}{more}" if names else "it has no columns at all"
        near = [f"{name!r} may be {match!r}" for name in missing if (match := _nearest_name(name, names))]
        guess = f" ({', '.join(near)})" if near else ""
        lacks = f"column {missing[0]!r}" if len(missing) == 1 else f"columns {', '.join(map(repr, missing))}"
        raise FileFormatError(f"{source} has no {lacks}{guess}; {there}.", missing=missing)


def _nearest_name(name: str, names: Sequence[str]) -> str | None:
    """Return the name that another one is most likely a spelling of, if there is one."""
    lower = {other.lower().replace(" ", "_"): other for other in names}
    found = difflib.get_close_matches(name.lower().replace(" ", "_"), lower, n=1, cutoff=0.8)
    return lower[found[0]] if found else None


def columns_left_out(
    source: str, names: Sequence[str], text: Collection[str], ignore: Collection[str], columns: Collection[str] | None
) -> Collection[str]:
    """Check the names of columns, and return those to leave out: the ignored ones, or all but the chosen ones."""
    check_columns(source, names, (*(columns or ()), *text, *ignore))
    return ignore if columns is None else [name for name in names if name in ignore or name not in columns]


def tidy_frame(
    source: str,
    frame: pd.DataFrame,
    *,
    text: Collection[str] = (),
    ignore: Collection[str] = (),
    columns: Collection[str] | None = None,
    typed: bool = True,
    where: Where = "row {}".format,
    decimal: str | None = None,
) -> Judgement:
    """Turn every column into floats or categories; without types, text that spells numbers becomes numbers."""
    names = [str(name).strip() or f"unnamed_{place}" for place, name in enumerate(frame.columns)]
    left_out = columns_left_out(source, names, text, ignore, columns)
    kept: dict[str, Any] = {}
    units: dict[str, str] = {}
    problems: list[FileFormatError] = []
    is_open = []
    for place, name in enumerate(names):
        if name in left_out:
            continue
        series = frame.iloc[:, place]
        try:
            kept[name], unit, must_judge = _tidy_column(series, name in text, typed)
        except _NoDistanceError as error:
            kept[name] = np.full(len(series), np.nan)
            words = f"holds values of the type {error}, which have no distance"
            problems.append(column_problem(source, name, series, where)(words, remedy="ignore_column"))
            continue
        if unit:
            units[name] = unit
        if must_judge:
            is_open.append(name)
    judged = judge_columns(source, {name: kept[name] for name in is_open}, where, decimal=decimal)
    judged.left_out = tuple(left_out)
    judged.columns = kept | judged.columns
    judged.units = units | judged.units
    judged.problems = problems + judged.problems
    for name, column in judged.columns.items():
        judged.problems += check_finite(source, name, column, where)
    return judged


def make_frame(columns: Mapping[str, Any], n_rows: int) -> pd.DataFrame:
    """Put columns into a data frame, without copies."""
    return pd.DataFrame(columns, index=pd.RangeIndex(n_rows), copy=False)


def text_column(codes: Any, texts: Sequence[str]) -> pd.Categorical:
    """Make categories of coded texts: blanks removed, equal ones merged, in the order of their first row."""
    codes = np.asarray(codes)
    merged: dict[str, int] = {}
    new_codes = np.full(len(texts) + 1, -1)
    for code in pd.unique(codes).tolist():
        if code >= 0 and (text := texts[code].strip()) not in MISSING:
            new_codes[code] = merged.setdefault(text, len(merged))
    return pd.Categorical.from_codes(new_codes[codes], categories=list(merged), validate=False)


def check_finite(
    source: str, name: str, column: Any, where: Where, cell: Callable[[int], str] | None = None
) -> list[FileFormatError]:
    """Return the problem of a column of numbers with an infinite one."""
    if isinstance(column, pd.Categorical) or not np.isinf(column).any():
        return []
    rows = np.isinf(column)
    row = int(np.argmax(rows))
    shown = str(column[row]) if cell is None else shorten(cell(row))
    return [column_problem(source, name, column, where)(f"holds {shown}, which is not a finite number", rows)]


class _NoDistanceError(Exception):
    """A column of values that cannot be compared; the message is their type."""


def _tidy_column(series: pd.Series, as_text: bool, typed: bool) -> tuple[Any, str, bool]:
    """Turn one column of any type into floats or categories.

    Returned are the column, what its numbers stand for, and whether it remains to be decided if it holds numbers.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return text_column(series.cat.codes, [spell_cell(value) for value in series.cat.categories]), "", False
    if not as_text:
        if pd.api.types.is_datetime64_any_dtype(dtype):
            days = days_of(series)
            return days, days_unit(days), False
        if pd.api.types.is_timedelta64_dtype(dtype):
            return series.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan) / 3600, HOURS, False
        is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
        if is_number and not pd.api.types.is_complex_dtype(dtype):
            kept = np.float32 if str(dtype).lower().startswith("float32") else np.float64
            return series.to_numpy(dtype=kept, na_value=np.nan), "", False
    try:
        codes, values = pd.factorize(series)
    except TypeError:
        raise _NoDistanceError(type(series[series.notna()].iloc[0]).__name__) from None
    if as_text:
        return text_column(codes, [spell_cell(value) for value in values]), "", False
    known = (str, bool, np.bool_, *TIMES)
    odd = next((value for value in values if not isinstance(value, known) and not _is_real(value)), None)
    if odd is not None:
        raise _NoDistanceError(type(odd).__name__)
    if len(values) and all(map(_is_real, values)):
        return np.array([*map(float, values), np.nan])[codes], "", False
    column = text_column(codes, [spell_cell(value) for value in values])
    return column, "", not typed or any(_is_real(value) or isinstance(value, TIMES) for value in values)


def _is_real(value: Any) -> bool:
    """Return whether a value is a real number; truth values are not."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def spell_cell(value: Any) -> str:
    """Write a value as a person would write it in a cell."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(value.total_seconds(), 60)
        return f"{int(minutes // 60)}:{int(minutes % 60):02}:{seconds:06.3f}"
    # Beyond 2**53 a float no longer distinguishes neighboring whole numbers, and is written as it is.
    if isinstance(value, float | np.floating) and abs(float(value)) < 2**53 and float(value).is_integer():
        return str(int(value))
    return str(value)
