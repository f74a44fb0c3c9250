"""Open a file of rows that is read in blocks."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mustlink._types import Array
from mustlink.blocks._blocked_rows import BlockedRows
from mustlink.blocks._files import FileRows, as_plain, describe_array
from mustlink.blocks._parquet import is_parquet, read_parquet_rows
from mustlink.errors import FileFormatError

__all__ = ["map_array", "open_rows", "refuse_archive"]


def open_rows(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    labels: str | Path | None = None,
    checkpoint: str | Path | None = None,
    scratch: str | Path | None = None,
) -> BlockedRows:
    """Open a file of rows for a fit that reads it in blocks.

    Parameters
    ----------
    path : path
        A file of NumPy (``.npy``) with an array of two dimensions of float32 or float64 in C order; a Parquet file
        (``.parquet`` or ``.pq``) or a folder of Parquet files with columns of numbers (extra ``parquet``). The files of
        a folder are read in the order of their names as texts, so that part-10 comes before part-2.
    columns : sequence of str, default=None
        The columns of Parquet to read; None reads all.
    labels : path, default=None
        A file of NumPy (``.npy``) that a fit writes its labels to, as a memory map; None keeps them in memory. What
        ``predict`` returns is in memory.
    checkpoint : path, default=None
        A folder in which boosting keeps every round of tables with more than 50,000 rows, to go on after a failure.
        Trials are run again, and codes are computed again. The files stay after the fit and may be deleted.
    scratch : path, default=None
        A folder with space for the rows of Parquet, which are decoded once and kept there, in single precision if all
        columns are float32, float16 or integers of at most 16 bits, otherwise in double precision. The file has no name
        and is gone with the rows. None is the folder of temporary files.

    Returns
    -------
    BlockedRows
        What ``fit`` and ``predict`` take as X.

    Raises
    ------
    FileFormatError
        If the file is none of these; for Parquet, also if a cell is empty or not finite, with the file and the row.
    DiskSpaceError
        If the disk of the scratch folder, or that of the labels, has too little space.
    ValueError
        If the labels would replace a file of the rows, or have a name that does not end in ``.npy``.
    OSError
        If the labels cannot be written.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from mustlink.blocks import open_rows
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.zeros((5, 2), dtype=np.float32))
    >>> open_rows(path).shape
    (5, 2)
    """
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if is_parquet(path):
        return read_parquet_rows(path, columns=columns, labels=labels, checkpoint=checkpoint, scratch=scratch)
    if columns is not None:
        raise FileFormatError(f"{path} names no columns, so that columns cannot be chosen; they are those of Parquet.")
    array = map_array(path)
    refuse_other_arrays(path, array)
    return FileRows(array, labels=labels, checkpoint=checkpoint)


def map_array(path: str | Path) -> Array:
    """Map an array of NumPy into memory, or refuse a file that is none."""
    suffix = Path(path).suffix.lower()
    refuse_archive(path)
    if suffix != ".npy":
        raise FileFormatError(
            f"{path}: rows in blocks are read from .npy, .parquet or .pq, or a folder of Parquet files, and "
            f"{suffix or 'a file without a suffix'} is none of them."
        )
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise unreadable_array(path, error) from None
    return array


def refuse_archive(path: str | os.PathLike[str]) -> None:
    """Raise if a file has several arrays of NumPy."""
    if Path(path).suffix.lower() == ".npz":
        raise FileFormatError(f"{path} is an archive of arrays; save one of them alone with numpy.save.")


def unreadable_array(path: str | Path, error: Exception) -> FileFormatError:
    """Return the error for a file that NumPy cannot map, with what is wrong with it."""
    reason = str(error)
    with open(path, "rb") as file:
        is_npy = file.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX
    if is_npy and "object" in reason.lower():
        # What numpy says of objects is for a file that one trusts.
        return FileFormatError(
            f"{path} holds an array of objects, not of numbers: save it again as X.astype(numpy.float64)."
        )
    if is_npy and ("EOF" in reason or "mmap length" in reason):
        return FileFormatError(f"{path} is not a whole .npy file: it ends before its last number; write it again.")
    return FileFormatError(
        f"{path} is not an .npy file of numbers; an array of rows and columns of numbers, written by numpy.save, is "
        "expected."
    )


def refuse_other_arrays(path: str | Path, array: Array) -> None:
    """Raise if an array cannot be read in blocks as it is, with what to do."""
    about = f"{path} holds an array of {describe_array(array)}"
    if array.ndim != 2:
        advice = "reshape it with X.reshape(-1, 1) if it is one column" if array.ndim == 1 else "reshape it"
        raise FileFormatError(f"{about}; rows and columns, two dimensions, are expected: {advice}.")
    if not array.size:
        raise FileFormatError(f"{about}; at least one row and one column are needed.")
    advice = f"save it again as {as_plain(array)}"
    if array.dtype not in (np.float32, np.float64):
        raise FileFormatError(f"{about}; float32 or float64 in native byte order is expected: {advice}.")
    if not array.flags.c_contiguous:
        raise FileFormatError(f"{about}; rows must lie one after another: {advice}.")
