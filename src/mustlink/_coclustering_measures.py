"""Measures of co-clusterings, computed from the ones in each pair of a row cluster and a column cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array

from mustlink._positions import count_runs, positions_of
from mustlink._types import Array, Floats, Indices

__all__ = [
    "coclustering_information",
    "comparison_coefficient",
    "goodman_kruskal_tau",
    "information_loss",
    "jump_number",
]


def goodman_kruskal_tau(X: Any, row_labels: ArrayLike, column_labels: ArrayLike) -> float:
    """Goodman and Kruskal's symmetric tau of row clusters and column clusters.

    It measures how much better the row cluster of a 1 is predicted if its column cluster is known, and the other way
    around.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Zeros and ones, or counts.
    row_labels : array-like of shape (n_rows,)
        The cluster of every row, numbered from 0; rows of no cluster (-1) are left out.
    column_labels : array-like of shape (n_columns,)
        The cluster of every column; columns of no cluster (-1) are left out.

    Returns
    -------
    float
        Between 0, if they are independent or there is only one cluster of each, and 1, if each row cluster has its ones
        in one column cluster of its own.

    Examples
    --------
    >>> from mustlink.metrics import goodman_kruskal_tau
    >>> X = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> goodman_kruskal_tau(X, [0, 0, 1], [0, 0, 1, 1])
    1.0
    >>> goodman_kruskal_tau(X, [0, 0, 0], [0, 0, 1, 1])
    0.0
    """
    shares = _share_table(X, row_labels, column_labels)
    of_rows, of_columns = shares.sum(axis=1), shares.sum(axis=0)
    used = np.ix_(of_rows > 0, of_columns > 0)
    shares, of_rows, of_columns = shares[used], of_rows[of_rows > 0], of_columns[of_columns > 0]
    rest = 2.0 - (of_rows**2).sum() - (of_columns**2).sum()
    if shares.size == 0 or min(shares.shape) < 2:
        return 0.0
    product = np.outer(of_rows, of_columns)
    above = ((shares - product) ** 2 * np.add.outer(of_rows, of_columns) / product).sum()
    return float(above / rest)


def coclustering_information(X: Any, row_labels: ArrayLike, column_labels: ArrayLike, *, base: float = np.e) -> float:
    """Mutual information of the row cluster and the column cluster of a 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Zeros and ones, or counts.
    row_labels : array-like of shape (n_rows,)
        The cluster of every row, numbered from 0; rows of no cluster (-1) are left out.
    column_labels : array-like of shape (n_columns,)
        The cluster of every column; columns of no cluster (-1) are left out.
    base : float, default=e
        The base of the logarithm; 2 gives bits.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> from mustlink.metrics import coclustering_information
    >>> X = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> coclustering_information(X, [0, 0, 1, 1], [0, 0, 1, 1], base=2)
    1.0
    """
    return _information(_share_table(X, row_labels, column_labels)) / float(np.log(base))


def information_loss(X: Any, row_labels: ArrayLike, column_labels: ArrayLike, *, base: float = np.e) -> float:
    """Mutual information of the row and the column of a 1 that a co-clustering loses.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Zeros and ones, or counts.
    row_labels : array-like of shape (n_rows,)
        The cluster of every row, numbered from 0; rows of no cluster (-1) are left out.
    column_labels : array-like of shape (n_columns,)
        The cluster of every column; columns of no cluster (-1) are left out.
    base : float, default=e
        The base of the logarithm; 2 gives bits.

    Returns
    -------
    float
        At least 0; information-theoretic co-clustering minimizes it.

    Examples
    --------
    >>> from mustlink.metrics import information_loss
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> information_loss(X, [0, 1, 2, 2], [0, 1, 2])
    0.0
    >>> round(information_loss(X, [0, 0, 1, 1], [0, 0, 1], base=2), 3)
    0.5
    """
    table, rows, columns = _check(X, row_labels, column_labels)
    kept = table[rows >= 0][:, columns >= 0]
    before = _information(kept / kept.sum()) if kept.sum() else 0.0
    after = _information(_share_table(X, row_labels, column_labels))
    return max(0.0, before - after) / float(np.log(base))


def jump_number(labels: ArrayLike, *, order: ArrayLike | None = None, circular: bool = False) -> int:
    """Number of jumps of clusters in an order.

    A jump is between two members of a cluster that are not next to each other and have no member of it between them.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The clusters; -1 is none.
    order : array-like of shape (n_samples,), default=None
        Scores that order the rows, such as times; equal scores are one position. If None, the rows are in order.
    circular : bool, default=False
        Whether the last position is followed by the first, as hours of a day are.

    Returns
    -------
    int
        0 if every cluster is an interval.

    Examples
    --------
    >>> from mustlink.metrics import jump_number
    >>> jump_number([0, 0, 1, 1, 0, 2])
    1
    >>> jump_number([0, 1, 0, 1], order=[1, 3, 2, 4])
    0
    >>> jump_number([0, 1, 1, 0], circular=True)
    0
    """
    codes = _check_labels(labels, "labels", None)
    position = positions_of(order, len(codes), "order")
    names, inverse = np.unique(codes, return_inverse=True)
    labels_from_0 = np.where(codes < 0, -1, inverse)
    runs, _ = count_runs(labels_from_0, position, len(names), circular=circular)
    return int(np.maximum(runs - 1, 0).sum())


def comparison_coefficient(n_bisets: int, n_iter: ArrayLike) -> float:
    """Comparison coefficient of runs of CDK-Means: the number of bi-sets times the mean number of iterations.

    It measures the work of clustering bi-sets, whatever the machine.

    Parameters
    ----------
    n_bisets : int
        The number of bi-sets that are clustered.
    n_iter : array-like of shape (n_runs,)
        The number of iterations of each run.

    Returns
    -------
    float
        The coefficient.

    Examples
    --------
    >>> from mustlink.metrics import comparison_coefficient
    >>> comparison_coefficient(80, [5, 7])
    480.0
    """
    runs = np.atleast_1d(np.asarray(n_iter, dtype=np.float64))
    if n_bisets < 0 or runs.size == 0 or not (runs >= 0).all():
        raise ValueError("comparison_coefficient needs a number of bi-sets and the iterations of at least one run.")
    return float(n_bisets * runs.mean())


def _share_table(X: Any, row_labels: ArrayLike, column_labels: ArrayLike) -> Floats:
    """Return the share of the ones in each pair of a row cluster and a column cluster."""
    table, rows, columns = _check(X, row_labels, column_labels)
    sides = []
    for codes in (rows, columns):
        members = np.flatnonzero(codes >= 0)
        shape = int(codes.max(initial=0)) + 1, len(codes)
        sides.append(sparse.csr_array((np.ones(len(members)), (codes[members], members)), shape=shape))
    counts = np.asarray((sides[0] @ table @ sides[1].T).toarray(), dtype=np.float64)
    total = counts.sum()
    return counts / total if total else counts


def _check(X: Any, row_labels: ArrayLike, column_labels: ArrayLike) -> tuple[sparse.csr_array, Indices, Indices]:
    """Validate a table with the labels of its rows and columns."""
    table = sparse.csr_array(check_array(X, accept_sparse="csr", dtype=np.float64))
    if (table.data < 0).any():
        raise ValueError("X has negative numbers; zeros and ones or counts are needed.")
    rows = _check_labels(row_labels, "row_labels", table.shape[0])
    return table, rows, _check_labels(column_labels, "column_labels", table.shape[1])


def _check_labels(labels: ArrayLike, name: str, size: int | None) -> Indices:
    """Return labels as cluster numbers, -1 for none."""
    array: Array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min(initial=0) < -1:
        raise ValueError(f"{name} must be cluster numbers: integers from 0 on, and -1 for no cluster.")
    if size is not None and len(array) != size:
        what = name.split("_", maxsplit=1)[0]
        raise ValueError(f"{name} has {len(array)} entries, and X has {size} {what}s; one is needed for each.")
    return array.astype(np.intp)


def _information(shares: Any) -> float:
    """Return the mutual information of a dense or sparse table of shares, in nats."""
    entries = sparse.coo_array(shares)
    of_rows, of_columns = (np.asarray(entries.sum(axis=axis)).ravel() for axis in (1, 0))
    row, column, share = entries.row, entries.col, entries.data
    used = share > 0
    ratio = share[used] / (of_rows[row[used]] * of_columns[column[used]])
    return max(0.0, float((share[used] * np.log(ratio)).sum()))
