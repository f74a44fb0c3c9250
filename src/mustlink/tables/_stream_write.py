"""Clusters of a table that is read some rows at a time, written some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import IO, Any

import numpy as np
import pandas as pd

from mustlink._atomic import StagedFiles
from mustlink._types import Array
from mustlink.errors import FileFormatError
from mustlink.tables._keep import cluster_column, written_dialect
from mustlink.tables._sheet import spelled
from mustlink.tables._stream import ParquetStream, TableStream
from mustlink.tables._write import TEXT, check_output_suffix, nullable

__all__ = ["check_streamed_suffix", "stage_stream"]

# The rows of a file without ids that are written at a time.
WRITTEN_ROWS = 1 << 16

# Of days alone, of times, and of times in parts of seconds.
DATE_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")

OfRows = Callable[[int, int], Any]


def check_streamed_suffix(path: str | PathLike[str], *, keep_columns: bool = False) -> str:
    """Give the suffix of a file of clusters that is written some rows at a time, or refuse one.

    Parameters
    ----------
    path : str or path-like
        Where the clusters are to be written.
    keep_columns : bool, default=False
        Whether all columns of the table are written with them.

    Returns
    -------
    str
        ``.csv``, ``.tsv``, ``.parquet`` or ``.npy``.

    Raises
    ------
    FileFormatError
        For any other suffix.

    Examples
    --------
    >>> from mustlink.tables import check_streamed_suffix
    >>> check_streamed_suffix("clusters.xlsx")
    Traceback (most recent call last):
        ...
    mustlink.errors.FileFormatError: clusters.xlsx: a sheet of Excel is not written in blocks; use .csv, .tsv, ...
    """
    suffix = check_output_suffix(path, keep_columns=keep_columns)
    if suffix == ".xlsx":
        others = ".csv, .tsv or .parquet" if keep_columns else ".csv, .tsv, .parquet or .npy"
        raise FileFormatError(f"{path}: a sheet of Excel is not written in blocks; use {others}.")
    return suffix


def stage_stream(
    files: StagedFiles,
    path: str | PathLike[str],
    stream: TableStream,
    labels: OfRows,
    *,
    id_column: str | None = None,
    known: OfRows | None = None,
    known_name: str = "label",
    keep_columns: bool = False,
    watch: Callable[[int], None] | None = None,
) -> None:
    """Stage the file of clusters of a table that is read some rows at a time.

    Parameters
    ----------
    files : StagedFiles
        Where the file is staged.
    path : str or path-like
        ``.csv``, ``.tsv``, ``.parquet`` or ``.npy``, as for :func:`stage_clusters` and :func:`stage_table`.
    stream : TableStream
        The table.
    labels : callable
        Returns the clusters of the rows from one number to another; -1 for a row without one.
    id_column : str or None, default=None
        The column that names the rows; None writes their numbers.
    known : callable, default=None
        Returns the known labels of the rows from one number to another, empty where there is none.
    known_name : str, default="label"
        The name of their column.
    keep_columns : bool, default=False
        Whether all columns of the table are written.
    watch : callable, default=None
        Called with the number of rows that are written.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from mustlink._atomic import StagedFiles
    >>> from mustlink.tables import open_stream, stage_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(pathlib.Path(folder, "rows.npy"), np.ones((3, 1)))
    ...     stream, path = open_stream(pathlib.Path(folder, "rows.npy")), pathlib.Path(folder, "clusters.csv")
    ...     with StagedFiles() as files:
    ...         stage_stream(files, path, stream, lambda start, stop: np.array([1, 0, -1])[start:stop])
    ...     print(path.read_text())
    row,cluster
    0,1
    1,0
    2,
    """
    suffix = check_streamed_suffix(path, keep_columns=keep_columns)
    if keep_columns:
        frames = _whole_frames(stream, labels, _date_formats(stream) if suffix in TEXT else {})
        schema = _whole_schema(stream) if suffix == ".parquet" else None
    else:
        names = id_column or "row", known_name if known is not None else None
        frames = _cluster_frames(stream, labels, id_column, known, known_name)
        schema = _cluster_schema(*names, has_ids=id_column is not None) if suffix == ".parquet" else None
    with files.open(path) as out:
        kinds: dict[str, Any] = {".parquet": _ParquetOut, ".npy": _NpyOut}
        write = kinds.get(suffix, _TextOut)(out, suffix, schema, stream.n_rows)
        n_rows = 0
        for frame in frames:
            write.add(frame)
            n_rows += len(frame)
            if watch is not None:
                watch(n_rows)
        write.close()
    if n_rows != stream.n_rows:
        raise FileFormatError(f"{stream.source} was changed after it was read; nothing was written.")


def _cluster_frames(
    stream: TableStream, labels: OfRows, id_column: str | None, known: OfRows | None, known_name: str
) -> Iterator[pd.DataFrame]:
    """Yield ids, clusters and known labels, some rows at a time."""
    for start, stop, names in _names(stream, id_column):
        frame = pd.DataFrame({id_column or "row": names})
        frame[cluster_column([id_column or "row"])] = nullable(labels(start, stop))
        if known is not None:
            frame[known_name] = [text or None for text in known(start, stop)]
        yield frame


def _names(stream: TableStream, id_column: str | None) -> Iterator[tuple[int, int, Any]]:
    """Yield the names of rows, some at a time, with the numbers of the first one and of the one after them."""
    if id_column is not None:
        yield from ((start, start + len(ids), ids) for start, ids in stream.strings(id_column))
        return
    for start in range(0, stream.n_rows, WRITTEN_ROWS):
        stop = min(start + WRITTEN_ROWS, stream.n_rows)
        yield start, stop, np.arange(start, stop)


def _whole_frames(stream: TableStream, labels: OfRows, formats: Mapping[str, str]) -> Iterator[pd.DataFrame]:
    """Yield all columns and the clusters, some rows at a time; some columns of dates as text."""
    name = cluster_column(stream.names)
    for part in stream.parts(stream.names):
        frame = part.frame.copy(deep=False)
        for column, written in formats.items():
            frame[column] = frame[column].dt.strftime(written)
        frame.insert(frame.shape[1], name, nullable(labels(part.start, part.stop)))
        yield frame


def _date_formats(stream: TableStream) -> dict[str, str]:
    """Return how dates are written as text: pandas would decide it for every part of a column alone."""
    found: dict[str, int] = {}
    if not isinstance(stream, ParquetStream) or not stream.time_columns:
        return {}
    for part in stream.parts(stream.time_columns):
        for name in stream.time_columns:
            times = part.frame[name].dropna().dt
            steps = [bool((times.normalize() != part.frame[name].dropna()).any()), bool(times.microsecond.any())]
            found[name] = max(found.get(name, 0), sum(steps))
    return {name: DATE_FORMATS[place] for name, place in found.items()}


def _cluster_schema(id_name: str, known_name: str | None, *, has_ids: bool) -> Any:
    """Return the types of the columns of a file of clusters."""
    import pyarrow as pa

    columns = {id_name: pa.string() if has_ids else pa.int64(), cluster_column([id_name]): pa.int64()}
    return pa.schema(columns | ({} if known_name is None else {known_name: pa.string()}))


def _whole_schema(stream: TableStream) -> Any:
    """Return the types of all columns of a table, and of its clusters."""
    import pyarrow as pa

    if isinstance(stream, ParquetStream):
        types: Sequence[Any] = stream.types
    else:
        types = [pa.from_numpy_dtype(stream.dtype)] * len(stream.names)  # type: ignore[attr-defined]
    columns = dict(zip(stream.names, types, strict=True))
    return pa.schema(columns | {cluster_column(stream.names): pa.int64()})


class _TextOut:
    """Rows as text."""

    def __init__(self, out: IO[bytes], suffix: str, schema: Any, n_rows: int) -> None:
        self._out, self._dialect, self._is_first = out, written_dialect(None, suffix), True

    def add(self, frame: pd.DataFrame) -> None:
        dialect = self._dialect
        text = spelled(frame).to_csv(
            sep=dialect.separator, index=False, header=self._is_first, lineterminator=dialect.line_end
        )
        self._is_first = False
        self._out.write(str(text).encode(dialect.encoding))

    def close(self) -> None:
        """Nothing follows the rows."""


class _ParquetOut:
    """Rows as Parquet, in row groups of what is added at once."""

    def __init__(self, out: IO[bytes], suffix: str, schema: Any, n_rows: int) -> None:
        import pyarrow.parquet as pq

        self._schema, self._writer = schema, pq.ParquetWriter(out, schema)

    def add(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False))

    def close(self) -> None:
        self._writer.close()


class _NpyOut:
    """The clusters alone, as an array of NumPy."""

    def __init__(self, out: IO[bytes], suffix: str, schema: Any, n_rows: int) -> None:
        self._out = out
        head = {"descr": np.lib.format.dtype_to_descr(np.dtype(np.int64)), "fortran_order": False, "shape": (n_rows,)}
        np.lib.format.write_array_header_1_0(out, head)

    def add(self, frame: pd.DataFrame) -> None:
        labels: Array = frame.iloc[:, 1].to_numpy(dtype=np.int64, na_value=-1)
        self._out.write(labels.tobytes())

    def close(self) -> None:
        """Nothing follows the rows."""
