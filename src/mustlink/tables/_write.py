"""Clusters as files: CSV, TSV, NumPy or Parquet, by the name of the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._atomic import StagedFiles, is_stream
from mustlink.errors import FileFormatError

__all__ = ["check_output_suffix", "stage_clusters"]

_SUFFIXES = (".csv", ".tsv", ".npy", ".parquet")


def stage_clusters(
    files: StagedFiles,
    path: str | PathLike[str],
    labels: np.ndarray[Any, Any],
    *,
    ids: Sequence[str] | None = None,
    id_name: str = "row",
    known: Sequence[str] | None = None,
    known_name: str = "label",
) -> None:
    """Stage the file that says which row is in which cluster.

    Parameters
    ----------
    files : StagedFiles
        Where the file is staged.
    path : str or path-like
        ``.csv``, ``.tsv``, ``.parquet`` (columns: id, cluster and the known label where there are some), or
        ``.npy`` (the clusters alone).
    labels : ndarray of int, shape (n_rows,)
        The cluster of every row; -1 for a row without one, which is an empty cell in text and in Parquet.
    ids : sequence of str or None, default=None
        What the rows are called; None takes the row numbers, from 0.
    id_name : str, default='row'
        The name of the first column.
    known : sequence of str or None, default=None
        The labels that were known beforehand, empty where none was.
    known_name : str, default='label'
        The name of their column.

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
    names = [id_name, "cluster" if id_name != "cluster" else "cluster_found"]
    if suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, labels)
        files.stage(path, buffer.getvalue())
        return
    if suffix == ".parquet":
        files.stage(path, _parquet(names, labels, ids, known, known_name))
        return
    columns: list[Sequence[Any]] = [
        range(labels.size) if ids is None else ids,
        ["" if label < 0 else label for label in labels.tolist()],
    ]
    if known is not None:
        names.append(known_name)
        columns.append(known)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    files.stage(path, text.getvalue().encode("utf-8"))


def check_output_suffix(path: str | PathLike[str]) -> str:
    """Give the suffix of a file of clusters, or refuse one that cannot be written.

    Parameters
    ----------
    path : str or path-like
        Where the clusters are to be written.

    Returns
    -------
    str
        ``.csv``, ``.tsv``, ``.npy`` or ``.parquet``; ``.csv`` for a device or a pipe.

    Raises
    ------
    FileFormatError
        For any other suffix, or ``.parquet`` without the library for it.

    Examples
    --------
    >>> from mustlink.tables import check_output_suffix
    >>> check_output_suffix("labels.xlsx")
    Traceback (most recent call last):
        ...
    mustlink.errors.FileFormatError: labels.xlsx: clusters are written as .csv, .tsv, .npy or .parquet, ...
    """
    suffix = Path(path).suffix.lower()
    if is_stream(path) and suffix not in _SUFFIXES:
        return ".csv"
    if suffix not in _SUFFIXES:
        raise FileFormatError(
            f"{path}: clusters are written as .csv, .tsv, .npy or .parquet, "
            f"and {suffix or 'a name without a suffix'} is none of them."
        )
    if suffix == ".parquet":
        _pyarrow(path)
    return suffix


def _pyarrow(path: str | PathLike[str]) -> Any:
    """Import the library for Parquet, or name the extra that brings it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise FileFormatError(
            f"{path}: writing Parquet needs pyarrow; install it with pip install 'mustlink[parquet]'."
        ) from None
    return pyarrow


def _parquet(
    names: list[str],
    labels: np.ndarray[Any, Any],
    ids: Sequence[str] | None,
    known: Sequence[str] | None,
    known_name: str,
) -> bytes:
    """Lay out the file of clusters as Parquet."""
    pyarrow = _pyarrow("clusters.parquet")
    first = np.arange(labels.size) if ids is None else list(ids)
    columns = {
        names[0]: pyarrow.array(first),
        names[1]: pyarrow.array(labels.astype(np.int64), mask=labels < 0),
    }
    if known is not None:
        columns[known_name] = pyarrow.array([text or None for text in known], type=pyarrow.string())
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()
