"""Reference data: rows with the same known classes and the same features of a class, without any other structure."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mustlink._types import Array, Floats, Ints
from mustlink.alternative._glm import fit_means

__all__ = ["draw_linear", "draw_normal", "permute_columns", "permute_counts"]

# Up to so many words are shuffled one by one; beyond, or if counts are not whole, entries are.
MAX_WORDS = 50_000_000


def permute_counts(X: Any, cell: Ints, rng: np.random.RandomState) -> Any:
    """Shuffle the words of the rows of a cell; every row keeps its number of words, and every cell its words."""
    rows = sparse.csr_array(X)
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    column, value = rows.indices, rows.data
    if (value == np.round(value)).all() and value.sum() <= MAX_WORDS:
        times = value.astype(np.int64)
        row, column, value = np.repeat(row, times), np.repeat(column, times), np.ones(times.sum(), dtype=value.dtype)
    # The places of a cell's words, and the same places in random order.
    by_cell = np.argsort(cell[row], kind="stable")
    shuffled = np.lexsort((rng.random_sample(len(row)), cell[row]))
    new_column, new_value = np.empty_like(column), np.empty_like(value)
    new_column[by_cell], new_value[by_cell] = column[shuffled], value[shuffled]
    found = sparse.coo_array((new_value, (row, new_column)), shape=rows.shape).tocsr()
    return found if sparse.issparse(X) else found.toarray()


def draw_normal(X: Any, cell: Ints, design: Floats | None, rng: np.random.RandomState) -> Any:
    """Draw rows from one normal distribution per cell, with its mean and covariance.

    With predictors, the means are a linear model of them, and the covariance is that of all residuals.
    """
    if design is not None:
        fitted = design @ np.linalg.lstsq(design, X, rcond=None)[0]
        return (fitted + _draw_like(X - fitted, rng)).astype(X.dtype)
    found = np.empty_like(X)
    for place in range(int(cell.max()) + 1):
        rows = np.flatnonzero(cell == place)
        mean = X[rows].mean(axis=0)
        found[rows] = mean + _draw_like(X[rows] - mean, rng)
    return found


def draw_linear(X: Floats, design: Floats, link: str, rng: np.random.RandomState) -> Any:
    """Draw counts (link "log") or zeros and ones ("logit") whose means are a linear model of the predictors."""
    means = fit_means(X.astype(np.float64), design, link)
    found = rng.poisson(means) if link == "log" else rng.random_sample(means.shape) < means
    return found.astype(X.dtype)


def _draw_like(deviations: Array, rng: np.random.RandomState) -> Floats:
    """Draw as many normal rows with the same covariance."""
    _, lengths, directions = np.linalg.svd(deviations, full_matrices=False)
    scale = lengths / np.sqrt(max(len(deviations) - 1, 1))
    return np.asarray((rng.standard_normal((len(deviations), len(scale))) * scale) @ directions)


def permute_columns(X: Any, cell: Ints, rng: np.random.RandomState) -> Any:
    """Permute every column of a sparse table by itself among the rows of a cell."""
    X = sparse.csc_array(X)
    by_cell = np.argsort(cell, kind="stable")
    target = np.empty(len(cell), dtype=np.intp)
    row = X.indices.copy()
    for column in range(X.shape[1]):
        target[by_cell] = np.lexsort((rng.random_sample(len(cell)), cell))
        entries = slice(X.indptr[column], X.indptr[column + 1])
        row[entries] = target[row[entries]]
    return sparse.csc_array((X.data, row, X.indptr), shape=X.shape).tocsr()
