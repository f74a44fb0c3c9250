"""Compiled pairing heaps: for every ordered pair of clusters, the rows of one by the cost of moving to the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mustlink._jit import jit
from mustlink._types import Floats, Ints


class Moves(NamedTuple):
    """One heap for every pair of clusters, in a common pool of entries.

    An entry has a `cost`, a `row` (-1 if the entry is free) and a `pair`; `child` and `sibling` link entries, -1 for
    none. A pair has its first entry `root` and the number of its entries `size`. Moves that were left out cost at least
    `bound`. `length` and `mover` are the cost and the row of the cheapest move of a pair, the bound and -1 where that
    was left out. `pool` holds the number of entries taken, the first entry of the list of free ones, the number of
    entries from which on only the first of a pair is taken, and the most entries of a pair.
    """

    cost: Floats
    row: NDArray[np.int32]
    pair: NDArray[np.int32]
    child: NDArray[np.int32]
    sibling: NDArray[np.int32]
    root: NDArray[np.int32]
    size: NDArray[np.int32]
    bound: Floats
    length: Floats
    mover: Ints
    pool: Ints


def empty_moves(bound: Floats, n_entries: int, max_size: int) -> Moves:
    """Return empty heaps with room for a number of entries, and for the first of each pair beside them."""
    n_pairs = len(bound)
    n_in_all = n_entries + n_pairs
    # Not touched before they are used, so that they take no memory.
    row, pair, child, sibling = (np.empty(n_in_all, dtype=np.int32) for _ in range(4))
    root, size = np.full(n_pairs, -1, dtype=np.int32), np.zeros(n_pairs, dtype=np.int32)
    length, mover = np.empty(n_pairs), np.empty(n_pairs, dtype=np.int64)
    pool = np.array([0, -1, n_entries, max_size])
    return Moves(np.empty(n_in_all), row, pair, child, sibling, root, size, bound, length, mover, pool)


@jit
def meld(moves: Moves, one: int, other: int) -> int:
    """Join two heaps; equal costs come in the order of the rows."""
    if one < 0:
        return other
    if other < 0:
        return one
    if moves.cost[other] < moves.cost[one] or (
        moves.cost[other] == moves.cost[one] and moves.row[other] < moves.row[one]
    ):
        one, other = other, one
    moves.sibling[other] = moves.child[one]
    moves.child[one] = other
    return one


@jit
def push(moves: Moves, pair: int, cost: float, row: int) -> None:
    """Add a move below the bound; where there is no room, keep the cheaper of it and the first, and lower the bound."""
    root = moves.root[pair]
    taken, free, n_entries = moves.pool[0], moves.pool[1], moves.pool[2]
    has_room = free >= 0 or taken < n_entries
    if root >= 0 and (not has_room or moves.size[pair] >= moves.pool[3]):
        left_out = cost
        if cost < moves.cost[root]:
            left_out = moves.cost[root]
            moves.cost[root], moves.row[root] = cost, row
        moves.bound[pair] = min(moves.bound[pair], left_out)
        return
    if free >= 0:
        entry = free
        moves.pool[1] = moves.sibling[entry]
    elif taken < len(moves.cost):
        entry = taken
        moves.pool[0] += 1
    else:
        moves.bound[pair] = min(moves.bound[pair], cost)
        return
    moves.cost[entry], moves.row[entry], moves.pair[entry] = cost, row, pair
    moves.child[entry] = moves.sibling[entry] = -1
    moves.root[pair] = meld(moves, root, entry)
    moves.size[pair] += 1


@jit
def pop(moves: Moves, pair: int) -> None:
    """Remove the first move of a pair."""
    first = moves.root[pair]
    entry, joined = moves.child[first], -1
    while entry >= 0:
        after = moves.sibling[entry]
        following = -1
        if after >= 0:
            following = moves.sibling[after]
            moves.sibling[after] = -1
        moves.sibling[entry] = -1
        both = meld(moves, entry, after)
        moves.sibling[both] = joined
        joined = both
        entry = following
    root = -1
    while joined >= 0:
        following = moves.sibling[joined]
        moves.sibling[joined] = -1
        root = meld(moves, root, joined)
        joined = following
    moves.root[pair] = root
    moves.size[pair] -= 1
    moves.row[first] = -1
    moves.sibling[first] = moves.pool[1]
    moves.pool[1] = first
