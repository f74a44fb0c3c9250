"""Clusters as files: CSV, TSV, NumPy or Parquet, by the name of the file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mustlink._atomic import StagedFiles, is_stream
from mustlink.errors import FileFormatError
from mustlink.tables._read import require

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
    """Stage the file of clusters.

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
    buffer = io.BytesIO()
    if suffix == ".npy":
        np.save(buffer, labels)
        files.stage(path, buffer.getvalue())
        return
    frame = pd.DataFrame({id_name: np.arange(labels.size) if ids is None else list(ids)})
    frame["cluster" if id_name != "cluster" else "cluster_found"] = pd.array(labels, "Int64").copy()
    frame.loc[labels < 0, frame.columns[1]] = pd.NA
    if known is not None:
        frame[known_name] = [text or None for text in known]
    if suffix == ".parquet":
        frame.to_parquet(buffer, engine="pyarrow", index=False)
    else:
        frame.to_csv(buffer, sep="\t" if suffix == ".tsv" else ",", index=False, lineterminator="\n")
    files.stage(path, buffer.getvalue())


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
        require("pyarrow", path, "writing Parquet", "parquet")
    return suffix
