"""Two rows side by side, with the columns marked in which they differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mustlink._spelling import spell_numbers
from mustlink.report import RowNames
from mustlink.tables import TIME_UNITS, Table, read_table, spell_time
from mustlink.workflow._loading import LoadedTable, TableOptions

__all__ = ["ColumnPair", "RowComparison"]

MAX_COLUMNS = 16
MAX_MARKED = 3
# A column is marked if at least this fraction of the squared distance comes from it.
MIN_MARKED_SHARE = 0.1


class ColumnPair(NamedTuple):
    """One column of two rows.

    Parameters
    ----------
    name : str
        The column.
    first, second : str
        The cells, made safe to print.
    is_marked : bool
        Whether it is one of the few columns in which the rows differ most.

    Examples
    --------
    >>> from mustlink.workflow import ColumnPair
    >>> ColumnPair("age", "31", "64", True).second
    '64'
    """

    name: str
    first: str
    second: str
    is_marked: bool


class RowComparison:
    """The rows of a table, shown in pairs.

    Parameters
    ----------
    options : TableOptions
        Where the table was read from.
    table : LoadedTable
        The table, by which rows are named and compared.
    columns : sequence of str, default=()
        The columns to show, also ignored ones; by default all but the ids and the labels.
    frame : pandas or polars DataFrame, default=None
        The data frame that the table was made of, if it was not read from a file.

    Attributes
    ----------
    n_columns : int
        How many columns there are to show; a comparison holds at most 16 of them.
    column_names : tuple of str
        These columns, in the order in which they are shown.
    number_columns : frozenset of str
        Those that hold numbers.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import RowComparison, TableOptions, load_table
    >>> options = TableOptions(sample_paths()[0], id_column="customer")
    >>> rows = RowComparison(options, load_table(options))
    >>> [pair.name for pair in rows.compare(0, 1)]
    ['visits_per_month', 'basket_eur', 'share_online', 'years_customer', 'favorite_department']
    """

    def __init__(
        self, options: TableOptions, table: LoadedTable, columns: Sequence[str] = (), frame: Any = None
    ) -> None:
        self.names = RowNames(table.row_names)
        self._table = table
        self._columns, self._units = _columns_to_show(options, table, columns, frame)
        self.n_columns = len(self._columns)
        self.column_names = tuple(str(column.name) for column in self._columns)
        self.number_columns = frozenset(str(column.name) for column in self._columns if column.dtype.kind == "f")

    def compare(self, a: int, b: int) -> list[ColumnPair]:
        """Compare two of the kept rows.

        Parameters
        ----------
        a, b : int
            The rows, by their position in `X`.

        Returns
        -------
        list of ColumnPair
            The columns in which the rows differ most, in the order of the table.
        """
        differences = self._differences(a, b) if self._table.features else self._unequal(a, b)
        ranked = sorted(self._columns, key=lambda column: -differences.get(column.name, 0.0))
        least = max(MIN_MARKED_SHARE * sum(differences.values()), np.finfo(float).tiny)
        n_marked = MAX_MARKED if self._table.features else MAX_COLUMNS
        marked = {column.name for column in ranked[:n_marked] if differences.get(column.name, 0.0) >= least}
        chosen = {column.name for column in ranked[:MAX_COLUMNS]}
        return [
            ColumnPair(RowNames([column.name])[0], *self._cells(column, a, b), column.name in marked)
            for column in self._columns
            if column.name in chosen
        ]

    def cells(self, row: int) -> dict[str, str]:
        """Return all cells of one of the kept rows, with texts as they are in the table.

        Parameters
        ----------
        row : int
            The row, by its position in `X`.

        Returns
        -------
        dict of str to str
            The cell of each column; an empty cell is an empty text.
        """
        spelled = {}
        for name, column in zip(self.column_names, self._columns, strict=True):
            value = column.iloc[self._table.rows[row]]
            spelled[name] = value if isinstance(value, str) else self._cells(column, row, row)[0]
        return spelled

    def _differences(self, a: int, b: int) -> dict[str, float]:
        """Return how much of the squared distance of two rows comes from each column."""
        found: dict[str, float] = {}
        squares = np.square(np.asarray(self._table.X[a] - self._table.X[b], dtype=np.float64))
        for feature, square in zip(self._table.features, squares.tolist(), strict=True):
            found[feature.column] = found.get(feature.column, 0.0) + square
        return found

    def _unequal(self, a: int, b: int) -> dict[str, float]:
        """Return 1 for each column in which two records have different cells, where there are no distances."""
        pairs = {str(column.name): self._cells(column, a, b) for column in self._columns}
        return {name: 1.0 / len(pairs) for name, (first, second) in pairs.items() if first != second}

    def _cells(self, column: pd.Series, a: int, b: int) -> tuple[str, str]:
        """Spell the cells of two kept rows, numbers alike."""
        values = [column.iloc[self._table.rows[row]] for row in (a, b)]
        if any(isinstance(value, str) for value in values):
            first, second = ("" if value != value else str(RowNames([str(value)])[0]) for value in values)
            return first, second
        numbers = [float(value) for value in values if value == value]
        unit = self._units.get(str(column.name), "")
        if unit in TIME_UNITS:
            words = iter([spell_time(number, unit) for number in numbers])
        else:
            # More digits than in a report, without those that only a float has.
            digits = 6 if max(map(abs, numbers), default=0.0) < 1e6 else 12
            words = iter(spell_numbers(numbers, digits))
        first, second = ("" if value != value else next(words) for value in values)
        return first, second


def _columns_to_show(
    options: TableOptions, table: LoadedTable, names: Sequence[str], frame: Any
) -> tuple[list[pd.Series], Mapping[str, str]]:
    """Find the columns to show, those named or all but the ids and the labels, and what their numbers stand for."""
    source = table.source
    if not names:
        names = [name for name in source.names if name not in (options.id_column, options.label_column)]
    elif any(name in options.ignore for name in names):
        # A column that is not used for distances, such as a text, may still be what a person decides by.
        ignored = [name for name in options.ignore if name not in names]
        if frame is None:
            source = read_table(options.table, ignore=ignored, problems="keep", **options.reading)
        else:
            source = Table.from_frame(frame, source=str(options.table), ignore=ignored, problems="keep")
    return [source.column(name) for name in names], source.units
