"""A table as columns of numbers and columns of text, with the way back to the line of the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mustlink.errors import FileFormatError

__all__ = ["NumericColumn", "Table", "TextColumn"]


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers.

    Parameters
    ----------
    name : str
        The column's name.
    values : ndarray of shape (n_rows,)
        float32 or float64; NaN marks an empty cell.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.tables import NumericColumn
    >>> NumericColumn("age", np.array([31.0, np.nan])).missing()
    array([False,  True])
    """

    name: str
    values: np.ndarray[Any, Any]

    def missing(self) -> np.ndarray[Any, Any]:
        """Say for every row whether its cell is empty.

        Returns
        -------
        ndarray of bool, shape (n_rows,)

        Examples
        --------
        >>> import numpy as np
        >>> NumericColumn("age", np.array([31.0, 40.0])).missing().any()
        np.False_
        """
        return np.isnan(self.values)

    def strings(self) -> list[str]:
        """Spell every cell, whole numbers without a decimal point, empty cells as an empty string.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import numpy as np
        >>> NumericColumn("age", np.array([31.0, 0.5, np.nan])).strings()
        ['31', '0.5', '']
        """
        return [_spelled(value) for value in self.values.tolist()]


@dataclass(frozen=True)
class TextColumn:
    """A column of text, each distinct text kept once.

    Parameters
    ----------
    name : str
        The column's name.
    codes : ndarray of int64, shape (n_rows,)
        Which category a row holds; -1 marks an empty cell.
    categories : tuple of str
        The distinct texts, in the order of their first row.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.tables import TextColumn
    >>> TextColumn("plan", np.array([0, 1, 0, -1]), ("basic", "pro")).strings()
    ['basic', 'pro', 'basic', '']
    """

    name: str
    codes: np.ndarray[Any, Any]
    categories: tuple[str, ...]

    def missing(self) -> np.ndarray[Any, Any]:
        """Say for every row whether its cell is empty.

        Returns
        -------
        ndarray of bool, shape (n_rows,)

        Examples
        --------
        >>> import numpy as np
        >>> TextColumn("plan", np.array([0, -1]), ("basic",)).missing()
        array([False,  True])
        """
        missing: np.ndarray[Any, Any] = self.codes < 0
        return missing

    def strings(self) -> list[str]:
        """Spell every cell, empty cells as an empty string.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import numpy as np
        >>> TextColumn("plan", np.array([0, 0]), ("basic",)).strings()
        ['basic', 'basic']
        """
        spelling = [*self.categories, ""]
        return [spelling[code] for code in self.codes.tolist()]


@dataclass(frozen=True)
class Table:
    """Columns of equal length, and where they came from.

    Parameters
    ----------
    source : str
        The name of the file, for messages.
    columns : tuple of NumericColumn or TextColumn
        In the order of the file.
    n_rows : int
        How many data rows there are.
    lines : ndarray of int64, shape (n_rows,), or None
        The line of the file each row stands in (from 1), where the file has lines.
    notices : tuple of str
        What the reader decided and the user should know.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.tables import NumericColumn, Table
    >>> table = Table("people.npy", (NumericColumn("age", np.array([31.0, 40.0])),), 2)
    >>> table.where(1)
    'row 1'
    >>> table.column("age").values
    array([31., 40.])
    """

    source: str
    columns: tuple[NumericColumn | TextColumn, ...]
    n_rows: int
    lines: np.ndarray[Any, Any] | None = None
    notices: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> NumericColumn | TextColumn:
        """Give the column of that name, or say which columns there are.

        Parameters
        ----------
        name : str
            The column's name.

        Returns
        -------
        NumericColumn or TextColumn

        Examples
        --------
        >>> Table("empty.csv", (), 0).column("age")
        Traceback (most recent call last):
            ...
        mustlink.errors.FileFormatError: empty.csv has no column 'age'; it has no columns at all.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise FileFormatError(f"{self.source} has no column {name!r}; {_named_columns(self.names)}.")

    def where(self, row: int) -> str:
        """Say where a row stands: the line of the file, or the row number when the file has no lines.

        Parameters
        ----------
        row : int
            The data row, from 0.

        Returns
        -------
        str

        Examples
        --------
        >>> import numpy as np
        >>> Table("people.csv", (), 2, lines=np.array([2, 3])).where(1)
        'line 3'
        """
        return f"row {row}" if self.lines is None else f"line {int(self.lines[row])}"

    def row_ids(self, name: str) -> list[str]:
        """Give the ids of the rows from a column in which each row must hold another one.

        Parameters
        ----------
        name : str
            The column's name.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import numpy as np
        >>> from mustlink.tables import TextColumn
        >>> people = TextColumn("who", np.array([0, 1, 0]), ("ann", "bob"))
        >>> Table("people.csv", (people,), 3, lines=np.array([2, 3, 4])).row_ids("who")
        Traceback (most recent call last):
            ...
        mustlink.errors.FileFormatError: people.csv: the id 'ann' stands in line 2 and again in line 4 of ...
        """
        ids = self.column(name).strings()
        first_row: dict[str, int] = {}
        for row, row_id in enumerate(ids):
            if not row_id:
                raise FileFormatError(
                    f"{self.source}, {self.where(row)}: the id column {name!r} is empty; every row needs an id."
                )
            earlier = first_row.setdefault(row_id, row)
            if earlier != row:
                raise FileFormatError(
                    f"{self.source}: the id {row_id!r} stands in {self.where(earlier)} and again in "
                    f"{self.where(row)} of the column {name!r}; an id must belong to one row."
                )
        return ids


def check_columns(source: str, names: Sequence[str], wanted: Iterable[str] = ()) -> None:
    """Refuse two columns of one name, and a column that the user names and the file does not have."""
    first_place: dict[str, int] = {}
    for place, name in enumerate(names):
        earlier = first_place.setdefault(name, place)
        if earlier != place:
            raise FileFormatError(
                f"{source}: the columns {earlier + 1} and {place + 1} are both called {name!r}; "
                "every column needs its own name."
            )
    for name in wanted:
        if name not in first_place:
            raise FileFormatError(f"{source} has no column {name!r}; {_named_columns(names)}.")


def _named_columns(names: Sequence[str]) -> str:
    """Word the list of columns for a message, cut short when it is long."""
    if not names:
        return "it has no columns at all"
    shown = ", ".join(names[:12])
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"its columns are {shown}{more}"


def _spelled(value: float) -> str:
    """Spell a number as a person would write it in an id column."""
    if value != value:
        return ""
    # Beyond 2**53 a float no longer tells neighbouring whole numbers apart, so it keeps its own spelling.
    return str(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)
