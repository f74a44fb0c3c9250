"""Bootstrapping: pairs of records that are one entity beyond doubt, joined before the first merge."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Ints, Mask
from mustlink.relational._blocking import refuse_rows
from mustlink.relational._pairs import count_cross, cross, membership
from mustlink.relational._problem import Problem

# Pairs of records whose neighbors are compared at a time.
CHUNK = 500_000


def bootstrap_pairs(
    problem: Problem,
    nearby: csr_array,
    is_unambiguous: Mask,
    *,
    similarity: float,
    n_shared: int,
    max_pairs: int,
) -> tuple[Ints, Ints]:
    """Return pairs of rows to be joined: names that match, and are unambiguous or have names nearby in common.

    Names match from a similarity on, 1 for equal ones only. `n_shared` different names nearby must be equal.
    """
    left, right, score = problem.value_pairs
    is_match = score >= similarity
    filled = np.flatnonzero(problem.is_same)
    left, right = np.concatenate([filled, left[is_match]]), np.concatenate([filled, right[is_match]])
    is_sure = is_unambiguous[left] & is_unambiguous[right]
    indptr, members = membership(problem.code, len(problem.is_same))
    one, other = _chain(left[is_sure], right[is_sure], indptr, members)
    ones, others = [one], [other]
    # Without names nearby no other pair is sure.
    is_open = ~is_sure if nearby.nnz else np.zeros(len(left), dtype=bool)
    left, right = left[is_open], right[is_open]
    n_pairs = count_cross(left, right, indptr)
    if n_pairs > max_pairs:
        refuse_rows(f"Bootstrapping compares {n_pairs:,} pairs of records with matching names", max_pairs)
    one, other, _ = cross(left, right, indptr, members)
    for start in range(0, len(one), CHUNK):
        a, b = one[start : start + CHUNK], other[start : start + CHUNK]
        shared = np.asarray(nearby[a].multiply(nearby[b]).sum(axis=1)).ravel()
        ones.append(a[shared >= n_shared])
        others.append(b[shared >= n_shared])
    left, right = np.concatenate(ones), np.concatenate(others)
    order = np.lexsort((right, left))
    return left[order], right[order]


def _chain(left: Ints, right: Ints, indptr: Ints, members: Ints) -> tuple[Ints, Ints]:
    """Return pairs that join all rows of matching records: consecutive rows of each, and the first rows of both."""
    own = left == right
    sizes = np.diff(indptr)[left[own]]
    later = np.repeat(indptr[left[own]] + 1, np.maximum(sizes - 1, 0))
    n_later = np.maximum(sizes - 1, 0)
    later = later + np.arange(len(later)) - np.repeat(np.cumsum(n_later) - n_later, n_later)
    one = np.concatenate([members[later - 1], members[indptr[left[~own]]]])
    other = np.concatenate([members[later], members[indptr[right[~own]]]])
    return np.minimum(one, other), np.maximum(one, other)
