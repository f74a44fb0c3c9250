"""The largest number that distances can be computed with, and where a table exceeds it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mustlink.errors import NumberTooLargeError

__all__ = ["check_magnitude", "largest_number", "place_of"]

# In double precision also fourth powers are summed, such as the squared norms of matrices of squared distances.
MAX_NUMBER = 1e75


def largest_number(dtype: Any, n_numbers: int) -> float:
    """Return the largest absolute value of a table for which the squared distances of all its rows can be summed."""
    # Two numbers of this size, of opposite signs, differ by twice as much.
    return float(min(MAX_NUMBER, np.sqrt(float(np.finfo(dtype).max) / (4 * max(n_numbers, 1)))))


def check_magnitude(X: Any, name: str = "X", dtype: Any = None) -> None:
    """Raise if squares of the numbers of a dense or sparse table overflow, with the place of the first such number.

    `dtype` is what they are computed in, that of the table if None. Infinity is left to the validation before: where it
    was accepted, it is not computed with.
    """
    values = X.data if sparse.issparse(X) else X
    dtype = values.dtype if dtype is None else dtype
    limit = largest_number(dtype, X.shape[0] * X.shape[1])
    # Two passes without a copy; on finite numbers this is all that is done.
    if values.size == 0 or max(-float(values.min()), float(values.max())) <= limit:
        return
    too_large = (np.abs(values) > limit) & np.isfinite(values)
    if not too_large.any():
        return
    row, column = place_of(X, too_large)
    raise NumberTooLargeError(
        f"Row {row}, column {column} of {name} is {X[row, column]:.3g}; numbers above {limit:.1g} are too large "
        f"for squared distances in {np.dtype(dtype)}",
        remedy=("scale", "missing_marker"),
        row=row,
        column=column,
    )


def place_of(X: Any, chosen: Any) -> tuple[int, int]:
    """Return the row and the column of the first chosen number, of those that a dense or sparse table stores."""
    if sparse.issparse(X):
        place = int(np.flatnonzero(chosen)[0])
        return int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    row, column = np.unravel_index(int(np.argmax(chosen)), X.shape)
    return int(row), int(column)
