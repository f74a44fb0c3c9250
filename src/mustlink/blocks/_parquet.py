"""Rows in Parquet: a file, or the files of a folder, as one table that is read row group by row group."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from mustlink._types import Array, Indices
from mustlink.blocks._files import FileRows
from mustlink.blocks._label_file import check_label_file
from mustlink.blocks._scratch import write_scratch
from mustlink.errors import FileFormatError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PARQUET", "ParquetFiles", "ParquetPart", "is_parquet", "read_parquet_rows"]

PARQUET = (".parquet", ".pq")
# So many cells are decoded at a time, and so many rows of few columns, whose cells may be texts.
BATCH_CELLS = 1 << 19
MAX_BATCH_ROWS = 1 << 16
MAX_NAMED = 8


class ParquetPart(NamedTuple):
    """Some rows of a table: the number of the first one, the file they are in, and its first row in the file."""

    start: int
    file: Path
    row_of_file: int
    batch: pa.RecordBatch


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a Parquet file by its name, or a folder."""
    return Path(path).suffix.lower() in PARQUET or Path(path).is_dir()


class ParquetFiles:
    """A Parquet file, or the Parquet files of a folder in the order of their names, as one table.

    Only what the files say about themselves is read before rows are asked for.

    Parameters
    ----------
    path : path
        A file, or a folder. In a folder, names that begin with a point or an underscore are left out.

    Attributes
    ----------
    files : list of Path
        The files.
    schema : pyarrow.Schema
        The names and types of the columns, which are the same in all files.
    n_rows : int
        The number of rows.

    Raises
    ------
    FileFormatError
        If a file is no Parquet, a folder has none, or columns differ between files; the message names the file.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from mustlink.blocks import ParquetFiles
    >>> folder = tempfile.mkdtemp()
    >>> for part in ("a", "b"):
    ...     pq.write_table(pa.table({"x": [1.0, 2.0]}), os.path.join(folder, f"{part}.parquet"))
    >>> table = ParquetFiles(folder)
    >>> table.n_rows, table.names
    (4, ['x'])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import_pyarrow(path)
        self.path = Path(path)
        self.files = list_files(self.path)
        about = [read_footer(file) for file in self.files]
        self.schema: pa.Schema = about[0].schema.to_arrow_schema()
        for file, footer in zip(self.files, about, strict=True):
            refuse_other_columns(self.files[0], self.schema, file, footer.schema.to_arrow_schema())
        self._rows_of_files = [footer.num_rows for footer in about]
        self._bounds = np.concatenate([[0], np.cumsum(self._rows_of_files)]).astype(np.intp)
        self.n_rows = int(self._bounds[-1])
        self._groups = [[footer.row_group(i).num_rows for i in range(footer.num_row_groups)] for footer in about]
        self._bytes = sum(footer.row_group(i).total_byte_size for footer in about for i in range(footer.num_row_groups))
        names = self.schema.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise FileFormatError(f"{path}: two columns are called {twice!r}; every column needs its own name.")

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    @property
    def decoded_bytes(self) -> int:
        """The size of all columns before compression, as the files give it."""
        return int(self._bytes)

    def parts(self, columns: Collection[str] | None = None) -> Iterator[ParquetPart]:
        """Read the rows in order, some at a time.

        Parameters
        ----------
        columns : collection of str, default=None
            The columns to read; None reads all.

        Yields
        ------
        ParquetPart
            With fewer rows than a row group.
        """
        import pyarrow.parquet as pq

        names = self.names if columns is None else list(columns)
        size = max(1, min(MAX_BATCH_ROWS, BATCH_CELLS // max(1, len(names))))
        for file, first in zip(self.files, self._bounds[:-1].tolist(), strict=True):
            start = 0
            with reading(file), pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(batch_size=size, columns=names):
                    yield ParquetPart(first + start, file, start, batch)
                    start += batch.num_rows

    def take(self, rows: Indices, columns: Collection[str]) -> pa.Table:
        """Read some rows, and only the row groups that they are in.

        Parameters
        ----------
        rows : ndarray of int
            Their numbers, in ascending order.
        columns : collection of str
            The columns to read.

        Returns
        -------
        pyarrow.Table
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        found = []
        bounds, place = self._group_bounds
        which = np.searchsorted(bounds, rows, side="right") - 1
        for number in np.unique(which).tolist():
            file, group = place[number]
            with reading(self.files[file]), pq.ParquetFile(self.files[file]) as opened:
                found.append(
                    opened.read_row_group(group, columns=list(columns)).take(rows[which == number] - bounds[number])
                )
        return pa.concat_tables(found) if found else self.schema.empty_table().select(list(columns))

    @cached_property
    def _group_bounds(self) -> tuple[Indices, list[tuple[int, int]]]:
        """The first row of every row group that has rows, and its number with that of its file."""
        sizes = [(file, group, n) for file, groups in enumerate(self._groups) for group, n in enumerate(groups) if n]
        bounds = np.concatenate([[0], np.cumsum([n for _, _, n in sizes])])[:-1].astype(np.intp)
        return bounds, [(file, group) for file, group, _ in sizes]


def read_parquet_rows(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    labels: str | Path | None = None,
    checkpoint: str | Path | None = None,
    scratch: str | Path | None = None,
) -> FileRows:
    """Decode columns of numbers once, and keep them on a disk for the passes of a fit."""
    table = ParquetFiles(path)
    names = choose_numbers(table, columns)
    if not table.n_rows:
        raise FileFormatError(f"{path} has no rows; at least one is needed.")
    if labels is not None:
        # The rows have no name once they are decoded.
        check_label_file(labels, table.files, table.n_rows)
    types = [table.schema.field(name).type for name in names]
    dtype = np.dtype(np.float32 if all(map(fits_float32, types)) else np.float64)
    parts = (numbers_of_part(part, names, dtype) for part in table.parts(names))
    array = write_scratch(parts, (table.n_rows, len(names)), dtype, scratch, str(path))
    return FileRows(array, names, labels=labels, checkpoint=checkpoint)


