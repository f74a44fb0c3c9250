"""A table that is read some rows at a time: Parquet, a folder of Parquet files, or an array of NumPy."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from mustlink._types import Array, Indices
from mustlink.blocks import ParquetFiles
from mustlink.blocks.core import is_parquet
from mustlink.errors import FileFormatError
from mustlink.tables._judge import Judgement
from mustlink.tables._read import map_npy
from mustlink.tables._table import Table, check_columns, tidy_frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrayStream", "ParquetStream", "TableStream", "is_streamed", "open_stream"]

# The number of cells of an array that are taken at a time.
PART_CELLS = 1 << 19
# What a cell of text takes in memory, about.
TEXT_BYTES = 60


class TablePart(NamedTuple):
    """Some rows of a table, and the number of the first one."""

    start: int
    frame: pd.DataFrame

    @property
    def stop(self) -> int:
        """The number of the first row after them."""
        return self.start + len(self.frame)


class TableStream(ABC):
    """A table in a file that is read some rows at a time, as often as needed.

    Parameters
    ----------
    path : path-like
        The file, or the folder.
    names : sequence of str
        The names of the columns.
    n_rows : int
        The number of rows.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from mustlink.tables import open_stream
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> [part.frame["x1"].tolist() for part in open_stream(path).parts(["x1"])]
    [[2.0, 4.0]]
    """

    # The whole table, if it is one array of numbers in a file.
    array: Array | None = None

    def __init__(self, path: str | os.PathLike[str], names: Sequence[str], n_rows: int) -> None:
        self.path, self.source = Path(path), str(path)
        self.names, self.n_rows = tuple(names), n_rows
        check_columns(self.source, self.names)

    # As of a table in memory: all columns can be read.
    left_out: tuple[str, ...] = ()

    def check_columns(self, wanted: Collection[str]) -> None:
        """Raise if a wanted column is not there.

        Parameters
        ----------
        wanted : collection of str
            Names of columns.
        """
        check_columns(self.source, self.names, wanted)

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """The size of the table in memory, about."""

    @abstractmethod
    def parts(self, columns: Collection[str]) -> Iterator[TablePart]:
        """Read some columns of all rows in order, some rows at a time.

        Parameters
        ----------
        columns : collection of str
            The columns to read.

        Yields
        ------
        TablePart
            The first row, and a data frame with the columns in the order of the table.
        """

    @abstractmethod
    def frame_at(self, rows: Indices, columns: Collection[str]) -> pd.DataFrame:
        """Read some columns of some rows.

        Parameters
        ----------
        rows : ndarray of int
            Their numbers, in ascending order.
        columns : collection of str
            The columns to read.

        Returns
        -------
        pandas.DataFrame
        """

    def judge(self, part: TablePart, text: Collection[str] = ()) -> Judgement:
        """Turn the columns of some rows into numbers and categories, as those of a whole table.

        Parameters
        ----------
        part : TablePart
            The rows.
        text : collection of str, default=()
            Columns whose cells are text however they look.

        Returns
        -------
        Judgement
        """
        chosen = [name for name in text if name in part.frame.columns]
        return tidy_frame(self.source, part.frame, text=chosen, where=lambda row: f"row {part.start + row}")

    def strings(self, name: str) -> Iterator[tuple[int, list[str]]]:
        """Read the cells of a column as text, some at a time.

        Parameters
        ----------
        name : str
            The column's name.

        Yields
        ------
        start : int
            The number of the first row.
        cells : list of str
            The cells, as :meth:`Table.strings` gives them for a column of text.
        """
        check_columns(self.source, self.names, [name])
        for part in self.parts([name]):
            yield part.start, spell_column(self.source, part.frame, name)

    def strings_at(self, name: str, rows: Indices) -> list[str]:
        """Read the cells of a column in some rows as text.

        Parameters
        ----------
        name : str
            The column's name.
        rows : ndarray of int
            The numbers of the rows, in ascending order.

        Returns
        -------
        list of str
        """
        return spell_column(self.source, self.frame_at(rows, [name]), name) if len(rows) else []


def spell_column(source: str, frame: pd.DataFrame, name: str) -> list[str]:
    """Return the cells of a column as text, as those of ids."""
    return Table.from_frame(frame, source=source, text=[name], columns=[name], problems="keep").strings(name)


class ParquetStream(TableStream):
    """A Parquet file, or a folder of Parquet files, read some rows at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.files = ParquetFiles(path)
        self._places = columns_with_index(self.files.schema)
        super().__init__(path, tidy_names(list(self._places.values())), self.files.n_rows)
        self._file_name = dict(zip(self.names, self._places, strict=True))

    @property
    def memory_bytes(self) -> int:
        widths = [width_in_memory(self.files.schema.field(name).type) for name in self.files.names]
        return self.n_rows * sum(widths)

    @property
    def time_columns(self) -> list[str]:
        """The columns of times without a time zone."""
        import pyarrow as pa

        kinds = zip(self.names, self.types, strict=True)
        return [name for name, kind in kinds if pa.types.is_timestamp(kind) and kind.tz is None]

    @property
    def types(self) -> list[Any]:
        """The types of the columns."""
        return [self.files.schema.field(self._file_name[name]).type for name in self.names]

    def parts(self, columns: Collection[str]) -> Iterator[TablePart]:
        import pyarrow as pa

        chosen = [name for name in self.names if name in columns]
        for start, _, _, batch in self.files.parts([self._file_name[name] for name in chosen]):
            yield TablePart(start, self._frame(pa.Table.from_batches([batch]), chosen))

    def frame_at(self, rows: Indices, columns: Collection[str]) -> pd.DataFrame:
        chosen = [name for name in self.names if name in columns]
        return self._frame(self.files.take(rows, [self._file_name[name] for name in chosen]), chosen)

    def _frame(self, table: pa.Table, chosen: Sequence[str]) -> pd.DataFrame:
        """Return rows as a data frame, with types that keep whole numbers and truth values beside empty cells."""
        kinds = nullable_types()
        # The index that pandas wrote is taken as columns.
        plain = table.replace_schema_metadata(None).select([self._file_name[name] for name in chosen])
        return plain.to_pandas(types_mapper=kinds.get).set_axis(list(chosen), axis=1)


