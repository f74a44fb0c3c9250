"""Which clusters labels name, wherever the labels are."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from mustlink._types import Array
from mustlink.blocks._dask import distinct_in_dask
from mustlink.blocks._dask_collections import is_dask

__all__ = ["distinct_labels"]

SLICE_LABELS = 1 << 20


def distinct_labels(labels: Any) -> Array | None:
    """Return the distinct labels of rows.

    Parameters
    ----------
    labels : ndarray, memmap or dask.array.Array of shape (n_rows,)
        One integer for every row.

    Returns
    -------
    ndarray or None
        Sorted; None for labels in a form whose values cannot be listed from here.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.blocks import distinct_labels
    >>> distinct_labels(np.array([2, 0, 2, -1]))
    array([-1,  0,  2])
    """
    if isinstance(labels, np.ndarray):
        # In slices: sorting takes as much memory again as what is sorted, and labels may be a memory map.
        slices = (labels[start : start + SLICE_LABELS] for start in range(0, len(labels), SLICE_LABELS))
        return reduce(np.union1d, map(np.unique, slices), np.asarray(labels[:0]))
    return distinct_in_dask(labels) if is_dask(labels) else None
