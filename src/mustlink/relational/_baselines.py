"""Decisions pair by pair: attributes alone (A, A*), and with the names that occur with two records (NR, NR*)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, diags_array

from mustlink._types import Floats, Ints
from mustlink.errors import TooLargeError
from mustlink.relational._blocking import refuse_rows
from mustlink.relational._hyperedge_kernels import BEST, MEAN_BEST, compare_groups
from mustlink.relational._pairs import count_cross, cross, membership
from mustlink.relational._problem import Problem

# The most comparisons of records of two groups.
MAX_COMPARED = 2_000_000_000


def count_row_pairs(problem: Problem) -> int:
    """Return the number of candidate pairs of rows."""
    left, right, _ = _with_equal(problem)
    return count_cross(left, right, membership(problem.code, len(problem.is_same))[0])


def row_pairs(problem: Problem, max_pairs: int) -> tuple[Ints, Ints, Floats]:
    """Return the candidate pairs of rows, the smaller first, in ascending order, with their similarities."""
    indptr, members = membership(problem.code, len(problem.is_same))
    left, right, score = _with_equal(problem)
    n_pairs = count_cross(left, right, indptr)
    if n_pairs > max_pairs:
        refuse_rows(f"{n_pairs:,} pairs of records are candidates", max_pairs)
    one, other, place = cross(left, right, indptr, members)
    one, other = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((other, one))
    return one[order], other[order], score[place[order]]


def _with_equal(problem: Problem) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of distinct records with their similarities, and each record with itself."""
    same = np.flatnonzero(problem.is_same)
    left, right, score = problem.value_pairs
    return (
        np.concatenate([same, left]),
        np.concatenate([same, right]),
        np.concatenate([np.ones(len(same)), score]),
    )


def hyperedge_similarity(problem: Problem, left: Ints, right: Ints, how: str) -> Floats:
    """Return how well the records that occur with two rows match; pairs that are no candidates count as 0."""
    n_values = len(problem.is_same)
    code, groups = problem.code, problem.groups
    one, other, score = problem.value_pairs
    similarity = csr_array((score, (one, other)), shape=(n_values, n_values))
    same = csr_array(diags_array(problem.is_same.astype(float)))
    similarity = (similarity + similarity.T + same).tocsr()
    similarity.sort_indices()
    by_group = groups.T.tocsr()
    _refuse_large_groups(left, right, groups, by_group)
    arrays = (groups.indptr, groups.indices, by_group.indptr, by_group.indices, code)
    entries = (similarity.indptr, similarity.indices, similarity.data)
    found: Floats = compare_groups(left, right, BEST if how == "max" else MEAN_BEST, *arrays, *entries)
    if how == "assignment":
        for place in np.flatnonzero(found):
            found[place] = _best_assignment(left[place], right[place], groups, by_group, code, similarity)
    return found


def _refuse_large_groups(left: Ints, right: Ints, groups: csr_array, by_group: csr_array) -> None:
    """Refuse groups whose records are too many to be compared with each other for every candidate pair."""
    sizes = np.diff(by_group.indptr)
    n_nearby = np.asarray(groups @ sizes.astype(float))
    n_compared = float(n_nearby[left] @ n_nearby[right])
    if n_compared > MAX_COMPARED:
        raise TooLargeError(
            f'method="nr*" compares {n_compared:,.0f} pairs of records that occur with a candidate pair, the largest '
            f"group has {int(sizes.max()):,} records, and at most {MAX_COMPARED:,} are allowed",
            remedy="too_large",
            instead='use method="cr", which compares clusters, or leave out large groups',
        )


def _best_assignment(
    one: int, other: int, groups: csr_array, by_group: csr_array, code: Ints, similarity: csr_array
) -> float:
    """Return the best one-to-one match of the records that occur with two rows, divided by the larger number."""
    best = 0.0
    for first in groups[[one]].indices:
        rows = np.setdiff1d(by_group[[first]].indices, [one, other])
        for second in groups[[other]].indices:
            near = np.setdiff1d(by_group[[second]].indices, [one, other])
            if first != second and len(rows) and len(near):
                scores = similarity[code[rows]][:, code[near]].toarray()
                matched = linear_sum_assignment(scores, maximize=True)
                best = max(best, float(scores[matched].sum()) / max(len(rows), len(near)))
    return best
