"""Eigenvectors of symmetric matrices, with signs that do not depend on the solver."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils.extmath import svd_flip

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Floats

__all__ = ["MAX_DIRECT_ROWS", "decompose", "fix_signs", "leading_eigenpairs"]

# Up to this size a direct solver is faster than Lanczos, and faster on one thread than on several.
MAX_DIRECT_ROWS = 500
# Eigenvalues below this fraction of the largest one are rounding errors.
RANK_TOLERANCE = 1e-10


def fix_signs(vectors: Floats) -> Floats:
    """Return the columns with signs such that the largest entry of each, in absolute value, is positive."""
    return np.asarray(svd_flip(vectors.copy(), None)[0])


def decompose(matrix: Floats, n_largest: int | None = None) -> tuple[Floats, Floats]:
    """Return eigenvalues in ascending order and their vectors: all, or the largest ones, by a direct solver."""
    n_rows = len(matrix)
    chosen = None if n_largest is None else (max(0, n_rows - n_largest), n_rows - 1)
    with one_blas_thread() if n_rows <= MAX_DIRECT_ROWS else nullcontext():
        values, vectors = eigh(matrix, subset_by_index=chosen)
    return values, vectors


def leading_eigenpairs(matrix: Floats | LinearOperator, n_pairs: int, *, positive: bool) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric matrix, in descending order, and their vectors.

    An array is decomposed directly, a linear operator by Lanczos. With `positive`, eigenvalues that are zero up to
    rounding, or negative, are left out.
    """
    if isinstance(matrix, LinearOperator):
        # A fixed start makes Lanczos repeatable; a larger basis than the default separates equal eigenvalues.
        n_rows = matrix.shape[0]
        start = np.random.RandomState(0).standard_normal(n_rows)
        values, vectors = eigsh(matrix, k=n_pairs, which="LA", v0=start, ncv=min(n_rows, max(4 * n_pairs, 40)))
    else:
        values, vectors = decompose(matrix, n_pairs)
    order = np.argsort(values, kind="stable")[::-1]
    if positive:
        order = order[values[order] > RANK_TOLERANCE * values.max()]
    return values[order], fix_signs(vectors[:, order])
