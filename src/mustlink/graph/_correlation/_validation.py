"""Checks of a signed matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

# Two weights of one pair may differ by so much, relative to the largest weight.
SYMMETRY = 1e-8


def check_signed(X: Any) -> csr_array:
    """Return a symmetric matrix in sparse form, without its diagonal and without zeros."""
    n_rows, n_columns = X.shape
    if n_rows != n_columns:
        raise ValueError(
            f"X must be a square matrix of the weights of pairs, as many columns as rows; got {n_rows:,} x "
            f"{n_columns:,}. Turn pairs with probabilities into one with mustlink.graph.signed_matrix."
        )
    entries = sparse.coo_array(X)
    off = (entries.row != entries.col) & (entries.data != 0)
    weights = sparse.coo_array((entries.data[off], (entries.row[off], entries.col[off])), shape=X.shape).tocsr()
    weights.sort_indices()
    _refuse_asymmetry(weights)
    weights.eliminate_zeros()
    return csr_array(weights)


def _refuse_asymmetry(weights: csr_array) -> None:
    """Refuse two different weights of one pair, and name the pair."""
    mirrored = weights.T.tocsr()
    mirrored.sort_indices()
    if np.array_equal(weights.indices, mirrored.indices) and np.array_equal(weights.data, mirrored.data):
        return
    difference = sparse.coo_array(weights - mirrored)
    worst = int(np.abs(difference.data).argmax()) if difference.nnz else -1
    if worst >= 0 and abs(difference.data[worst]) > SYMMETRY * np.abs(weights.data).max():
        a, b = sorted((int(difference.row[worst]), int(difference.col[worst])))
        raise ValueError(
            f"X must be symmetric: rows {a} and {b} have the weights {weights[a, b]:g} and {weights[b, a]:g}. Of "
            "weights in one triangle take X + X.T."
        )
