"""Compiled grouping of equal rows of a table of codes: the labels of a row in several clusterings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def group_rows(codes: Any) -> Any:
    """Number distinct rows in the order of first appearance; return their first rows and the number of every row."""
    n_rows, n_rounds = codes.shape
    size = 16
    while size < 2 * n_rows:
        size *= 2
    slots = np.full(size, -1, np.int64)
    first = np.empty(n_rows, np.int64)
    number = np.empty(n_rows, np.int64)
    n_groups = 0
    for i in range(n_rows):
        mixed = np.uint64(14695981039346656037)
        for t in range(n_rounds):
            mixed = (mixed ^ np.uint64(codes[i, t] + 1)) * np.uint64(1099511628211)
        # The low bits of this hash are poor on small labels, and the high ones are folded in.
        slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(size - 1))
        while True:
            group = slots[slot]
            if group < 0:
                slots[slot] = n_groups
                first[n_groups] = i
                number[i] = n_groups
                n_groups += 1
                break
            row = first[group]
            t = 0
            while t < n_rounds and codes[row, t] == codes[i, t]:
                t += 1
            if t == n_rounds:
                number[i] = group
                break
            slot = (slot + 1) & (size - 1)
    return first[:n_groups].copy(), number
