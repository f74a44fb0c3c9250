"""One door to every kind of table: the suffix of the file decides who reads it."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Collection
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mustlink.errors import FileFormatError
from mustlink.tables._columns import text_column
from mustlink.tables._delimited import read_delimited
from mustlink.tables._table import NumericColumn, Table, TextColumn, check_columns

__all__ = ["read_table"]

_DELIMITER = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}


def read_table(
    path: str | PathLike[str],
    *,
    text: Collection[str] = (),
    ignore: Collection[str] = (),
    header: bool | None = None,
) -> Table:
    """Read a table from CSV, TSV, Parquet or ``.npy``.

    Parameters
    ----------
    path : str or path-like
        ``.csv``, ``.tsv``, ``.tab`` or ``.txt`` (each also with ``.gz`` behind it) in UTF-8, ``.parquet``
        (needs the extra ``parquet``), or ``.npy`` with rows and columns of numbers. In ``.csv`` and ``.txt`` the
        delimiter is found from the first lines: comma, semicolon or tab.
    text : collection of str, default=()
        Columns whose cells are text however they look: ids, labels, codes.
    ignore : collection of str, default=()
        Columns to leave unread.
    header : bool or None, default=None
        Whether the first line of a text file holds the names of the columns. None expects names and refuses
        a first line of nothing but numbers.

    Returns
    -------
    Table
        Cells that are empty, ``NA``, ``N/A``, ``NaN``, ``null`` or ``?`` count as missing.

    Raises
    ------
    FileFormatError
        When the file is not such a table; the message names the line where there is one.
    OSError
        When the file cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mustlink.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("who;age;plan\\n007;31,5;pro\\n008;40;basic\\n")
    ...     table = read_table(path, text=["who"])
    >>> table.column("who").strings(), table.column("age").values, table.column("plan").categories
    (['007', '008'], array([31.5, 40. ]), ('pro', 'basic'))
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower() if suffix == ".gz" else suffix
    if inner in _DELIMITER:
        return read_delimited(path, delimiter=_DELIMITER[inner], text=text, ignore=ignore, header=header)
    if suffix == ".npy":
        return _read_npy(path, text, ignore)
    if suffix in {".parquet", ".pq"}:
        return _read_parquet(path, text, ignore)
    raise FileFormatError(
        f"{path}: a table is read from .csv, .tsv, .txt (each also .gz), .parquet or .npy, "
        f"and {suffix or 'a file without a suffix'} is none of them."
    )


def _read_npy(path: Path, text: Collection[str], ignore: Collection[str]) -> Table:
    """Read an array of rows and columns of numbers; the columns are called x0, x1 and so on."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileFormatError(f"{path} is not an .npy file of numbers ({_one_line(error)}).") from None
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise FileFormatError(
            f"{path}: an array of rows and columns of real numbers is expected, "
            f"and this one has the shape {values.shape} and the type {values.dtype}."
        )
    dtype = values.dtype if values.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    names = tuple(f"x{place}" for place in range(values.shape[1]))
    check_columns(str(path), names, (*text, *ignore))
    columns: list[NumericColumn | TextColumn] = []
    for place, name in enumerate(names):
        if name in ignore:
            continue
        column = NumericColumn(name, values[:, place].astype(dtype))
        _refuse_infinities(str(path), column)
        columns.append(_as_text(column) if name in text else column)
    return Table(str(path), tuple(columns), values.shape[0])


def _read_parquet(path: Path, text: Collection[str], ignore: Collection[str]) -> Table:
    """Read a Parquet file by pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise FileFormatError(
            f"{path}: reading Parquet needs pyarrow; install it with pip install 'mustlink[parquet]'."
        ) from None
    with path.open("rb") as stream:
        try:
            file = pyarrow.parquet.ParquetFile(stream)
            names = tuple(file.schema_arrow.names)
            check_columns(str(path), names, (*text, *ignore))
            content = file.read(columns=[name for name in names if name not in ignore])
        except pyarrow.ArrowException as error:
            raise FileFormatError(f"{path} is not a readable Parquet file ({_one_line(error)}).") from None
    columns = [
        _from_arrow(str(path), name, content.column(name), as_text=name in text) for name in content.column_names
    ]
    return Table(str(path), tuple(columns), content.num_rows)


def _from_arrow(source: str, name: str, values: Any, *, as_text: bool) -> NumericColumn | TextColumn:
    """Turn an Arrow column into ours; yes/no columns are categories."""
    import pyarrow
    import pyarrow.compute

    kind = pyarrow.types
    if kind.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    is_text = kind.is_string(values.type) or kind.is_large_string(values.type) or kind.is_boolean(values.type)
    is_number = kind.is_integer(values.type) or kind.is_floating(values.type) or kind.is_decimal(values.type)
    if not (is_text or is_number or (as_text and kind.is_primitive(values.type))):
        raise FileFormatError(
            f"{source}: the column {name!r} is of the type {values.type}, which has no distance; "
            f"leave it out with --ignore {shlex.quote(name)}."
        )
    if is_number and not as_text:
        dtype = np.float32 if kind.is_float32(values.type) else np.float64
        numbers = values.cast(pyarrow.float32() if dtype is np.float32 else pyarrow.float64(), safe=False)
        column = NumericColumn(name, np.array(numbers.to_numpy(), dtype=dtype))
        _refuse_infinities(source, column)
        return column
    coded = values.cast(pyarrow.string()).combine_chunks().dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return text_column(name, coded.dictionary.to_pylist(), codes)


def _as_text(column: NumericColumn) -> TextColumn:
    """Read a column of numbers as codes."""
    return text_column(column.name, column.strings(), np.arange(column.values.size))


def _refuse_infinities(source: str, column: NumericColumn) -> None:
    """Refuse numbers that no distance can be computed with."""
    infinite = np.flatnonzero(np.isinf(column.values))
    if infinite.size:
        raise FileFormatError(
            f"{source}, row {infinite[0]}: the column {column.name!r} holds {column.values[infinite[0]]}, "
            "which is not a finite number."
        )


def _one_line(error: BaseException) -> str:
    """Put the message of another library on one line."""
    return " ".join(str(error).split()).rstrip(".")
