"""Writing results whole or not at all: beside the target first, then renamed over it."""

from __future__ import annotations

import csv
import errno
import io
import os
import tempfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from mustlink.errors import FileFormatError

__all__ = ["StagedFiles", "check_output_suffix", "check_writable", "stage_clusters"]

_SUFFIXES = (".csv", ".tsv", ".npy", ".parquet")


class StagedFiles:
    """Several files that appear together, or, when something goes wrong, not at all.

    Used as a context: each file is staged, that is written beside its target and forced to the disk; when
    the block ends without an exception they are renamed over their targets, otherwise they are removed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mustlink.tables import StagedFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "a.txt")
    ...     with StagedFiles() as files:
    ...         files.stage(target, b"hello")
    ...         there_before = target.exists()
    ...     print(there_before, target.read_text(), len(list(pathlib.Path(folder).iterdir())))
    False hello 1
    """

    def __init__(self) -> None:
        self._staged: list[tuple[Path, Path]] = []
        self._direct: list[tuple[Path, bytes]] = []

    def __enter__(self) -> StagedFiles:
        return self

    def stage(self, path: str | PathLike[str], content: bytes) -> None:
        """Write a file beside its target and force it to the disk.

        Parameters
        ----------
        path : str or path-like
            The target. A device or a pipe cannot be replaced and is written to at the end.
        content : bytes
            All of the file.
        """
        check_writable(path)
        if _is_stream(path):
            self._direct.append((Path(path), content))
            return
        # A link is followed, so that the file it points to is replaced and not the link.
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
            self._staged.append((Path(name), target))
            with open(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, mode)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._publish()
        finally:
            for part, _ in self._staged:
                part.unlink(missing_ok=True)

    def _publish(self) -> None:
        """Write to the devices, which can fail, and then rename the rest into place."""
        for target, content in self._direct:
            try:
                target.write_bytes(content)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(target)) from None
        for part, target in self._staged:
            os.replace(part, target)


def _is_stream(path: str | PathLike[str]) -> bool:
    """Tell a device or a pipe, also behind names such as /dev/stdout, from a file that can be replaced."""
    path = Path(path)
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir())


def _umask() -> int:
    """Read the mask of permissions, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a target that cannot be written, before the work whose result it is to hold.

    Parameters
    ----------
    path : str or path-like
        Where a file is to be written.

    Raises
    ------
    OSError
        When the folder does not exist or may not be written, or the target is itself a folder.

    Examples
    --------
    >>> from mustlink.tables import check_writable
    >>> check_writable("no/such/folder/labels.csv")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] The folder to write into does not exist: 'no/such/folder'
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "The folder to write into does not exist", str(folder))
    writable = os.access(target, os.W_OK) if target.exists() else os.access(folder, os.W_OK)
    if not writable:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))


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
    >>> from mustlink.tables import StagedFiles, stage_clusters
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
    if _is_stream(path) and suffix not in _SUFFIXES:
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
