"""Tables of 0 and 1: a cell for every row and column, or a list of the ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink._spelling import count
from mustlink.coclustering import binarize
from mustlink.errors import FileFormatError, OptionError
from mustlink.tables._dialect import Dialect
from mustlink.tables._judge import shorten
from mustlink.tables._read import read_table
from mustlink.tables._table import Table, Where, is_text, spell_cell

__all__ = ["BinaryTable", "read_binary"]

# What stands for one and for zero in text; a column has the words of one line.
WORDS = (("1", "0"), ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("x", ""))
EXPECTED = "a cell is 0 or 1, true or false, yes or no, or x or empty"


@dataclass(frozen=True)
class BinaryTable:
    """A table of 0 and 1, and what its rows and columns are called.

    Parameters
    ----------
    X : sparse array of shape (n_rows, n_columns)
        The ones.
    columns : tuple of str
        The names of the columns.
    ids : list of str or None
        The ids of the rows, if a column holds them.
    id_name : str
        What the column of the ids is called; "row" if there is none.
    order : ndarray of shape (n_rows,) or None, default=None
        The values of the column by which rows are ordered, such as times.
    source : str, default="The table"
        The name of the file, for messages.
    notices : tuple of str, default=()
        What the reader decided and the user should know.
    where : callable, optional
        Returns the position of a row in the file as text.
    dialect : Dialect or None, default=None
        How the file is written, if it is a text file.

    See Also
    --------
    read_binary : Reads one from a file.

    Examples
    --------
    See :func:`read_binary`.
    """

    X: sparse.csr_array
    columns: tuple[str, ...]
    ids: list[str] | None
    id_name: str
    order: NDArray[np.float64] | None = None
    source: str = "The table"
    notices: tuple[str, ...] = ()
    where: Where = field(default_factory=lambda: "row {}".format, repr=False, compare=False)
    dialect: Dialect | None = None


def read_binary(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    order_column: str | None = None,
    ignore: Collection[str] = (),
    is_long: bool = False,
    missing: Literal["error", "zero"] = "error",
    ones_above: float | None = None,
    **reading: Any,
) -> BinaryTable:
    """Read a table of 0 and 1.

    Parameters
    ----------
    path : str or path-like
        The file, in a format of :func:`read_table`. Cells are 0 and 1, true and false, yes and no, or x and empty.
    id_column : str or None, default=None
        The column that names the rows.
    order_column : str or None, default=None
        A column of numbers, dates or times by which rows are ordered.
    ignore : collection of str, default=()
        Columns to leave out.
    is_long : bool, default=False
        Whether the file lists the ones: a row and a column on each line, and optionally 0 or 1 in a third column.
    missing : {"error", "zero"}, default="error"
        What to do with empty cells: refuse them, or take them for 0. In a column of x they are 0.
    ones_above : float or None, default=None
        Take numbers for 1 if they are above this percentage of the largest number of their column; None expects 0 and
        1.
    **reading : object
        How the file is written: `header`, `encoding`, `delimiter`, `decimal` and `sheet` of :func:`read_table`.

    Returns
    -------
    BinaryTable

    Raises
    ------
    FileFormatError
        For a cell that is neither 0 nor 1; the message names its line and its column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.tables import read_binary
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "animals.csv")
    ...     _ = path.write_text("name,hair,eggs,milk\\nbear,yes,0,1\\nhawk,no,1,0\\n")
    ...     table = read_binary(path, id_column="name")
    >>> table.X.toarray().tolist(), table.columns, table.ids
    ([[1, 0, 1], [0, 1, 0]], ('hair', 'eggs', 'milk'), ['bear', 'hawk'])
    """
    if ones_above is not None and not 0 <= ones_above < 100:
        raise OptionError(
            f"The percentage of the maximum is {ones_above:g}, and must be at least 0 and below 100",
            remedy="change_option",
            option="ones_above",
        )
    if is_long:
        if order_column is not None:
            raise OptionError("A list of ones has no column by which rows are ordered.")
        return _read_long(path, id_column, ignore, missing, ones_above, reading)
    used = [] if id_column is None else [id_column]
    table = read_table(path, text=used, ignore=ignore, problems="keep", **reading)
    ids = None if id_column is None else table.row_ids(id_column)
    order = None if order_column is None else _order_of_rows(table, order_column)
    names = [name for name in table.names if name not in (id_column, order_column)]
    if not names or not table.n_rows:
        what = "rows" if names else "columns of 0 and 1"
        raise FileFormatError(f"{table.source} has no {what}; at least one of each is needed.")
    ones = [np.flatnonzero(_ones(table, name, missing, ones_above, has_ids=ids is not None)) for name in names]
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in ones])])
    rows = np.concatenate(ones)
    by_column = sparse.csc_array((np.ones(len(rows), dtype=np.uint8), rows, starts), shape=(table.n_rows, len(names)))
    return BinaryTable(
        sparse.csr_array(by_column),
        tuple(names),
        ids,
        id_column or "row",
        order,
        table.source,
        table.notices,
        table.where,
        table.dialect,
    )


def _order_of_rows(table: Table, name: str) -> NDArray[np.float64]:
    """Return the numbers by which rows are ordered."""
    column = table.column(name)
    if is_text(column):
        raise FileFormatError(
            f"{table.source}: the column {name!r} holds text; rows are ordered by numbers, dates or times."
        )
    values = column.to_numpy(dtype=np.float64)
    if np.isnan(values).any():
        place = table.where(int(np.argmax(np.isnan(values))))
        raise FileFormatError(f"{table.source}, {place}: the column {name!r} of the order of the rows is empty.")
    return values


def _ones(
    table: Table, name: str, missing: str, ones_above: float | None, *, has_ids: bool, groups: Any = None
) -> NDArray[np.bool_]:
    """Return which cells of a column are 1; the largest number is that of each group of cells, if there are groups."""
    column = table.frame[name]
    is_empty = column.isna().to_numpy()
    if ones_above is not None:
        ones = _above(table, name, ones_above, has_ids, groups)
    elif is_text(column):
        ones, is_empty_zero = _ones_of_words(table, name, has_ids)
        is_empty = is_empty & (not is_empty_zero)
    else:
        values = column.to_numpy()
        bad = ~is_empty & (values != 0) & (values != 1)
        if bad.any():
            raise _bad_cell(table, name, int(np.argmax(bad)), table.strings(name), "ones_above")
        ones = values == 1
    if missing == "error" and is_empty.any():
        place = table.where(int(np.argmax(is_empty)))
        raise FileFormatError(f"{table.source}, {place}: the column {name!r} is empty", remedy="missing_zero")
    return ones


def _ones_of_words(table: Table, name: str, has_ids: bool) -> tuple[NDArray[np.bool_], bool]:
    """Return which cells of a column of text are 1, those with the first word of a line of the words.

    Also return whether empty cells are the second word of this line.
    """
    column = table.frame[name]
    words = [str(word).lower() for word in column.cat.categories]
    pair = next((pair for pair in WORDS if words[:1] and words[0] in pair), ("", ""))
    strange = [code for code, word in enumerate(words) if word not in pair or not word]
    codes = column.cat.codes.to_numpy()
    if strange:
        is_name = not has_ids and len(words) == table.n_rows and len(strange) == len(words)
        row = int(np.argmax(np.isin(codes, strange)))
        raise _bad_cell(table, name, row, table.strings(name), *(["mark_id"] if is_name else []))
    return np.array([*(word == pair[0] for word in words), False])[codes], pair == ("x", "")


def _bad_cell(table: Table, name: str, row: int, cells: Sequence[str], *remedies: str) -> FileFormatError:
    """Return the error for a cell that is neither 0 nor 1."""
    problem = f"{table.source}, {table.where(row)}: the column {name!r} holds {shorten(cells[row])}, and {EXPECTED}"
    return FileFormatError(problem, remedy=(*remedies, "ignore_column"), column=name)


def _above(table: Table, name: str, percent: float, has_ids: bool, groups: Any) -> NDArray[np.bool_]:
    """Return which numbers are above a percentage of the largest one of their column or group."""
    column = table.frame[name]
    if is_text(column):
        is_name = not has_ids and len(column.cat.categories) == table.n_rows
        raise FileFormatError(
            f"{table.source}: the column {name!r} holds text, and numbers above a percentage of the largest one are 1",
            remedy=("mark_id", "ignore_column") if is_name else "ignore_column",
            column=name,
        )
    values = column.to_numpy(dtype=np.float64)
    ones = np.zeros(len(values), dtype=np.bool_)
    for cells in [np.arange(len(values))] if groups is None else _cells_of_groups(groups):
        filled = cells[~np.isnan(values[cells])]
        largest = values[filled].max(initial=-np.inf)
        if largest <= 0:
            raise FileFormatError(
                f"{table.source}: the largest number of the column {name!r} is {spell_cell(float(largest))}, and a "
                "percentage of it is a threshold only if it is positive",
                remedy="ignore_column",
                column=name,
            )
        ones[filled] = binarize(values[filled, None], percent).ravel() == 1
    return ones


def _cells_of_groups(groups: Any) -> list[Any]:
    """Return the cells of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _read_long(
    path: str | PathLike[str],
    id_column: str | None,
    ignore: Collection[str],
    missing: str,
    ones_above: float | None,
    reading: dict[str, Any],
) -> BinaryTable:
    """Read a list of ones: a row and a column on each line, and optionally a value."""
    names = [name for name in read_table(path, columns=[], **reading).left_out if name not in ignore]
    if len(names) not in (2, 3):
        raise FileFormatError(
            f"{path} has {count(len(names), 'column')}; a list of ones has two, a row and a column, and optionally a "
            "third with 0 or 1."
        )
    if id_column is not None and id_column in names:
        names.sort(key=lambda name: name != id_column)
    ends = names[:2]
    wanted = ends if id_column is None else [id_column, *(name for name in ends if name != id_column)]
    table = read_table(path, text=wanted, ignore=ignore, problems="keep", **reading)
    for name in ends:
        is_empty = table.column(name).isna().to_numpy()
        if is_empty.any():
            place = table.where(int(np.argmax(is_empty)))
            raise FileFormatError(f"{table.source}, {place}: the column {name!r} is empty; every one has both names.")
    rows, columns = (table.column(name).cat.codes.to_numpy() for name in ends)
    if not table.n_rows:
        raise FileFormatError(f"{table.source} lists no ones.")
    ids, labels = ([str(text) for text in table.column(name).cat.categories] for name in ends)
    is_one = np.ones(table.n_rows, dtype=bool)
    if len(names) == 3:
        is_one = _ones(table, names[2], missing, ones_above, has_ids=True, groups=columns)
    places = np.unique(np.column_stack([rows, columns])[is_one], axis=0)
    X = sparse.coo_array((np.ones(len(places), dtype=np.uint8), tuple(places.T)), shape=(len(ids), len(labels)))
    return BinaryTable(
        sparse.csr_array(X),
        tuple(labels),
        ids,
        ends[0],
        source=table.source,
        notices=table.notices,
        where=lambda row: f"row {ids[row]!r}",
        dialect=table.dialect,
    )