def numbers_of_part(part: ParquetPart, names: Sequence[str], dtype: Any) -> Array:
    """Return rows as an array, or name the first cell that holds no number."""
    numbers = np.empty((part.batch.num_rows, len(names)), dtype=dtype)
    for place, name in enumerate(names):
        column = part.batch.column(name)
        if column.null_count:
            refuse_cell(part, name, int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))), "is empty")
        numbers[:, place] = column.to_numpy(zero_copy_only=False)
    is_bad = ~np.isfinite(numbers)
    if is_bad.any():
        row, bad = map(int, np.unravel_index(int(np.argmax(is_bad)), is_bad.shape))
        refuse_cell(part, names[bad], row, f"holds {numbers[row, bad]}")
    return numbers


def refuse_cell(part: ParquetPart, name: str, row: int, what: str) -> NoReturn:
    """Raise an error that names a cell without a number, and where it is."""
    raise FileFormatError(
        f"{part.file}, row {part.row_of_file + row:,} (row {part.start + row:,} of all): the column {name!r} {what}; "
        "fill in or remove missing values first."
    )


def choose_numbers(table: ParquetFiles, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to read, or refuse those that are not there or hold no numbers."""
    if isinstance(columns, str):
        raise TypeError(f"columns={columns!r} is one text; pass a list of names, such as [{columns!r}].")
    names = table.names if columns is None else list(columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"columns names {twice!r} {names.count(twice)} times; name every column once.")
    missing = [name for name in names if name not in table.names]
    if missing:
        raise FileFormatError(
            f"{table.path} has no column {listed(missing)}; its columns are {listed(table.names)}.", missing=missing
        )
    if not names:
        raise FileFormatError(f"{table.path}: no columns were chosen; at least one is needed.")
    others = [f"{name!r} ({kind})" for name in names if not holds_numbers(kind := table.schema.field(name).type)]
    if others:
        numbers = [name for name in names if holds_numbers(table.schema.field(name).type)]
        shown = repr(numbers[:MAX_NAMED])
        shown = f"{shown[:-1]}, ...]" if len(numbers) > MAX_NAMED else shown
        advice = f"choose others with columns={shown}" if numbers else "no column holds numbers"
        raise FileFormatError(f"{table.path}: columns that hold no numbers: {', '.join(others)}; {advice}.")
    return names


def listed(names: Sequence[str]) -> str:
    """List names, at most a few of them."""
    shown = ", ".join(map(repr, names[:MAX_NAMED]))
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED:,} more"


def holds_numbers(kind: Any) -> bool:
    """Return whether a type of Arrow is one of numbers, or of truth values, which are 0 and 1."""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def fits_float32(kind: Any) -> bool:
    """Return whether numbers of a type of Arrow are the same in single precision."""
    import pyarrow as pa

    small = {pa.float16(), pa.float32(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.bool_()}
    return kind in small


def list_files(path: Path) -> list[Path]:
    """Return a file, or the Parquet files of a folder in the order of their names."""
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if not path.is_dir():
        return [path]
    inside = sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
    files = [entry for entry in inside if entry.suffix.lower() in PARQUET and entry.is_file()]
    below = next((entry for entry in inside if entry.is_dir() and any(entry.rglob("*.parquet"))), None)
    if below is not None:
        raise FileFormatError(
            f"{path} has Parquet files in folders below it, such as {below.name}; put all in one folder."
        )
    if not files:
        found = f"only {listed([entry.name for entry in inside])}" if inside else "nothing"
        raise FileFormatError(f"{path} is a folder without Parquet files (.parquet or .pq); it has {found}.")
    return files


def read_footer(file: Path) -> Any:
    """Return what a file says about its columns and rows."""
    import pyarrow.parquet as pq

    with reading(file):
        return pq.read_metadata(file)


def refuse_other_columns(first: Path, expected: pa.Schema, file: Path, schema: pa.Schema) -> None:
    """Raise if the columns of a file are not those of the first one."""
    missing = [name for name in expected.names if name not in schema.names]
    new = [name for name in schema.names if name not in expected.names]
    if missing or new:
        what = f"has no column {listed(missing)}, which {first.name} has" if missing else ""
        what += ", and " if missing and new else ""
        what += f"has the column {listed(new)}, which {first.name} has not" if new else ""
        raise FileFormatError(f"{file} {what}; all files of a folder must have the same columns.")
    for name in expected.names:
        kind, wanted = schema.field(name).type, expected.field(name).type
        if kind != wanted:
            raise FileFormatError(
                f"{file}: the column {name!r} is of the type {kind}, and of the type {wanted} in {first.name}; all "
                "files of a folder must have the same types."
            )


class reading:  # noqa: N801  (a context, used like a function)
    """Word the errors of Arrow for a file that is no Parquet, or not a whole one."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import pyarrow as pa

        if isinstance(error, pa.ArrowException) or (isinstance(error, OSError) and error.errno is None):
            reason = " ".join(str(error).split()).rstrip(".")
            raise FileFormatError(f"{self._file} is not a readable Parquet file ({reason}).") from None


def import_pyarrow(path: str | os.PathLike[str]) -> None:
    """Raise if pyarrow is not installed, with the extra to install."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ModuleNotFoundError:
        raise FileFormatError(
            f"{path}: reading Parquet needs pyarrow", remedy="install_extra", extra="parquet"
        ) from None
