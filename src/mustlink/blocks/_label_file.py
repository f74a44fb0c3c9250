"""The file of NumPy that a fit writes its labels to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._atomic import StagedFiles, check_writable
from mustlink._types import Array
from mustlink.blocks._scratch import NO_SPACE, NeededSpace

__all__ = ["check_label_file", "write_labels"]

ZERO_BYTES = 1 << 20


def check_label_file(labels: str | Path, sources: Iterable[str | Path], n_rows: int) -> None:
    """Raise if labels cannot be written to a file, before the work for them begins.

    Parameters
    ----------
    labels : path
        The file to write.
    sources : iterable of path
        The files of the rows, none of which it may be.
    n_rows : int
        The number of rows.
    """
    for source in sources:
        if os.path.exists(labels) and os.path.exists(source) and os.path.samefile(labels, source):
            raise ValueError(f"labels={str(labels)!r} is a file of the rows themselves; write labels to another file.")
    check_writable(labels)
    if Path(labels).suffix.lower() != ".npy":
        raise ValueError(
            f"labels={str(labels)!r} does not end in .npy; labels are written to a file of NumPy: give it a name that "
            "ends in .npy."
        )
    needed_space(Path(labels), n_rows, np.int32).check()


def write_labels(path: Path, n_rows: int, dtype: Any, fill: Callable[[Array], None]) -> Array:
    """Write labels to a file of NumPy, which appears when it is complete, and return it as a memory map."""
    with StagedFiles() as files, files.open(path) as stream:
        head = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (n_rows,)}
        np.lib.format.write_array_header_1_0(stream, head)
        start = stream.tell()
        try:
            write_zeros(stream, n_rows * np.dtype(dtype).itemsize)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            raise needed_space(path, n_rows, dtype).error() from None
        labels = np.memmap(stream, dtype=dtype, mode="r+", offset=start, shape=(n_rows,))
        fill(labels)
        labels.flush()
        # Windows renames no file that is mapped.
        del labels
    return np.asanyarray(np.load(path, mmap_mode="r"))


def write_zeros(stream: Any, n_bytes: int) -> None:
    """Fill a file, so that a full disk is an error here: in a memory map it would end the process."""
    zeros = bytes(min(n_bytes, ZERO_BYTES))
    for start in range(0, n_bytes, ZERO_BYTES):
        stream.write(zeros[: n_bytes - start])
    stream.flush()


def needed_space(path: Path, n_rows: int, dtype: Any) -> NeededSpace:
    """Return the space that labels take."""
    return NeededSpace(f"The labels in {path}", n_rows * np.dtype(dtype).itemsize, path.parent, "space_for_labels")
