"""Two rows side by side, with the columns marked in which they differ most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from mustlink.cli._show import printer, say
from mustlink.report import RowNames
from mustlink.tables import NumericColumn, TextColumn

if TYPE_CHECKING:
    from mustlink.cli._loading import LoadedTable

__all__ = ["RowPairs"]

MOST_COLUMNS = 16
MOST_MARKED = 3
LEAST_SHARE = 0.1
"""A column is marked if at least this share of the squared distance comes from it."""

MARK = "*"


class RowPairs:
    """The rows of a table, shown in pairs.

    Parameters
    ----------
    loaded : LoadedTable
        The table, by which rows are named and compared.
    columns : sequence of NumericColumn or TextColumn
        What to show of the rows, over all rows of the table.
    """

    def __init__(self, loaded: LoadedTable, columns: Sequence[NumericColumn | TextColumn]) -> None:
        self._X = loaded.encoded.X
        self._rows = loaded.encoded.rows
        self._names = RowNames(loaded.row_names)
        self._columns = columns
        self._feature_columns = [feature.column for feature in loaded.encoded.features]

    def show(self, heading: str, a: int, b: int) -> None:
        """Print two rows of those that were kept."""
        apart = self._differences(a, b)
        ranked = sorted(self._columns, key=lambda column: -apart.get(column.name, 0.0))
        least = max(LEAST_SHARE * sum(apart.values()), np.finfo(float).tiny)
        marked = {column.name for column in ranked[:MOST_MARKED] if apart.get(column.name, 0.0) >= least}
        chosen = {column.name for column in ranked[:MOST_COLUMNS]}
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for title in ("", "column", self._names[a], self._names[b]):
            table.add_column(Text(title), overflow="fold")
        for column in self._columns:
            if column.name in chosen:
                is_marked = column.name in marked
                cells = (RowNames([column.name])[0], *(self._cell(column, row) for row in (a, b)))
                style = "bold yellow" if is_marked else ""
                table.add_row(Text(MARK if is_marked else ""), *(Text(cell) for cell in cells), style=style)
        say()
        say(heading, "dim")
        printer().print(table)
        if len(self._columns) > MOST_COLUMNS:
            say(f"  and {len(self._columns) - MOST_COLUMNS:,} columns more that differ less", "dim")

    def _differences(self, a: int, b: int) -> dict[str, float]:
        """Return for every column how much of the squared distance of two rows comes from it."""
        found: dict[str, float] = {}
        squares = np.square(np.asarray(self._X[a] - self._X[b], dtype=np.float64))
        for name, square in zip(self._feature_columns, squares.tolist(), strict=True):
            found[name] = found.get(name, 0.0) + square
        return found

    def _cell(self, column: NumericColumn | TextColumn, row: int) -> str:
        """Spell one cell of a row that was kept."""
        place = self._rows[[row]]
        if isinstance(column, TextColumn):
            return str(RowNames(TextColumn(column.name, column.codes[place], column.categories).strings())[0])
        value = float(column.values[place][0])
        if value != value:
            return ""
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.12g}"
