"""From columns to features: numbers standardised, categories as columns of 0 and 1."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mustlink.errors import FileFormatError, TooLargeError
from mustlink.tables._table import NumericColumn, Table, TextColumn

__all__ = ["EncodedTable", "Feature", "encode"]

_MOST_CATEGORIES = 50
_FEW_CATEGORIES = 10
_LARGEST_ONE_HOT = 4 * 2**30
_ROW_NUMBER_NAME = re.compile(r"(unnamed_\d+|#|id|idx|index|row|nr|no|number)|.*[_ ](id|nr|no|number)", re.I)
_EMPTY_CATEGORY = "(empty)"


@dataclass(frozen=True)
class Feature:
    """One column of the encoded table.

    Parameters
    ----------
    column : str
        The column of the table it comes from.
    category : str or None, default=None
        For a 0/1 feature, the category it stands for.
    center, scale : float, default=0.0 and 1.0
        The value in the table is ``encoded * scale + center``.

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

    @property
    def name(self) -> str:
        """The name for people: the column, and the category where there is one."""
        return self.column if self.category is None else f"{self.column} = {self.category}"


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
    >>> import numpy as np
    >>> from mustlink.tables import NumericColumn, Table, encode
    >>> encode(Table("a.npy", (NumericColumn("x", np.array([1.0, 3.0])),), 2)).X.ravel()
    array([-1.,  1.])
    """

    X: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]
    features: tuple[Feature, ...]
    notices: tuple[str, ...]


def encode(
    table: Table,
    *,
    leave_out: Collection[str] = (),
    categorical: Collection[str] = (),
    scale: bool = True,
    one_hot: bool = True,
    missing: Literal["error", "drop", "mean"] = "error",
) -> EncodedTable:
    """Turn a table into an array of numbers to cluster.

    Parameters
    ----------
    table : Table
        What :func:`read_table` gave.
    leave_out : collection of str, default=()
        Columns that are no features: ids, labels.
    categorical : collection of str, default=()
        Text columns to take whatever the number of their categories.
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

    Notes
    -----
    Two different categories are a squared distance of 2 apart, and so are on average two rows in a standardised
    column, so numeric and text columns have the same say. Columns that hold one value throughout, that are
    empty, or that only number the rows are left out, with a notice.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.tables import NumericColumn, Table, TextColumn, encode
    >>> age = NumericColumn("age", np.array([20.0, 40.0, 20.0, 40.0]))
    >>> plan = TextColumn("plan", np.array([0, 0, 0, 1]), ("basic", "pro"))
    >>> encoded = encode(Table("people.csv", (age, plan), 4))
    >>> [feature.name for feature in encoded.features]
    ['age', 'plan = basic', 'plan = pro']
    >>> encoded.X
    array([[-1.,  1.,  0.],
           [ 1.,  1.,  0.],
           [-1.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """
    _check_rows(table)
    notices: list[str] = []
    columns = [column for column in table.columns if column.name not in leave_out]
    columns = _with_content(table, columns, one_hot, notices)
    rows, columns = _without_gaps(table, columns, missing, notices)
    columns = _with_differences(table, columns, notices)
    for column in columns:
        if isinstance(column, TextColumn) and column.name not in categorical:
            _refuse_free_text(table, column)
    X, features = _assembled(table, columns, scale)
    return EncodedTable(X, rows, tuple(features), tuple(notices))


def _check_rows(table: Table) -> None:
    """Refuse a table in which nothing can be told apart for want of rows."""
    if table.n_rows == 0:
        raise FileFormatError(f"{table.source} has no data rows; at least two are needed.")
    if table.n_rows == 1:
        raise FileFormatError(f"{table.source} has one data row; clustering needs at least two.")


def _with_content(
    table: Table, columns: list[NumericColumn | TextColumn], one_hot: bool, notices: list[str]
) -> list[NumericColumn | TextColumn]:
    """Leave out empty columns, row numbers and, where asked, text."""
    kept: list[NumericColumn | TextColumn] = []
    for place, column in enumerate(columns):
        if column.missing().all():
            notices.append(f"Column {column.name!r} is empty and was left out.")
        elif _numbers_the_rows(column, first=place == 0):
            notices.append(f"Column {column.name!r} only numbers the rows and was left out.")
        elif isinstance(column, TextColumn) and not one_hot:
            notices.append(f"Column {column.name!r} holds text and was left out.")
        else:
            kept.append(column)
    if not kept:
        raise FileFormatError(
            f"{table.source} has no column to cluster by; a column of numbers or categories is needed."
        )
    return kept


def _numbers_the_rows(column: NumericColumn | TextColumn, *, first: bool) -> bool:
    """Tell whether a column counts up by one from row to row, and looks as if it were meant to."""
    if isinstance(column, TextColumn) or column.values.size < 3:
        return False
    looks_so = first or _ROW_NUMBER_NAME.fullmatch(column.name) is not None
    return looks_so and column.values[0] in (0, 1) and bool((np.diff(column.values) == 1).all())


def _without_gaps(
    table: Table,
    columns: list[NumericColumn | TextColumn],
    missing: str,
    notices: list[str],
) -> tuple[np.ndarray[Any, Any], list[NumericColumn | TextColumn]]:
    """Deal with empty cells in the way that was asked for."""
    gaps = np.zeros(table.n_rows, dtype=bool)
    n_empty = 0
    for column in columns:
        empty = column.missing()
        gaps |= empty
        n_empty += int(np.count_nonzero(empty))
    rows = np.arange(table.n_rows)
    if not n_empty:
        return rows, columns
    if missing == "error":
        row = int(np.flatnonzero(gaps)[0])
        name = next(column.name for column in columns if column.missing()[row])
        others = f", as are {n_empty - 1} other cells of the table" if n_empty > 1 else ""
        raise FileFormatError(
            f"{table.source}, {table.where(row)}: the column {name!r} is empty{others}; "
            "fill it, or say --missing drop or --missing mean."
        )
    if missing == "mean":
        notices.append(
            f"{n_empty} empty {_plural('cell', n_empty)} filled with the column's mean or a category of their own."
        )
        return rows, [_filled(column) for column in columns]
    rows = np.flatnonzero(~gaps)
    if rows.size < 2:
        raise FileFormatError(
            f"{table.source}: leaving out rows with empty cells leaves {rows.size} of {table.n_rows} rows; "
            "clustering needs at least two."
        )
    n_left_out = table.n_rows - rows.size
    notices.append(f"{n_left_out} {_plural('row', n_left_out)} with empty cells left out.")
    return rows, [_taken(column, rows) for column in columns]


def _plural(noun: str, number: int) -> str:
    """Word a noun for a number of things."""
    return noun if number == 1 else noun + "s"


def _filled(column: NumericColumn | TextColumn) -> NumericColumn | TextColumn:
    """Fill the empty cells of a column."""
    empty = column.missing()
    if not empty.any():
        return column
    if isinstance(column, NumericColumn):
        mean = column.values[~empty].mean(dtype=np.float64)
        return NumericColumn(column.name, np.where(empty, mean, column.values).astype(column.values.dtype))
    codes = np.where(empty, len(column.categories), column.codes)
    return TextColumn(column.name, codes, (*column.categories, _EMPTY_CATEGORY))


def _taken(column: NumericColumn | TextColumn, rows: np.ndarray[Any, Any]) -> NumericColumn | TextColumn:
    """Take some rows of a column, and only the categories that occur in them."""
    if isinstance(column, NumericColumn):
        return NumericColumn(column.name, column.values[rows])
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    return TextColumn(column.name, codes.reshape(-1), tuple(column.categories[code] for code in used))


def _with_differences(
    table: Table, columns: list[NumericColumn | TextColumn], notices: list[str]
) -> list[NumericColumn | TextColumn]:
    """Leave out the columns that hold one value throughout."""
    kept: list[NumericColumn | TextColumn] = []
    constant: list[str] = []
    for column in columns:
        cells = column.values if isinstance(column, NumericColumn) else column.codes
        if (cells == cells[0]).all():
            constant.append(column.name)
        else:
            kept.append(column)
    if not kept:
        raise FileFormatError(
            f"{table.source}: every column holds one value throughout, so no row differs from another."
        )
    if len(constant) == 1:
        notices.append(f"Column {constant[0]!r} holds one value throughout and was left out.")
    elif constant:
        listed = ", ".join(map(repr, constant[:8])) + (" and more" if len(constant) > 8 else "")
        notices.append(f"{len(constant)} columns hold one value throughout and were left out: {listed}.")
    return kept


def _refuse_free_text(table: Table, column: TextColumn) -> None:
    """Refuse text in which hardly a value occurs twice: an id or a remark, not a category."""
    n_categories = len(column.categories)
    n_rows = column.codes.size
    too_varied = n_categories > _FEW_CATEGORIES and 2 * n_categories > n_rows
    if n_categories > _MOST_CATEGORIES or too_varied or n_categories == n_rows:
        name = shlex.quote(column.name)
        raise FileFormatError(
            f"{table.source}: the text column {column.name!r} has {n_categories} different values in {n_rows} rows, "
            f"too many for categories; say --id {name} if it names the rows, --ignore {name} to leave it out, "
            f"or --categorical {name} to use it anyway."
        )


def _assembled(
    table: Table, columns: list[NumericColumn | TextColumn], scale: bool
) -> tuple[np.ndarray[Any, Any], list[Feature]]:
    """Lay the features side by side."""
    widths = [1 if isinstance(column, NumericColumn) else len(column.categories) for column in columns]
    first = columns[0]
    n_rows = (first.values if isinstance(first, NumericColumn) else first.codes).size
    _refuse_too_wide(table, columns, widths, n_rows)
    numeric = [column.values.dtype for column in columns if isinstance(column, NumericColumn)]
    dtype = np.result_type(np.float32, *numeric) if numeric else np.dtype(np.float64)
    X = np.zeros((n_rows, sum(widths)), dtype=dtype)
    features: list[Feature] = []
    for column in columns:
        place = len(features)
        if isinstance(column, TextColumn):
            X[np.arange(n_rows), place + column.codes] = 1.0
            features.extend(Feature(column.name, category) for category in column.categories)
            continue
        center, spread = _center_and_spread(table, column) if scale else (0.0, 1.0)
        X[:, place] = (column.values - center) / spread if scale else column.values
        features.append(Feature(column.name, center=center, scale=spread))
    return X, features


def _refuse_too_wide(table: Table, columns: list[NumericColumn | TextColumn], widths: list[int], n_rows: int) -> None:
    """Refuse categories whose 0/1 columns would not fit into memory."""
    size = 8 * n_rows * (sum(widths) - sum(isinstance(column, NumericColumn) for column in columns))
    if size > _LARGEST_ONE_HOT:
        widest = columns[int(np.argmax(widths))]
        raise TooLargeError(
            f"{table.source}: the categories would take {size / 2**30:.1f} GiB as columns of 0 and 1; "
            f"leave out {widest.name!r}, which has {max(widths)} different values, "
            f"with --ignore {shlex.quote(widest.name)}."
        )


def _center_and_spread(table: Table, column: NumericColumn) -> tuple[float, float]:
    """Give the mean and the standard deviation, or refuse numbers whose squares overflow."""
    values = column.values.astype(np.float64)
    largest = float(np.abs(values).max())
    if largest > 1e150:
        raise FileFormatError(
            f"{table.source}: the column {column.name!r} holds a number as large as {largest:.3g}; "
            "distances cannot be computed with it."
        )
    # Shifted first, so that a small spread around a large mean is not lost in rounding.
    shifted = values - values[0]
    return float(values[0] + shifted.mean()), float(shifted.std())
