"""Compiled packing of inconsistent triangles, a lower bound on the disagreement of every clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.graph._correlation._hard_rules_kernels import find_slot

# For one negative pair, the most positive neighbors that are looked at.
MAX_LOOKED_AT = 64
# For one positive pair, the most other pairs of its node that are tried for a triangle with a missing pair.
MAX_TRIED = 16


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
def pack_missing(
    indptr: Any, indices: Any, net: Any, mate: Any, size: Any, penalty: float, left: Any, part: Any, packed: Any
) -> None:
    """Pack triangles of two positive pairs and a pair without an entry, which costs `penalty`; each such pair once."""
    n_nodes = len(size)
    n_slots = 16
    while n_slots < 2 * len(net):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int64)
    for u in range(n_nodes):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            for f in range(e + 1, min(indptr[u + 1], e + 1 + MAX_TRIED)):
                if net[e] <= 0 or left[e] <= 0:
                    break
                w = indices[f]
                if net[f] <= 0 or left[f] <= 0 or find_entry(indptr, indices, v, w) >= 0:
                    continue
                slot = find_slot(slots, np.int64(v) * n_nodes + w)
                if slots[slot] != -1:
                    continue
                slots[slot] = np.int64(v) * n_nodes + w
                amount = min(penalty * size[v] * size[w], left[e], left[f])
                packed[part[u]] += amount
                for place in (e, f):
                    left[place] -= amount
                    left[mate[place]] = left[place]
