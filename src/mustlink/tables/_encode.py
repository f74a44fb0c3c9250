"""From columns to features: numbers standardized, categories as columns of 0 and 1."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from mustlink._magnitude import largest_number
from mustlink._spelling import spell_numbers
from mustlink._types import Array
from mustlink.errors import FileFormatError, TooLargeError, join_problems
from mustlink.tables._dates import TIME_UNITS, spell_time
from mustlink.tables._judge import listed
from mustlink.tables._options import check_options
from mustlink.tables._table import Table, is_text

__all__ = ["EncodedTable", "Feature", "encode"]

# More categories than this, or more than FREE_TEXT_CATEGORIES with hardly a repetition, are free text.
MAX_CATEGORIES = 50
FREE_TEXT_CATEGORIES = 10
MAX_ONE_HOT_BYTES = 4 * 2**30
# The names of columns that number or name the rows, in English and German.
ROW_NUMBER_NAME = re.compile(
    r"(unnamed_\d+|#|index|idx|row|lfd\.?|.*(\b|_)(id|nr|no|num|number|nummer|key|code)\.?"
    r"|.*(?-i:[a-z](ID|Id|Nr|No|Num))\.?|.*(nummer|number|schlüssel)|(kd|kunden|art|artikel|rechnungs|auftrags)-?(nr|id)\.?)",
    re.I,
)
EMPTY_CATEGORY = "(empty)"

Columns = dict[str, pd.Series]


@dataclass(frozen=True)
class Feature:
    """One column of the encoded table.

    Parameters
    ----------
    column : str
        The column of the table it comes from.
    category : str or None, default=None
        For a 0/1 feature, the category that it indicates.
    center, scale : float, default=0.0 and 1.0
        The value in the table is ``encoded * scale + center``.
    unit : str, default=""
        What the numbers stand for, as in :attr:`Table.units`: a date, hours, a percentage or a currency.

    Examples
    --------
    >>> from mustlink.tables import Feature
    >>> Feature("age").name, Feature("plan", "pro").name
    ('age', 'plan = pro')
    """

    column: str
    category: str | None = None
    center: float = 0.0
    scale: float = 1.0
    unit: str = ""

    @property
    def name(self) -> str:
        """The name for people: the column, and the category where there is one."""
        return self.column if self.category is None else f"{self.column} = {self.category}"

    def spell(self, values: Sequence[float]) -> list[str]:
        """Spell values of the column, in its own units, as people write them.

        Parameters
        ----------
        values : sequence of float
            Values that are shown beside each other; they get the digits that are needed to compare them.

        Returns
        -------
        list of str
            One text for each value.

        Examples
        --------
        >>> from mustlink.tables import Feature
        >>> Feature("income").spell([31_512.3, 43_618.0])
        ['31,500', '43,600']
        >>> Feature("since", unit="date").spell([19783.0, 19800.4])
        ['2024-03-01', '2024-03-18']
        """
        if self.unit in TIME_UNITS:
            return [spell_time(value, self.unit) for value in values]
        return [f"{number} {self.unit}".rstrip() for number in spell_numbers(values)]


@dataclass(frozen=True)
class EncodedTable:
    """Numbers to cluster, and what they mean.

    Parameters
    ----------
    X : ndarray of shape (n_kept, n_features)
        One row for every row of the table that was kept.
    rows : ndarray of int64, shape (n_kept,)
        Which row of the table each one is.
    features : tuple of Feature
        What each column of ``X`` is.
    notices : tuple of str
        What was left out or filled in, as sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink.tables import encode
    >>> encode(pd.DataFrame({"x": [1.0, 3.0]})).X.ravel()
    array([-1.,  1.])
    """

    X: Array
    rows: Array
    features: tuple[Feature, ...]
    notices: tuple[str, ...]


def encode(
    table: Table | Any,
    *,
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
    scale: bool = True,
    one_hot: bool = True,
    missing: Literal["error", "drop", "mean"] = "error",
) -> EncodedTable:
    """Turn a table into an array of numbers to cluster.

    Parameters
    ----------
    table : Table, pandas or polars DataFrame
        What :func:`read_table` returned, or a data frame.
    ignore : collection of str, default=()
        Columns that are not features: ids, labels.
    categorical : collection of str, default=()
        Columns to use as categories, however many different values they have.
    scale : bool, default=True
        Whether numeric columns get mean 0 and standard deviation 1.
    one_hot : bool, default=True
        Whether each category of a text column becomes a column of 0 and 1; otherwise text columns are left out.
    missing : {'error', 'drop', 'mean'}, default='error'
        What to do with empty cells: refuse them, leave out their rows, or put the mean of the column (in a
        text column a category of its own) in their place.

    Returns
    -------
    EncodedTable

    Raises
    ------
    OptionError
        If an option is not one of those above.
    FileFormatError
        If the table has fewer than two rows, columns with problems, empty cells, free text, or nothing that differs
        between rows. All problems of all columns are in one error, those first that concern most cells.
    TooLargeError
        If the categories do not fit into memory as columns of 0 and 1.

    Notes
    -----
    Two different categories have a squared distance of 2, as two rows have on average in a standardized column:
    numeric and text columns count alike. Columns that are constant, empty, or only number the rows are left out,
    with a notice.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink.tables import encode
    >>> encoded = encode(pd.DataFrame({"age": [20, 40, 20, 40], "plan": ["basic", "basic", "basic", "pro"]}))
    >>> [feature.name for feature in encoded.features]
    ['age', 'plan = basic', 'plan = pro']
    >>> encoded.X
    array([[-1.,  1.,  0.],
           [ 1.,  1.,  0.],
           [-1.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """
    check_options(ignore=ignore, categorical=categorical, scale=scale, one_hot=one_hot, missing=missing)
    if not isinstance(table, Table):
        table = Table.from_frame(table, text=categorical, ignore=ignore)
    check_rows(table.source, table.n_rows)
    notices: list[str] = []
    columns = {name: table.frame[name] for name in table.names if name not in ignore}
    problems = [problem for problem in table.problems if problem.fields["column"] in columns]
    unusable = {problem.fields["column"] for problem in problems}
    if columns and unusable.issuperset(columns):
        raise join_problems(table.source, problems)
    columns = _drop_empty(table, columns, one_hot, notices)
    columns, rows = handle_missing(table, columns, missing, notices, problems=problems)
    for name, column in columns.items():
        if name not in unusable and not (is_text(column) and name in categorical):
            problems += (
                _check_categories(table, column) if is_text(column) else _check_numbers(table, column, rows, scale)
            )
    if problems:
        raise join_problems(table.source, problems)
    notices += _note_numbered(columns)
    columns = _drop_constant(table, columns, notices)
    _check_width(table, columns)
    X, features = _transform(columns, scale)
    features = tuple(
        feature if feature.category is not None else replace(feature, unit=table.units.get(feature.column, ""))
        for feature in features
    )
    return EncodedTable(X, rows, features, tuple(notices))


def _drop_empty(table: Table, columns: Columns, one_hot: bool, notices: list[str]) -> Columns:
    """Leave out empty columns, row numbers and, without one-hot encoding, text."""
    kept, uses = {}, {}
    for place, (name, column) in enumerate(columns.items()):
        is_empty = _has_gaps(column) and bool(column.isna().all())
        uses[name] = ColumnUse(is_empty, is_text(column), not is_empty and _numbers_rows(column))
        if uses[name].is_feature(name, place, one_hot):
            kept[name] = column
    notices += note_left_out(table.source, uses, one_hot)
    return kept


class ColumnUse(NamedTuple):
    """What decides whether a column is a feature at all."""

    is_empty: bool
    is_text: bool
    numbers_rows: bool

    def is_row_number(self, name: str, place: int) -> bool:
        """Return whether the column at a place, by its name and its cells, only numbers the rows."""
        return not self.is_empty and self.numbers_rows and bool(place == 0 or ROW_NUMBER_NAME.fullmatch(name))

    def is_feature(self, name: str, place: int, one_hot: bool) -> bool:
        """Return whether the column is used."""
        return not (self.is_empty or self.is_row_number(name, place) or (self.is_text and not one_hot))


def note_left_out(source: str, uses: Mapping[str, ColumnUse], one_hot: bool) -> list[str]:
    """Note the columns that are left out as they are empty, number the rows or hold text; refuse to leave out all."""
    notices, empty, n_kept = [], [], 0
    for place, (name, use) in enumerate(uses.items()):
        if use.is_empty:
            empty.append(name)
        elif use.is_row_number(name, place):
            notices.append(f"Column {name!r} only numbers the rows and was left out.")
        elif not use.is_feature(name, place, one_hot):
            notices.append(f"Column {name!r} holds text and was left out.")
        else:
            n_kept += 1
    if empty:
        were = "Column {} is empty and was" if len(empty) == 1 else "Columns {} are empty and were"
        notices.append(f"{were.format(listed(empty))} left out.")
    if not n_kept:
        raise FileFormatError(f"{source} has no column to cluster by; a column of numbers or categories is needed.")
    return notices


def check_rows(source: str, n_rows: int) -> None:
    """Refuse a table of fewer than two rows."""
    if n_rows < 2:
        counted = "one data row" if n_rows else "no data rows"
        raise FileFormatError(f"{source} has {counted}; at least two are needed.")


def _numbers_rows(column: pd.Series) -> bool:
    """Return whether a column counts up by one from row to row, starting with 0 or 1."""
    if is_text(column) or len(column) < 3 or column.iloc[0] not in (0, 1):
        return False
    return bool((np.diff(column.to_numpy()) == 1).all())


def _note_numbered(columns: Columns) -> list[str]:
    """Note columns that seem to name the rows, but are used as numbers."""
    names = [
        name
        for name, column in columns.items()
        if ROW_NUMBER_NAME.fullmatch(name.strip()) and not is_text(column) and _is_distinct(column)
    ]
    return note_numbered(names)


def note_numbered(names: Sequence[str]) -> list[str]:
    """Note columns that hold a different whole number in every row, and are called like ids."""
    if not names:
        return []
    column = f"Column {names[0]!r} holds" if len(names) == 1 else f"Columns {listed(names)} hold"
    return [f"{column} a different whole number in every row; if they are ids, name the id column or ignore it."]


def _is_distinct(column: pd.Series) -> bool:
    """Return whether a column holds a different whole number in every row."""
    values = column.to_numpy()
    return len(values) > 2 and bool((np.mod(values, 1) == 0).all()) and len(np.unique(values)) == len(values)


def handle_missing(
    table: Table,
    columns: Columns,
    missing: str,
    notices: list[str],
    min_rows: int = 2,
    problems: list[FileFormatError] | None = None,
) -> tuple[Columns, Array]:
    """Refuse empty cells, leave out their rows, or leave them to be filled; return the rows that are kept.

    Where problems are collected, empty cells are one more of them.
    """
    empty = {name: column.isna().to_numpy() for name, column in columns.items() if _has_gaps(column)}
    rows = np.arange(table.n_rows)
    if not empty:
        return columns, rows
    gaps = np.logical_or.reduce(list(empty.values()))
    n_empty = sum(int(np.count_nonzero(cells)) for cells in empty.values())
    if missing == "error":
        row = int(np.argmax(gaps))
        name = next(name for name, cells in empty.items() if cells[row])
        problem = empty_cell_problem(f"{table.source}, {table.where(row)}", name, n_empty)
        if problems is None:
            raise problem
        problems.append(problem)
        return columns, rows
    if missing == "mean":
        notices.append(note_filled(n_empty))
        return columns, rows
    rows = np.flatnonzero(~gaps)
    notices.append(note_dropped(table.source, rows.size, table.n_rows, min_rows))
    kept = {name: column.iloc[rows] for name, column in columns.items()}
    kept |= {name: column.cat.remove_unused_categories() for name, column in kept.items() if is_text(column)}
    return kept, rows


def empty_cell_problem(place: str, name: str, n_empty: int) -> FileFormatError:
    """Return the problem of empty cells, the first of them by its place and column."""
    others = "is 1 other cell" if n_empty == 2 else f"are {n_empty - 1} other cells"
    more = "" if n_empty == 1 else f", as {others} of the table"
    return FileFormatError(f"{place}: the column {name!r} is empty{more}", remedy="handle_missing", n_cells=n_empty)


def note_filled(n_empty: int) -> str:
    """Note how many empty cells are filled."""
    cells = "cell" if n_empty == 1 else "cells"
    return f"{n_empty} empty {cells} filled with the column's mean or a category of their own."


def note_dropped(source: str, n_kept: int, n_rows: int, min_rows: int = 2) -> str:
    """Note how many rows are left out, or refuse to leave too few."""
    if n_kept < min_rows:
        raise FileFormatError(
            f"{source}: leaving out rows with empty cells leaves {n_kept} of {n_rows} rows; "
            f"at least {'one is' if min_rows == 1 else 'two are'} needed."
        )
    n_left_out = n_rows - n_kept
    return f"{n_left_out} {'row' if n_left_out == 1 else 'rows'} with empty cells left out."


def _drop_constant(table: Table, columns: Columns, notices: list[str]) -> Columns:
    """Leave out the columns that hold one value in all rows."""
    constant = [name for name, column in columns.items() if _is_constant(column)]
    notices += note_constant(table.source, constant, len(columns))
    return {name: column for name, column in columns.items() if name not in constant}


def note_constant(source: str, constant: Sequence[str], n_columns: int) -> list[str]:
    """Note the columns that hold one value in all rows; refuse a table that has no others."""
    if len(constant) == n_columns:
        raise FileFormatError(f"{source}: every column holds one value throughout, so no row differs from another.")
    if len(constant) == 1:
        return [f"Column {constant[0]!r} holds one value throughout and was left out."]
    if constant:
        return [f"{len(constant)} columns hold one value throughout and were left out: {listed(constant)}."]
    return []


def _values(column: pd.Series) -> Array:
    """Return the numbers of a column, or the codes of its categories with -1 for empty cells."""
    return (column.cat.codes if is_text(column) else column).to_numpy()


def _has_gaps(column: pd.Series) -> bool:
    """Return whether a column has empty cells."""
    least = _values(column).min()
    return bool(least < 0 if is_text(column) else np.isnan(least))


def _is_constant(column: pd.Series) -> bool:
    """Return whether all cells are equal once empty ones are filled."""
    values = _values(column)
    return bool(np.fmin.reduce(values) == np.fmax.reduce(values))


def _check_numbers(table: Table, column: pd.Series, rows: Array, scale: bool) -> list[FileFormatError]:
    """Return the problem of numbers whose squares overflow."""
    limit, remedy = size_limit(column.dtype, len(column) * len(table.names), scale)
    return check_size(table, column, rows, limit, remedy)


def size_limit(dtype: Any, n_numbers: int, scale: bool) -> tuple[float, tuple[str, ...]]:
    """Return the largest number that a column may hold, and the remedies for larger ones."""
    # Columns are scaled in double precision.
    dtype = np.float32 if dtype == np.float32 and not scale else np.float64
    remedy = ("missing_marker", "ignore_column") if scale else ("missing_marker", "scale", "ignore_column")
    return largest_number(dtype, n_numbers), remedy


def check_size(
    table: Table, column: pd.Series, rows: Array, limit: float, remedy: Sequence[str]
) -> list[FileFormatError]:
    """Return the problem of numbers above a limit; `rows` are those of the table that the cells stand in."""
    values = _values(column)
    # False for a column of empty cells.
    if not max(-float(np.fmin.reduce(values)), float(np.fmax.reduce(values))) > limit:
        return []
    too_large = np.abs(values) > limit
    place = int(np.argmax(too_large))
    where = f"{table.source}, {table.where(int(rows[place]))}"
    n_cells = int(np.count_nonzero(too_large))
    return [size_problem(where, str(column.name), float(values[place]), limit, remedy, n_cells)]


def size_problem(
    place: str, name: str, value: float, limit: float, remedy: Sequence[str], n_cells: int
) -> FileFormatError:
    """Return the problem of numbers above a limit, the first of them by its place."""
    return FileFormatError(
        f"{place}: the column {name!r} holds {value:.3g}; numbers above {limit:.1g} are too large for squared "
        "distances",
        remedy=remedy,
        column=name,
        n_cells=n_cells,
    )


def _check_categories(table: Table, column: pd.Series) -> list[FileFormatError]:
    """Return the problem of free text: an id or a remark, not a category."""
    return check_categories(table.source, str(column.name), len(_categories(column)), len(column))


def check_categories(
    source: str, name: str, n_categories: int, n_rows: int, *, is_least: bool = False
) -> list[FileFormatError]:
    """Return the problem of a column of so many categories, or of at least so many."""
    too_varied = n_categories > FREE_TEXT_CATEGORIES and 2 * n_categories > n_rows
    if n_categories <= MAX_CATEGORIES and not too_varied and n_categories != n_rows:
        return []
    problem = FileFormatError(
        f"{source}: the text column {name!r} has {'at least ' if is_least else ''}{n_categories:,} different values in "
        f"{n_rows:,} rows, too many for categories",
        remedy=("ignore_column", "mark_categorical"),
        column=name,
        n_categories=n_categories,
        n_cells=n_rows,
    )
    return [problem]


def _categories(column: pd.Series) -> list[str]:
    """Return the categories of a text column, with one for empty cells if there are some."""
    return [*column.cat.categories, *([EMPTY_CATEGORY] if _has_gaps(column) else [])]


def _check_width(table: Table, columns: Columns) -> None:
    """Raise if the columns of 0 and 1 do not fit into memory."""
    widths = {name: len(_categories(column)) for name, column in columns.items() if is_text(column)}
    size = 8 * len(next(iter(columns.values()))) * sum(widths.values())
    if size > MAX_ONE_HOT_BYTES:
        widest = max(widths, key=lambda name: widths[name])
        raise TooLargeError(
            f"{table.source}: the categories would take {size / 2**30:.1f} GiB as columns of 0 and 1, most of it for "
            f"the column {widest!r} with {widths[widest]} different values",
            remedy="ignore_column",
            column=widest,
        )


def _transform(columns: Columns, scale: bool) -> tuple[Array, tuple[Feature, ...]]:
    """Encode the columns in their order, by one transformer for each run of columns of one kind."""
    numeric = [column.dtype for column in columns.values() if not is_text(column)]
    dtype = np.result_type(np.float32, *numeric) if numeric else np.dtype(np.float64)
    centers = {name: _mean(column) if scale and not is_text(column) else 0.0 for name, column in columns.items()}
    steps = [StandardScaler(with_mean=False, copy=False) if scale else FunctionTransformer()]
    if any(map(_has_gaps, columns.values())):
        steps.insert(0, SimpleImputer(copy=False))
    # One block of memory for each run, and slices, so that the transformers need no copies.
    blocks, transformers, start = [], [], 0
    for text, run in groupby(columns, key=lambda name: is_text(columns[name])):
        names = list(run)
        taken = [columns[name] for name in names]
        if text:
            block = np.array([_codes(column) for column in taken])
            codes = [np.arange(len(_categories(column))) for column in taken]
            # Every code is known; "ignore" saves the encoder the search for others.
            encoder = OneHotEncoder(categories=codes, handle_unknown="ignore", sparse_output=False, dtype=dtype)
        else:
            block = np.array([_values(column) for column in taken], dtype=dtype)
            block -= np.array([[centers[name]] for name in names], dtype=dtype)
            encoder = make_pipeline(*steps)
        blocks.append(pd.DataFrame(block.T, columns=names, copy=False))
        transformers.append((str(start), encoder, slice(start, start + len(names))))
        start += len(names)
    transformer = ColumnTransformer(transformers)
    X = transformer.fit_transform(pd.concat(blocks, axis=1))
    fitted = [encoder[-1] for _, encoder, _ in transformer.transformers_ if isinstance(encoder, Pipeline)]
    spreads = iter([float(spread) for scaler in fitted for spread in scaler.scale_] if scale else [1.0] * len(columns))
    features: list[Feature] = []
    for name, column in columns.items():
        if is_text(column):
            features += [Feature(name, category) for category in _categories(column)]
        else:
            features.append(Feature(name, center=centers[name], scale=next(spreads)))
    return np.ascontiguousarray(X), tuple(features)


def _mean(column: pd.Series) -> float:
    """Return the mean of the numbers that are there."""
    values = (column.dropna() if _has_gaps(column) else column).to_numpy(dtype=np.float64)
    # Shifted first, so that a small spread around a large mean is not lost in rounding.
    return float(values[0] + (values - values[0]).mean())


def _codes(column: pd.Series) -> Array:
    """Return the number of each cell's category, the last for empty cells."""
    codes = _values(column)
    return np.where(codes < 0, len(column.cat.categories), codes.astype(np.int64)) if _has_gaps(column) else codes
