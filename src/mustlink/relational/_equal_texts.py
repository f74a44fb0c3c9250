"""Records with equal texts and nothing else known about them, which are merged at once instead of pair by pair."""

from __future__ import annotations

import numpy as np

from mustlink._types import Ints
from mustlink.relational._problem import Problem


def equal_pairs(problem: Problem, cluster: Ints) -> tuple[Ints, Ints]:
    """Return the merges of clusters that hold one text, the same: the first cluster of a text with each later one.

    `cluster` is the smallest row of the cluster of each row. The order is that of single merges of equal similarity.
    """
    code = problem.code
    rows = np.arange(problem.n_rows)
    is_mixed = np.zeros(problem.n_rows, dtype=bool)
    is_mixed[cluster[code[cluster] != code]] = True
    heads = rows[(cluster == rows) & ~is_mixed & problem.is_same[code]]
    heads = heads[np.argsort(code[heads], kind="stable")]
    starts = np.flatnonzero(np.diff(code[heads], prepend=-1))
    first = np.repeat(heads[starts], np.diff(np.append(starts, len(heads))))
    is_later = first != heads
    left, right = first[is_later], heads[is_later]
    order = np.lexsort((right, left))
    return left[order], right[order]
