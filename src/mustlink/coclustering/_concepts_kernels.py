"""Compiled search for formal concepts: Close-by-One on bit sets, with pruning by the constraints on bi-sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.coclustering._gaps_kernels import gaps_within

# Why the search ended.
DONE, TOO_MANY_BISETS, TOO_MANY_ENTRIES, TOO_MANY_VISITS, PAUSED = 0, 1, 2, 3, 4
MUST, CANNOT = 1, -1
ONE = np.uint64(1)


@jit
def grow(array: Any, size: Any) -> Any:
    """Return an array with room for `size` entries, with the same content."""
    if size <= array.shape[0]:
        return array
    longer = np.empty(max(size, 2 * array.shape[0]), dtype=array.dtype)
    longer[: array.shape[0]] = array
    return longer


@jit
def has_bit(bits: Any, number: Any) -> Any:
    """Return whether a bit set has a number."""
    return (bits[number >> 6] >> np.uint64(number & 63)) & ONE == ONE


@jit
def contains(element: Any, intent: Any, row_bits: Any) -> Any:
    """Return whether the concept with an intent has an element: a row, or from the number of rows on a column."""
    n_rows = row_bits.shape[0]
    if element < 0:
        return False
    if element >= n_rows:
        return has_bit(intent, element - n_rows)
    missing = np.uint64(0)
    for word in range(intent.shape[0]):
        missing |= intent[word] & ~row_bits[element, word]
    return missing == 0


@jit
def list_bits(bits: Any, found: Any) -> Any:
    """Write the numbers of a bit set in ascending order; return how many."""
    size = 0
    for word in range(bits.shape[0]):
        if bits[word] != 0:
            for bit in range(64):
                if (bits[word] >> np.uint64(bit)) & ONE:
                    found[size] = 64 * word + bit
                    size += 1
    return size


@jit
def links_kept(intent: Any, row_bits: Any, links: Any) -> Any:
    """Return whether a concept has both ends of a must-link or none, and at most one end of a cannot-link."""
    one, other, kind = links
    for link in range(kind.shape[0]):
        has_one = contains(one[link], intent, row_bits)
        has_other = contains(other[link], intent, row_bits)
        if kind[link] == MUST and has_one != has_other:
            return False
        if kind[link] == CANNOT and has_one and has_other:
            return False
    return True


@jit
def may_grow(intent: Any, last: Any, row_bits: Any, links: Any) -> Any:
    """Return whether an intent or a larger one below it can satisfy the links of columns.

    Below a node, columns are added to the intent and rows leave the extent; a column before the last one added is
    never added.
    """
    one, other, kind = links
    n_rows = row_bits.shape[0]
    for link in range(kind.shape[0]):
        for swap in range(2):
            here, there = (other[link], one[link]) if swap else (one[link], other[link])
            if here < n_rows or not contains(here, intent, row_bits):
                continue
            if kind[link] == CANNOT:
                if there >= n_rows and contains(there, intent, row_bits):
                    return False
            elif (there < n_rows or there - n_rows <= last) and not contains(there, intent, row_bits):
                return False
    return True


@jit
def columns_keep_gaps(columns: Any, gaps: Any, max_gap: Any) -> Any:
    """Return whether the columns of an intent keep the gaps of their side, with an upper bound of its own."""
    position, n_positions, min_gap, _, circular = gaps
    if columns.shape[0] < 2 or (min_gap == 0 and max_gap >= n_positions):
        return True
    placed = np.empty(columns.shape[0], dtype=np.int64)
    for at in range(columns.shape[0]):
        placed[at] = position[columns[at]]
    return gaps_within(np.sort(placed), n_positions, min_gap, max_gap, circular)


@jit
def rows_keep_gaps(extent: Any, member_ptr: Any, members: Any, gaps: Any) -> Any:
    """Return whether the rows of an extent keep their gaps; a row stands for all that are equal to it."""
    position, n_positions, min_gap, max_gap, circular = gaps
    if min_gap == 0 and max_gap >= n_positions:
        return True
    size = 0
    for row in extent:
        size += member_ptr[row + 1] - member_ptr[row]
    placed = np.empty(size, dtype=np.int64)
    size = 0
    for row in extent:
        for at in range(member_ptr[row], member_ptr[row + 1]):
            placed[size] = position[members[at]]
            size += 1
    return gaps_within(np.sort(placed), n_positions, min_gap, max_gap, circular)


@jit
def list_candidates(extent: Any, last: Any, intent: Any, table: Any, min_rows: Any, counts: Any, found: Any) -> Any:
    """List the columns after the last one, not in the intent, that enough rows of an extent have; return how many."""
    row_ptr, row_columns, _row_bits, member_ptr, _members = table
    n_touched = 0
    for row in extent:
        weight = member_ptr[row + 1] - member_ptr[row]
        for at in range(row_ptr[row + 1] - 1, row_ptr[row] - 1, -1):
            column = row_columns[at]
            if column <= last:
                break
            if counts[column] == 0:
                found[n_touched] = column
                n_touched += 1
            counts[column] += weight
    n_found = 0
    for at in range(n_touched):
        column = found[at]
        if counts[column] >= min_rows and not has_bit(intent, column):
            found[n_found] = column
            n_found += 1
        counts[column] = 0
    return n_found


@jit
def close_extent(extent: Any, row_bits: Any, closure: Any) -> None:
    """Write the columns that all rows of an extent have as a bit set."""
    closure[:] = row_bits[extent[0]]
    for at in range(1, extent.shape[0]):
        row = extent[at]
        for word in range(closure.shape[0]):
            closure[word] &= row_bits[row, word]


@jit
def is_canonical(closure: Any, intent: Any, column: Any) -> Any:
    """Return whether closing after a column was added has added no column before it."""
    word = column >> 6
    for before in range(word):
        if closure[before] & ~intent[before] != 0:
            return False
    below = (ONE << np.uint64(column & 63)) - ONE
    return closure[word] & ~intent[word] & below == 0


@jit
def append_rows(extent: Any, member_ptr: Any, members: Any, out: Any, end: Any) -> Any:
    """Append all rows that the rows of an extent stand for; return the array and its new end."""
    for row in extent:
        out = grow(out, end + member_ptr[row + 1] - member_ptr[row])
        for at in range(member_ptr[row], member_ptr[row + 1]):
            out[end] = members[at]
            end += 1
    return out, end


@jit
def keep_common(extents: Any, begin: Any, end: Any, column: Any, row_bits: Any) -> Any:
    """Append the rows of an extent that have a column; return the array and its new end."""
    extents = grow(extents, end + end - begin)
    top = end
    for at in range(begin, end):
        if has_bit(row_bits[extents[at]], column):
            extents[top] = extents[at]
            top += 1
    return extents, top


@jit
def begin_search(table: Any, n_columns: Any) -> Any:
    """Return the state of a search that begins with all rows.

    A node of the search is a concept at a depth; `intent`, `begin` (of its extent), `todo` and `todo_end` (of the
    columns to add) have one entry for each. The second part is what was found: where the rows of each concept begin,
    the rows, where its columns begin, and the columns. The numbers are those of concepts found and visited, the depth,
    the column added last, and whether the node is new.
    """
    row_ptr, _, row_bits, _, _ = table
    n_rows, n_words = row_bits.shape
    # A column is added at each depth, and an intent is part of a row.
    max_depth = 3 + (row_ptr[1:] - row_ptr[:-1]).max()
    intent, begin = np.zeros((max_depth, n_words), dtype=np.uint64), np.zeros(max_depth + 1, dtype=np.int64)
    todo, todo_end = np.zeros(max_depth, dtype=np.int64), np.zeros(max_depth, dtype=np.int64)
    extents, candidates = np.arange(n_rows), np.empty(n_columns, dtype=np.int64)
    counts, columns = np.zeros(n_columns, dtype=np.int64), np.empty(n_columns, dtype=np.int64)
    rows_out, columns_out = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int32)
    rows_end, columns_end = np.zeros(1024, dtype=np.int64), np.zeros(1024, dtype=np.int64)
    begin[1] = n_rows
    close_extent(extents, row_bits, intent[0])
    nodes = intent, begin, todo, todo_end, extents, candidates, counts, columns
    return nodes, (rows_end, rows_out, columns_end, columns_out), np.array([0, 0, 0, -1, 1])


@jit
def mine_concepts(
    table: Any, sizes: Any, links: Any, row_gaps: Any, column_gaps: Any, limits: Any, state: Any, max_steps: Any
) -> Any:
    """Find formal concepts with enough rows and columns that satisfy the constraints; go on from a state.

    Returns why the search ended or was paused, and the new state, see `begin_search`.
    """
    _, _, row_bits, member_ptr, members = table
    min_rows, min_columns = sizes
    max_bisets, max_entries, max_visits = limits
    (intent, begin, todo, todo_end, extents, candidates, counts, columns), found, numbers = state
    rows_end, rows_out, columns_end, columns_out = found
    n_columns = counts.shape[0]
    n_found, n_visited, depth, column, is_new = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] == 1
    ended = DONE
    n_steps = 0
    while depth >= 0 and ended == DONE:
        n_steps += 1
        if n_steps > max_steps:
            ended = PAUSED
            break
        if is_new:
            is_new = False
            n_visited += 1
            extent = extents[begin[depth] : begin[depth + 1]]
            size = list_bits(intent[depth], columns)
            todo[depth] = todo_end[depth] = todo_end[depth - 1] if depth else 0
            if may_grow(intent[depth], column, row_bits, links) and columns_keep_gaps(
                columns[:size], column_gaps, column_gaps[1]
            ):
                candidates = grow(candidates, todo[depth] + n_columns)
                room = candidates[todo[depth] :]
                n_more = list_candidates(extent, column, intent[depth], table, min_rows, counts, room)
                if size + n_more >= min_columns:
                    todo_end[depth] += n_more
            else:
                size = 0
            if (
                size >= min_columns
                and links_kept(intent[depth], row_bits, links)
                and columns_keep_gaps(columns[:size], column_gaps, column_gaps[3])
                and rows_keep_gaps(extent, member_ptr, members, row_gaps)
            ):
                n_found += 1
                rows_end, columns_end = grow(rows_end, n_found + 1), grow(columns_end, n_found + 1)
                rows_out, end = append_rows(extent, member_ptr, members, rows_out, rows_end[n_found - 1])
                rows_end[n_found], begins = end, columns_end[n_found - 1]
                columns_out = grow(columns_out, begins + size)
                columns_out[begins : begins + size] = columns[:size]
                columns_end[n_found] = begins + size
                if n_found > max_bisets:
                    ended = TOO_MANY_BISETS
                elif end + begins + size > max_entries:
                    ended = TOO_MANY_ENTRIES
            if n_visited > max_visits:
                ended = TOO_MANY_VISITS
        if todo[depth] == todo_end[depth]:
            depth -= 1
            continue
        column = candidates[todo[depth]]
        todo[depth] += 1
        extents, end = keep_common(extents, begin[depth], begin[depth + 1], column, row_bits)
        close_extent(extents[begin[depth + 1] : end], row_bits, intent[depth + 1])
        if is_canonical(intent[depth + 1], intent[depth], column):
            depth += 1
            begin[depth + 1] = end
            is_new = True
    nodes = intent, begin, todo, todo_end, extents, candidates, counts, columns
    found = rows_end, rows_out, columns_end, columns_out
    return ended, (nodes, found, np.array([n_found, n_visited, depth, column, np.int64(is_new)]))
