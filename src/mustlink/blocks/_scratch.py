"""Rows in a file without a name: kept on a disk as long as they are used, and gone with the process."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._types import Array
from mustlink.errors import DiskSpaceError, FileFormatError

__all__ = ["NO_SPACE", "NeededSpace", "spell_bytes", "write_scratch"]

# What the system says when a disk, the share of a user, or the size of a file is exhausted.
NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
SIZES = {10**12: "TB", 10**9: "GB", 10**6: "MB", 10**3: "kB"}


def write_scratch(
    parts: Iterable[Array], shape: tuple[int, int], dtype: Any, folder: str | os.PathLike[str] | None, source: str
) -> Array:
    """Write an array in parts to a disk, and return it as a memory map.

    The file has no name, so that nothing is left of it when the array is gone, even if the process is killed.

    Parameters
    ----------
    parts : iterable of ndarray
        The rows of the array, in order.
    shape : tuple of int
        The numbers of rows and columns.
    dtype : dtype
        The type of the numbers.
    folder : path or None
        A folder on the disk; None is that of temporary files.
    source : str
        Where the rows come from, for messages.

    Returns
    -------
    memmap of the given shape
        Read-only.

    Raises
    ------
    DiskSpaceError
        If the disk has too little space, before anything is written or in the middle.
    """
    place = Path(tempfile.gettempdir() if folder is None else folder)
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "The folder for scratch files does not exist", str(place))
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    needed = NeededSpace(f"The rows of {source}", size, place, "more_space", " while they are read in blocks")
    needed.check()
    n_rows = 0
    # Closed files with open maps: the system keeps what is mapped.
    with tempfile.TemporaryFile(dir=place, prefix="mustlink-", buffering=0) as file:
        try:
            for part in parts:
                _write_all(file, np.ascontiguousarray(part, dtype=dtype))
                n_rows += len(part)
        except OSError as error:
            if error.errno not in NO_SPACE or error.filename is not None:
                raise
            raise needed.error() from None
        if n_rows != shape[0]:
            raise FileFormatError(
                f"{source} was changed while it was read: it had {shape[0]:,} rows, and now {n_rows:,}."
            )
        return np.memmap(file, dtype=dtype, mode="r", shape=shape)


def _write_all(file: Any, part: Array) -> None:
    """Write the numbers of an array; a file without a buffer may take fewer bytes at once."""
    rest = memoryview(part.view(np.uint8).ravel().data)
    while rest:
        rest = rest[file.write(rest) :]


@dataclass(frozen=True)
class NeededSpace:
    """How many bytes something takes in a folder, and which remedy there is if they do not fit."""

    what: str
    size: int
    folder: Path
    remedy: str
    when: str = ""

    def check(self) -> None:
        """Raise if the disk has too little space."""
        if shutil.disk_usage(self.folder).free < self.size:
            raise self.error()

    def error(self) -> DiskSpaceError:
        """Return the error for a disk that is full, or will be."""
        free = shutil.disk_usage(self.folder).free
        return DiskSpaceError(
            f"{self.what} take {spell_bytes(self.size)} on the disk{self.when}, and {self.folder} has "
            f"{spell_bytes(free)} free",
            remedy=self.remedy,
        )


def spell_bytes(size: float) -> str:
    """Spell a number of bytes with a unit."""
    for unit, name in SIZES.items():
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"
