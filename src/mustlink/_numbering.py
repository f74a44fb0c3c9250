"""Numbering of labels."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from mustlink._types import Indices, Ints

__all__ = ["number_as_before", "number_by_first"]


def number_by_first(label: Indices, n_labels: int) -> tuple[Indices, Indices]:
    """Renumber labels by first appearance; also return the new number of every old label (unused ones last)."""
    first = np.full(n_labels, len(label), dtype=np.intp)
    first[label[::-1]] = np.arange(len(label))[::-1]
    new = np.empty(n_labels, dtype=np.intp)
    new[np.argsort(first, kind="stable")] = np.arange(n_labels)
    return new[label], new


def number_as_before(labels: Ints, before: Ints) -> Ints:
    """Return a number for every label, 0 to k - 1 in another order: most rows have the number that they had before.

    A label of -1 is noise, in both.
    """
    n_labels = int(labels.max(initial=-1)) + 1
    overlap = np.zeros((n_labels, n_labels))
    known = (labels >= 0) & (before >= 0) & (before < n_labels)
    np.add.at(overlap, (labels[known], before[known]), 1)
    return np.asarray(linear_sum_assignment(overlap, maximize=True)[1], dtype=np.int64)
