"""The order of rows by their content: the same rows in another order of the table are ranked alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mustlink._types import Array, Floats, Indices

__all__ = ["rank_rows", "split_by_links", "split_ties"]


class Content(NamedTuple):
    """What rows are compared by: `read(rows, start, stop)` gives some of the first `length` columns of some rows."""

    length: int
    read: Callable[[Indices, int, int], Array]


def rank_rows(X: Any, rows: Indices, *, is_pairwise: bool = False) -> Indices:
    """Return the rank of chosen rows by their content: the number of chosen rows before each; equal rows share a rank.

    Rows are compared by their first column, then by the second, and so on, whether the table is dense or sparse. Of an
    array of distances or similarities between all rows, where the columns are the rows again, the diagonal, the largest
    and the smallest number are compared, then all numbers of a row in ascending order.

    This is exact, for links that are made of labels: a tie broken by the number of a row would change them. Where
    random draws only need a reproducible order of all rows, ``RowBlocks.order_by_content`` is one pass over the table.
    """
    X = _as_numbers(X)
    rank = np.zeros(len(rows), dtype=np.intp)
    if not is_pairwise:
        return _split(rank, _content_of(X, rows))
    rank = split_ties(rank, _extremes(X)[rows])
    tied = _find_ties(rank)
    numbers = _sort_within_rows(X[rows[tied]])
    rank[tied] = _split(rank[tied], _content_of(numbers, np.arange(len(tied))))
    return rank


def split_ties(rank: Indices, numbers: Array) -> Indices:
    """Return the ranks with equal ones told apart by the columns of further numbers."""
    return _split(rank, Content(numbers.shape[1], lambda tied, start, stop: numbers[tied, start:stop]))


def split_by_links(rank: Indices, pairs: Indices, signed_weight: Floats) -> Indices:
    """Return the ranks with equal ones told apart by the links of a row: their weights, and the ranks of partners."""
    row, partner = np.concatenate([pairs, pairs[:, ::-1]]).T
    weight = np.concatenate([signed_weight, signed_weight])
    order = np.lexsort((rank[partner], weight, row))
    starts = np.searchsorted(row[order], np.arange(len(rank) + 1))
    entries = np.column_stack([weight, rank[partner]])[order]
    return _split(rank, _sequences(starts, entries))


def _split(rank: Indices, content: Content) -> Indices:
    """Tell equal ranks apart by further content, read only as far as rows are equal."""
    rank = rank.copy()
    start, width = 0, 1
    while start < content.length and len(tied := _find_ties(rank)):
        block = content.read(tied, start, start + width)
        order = np.lexsort((*block.T[::-1], rank[tied]))
        tied, block = tied[order], block[order]
        is_new_tie = np.diff(rank[tied], prepend=-1) != 0
        is_new = is_new_tie.copy()
        is_new[1:] |= (block[1:] != block[:-1]).any(axis=1)
        rank[tied] += _last_place(is_new) - _last_place(is_new_tie)
        start, width = start + width, 2 * width
    return rank


def _find_ties(rank: Indices) -> Indices:
    """Return the places whose rank is not theirs alone."""
    return np.flatnonzero(np.bincount(rank)[rank] > 1)


def _last_place(marked: Array) -> Indices:
    """Return for every place the last marked one up to it."""
    return np.maximum.accumulate(np.where(marked, np.arange(len(marked)), 0))


def _content_of(X: Any, rows: Indices) -> Content:
    """Return the content of chosen rows of a table."""
    if not sparse.issparse(X):
        return Content(X.shape[1], lambda tied, start, stop: X[rows[tied], start:stop])
    stored = _drop_zeros(X[rows])
    # Where two rows differ first, a zero is stored in neither, and stands between the negative and the positive.
    side = np.sign(stored.data) * (stored.shape[1] - stored.indices)
    return _sequences(stored.indptr, np.column_stack([side, stored.data]))


def _sequences(starts: Indices, entries: Array) -> Content:
    """Return the content of sequences of entries, each ending in zeros; `starts` has the first entry of each."""

    def read(tied: Indices, start: int, stop: int) -> Array:
        place = starts[tied][:, None] + np.arange(start, stop)
        is_over = place >= starts[tied + 1][:, None]
        block = entries[np.where(is_over, 0, place)]
        block[is_over] = 0
        return block.reshape(len(tied), -1)

    return Content(int(np.diff(starts).max(initial=0)), read)


def _extremes(X: Any) -> Array:
    """Return the diagonal, the largest and the smallest number of every row."""
    largest, smallest = X.max(axis=1), X.min(axis=1)
    if sparse.issparse(X):
        largest, smallest = largest.toarray().ravel(), smallest.toarray().ravel()
    return np.column_stack([X.diagonal(), largest, smallest])


def _sort_within_rows(X: Any) -> Any:
    """Return a table with the numbers of every row in ascending order; of a sparse one those that are stored."""
    if not sparse.issparse(X):
        return np.sort(X, axis=1)
    stored = _drop_zeros(X)
    row = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
    place = np.arange(stored.nnz) - stored.indptr[row]
    numbers = stored.data[np.lexsort((stored.data, row))]
    return sparse.csr_array((numbers, place, stored.indptr), shape=stored.shape)


def _drop_zeros(X: Any) -> Any:
    """Return a sparse copy that stores every number but zero once, by row and column."""
    stored = sparse.csr_array(X, copy=True)
    stored.sum_duplicates()
    stored.eliminate_zeros()
    return stored


def _as_numbers(X: Any) -> Any:
    """Return a table of any kind as numbers that can be compared; anything but numbers by its place in the alphabet."""
    if sparse.issparse(X):
        return X.tocsr()
    table = np.asarray(X)
    table = table.reshape(len(table), -1)
    # The minimum is NaN if any number is.
    if table.dtype.kind in "biuf" and not (table.size and np.isnan(table.min())):
        return table
    texts = table.astype(str) if table.dtype.kind == "O" else table
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in texts.T])
