"""A table of numbers and categories, and the way back to the line of the file."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from mustlink.errors import FileFormatError
from mustlink.tables._dialect import Dialect

__all__ = ["Table", "check_columns", "columns_left_out", "is_text", "judge_column", "text_column", "tidy_frame"]

# Cells that count as empty, in any file.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "?")
MAX_SHOWN_COLUMNS = 12
MAX_SHOWN_CHARACTERS = 40

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

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        source: str = "The data frame",
        text: Collection[str] = (),
        ignore: Collection[str] = (),
        columns: Collection[str] | None = None,
    ) -> Table:
        """Make a table of a data frame.

        Parameters
        ----------
        frame : pandas.DataFrame
            Numeric, text, categorical and boolean columns; the index is not used.
        source : str, default="The data frame"
            What the frame is called in messages.
        text : collection of str, default=()
            Numeric columns to take as categories.
        ignore : collection of str, default=()
            Columns to leave out.
        columns : collection of str or None, default=None
            The columns to take; None takes all.

        Returns
        -------
        Table
        """
        tidy, left_out = tidy_frame(source, frame, text=text, ignore=ignore, columns=columns)
        return cls(source, tidy, left_out=left_out)

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
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Turn every column into floats or categories, and return also the names of those that are left out.

    Without types, text that spells numbers becomes numbers.
    """
    names = [str(name).strip() or f"unnamed_{place}" for place, name in enumerate(frame.columns)]
    left_out = columns_left_out(source, names, text, ignore, columns)
    kept = {}
    for place, name in enumerate(names):
        if name not in left_out:
            column = _tidy_column(source, name, frame.iloc[:, place], name in text, typed, where)
            check_finite(source, name, column, where)
            kept[name] = column
    return pd.DataFrame(kept, index=pd.RangeIndex(len(frame)), copy=False), tuple(left_out)


def text_column(codes: Any, texts: Sequence[str]) -> pd.Categorical:
    """Make categories of coded texts: blanks removed, equal ones merged, in the order of their first row."""
    codes = np.asarray(codes)
    merged: dict[str, int] = {}
    new_codes = np.full(len(texts) + 1, -1)
    for code in pd.unique(codes).tolist():
        if code >= 0 and (text := texts[code].strip()) not in MISSING:
            new_codes[code] = merged.setdefault(text, len(merged))
    return pd.Categorical.from_codes(new_codes[codes], categories=list(merged), validate=False)


def judge_column(
    source: str, name: str, column: pd.Categorical, where: Where, comma_is_decimal: bool = False
) -> tuple[Any, bool]:
    """Decide from its cells whether a column holds numbers or categories, and whether with a decimal comma.

    A few texts among mostly numbers are refused, since they are more often errors than categories.
    """
    texts = list(column.categories)
    numbers = [as_number(text) for text in texts]
    with_comma = comma_is_decimal and any("," in text for text in texts)
    if with_comma:
        points = any("." in text and number is not None for text, number in zip(texts, numbers, strict=True))
        numbers = [as_number(text.replace(",", ".")) for text in texts]
        if points and None not in numbers:
            raise FileFormatError(
                f"{source}: the column {name!r} has numbers with a decimal comma and numbers with a "
                "decimal point; write them in one way."
            )
    values = np.array([*(np.nan if number is None else number for number in numbers), np.nan])
    if None not in numbers:
        return values[column.codes], with_comma
    filled = column.codes >= 0
    odd = filled & np.isnan(values[column.codes])
    if 2 * np.count_nonzero(odd) < np.count_nonzero(filled):
        row = int(np.argmax(odd))
        raise FileFormatError(
            f"{source}, {where(row)}: the column {name!r} holds {shorten(texts[column.codes[row]])} among numbers",
            remedy=("fix_cell", "mark_categorical", "ignore_column"),
            column=name,
        )
    return column, False


def check_finite(source: str, name: str, column: Any, where: Where, cell: Callable[[int], str] | None = None) -> None:
    """Raise if a column of numbers holds an infinite one."""
    if not isinstance(column, pd.Categorical) and np.isinf(column).any():
        row = int(np.argmax(np.isinf(column)))
        shown = str(column[row]) if cell is None else shorten(cell(row))
        raise FileFormatError(
            f"{source}, {where(row)}: the column {name!r} holds {shown}, which is not a finite number."
        )


def shorten(cell: str) -> str:
    """Quote a cell for a message, shortened if it is long."""
    cell = cell.strip()
    return repr(cell if len(cell) <= MAX_SHOWN_CHARACTERS else cell[: MAX_SHOWN_CHARACTERS - 3] + "...")


def _tidy_column(source: str, name: str, series: pd.Series, as_text: bool, typed: bool, where: Where) -> Any:
    """Turn one column of any type into floats or categories."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return text_column(series.cat.codes, [spell_cell(value) for value in series.cat.categories])
    is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    if is_number and not as_text and not pd.api.types.is_complex_dtype(dtype):
        kept = np.float32 if str(dtype).lower().startswith("float32") else np.float64
        return series.to_numpy(dtype=kept, na_value=np.nan)
    try:
        codes, values = pd.factorize(series)
    except TypeError:
        raise _no_distance(source, name, series[series.notna()].iloc[0]) from None
    if not as_text:
        known = (str, bool, np.bool_)
        odd = next((value for value in values if not isinstance(value, known) and not _is_real(value)), None)
        if odd is not None:
            raise _no_distance(source, name, odd)
        if len(values) and all(map(_is_real, values)):
            return np.array([*map(float, values), np.nan])[codes]
    column = text_column(codes, [spell_cell(value) for value in values])
    if as_text or (typed and not any(map(_is_real, values))):
        return column
    return judge_column(source, name, column, where)[0]


def _is_real(value: Any) -> bool:
    """Return whether a value is a real number; truth values are not."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def _no_distance(source: str, name: str, value: Any) -> FileFormatError:
    """Return the error for a column of values that cannot be compared."""
    kind = "date or time" if isinstance(value, datetime.date | datetime.time | datetime.timedelta) else ""
    kind = kind or type(value).__name__
    return FileFormatError(
        f"{source}: the column {name!r} holds values of the type {kind}, which have no distance",
        remedy="ignore_column",
        column=name,
    )


def as_number(text: str) -> float | None:
    """Return the number that a text spells, or None."""
    try:
        # Python would take 1_000 as a number.
        return None if "_" in text else float(text)
    except ValueError:
        return None


def spell_cell(value: Any) -> str:
    """Write a value as a person would write it in a cell."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    # Beyond 2**53 a float no longer distinguishes neighboring whole numbers, and is written as it is.
    if isinstance(value, float | np.floating) and abs(float(value)) < 2**53 and float(value).is_integer():
        return str(int(value))
    return str(value)
