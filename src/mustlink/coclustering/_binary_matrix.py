"""0/1 matrices: their validation, and how numbers become zeros and ones."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from mustlink._types import Array
from mustlink.errors import BinaryMatrixError

__all__ = ["binarize", "check_binary"]


def binarize(
    X: Any, percent: float = 25.0, *, method: Literal["pct_of_max", "max_minus_pct"] = "pct_of_max", axis: int = 0
) -> Array:
    """Turn numbers into zeros and ones by comparing each with the largest number of its column.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Numbers, such as expression levels of genes (columns) in samples (rows).
    percent : float, default=25.0
        A percentage of the largest number, from 0 to 100.
    method : {"pct_of_max", "max_minus_pct"}, default="pct_of_max"
        A cell is 1 if its number is greater than `percent` of the largest number, or greater than the largest number
        minus `percent` of it.
    axis : {0, 1}, default=0
        Whether a number is compared with the largest of its column (0) or of its row (1).

    Returns
    -------
    ndarray of shape (n_rows, n_columns), dtype=uint8
        The zeros and ones. A column whose largest number is not positive may have no ones.

    Examples
    --------
    >>> from mustlink.coclustering import binarize
    >>> binarize([[1.0, 8.0], [3.0, 1.0], [4.0, 7.0]], 50)
    array([[0, 1],
           [1, 0],
           [1, 1]], dtype=uint8)
    >>> binarize([[1.0, 8.0], [3.0, 1.0], [4.0, 7.0]], 20, method="max_minus_pct")
    array([[0, 1],
           [0, 0],
           [1, 1]], dtype=uint8)
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"percent must be from 0 to 100, got {percent!r}.")
    if method not in ("pct_of_max", "max_minus_pct"):
        raise ValueError(f'method must be "pct_of_max" or "max_minus_pct", got {method!r}.')
    if axis not in (0, 1):
        raise ValueError(f"axis must be 0 (by column) or 1 (by row), got {axis!r}.")
    X = check_array(X, dtype=np.float64)
    share = percent / 100 if method == "pct_of_max" else 1 - percent / 100
    largest = X.max(axis=axis, keepdims=True)
    return np.asarray(share * largest < X, dtype=np.uint8)


def check_binary(X: Any, estimator: Any = None) -> sparse.csr_array:
    """Validate a 0/1 matrix without an empty row or column; return it as sparse matrix of ones.

    A sparse matrix stays sparse, whatever its type of numbers, and is not modified.
    """
    options: dict[str, Any] = {"accept_sparse": "csr", "dtype": None, "ensure_all_finite": False}
    X = check_array(X, **options) if estimator is None else validate_data(estimator, X, **options)
    if sparse.issparse(X):
        ones = sparse.csr_array(X, copy=True)
        ones.sum_duplicates()
        ones.eliminate_zeros()
        wrong = np.flatnonzero(ones.data != 1)[:1]
        entries = ones.tocoo()
        cells = [(entries.row[at], entries.col[at], entries.data[at]) for at in wrong]
    else:
        is_one = X == 1
        wrong = np.argwhere(~(is_one | (X == 0)))[:1]
        cells = [(row, column, X[row, column]) for row, column in wrong]
        ones = sparse.csr_array(is_one)
    for row, column, value in cells:
        raise BinaryMatrixError(
            f"Row {row}, column {column} of X is {value!s}, and co-clustering takes a matrix of zeros and ones",
            remedy="zeros_and_ones",
            row=int(row),
            column=int(column),
        )
    ones = sparse.csr_array((np.ones(ones.nnz, dtype=np.uint8), ones.indices, ones.indptr), shape=ones.shape)
    ones.sort_indices()
    _refuse_empty("row", np.diff(ones.indptr))
    _refuse_empty("column", np.bincount(ones.indices, minlength=ones.shape[1]))
    return ones


def _refuse_empty(side: str, n_ones: Array) -> None:
    """Refuse a row or a column without a one, which no group can be described by."""
    empty = np.flatnonzero(n_ones == 0)
    if len(empty):
        others = f", like {len(empty) - 1:,} more" if len(empty) > 1 else ""
        raise BinaryMatrixError(
            f"{side.capitalize()} {empty[0]} of X is empty: it has no 1{others}",
            remedy="drop_empty",
            side=f"{side}s",
            numbers=empty.tolist(),
        )