class ArrayStream(TableStream):
    """An array of NumPy, read some rows at a time; its columns are called x0, x1 and so on."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._array: Array = map_npy(Path(path))
        super().__init__(path, [f"x{place}" for place in range(self._array.shape[1])], len(self._array))
        self.dtype = np.dtype(np.float32 if self._array.dtype == np.float32 else np.float64)
        self.array = self._array

    @property
    def memory_bytes(self) -> int:
        return int(self._array.size * self.dtype.itemsize)

    def parts(self, columns: Collection[str]) -> Iterator[TablePart]:
        step = max(1, PART_CELLS // max(1, self._array.shape[1]))
        for start in range(0, self.n_rows, step):
            yield TablePart(start, self._frame(self._array[start : start + step], columns))

    def frame_at(self, rows: Indices, columns: Collection[str]) -> pd.DataFrame:
        return self._frame(self._array[rows], columns)

    def _frame(self, numbers: Array, columns: Collection[str]) -> pd.DataFrame:
        chosen = [place for place, name in enumerate(self.names) if name in columns]
        return pd.DataFrame(numbers[:, chosen].astype(self.dtype), columns=[self.names[place] for place in chosen])


def is_streamed(path: str | os.PathLike[str]) -> bool:
    """Return whether a table can be read some rows at a time, by its name.

    Parameters
    ----------
    path : path-like
        The file, or a folder.

    Returns
    -------
    bool

    Examples
    --------
    >>> from mustlink.tables import is_streamed
    >>> is_streamed("big.parquet"), is_streamed("big.csv")
    (True, False)
    """
    return is_parquet(path) or Path(path).suffix.lower() == ".npy"


def open_stream(path: str | os.PathLike[str]) -> TableStream:
    """Open a table to read it some rows at a time.

    Parameters
    ----------
    path : path-like
        A ``.parquet`` file or a folder of such files (extra ``parquet``), or ``.npy``.

    Returns
    -------
    TableStream

    Raises
    ------
    FileFormatError
        If it is none of these.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from mustlink.tables import open_stream
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.ones((5, 2)))
    >>> stream = open_stream(path)
    >>> stream.n_rows, stream.names
    (5, ('x0', 'x1'))
    """
    if is_parquet(path):
        return ParquetStream(path)
    if is_streamed(path):
        return ArrayStream(path)
    raise FileFormatError(
        f"{path}: a table is read in blocks from .parquet, a folder of .parquet files or .npy; save it as one of them."
    )


def tidy_names(names: Sequence[str]) -> list[str]:
    """Return the names of columns as a table in memory has them."""
    return [str(name).strip() or f"unnamed_{place}" for place, name in enumerate(names)]


def columns_with_index(schema: pa.Schema) -> dict[str, str]:
    """Return what the columns of a file are called, those of the index of pandas first, as reset_index names them."""
    about = schema.pandas_metadata or {}
    index = [name for name in about.get("index_columns", []) if isinstance(name, str) and name in schema.names]
    others = [name for name in schema.names if name not in index]
    named = {}
    for level, name in enumerate(index):
        unnamed = "index" if len(index) == 1 and "index" not in others else f"level_{level}"
        named[name] = unnamed if name.startswith("__index_level_") else name
    return named | {name: name for name in others}


def nullable_types() -> dict[Any, Any]:
    """Return the types of pandas for those of Arrow that it would change where cells are empty."""
    import pyarrow as pa

    return {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.string(): pd.StringDtype(),
        pa.large_string(): pd.StringDtype(),
    }


def width_in_memory(kind: Any) -> int:
    """Return how many bytes a cell takes in a table in memory, about."""
    import pyarrow as pa

    if kind == pa.float32():
        return 4
    if pa.types.is_dictionary(kind) or pa.types.is_boolean(kind):
        return 4
    return 8 if pa.types.is_primitive(kind) else TEXT_BYTES
