"""Mining of formal concepts, with minimum sizes, constraints on bi-sets, and a budget."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mustlink._types import Indices, Ints
from mustlink.base import check_fits
from mustlink.coclustering._binary_matrix import check_binary
from mustlink.coclustering._bisets import Bisets, sum_by_line
from mustlink.coclustering._concepts_kernels import (
    CANNOT,
    DONE,
    MUST,
    PAUSED,
    TOO_MANY_BISETS,
    TOO_MANY_ENTRIES,
    begin_search,
    mine_concepts,
)
from mustlink.coclustering._gaps import Gaps, make_gaps
from mustlink.constraints import Constraints
from mustlink.errors import TooLargeError

__all__ = ["LocalConstraints", "formal_concepts", "keep_satisfying", "mine"]

# The most rows and columns of all bi-sets together, of 4 bytes each.
MAX_ENTRIES = 250_000_000
# The search may look at so many concepts for each one it may keep: most are too small or break a constraint.
VISITS_PER_BISET = 20
# Between so many steps of the search Python can be interrupted; they take some tenths of a second at most.
STEPS_AT_ONCE = 5_000
# The most words of 64 cells of the matrix, of a bit each.
MAX_WORDS = 300_000_000


class LocalConstraints(NamedTuple):
    """What every bi-set must satisfy: links between elements (rows first), and gaps on either side."""

    links: Constraints
    row_gaps: Gaps
    column_gaps: Gaps


def formal_concepts(X: Any, *, min_rows: int = 1, min_columns: int = 1, max_bisets: int = 1_000_000) -> Bisets:
    """Find the formal concepts of a 0/1 matrix.

    A formal concept is a largest set of rows with a largest set of columns such that all of these rows have a 1 in all
    of these columns.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Zeros and ones, with a 1 in every row and in every column.
    min_rows, min_columns : int, default=1
        The fewest rows and columns of a concept.
    max_bisets : int, default=1_000_000
        The most concepts; more are refused as soon as they are found.

    Returns
    -------
    Bisets
        The rows and the columns of every concept.

    Raises
    ------
    TooLargeError
        If there are more concepts.

    Examples
    --------
    >>> from mustlink.coclustering import formal_concepts
    >>> concepts = formal_concepts([[1, 0, 1], [0, 1, 1], [1, 0, 1]])
    >>> concepts.columns.toarray()
    array([[0, 0, 1],
           [0, 1, 1],
           [1, 0, 1]], dtype=uint8)
    """
    for name, value in (("min_rows", min_rows), ("min_columns", min_columns), ("max_bisets", max_bisets)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{name} must be a whole number from 1 on, got {value!r}.")
    return mine(check_binary(X), int(min_rows), int(min_columns), int(max_bisets), None)


def mine(
    ones: sparse.csr_array, min_rows: int, min_columns: int, max_bisets: int, constraints: LocalConstraints | None
) -> Bisets:
    """Find the formal concepts that are large enough and satisfy the constraints."""
    n_rows, n_columns = ones.shape
    if constraints is None:
        constraints = no_constraints(n_rows, n_columns)
    rows, columns = _large_enough(ones, min_rows, min_columns)
    if not len(rows) or not len(columns):
        return _as_bisets((np.zeros(1), np.empty(0), np.zeros(1), np.empty(0)), ones.shape)
    check_fits("Mining formal concepts", (len(rows), len(columns) // 64 + 1), MAX_WORDS, "use fewer columns")
    # Rare columns first: the searches below them are short, and those of common columns have few columns left.
    support = np.bincount(ones.indices, minlength=n_columns)
    columns = columns[np.argsort(support[columns], kind="stable")]
    table, row_group = _merge_equal_rows(ones[rows][:, columns], rows, n_rows)
    place = np.full(n_columns, -1)
    place[columns] = np.arange(len(columns))
    links = _place_links(constraints.links, row_group, place, len(table.row_ptr) - 1)
    gaps = [constraints.row_gaps, constraints.column_gaps._replace(position=constraints.column_gaps.position[columns])]
    limits = max_bisets, MAX_ENTRIES, VISITS_PER_BISET * max_bisets
    asked = tuple(table), (min_rows, min_columns), links, tuple(gaps[0]), tuple(gaps[1]), limits
    ended, state = PAUSED, begin_search(tuple(table), len(columns))
    while ended == PAUSED:
        ended, state = mine_concepts(*asked, state, STEPS_AT_ONCE)
    _, found, (n_found, n_visited, *_) = state
    if ended != DONE:
        _refuse(ended, int(n_visited), int(n_found), ones.shape, (min_rows, min_columns), max_bisets)
    row_ends, column_ends = found[0][: n_found + 1], found[2][: n_found + 1]
    parts = row_ends, found[1][: row_ends[-1]], column_ends, columns[found[3][: column_ends[-1]]]
    return _as_bisets(parts, ones.shape)


def keep_satisfying(bisets: Bisets, min_rows: int, min_columns: int, constraints: LocalConstraints) -> Bisets:
    """Return the bi-sets of a user that are large enough and satisfy the constraints."""
    kept = (np.diff(bisets.rows.indptr) >= min_rows) & (np.diff(bisets.columns.indptr) >= min_columns)
    kept &= constraints.row_gaps.kept(bisets.rows) & constraints.column_gaps.kept(bisets.columns)
    members = sparse.csc_array(sparse.hstack([bisets.rows, bisets.columns]), dtype=np.int8)
    for pairs, is_must in ((constraints.links.must_link, True), (constraints.links.cannot_link, False)):
        one, other = members[:, pairs[:, 0]], members[:, pairs[:, 1]]
        broken = abs(one - other) if is_must else one.multiply(other)
        kept &= np.asarray(sparse.csr_array(broken).astype(np.int64).sum(axis=1)).ravel() == 0
    return bisets.take(np.flatnonzero(kept))


def no_constraints(n_rows: int, n_columns: int) -> LocalConstraints:
    """Return constraints that every bi-set satisfies."""
    sides = [make_gaps(np.arange(size), None, None, circular=False) for size in (n_rows, n_columns)]
    return LocalConstraints(Constraints(), *sides)


class Table(NamedTuple):
    """A matrix for the search: the distinct rows with their columns, also as bits, and the rows equal to each."""

    row_ptr: Ints
    row_columns: Ints
    row_bits: Any
    member_ptr: Ints
    members: Ints


def _large_enough(ones: sparse.csr_array, min_rows: int, min_columns: int) -> tuple[Indices, Indices]:
    """Return the rows and columns that concepts of the least sizes can have: those with enough ones among them."""
    in_rows, in_columns = np.ones(ones.shape[0]), np.ones(ones.shape[1])
    # In the type of the counts, of which a small one would overflow.
    counted = ones.astype(np.float64)
    while True:
        rows = in_rows * (counted @ in_columns >= min_columns)
        columns = in_columns * (counted.T @ rows >= min_rows)
        if rows.sum() == in_rows.sum() and columns.sum() == in_columns.sum():
            return np.flatnonzero(rows), np.flatnonzero(columns)
        in_rows, in_columns = rows, columns


def _merge_equal_rows(ones: sparse.csr_array, rows: Indices, n_rows: int) -> tuple[Table, Indices]:
    """Return the table of distinct rows, and the number of the distinct row of every row of X, -1 for none."""
    ones = sparse.csr_array(ones)
    ones.sort_indices()
    _, first, group = np.unique(sum_by_line(ones, 0), return_index=True, return_inverse=True)
    distinct = sparse.csr_array(ones[first])
    distinct.sort_indices()
    n_words = (ones.shape[1] + 63) // 64
    bits = np.zeros((len(first), n_words), dtype=np.uint64)
    row = np.repeat(np.arange(len(first)), np.diff(distinct.indptr))
    np.bitwise_or.at(bits, (row, distinct.indices >> 6), np.uint64(1) << (distinct.indices & 63).astype(np.uint64))
    by_group = np.argsort(group, kind="stable")
    member_ptr = np.searchsorted(group[by_group], np.arange(len(first) + 1)).astype(np.int64)
    row_group = np.full(n_rows, -1)
    row_group[rows] = group
    columns = distinct.indices.astype(np.int64)
    return Table(
        distinct.indptr.astype(np.int64), columns, bits, member_ptr, rows[by_group].astype(np.int64)
    ), row_group


def _place_links(links: Constraints, row_group: Indices, place: Indices, n_groups: int) -> tuple[Ints, Ints, Ints]:
    """Return the ends of the links as numbers of the search, rows first, -1 for none, and their kinds."""
    of_columns = np.where(place >= 0, place + n_groups, -1)
    ends = np.concatenate([row_group, of_columns])[links.pairs].astype(np.int64)
    kind = np.where(links.sign > 0, MUST, CANNOT).astype(np.int64)
    return np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), kind


def _as_bisets(found: Any, shape: tuple[int, int]) -> Bisets:
    """Return the result of the search as sparse matrices."""
    sides = []
    for end, members, size in ((found[0], found[1], shape[0]), (found[2], found[3], shape[1])):
        data = np.ones(len(members), dtype=np.uint8)
        # Numbers of 32 bits, as long as there are not too many of them.
        index_type = np.int32 if len(members) < np.iinfo(np.int32).max else np.int64
        parts = data, members.astype(index_type, copy=False), end.astype(index_type)
        side = sparse.csr_array(parts, shape=(len(end) - 1, size))
        side.sort_indices()
        sides.append(side)
    return Bisets(*sides)


def _refuse(
    ended: int, n_visited: int, n_found: int, shape: tuple[int, int], sizes: tuple[int, int], max_bisets: int
) -> None:
    """Refuse a search that was stopped."""
    what = f"The matrix of {shape[0]:,} rows and {shape[1]:,} columns"
    least = f"with at least {sizes[0]:,} rows and {sizes[1]:,} columns"
    if ended == TOO_MANY_BISETS:
        problem = f"{what} has more than {max_bisets:,} formal concepts {least}"
    elif ended == TOO_MANY_ENTRIES:
        problem = (
            f"{what} has so large formal concepts {least} that {n_found:,} of them have more than {MAX_ENTRIES:,} rows "
            f"and columns together"
        )
    else:
        problem = (
            f"{n_visited:,} formal concepts of the matrix of {shape[0]:,} rows and {shape[1]:,} columns were looked "
            f"at, and only {n_found:,} have enough rows and columns and satisfy the constraints"
        )
    raise TooLargeError(problem, remedy="larger_bisets", n_found=n_found, n_visited=n_visited)
