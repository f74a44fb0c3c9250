"""Seeds: sparse sums of damped documents, one row for each category."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Array, Floats, Indices

__all__ = ["DECIMALS", "Damping", "damp", "normalize_rows", "project", "row_norms", "sum_rows"]

Damping: TypeAlias = Literal["log1p", "sqrt", "binary", "identity"]

# Cosines, and weights of a seed as shares of its largest, that agree to so many decimals are equal: which of two comes
# first must not depend on the order in which numbers were summed.
DECIMALS = 12

FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "binary": np.ones_like,
    "identity": np.copy,
}


def damp(counts: csr_array, damping: Damping) -> csr_array:
    """Return a concave function of every count; the result shares its pattern with the counts."""
    return with_values(counts, FUNCTIONS[damping](counts.data))


def with_values(matrix: csr_array, values: Array) -> csr_array:
    """Return a matrix with the same pattern and other values."""
    return csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def sum_rows(rows: csr_array, label: Indices, n_labels: int) -> csr_array:
    """Return the sum of the rows of each label; rows of the label -1 are left out."""
    member = np.flatnonzero(label >= 0)
    one_hot = csr_array(
        (np.ones(len(member), dtype=rows.dtype), (label[member], member)), shape=(n_labels, rows.shape[0])
    )
    sums = csr_array(one_hot @ rows)
    sums.sort_indices()
    return sums


def row_norms(rows: csr_array) -> Floats:
    """Return the Euclidean norm of every row."""
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel())


def normalize_rows(rows: csr_array) -> csr_array:
    """Return rows of norm 1; empty rows stay empty."""
    norms = row_norms(rows)
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return with_values(rows, rows.data * np.repeat(scale, np.diff(rows.indptr)).astype(rows.dtype))


def project(seeds: csr_array, n_words: int) -> csr_array:
    """Return seeds with their `n_words` largest weights; of equal weights the term of the lowest column is kept."""
    n_kept = np.diff(seeds.indptr)
    if n_kept.max(initial=0) <= n_words:
        return seeds
    row = np.repeat(np.arange(seeds.shape[0]), n_kept)
    largest = np.zeros(seeds.shape[0])
    np.maximum.at(largest, row, seeds.data)
    order = np.lexsort((seeds.indices, -np.round(seeds.data / largest[row], DECIMALS), row))
    kept = np.sort(order[np.arange(len(order)) - np.repeat(seeds.indptr[:-1], n_kept) < n_words])
    indptr = np.concatenate(([0], np.cumsum(np.minimum(n_kept, n_words))))
    return csr_array((seeds.data[kept], seeds.indices[kept], indptr), shape=seeds.shape)
