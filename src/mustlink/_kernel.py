"""Kernels of rows, in pieces that stay small, and the space that the rows of a kernel matrix span."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from mustlink._types import Array, Floats
from mustlink.errors import NumberTooLargeError

__all__ = ["dense_kernel", "pieces", "spanned_basis"]

# How many kernel values between new rows and known rows are held at a time (128 MB).
MAX_ENTRIES = 1 << 24


def dense_kernel(X: Any, Y: Any, **parameters: Any) -> Array:
    """Return the kernel of every row of X with every row of Y; raise if sums of its values overflow."""
    # A power of large inner products may overflow although the rows are in the allowed range.
    with np.errstate(over="ignore"):
        found = pairwise_kernels(X, Y, **parameters)
    values = np.asarray(found.toarray() if sparse.issparse(found) else found)
    largest, limit = max(-values.min(), values.max()), np.finfo(values.dtype).max / (4 * values.size)
    if not largest <= limit:
        raise NumberTooLargeError(
            f"The kernel of two rows is as large as {largest:.3g}, and sums of such values overflow above {limit:.1g}; "
            "scale the columns, or reduce gamma and degree."
        )
    return values


def spanned_basis(inner: Array) -> Floats:
    """Return the matrix B for which the rows of K B have the inner products of the kernel matrix K."""
    values, vectors = np.linalg.eigh(inner.astype(np.float64))
    # Directions of rounding errors only, and those of a kernel that is not positive, are left out.
    kept = values > len(values) * np.finfo(inner.dtype).eps * max(float(values[-1]), 0.0)
    basis: Floats = vectors[:, kept] / np.sqrt(values[kept])
    return basis


def pieces(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut rows into pieces that stay small with this many columns."""
    step = max(1, MAX_ENTRIES // max(n_columns, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
