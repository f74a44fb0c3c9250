"""Compiled packing of inconsistent triangles, a lower bound on the disagreement of every clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.graph._correlation._hard_rules_kernels import find_slot

# For one negative pair, the most positive neighbors that are looked at.
MAX_LOOKED_AT = 64


@jit
def find_entry(indptr: Any, indices: Any, row: int, column: int) -> Any:
    """Return the place of an entry, -1 if there is none."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low if low < indptr[row + 1] and indices[low] == column else -1


@jit
def pack_stored(indptr: Any, indices: Any, net: Any, mate: Any, left: Any, part: Any, packed: Any) -> None:
    """Pack triangles of two positive pairs and a stored negative one.

    `mate` has the place of the same pair from its other end. `left` has the weight of every pair that is not packed yet
    and `packed` the packed weight of every part; both are updated.
    """
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if w < v or net[e] >= 0:
                continue
            a, b = v, w
            if indptr[w + 1] - indptr[w] < indptr[v + 1] - indptr[v]:
                a, b = w, v
            for f in range(indptr[a], min(indptr[a + 1], indptr[a] + MAX_LOOKED_AT)):
                if net[f] <= 0 or left[f] <= 0:
                    continue
                g = find_entry(indptr, indices, b, indices[f])
                if g >= 0 and net[g] > 0 and left[g] > 0:
                    amount = min(left[e], left[f], left[g])
                    packed[part[v]] += amount
                    for place in (e, f, g):
                        left[place] -= amount
                        left[mate[place]] = left[place]
                    if left[e] <= 0:
                        break


@jit
def mix(entries: Any, seed: int) -> None:
    """Put entries in another order, which a seed decides."""
    state = seed
    for i in range(len(entries) - 1, 0, -1):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        j = (state >> 8) % (i + 1)
        entries[i], entries[j] = entries[j], entries[i]


@jit
def pack_around_nodes(
    indptr: Any,
    indices: Any,
    net: Any,
    mate: Any,
    size: Any,
    penalty: float,
    max_tried: int,
    left: Any,
    part: Any,
    packed: Any,
) -> None:
    """Pack triangles of two positive pairs of a node and a negative pair or one without an entry.

    A pair without an entry costs `penalty` per pair of rows, and is used once. For every pair of a node, up to
    `max_tried` others that make no triangle with it are looked at, in an order that differs from node to node, so that
    not all of them use up the same negative pairs.
    """
    n_nodes = len(size)
    n_slots = 16
    while n_slots < 2 * len(net) and penalty:
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int64)
    for u in range(n_nodes):
        entries = np.arange(indptr[u], indptr[u + 1])
        open_entries = entries[(net[entries] > 0) & (left[entries] > 0)]
        n_open = len(open_entries)
        mix(open_entries, u)
        for i in range(n_open):
            e = open_entries[i]
            n_tried, place = 0, i + 1
            while place < n_open and left[e] > 0 and n_tried < max_tried:
                f = open_entries[place]
                place += 1
                if left[f] <= 0:
                    continue
                if not pack_one(indptr, indices, net, mate, size, penalty, e, f, left, slots, part[u], packed):
                    n_tried += 1


@jit
def pack_one(
    indptr: Any,
    indices: Any,
    net: Any,
    mate: Any,
    size: Any,
    penalty: float,
    e: int,
    f: int,
    left: Any,
    slots: Any,
    part: int,
    packed: Any,
) -> bool:
    """Pack the triangle of two positive pairs of one node; return whether it is one."""
    v, w = indices[e], indices[f]
    third = find_entry(indptr, indices, v, w)
    if third >= 0:
        if net[third] >= 0 or left[third] <= 0:
            return False
        amount = min(left[e], left[f], left[third])
        left[third] -= amount
        left[mate[third]] = left[third]
    else:
        pair = np.int64(min(v, w)) * len(size) + max(v, w)
        slot = find_slot(slots, pair) if penalty else 0
        if not penalty or slots[slot] != -1:
            return False
        slots[slot] = pair
        amount = min(penalty * size[v] * size[w], left[e], left[f])
    packed[part] += amount
    for place in (e, f):
        left[place] -= amount
        left[mate[place]] = left[place]
    return True
