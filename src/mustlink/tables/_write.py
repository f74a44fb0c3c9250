"""Clusters as files: CSV, TSV, Excel, Parquet or NumPy, by the name of the file."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mustlink._atomic import StagedFiles, is_stream
from mustlink.errors import FileFormatError
from mustlink.tables._dialect import Dialect
from mustlink.tables._keep import (
    cluster_column,
    frame_with_clusters,
    is_tab_separated,
    lines_with_clusters,
    written_dialect,
)
from mustlink.tables._read import require
from mustlink.tables._sheet import spelled, write_sheet
from mustlink.tables._table import Table

__all__ = ["check_output_suffix", "check_sheet_size", "stage_clusters", "stage_frame", "stage_table"]

TEXT = (".csv", ".tsv")

_SUFFIXES = (".csv", ".tsv", ".xlsx", ".parquet", ".npy")
# What a sheet of Excel holds.
MAX_SHEET_ROWS, MAX_SHEET_COLUMNS = 2**20, 2**14
# What Excel keeps when it holds it as a number: no zeros in front, and at most 15 digits.
SHEET_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")


def stage_clusters(
    files: StagedFiles,
    path: str | PathLike[str],
    labels: np.ndarray[Any, Any],
    *,
    ids: Sequence[str] | None = None,
    id_name: str = "row",
    known: Sequence[str] | None = None,
    known_name: str = "label",
    dialect: Dialect | None = None,
    name: str = "cluster",
    cluster_names: Mapping[int, str] | None = None,
) -> None:
    """Stage the file of clusters.

    Parameters
    ----------
    files : StagedFiles
        Where the file is staged.
    path : str or path-like
        ``.csv``, ``.tsv``, ``.xlsx``, ``.parquet`` (columns: id, cluster, the name of the cluster and the known label
        where there are some), or ``.npy`` (the clusters alone).
    labels : ndarray of int, shape (n_rows,)
        The cluster of every row; -1 for a row without one, which is an empty cell in all formats but ``.npy``.
    ids : sequence of str or None, default=None
        What the rows are called; None takes the row numbers, from 0.
    id_name : str, default='row'
        The name of the first column.
    known : sequence of str or None, default=None
        The labels that were known beforehand, empty where none was.
    known_name : str, default='label'
        The name of their column.
    dialect : Dialect or None, default=None
        How ``.csv`` and ``.tsv`` are written; None is UTF-8 with commas. A ``.tsv`` has tabs, and a ``.csv`` has none.
    name : str, default='cluster'
        What the column of the clusters is called.
    cluster_names : mapping of int to str or None, default=None
        What the clusters are called, as one more column; those without a name have an empty cell.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from mustlink._atomic import StagedFiles
    >>> from mustlink.tables import stage_clusters
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "clusters.csv")
    ...     with StagedFiles() as files:
    ...         stage_clusters(files, path, np.array([1, 0]), ids=["ann", "bob"], id_name="who")
    ...     print(path.read_text())
    who,cluster
    ann,1
    bob,0
    """
    suffix = check_output_suffix(path)
    if suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, labels)
        files.stage(path, buffer.getvalue())
        return
    frame = pd.DataFrame({id_name: np.arange(labels.size) if ids is None else list(ids)})
    if suffix == ".xlsx" and ids is not None and all(map(SHEET_NUMBER.fullmatch, ids)):
        # As in a sheet that these ids are looked up in.
        frame[id_name] = [int(name) for name in ids]
    frame[cluster_column([id_name], name)] = nullable(labels)
    if cluster_names is not None:
        frame[cluster_column([id_name], f"{name}_name")] = [cluster_names.get(label) for label in labels.tolist()]
    if known is not None:
        frame[known_name] = [text or None for text in known]
    files.stage(path, _content(path, frame, suffix, written_dialect(dialect, suffix)))


def stage_table(
    files: StagedFiles,
    path: str | PathLike[str],
    labels: np.ndarray[Any, Any],
    *,
    source: str | PathLike[str],
    table: Table,
    header: bool | None = None,
    name: str = "cluster",
) -> None:
    """Stage a table as it came in, with the cluster of every row as one more column.

    Text stays as it was written, in its own encoding and with its own separator; only ``.tsv`` asks for tabs. In
    ``.xlsx`` and ``.parquet`` numbers are numbers and dates are dates.

    Parameters
    ----------
    files : StagedFiles
        Where the file is staged.
    path : str or path-like
        ``.csv``, ``.tsv``, ``.xlsx`` or ``.parquet``.
    labels : ndarray of int, shape (n_rows,)
        The cluster of every row; -1 for a row without one, which is an empty cell.
    source : str or path-like
        The file of the table.
    table : Table
        What was read from it.
    header : bool or None, default=None
        What :func:`read_table` was told of its header.
    name : str, default='cluster'
        What the column of the clusters is called; if the table has such a column, _found is added.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from mustlink._atomic import StagedFiles
    >>> from mustlink.tables import read_table, stage_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, path = pathlib.Path(folder, "people.csv"), pathlib.Path(folder, "clusters.csv")
    ...     _ = source.write_text("who;age\\n007;31,50\\n008;40\\n")
    ...     with StagedFiles() as files:
    ...         stage_table(files, path, np.array([1, 0]), source=source, table=read_table(source))
    ...     print(path.read_text())
    who;age;cluster
    007;31,50;1
    008;40;0
    """
    suffix = check_output_suffix(path, keep_columns=True)
    dialect = written_dialect(table.dialect, suffix, keep_tabs=not is_tab_separated(source))
    has_header = header is not False
    if table.dialect is not None and suffix in TEXT:
        cells = ["" if label < 0 else str(label) for label in labels.tolist()]
        content = lines_with_clusters(source, table, cells, has_header=has_header, dialect=dialect, name=name)
    else:
        frame = frame_with_clusters(source, table, nullable(labels), has_header=has_header, name=name)
        content = _content(path, frame, suffix, dialect)
    files.stage(path, content)


def stage_frame(
    files: StagedFiles,
    path: str | PathLike[str],
    frame: pd.DataFrame,
    *,
    source: str | PathLike[str],
    dialect: Dialect | None = None,
) -> None:
    """Stage a data frame that was made of a table, written as the table is.

    Parameters
    ----------
    files : StagedFiles
        Where the file is staged.
    path : str or path-like
        ``.csv``, ``.tsv``, ``.xlsx`` or ``.parquet``.
    frame : pandas.DataFrame
        The columns to write; the index is not written.
    source : str or path-like
        The file of the table.
    dialect : Dialect or None, default=None
        How the table is written, if it is a text file; None is UTF-8 with commas.

    Examples
    --------
    >>> import pandas as pd, pathlib, tempfile
    >>> from mustlink._atomic import StagedFiles
    >>> from mustlink.tables import Dialect, stage_frame
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "means.csv")
    ...     with StagedFiles() as files:
    ...         frame = pd.DataFrame({"age": [31.5], "plan": ["pro"]})
    ...         stage_frame(files, path, frame, source="people.csv", dialect=Dialect(";", decimal=","))
    ...     print(path.read_text())
    age;plan
    31,5;pro
    """
    suffix = check_output_suffix(path, keep_columns=True)
    written = written_dialect(dialect, suffix, keep_tabs=not is_tab_separated(source))
    files.stage(path, _content(path, frame, suffix, written, sheet="table"))


def nullable(labels: np.ndarray[Any, Any]) -> Any:
    """Return clusters as numbers that may be missing, which those of rows in no cluster are."""
    return pd.arrays.IntegerArray(labels.astype(np.int64), labels < 0)


def _content(
    path: str | PathLike[str], frame: pd.DataFrame, suffix: str, dialect: Dialect, sheet: str = "clusters"
) -> bytes:
    """Return a data frame as the content of a file."""
    buffer = io.BytesIO()
    if suffix == ".parquet":
        frame.rename(columns=str).to_parquet(buffer, engine="pyarrow", index=False)
        return buffer.getvalue()
    if suffix == ".xlsx":
        check_sheet_size(path, len(frame), frame.shape[1])
        return write_sheet(frame, sheet)
    text = spelled(frame).to_csv(
        sep=dialect.separator, index=False, lineterminator=dialect.line_end, decimal=dialect.decimal
    )
    return str(text).encode(dialect.encoding)


def check_output_suffix(path: str | PathLike[str], *, keep_columns: bool = False, what: str | None = None) -> str:
    """Give the suffix of a file of clusters, or refuse one that cannot be written.

    Parameters
    ----------
    path : str or path-like
        Where the clusters are to be written.
    keep_columns : bool, default=False
        Whether all columns of the table are written with them, which ``.npy`` cannot hold.
    what : str or None, default=None
        What is written, for the message, such as "a published table is".

    Returns
    -------
    str
        ``.csv``, ``.tsv``, ``.xlsx``, ``.parquet`` or ``.npy``; ``.csv`` for a device or a pipe.

    Raises
    ------
    FileFormatError
        For any other suffix, or one whose library is not installed.

    Examples
    --------
    >>> from mustlink.tables import check_output_suffix
    >>> check_output_suffix("labels.ods")
    Traceback (most recent call last):
        ...
    mustlink.errors.FileFormatError: labels.ods: clusters are written as .csv, .tsv, .xlsx, .parquet or .npy, ...
    """
    suffix = Path(path).suffix.lower()
    allowed = _SUFFIXES[:-1] if keep_columns else _SUFFIXES
    if is_stream(path) and suffix not in allowed:
        return ".csv"
    if suffix not in allowed:
        what = what or ("a table with its clusters is" if keep_columns else "clusters are")
        raise FileFormatError(
            f"{path}: {what} written as {', '.join(allowed[:-1])} or {allowed[-1]}, and "
            f"{suffix or 'a name without a suffix'} is none of them."
        )
    if suffix == ".parquet":
        require("pyarrow", path, "writing Parquet", "parquet")
    if suffix == ".xlsx":
        require("openpyxl", path, "writing Excel files", "excel")
    return suffix


def check_sheet_size(path: str | PathLike[str], n_rows: int, n_columns: int) -> None:
    """Refuse more rows or columns than a sheet of Excel holds; other formats hold any number.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    n_rows, n_columns : int
        The size of the table, without its header.

    Examples
    --------
    >>> from mustlink.tables import check_sheet_size
    >>> check_sheet_size("clusters.xlsx", 2_000_000, 2)
    Traceback (most recent call last):
        ...
    mustlink.errors.FileFormatError: clusters.xlsx: an Excel sheet has at most 1,048,576 rows and 16,384 columns, ...
    """
    if Path(path).suffix.lower() == ".xlsx" and (n_rows >= MAX_SHEET_ROWS or n_columns > MAX_SHEET_COLUMNS):
        raise FileFormatError(
            f"{path}: an Excel sheet has at most {MAX_SHEET_ROWS:,} rows and {MAX_SHEET_COLUMNS:,} columns, and this "
            f"table has {n_rows + 1:,} and {n_columns:,} with its header; write .csv or .parquet."
        )
