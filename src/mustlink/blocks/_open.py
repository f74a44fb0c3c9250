"""Open a file of rows that is read in blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mustlink.blocks._blocked_rows import BlockedRows
from mustlink.blocks._files import FileRows

__all__ = ["open_rows"]


def open_rows(
    path: str | Path, *, labels: str | Path | None = None, checkpoint: str | Path | None = None
) -> BlockedRows:
    """Open a file of rows for a fit that reads it in blocks.

    Parameters
    ----------
    path : path
        A file of NumPy (``.npy``) with an array of two dimensions of float32 or float64 in C order.
    labels : path, default=None
        A file of NumPy to write labels to, as a memory map; None keeps them in memory.
    checkpoint : path, default=None
        A folder in which boosting keeps every round, to go on from after a failure.

    Returns
    -------
    BlockedRows
        What ``fit`` and ``predict`` take as X.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from mustlink.blocks import open_rows
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.zeros((5, 2), dtype=np.float32))
    >>> open_rows(path).shape
    (5, 2)
    """
    array = np.load(path, mmap_mode="r")
    return FileRows(array, labels=labels, checkpoint=checkpoint)
