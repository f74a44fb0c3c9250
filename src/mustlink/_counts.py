"""Counts of terms in rows, sparse or dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mustlink._magnitude import place_of
from mustlink._types import Floats
from mustlink.errors import NegativeNumberError

__all__ = ["as_counts", "refuse_negative", "scale_columns"]


def as_counts(X: Any) -> Any:
    """Return the rows as a CSR array without explicit zeros, or as a dense array; X itself is not changed."""
    if not sparse.issparse(X):
        return np.asarray(X, dtype=np.float64)
    counts = sparse.csr_array(X, dtype=np.float64)
    if not counts.has_canonical_format or not counts.data.all():
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def refuse_negative(X: Any, name: str) -> None:
    """Raise if a number is negative, with its place."""
    values = X.data if sparse.issparse(X) else X
    if values.size and values.min() < 0:
        row, column = place_of(X, values < 0)
        raise NegativeNumberError(
            f"Negative values in data passed to {name}, which takes counts: row {row}, column {column} is "
            f"{X[row, column]:.3g}",
            remedy="counts",
            row=row,
            column=column,
        )


def scale_columns(counts: Any, weight: Floats) -> Any:
    """Return counts times a weight for every column; sparse counts share their pattern with the result."""
    if not sparse.issparse(counts):
        return counts * weight
    return sparse.csr_array((counts.data * weight[counts.indices], counts.indices, counts.indptr), shape=counts.shape)
