"""The cells of a 0/1 matrix in the order of its co-clusters, several to a pixel if there are many."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mustlink._types import Floats, Indices, Ints

__all__ = ["SortedCells", "bin_sorted_matrix"]

# More rows or columns than these share a pixel.
MAX_PIXELS = 800


class SortedCells(NamedTuple):
    """The orders of the rows and of the columns, and the fraction of ones of each pixel."""

    row_order: Indices
    column_order: Indices
    density: Floats


def bin_sorted_matrix(X: Any, row_labels: Ints, column_labels: Ints) -> SortedCells:
    """Sort a matrix by co-clusters, those in none last, and within one those with most ones inside first."""
    ones = sparse.coo_array(X)
    is_one = ones.data != 0
    row, column = ones.row[is_one], ones.col[is_one]
    is_inside = (row_labels[row] == column_labels[column]) & (row_labels[row] >= 0)
    row_order = _order(row_labels, np.bincount(row[is_inside], minlength=ones.shape[0]))
    column_order = _order(column_labels, np.bincount(column[is_inside], minlength=ones.shape[1]))
    parts = [_parts(order) for order in (row_order, column_order)]
    sizes = [np.bincount(part) for part in parts]
    n_ones = np.zeros((len(sizes[0]), len(sizes[1])))
    np.add.at(n_ones, (parts[0][row], parts[1][column]), 1)
    return SortedCells(row_order, column_order, n_ones / np.outer(*sizes))


def _order(labels: Ints, n_inside: Ints) -> Indices:
    """Return rows or columns by co-cluster, those with most ones inside first, those in none last."""
    return np.lexsort((-n_inside, labels, labels < 0))


def _parts(order: Indices) -> Indices:
    """Return the pixel of each row or column."""
    part = np.empty(len(order), dtype=np.intp)
    part[order] = np.arange(len(order)) * min(len(order), MAX_PIXELS) // len(order)
    return part
