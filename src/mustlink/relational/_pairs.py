"""Pairs of numbers: within blocks, and between the members of two values."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Ints


def membership(code: Ints, n_values: int) -> tuple[Ints, Ints]:
    """Return the members of each value as `indptr` and `members`, ascending within a value."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(code, minlength=n_values))])
    return indptr.astype(np.int64), np.argsort(code, kind="stable").astype(np.int64)


def count_cross(left: Ints, right: Ints, indptr: Ints) -> int:
    """Return how many pairs `cross` lists."""
    sizes = np.diff(indptr).astype(float)
    n_pairs = sizes[left] * sizes[right]
    same = left == right
    n_pairs[same] = (sizes[left[same]] * (sizes[left[same]] - 1)) / 2
    return int(n_pairs.sum())


def cross(left: Ints, right: Ints, indptr: Ints, members: Ints) -> tuple[Ints, Ints, Ints]:
    """List every pair of a member of the left value and one of the right value, each once, and the place of the values.

    Of a value with itself, the pairs of two different members.
    """
    sizes = np.diff(indptr)
    n_left, n_right = sizes[left], sizes[right]
    n_pairs = n_left * n_right
    place = np.repeat(np.arange(len(left)), n_pairs)
    number = np.arange(len(place)) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    one, other = np.divmod(number, n_right[place])
    is_once = (left != right)[place] | (one < other)
    place, one, other = place[is_once], one[is_once], other[is_once]
    return members[indptr[left[place]] + one], members[indptr[right[place]] + other], place


def each_once(left: Ints, right: Ints, n_values: int) -> tuple[Ints, Ints]:
    """Return each pair of different numbers once, the smaller first, in ascending order."""
    code = np.minimum(left, right) * np.int64(n_values) + np.maximum(left, right)
    found = np.unique(code[left != right])
    return found // n_values, found % n_values


def incidence(rows: Ints, columns: Ints, shape: tuple[int, int]) -> csr_array:
    """Return a sparse matrix of ones, with each entry once."""
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix
