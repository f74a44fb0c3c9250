"""Cosines of documents and seeds, in blocks of documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Array, Floats, Indices
from mustlink.text._seeds import DECIMALS, normalize_rows, row_norms

__all__ = ["Queries", "find_nearest", "similarity_blocks"]

# The most similarities that are held at a time (32 MB).
MAX_SIMILARITIES = 1 << 22


class Queries(NamedTuple):
    """Documents as they are compared with seeds: the weights of their terms, and the norm of each."""

    rows: csr_array
    norms: Floats

    @classmethod
    def of(cls, rows: csr_array) -> Queries:
        """Compute the norms."""
        return cls(rows, row_norms(rows))


def similarity_blocks(queries: Queries, seeds: csr_array) -> Iterator[tuple[slice, Array]]:
    """Yield ranges of documents and their cosines to all seeds; an empty document or seed has the cosine 0."""
    by_term = normalize_rows(seeds).T.tocsr()
    n_rows = max(1, MAX_SIMILARITIES // max(1, seeds.shape[0]))
    inverse = np.divide(1.0, queries.norms, out=np.zeros_like(queries.norms), where=queries.norms > 0)
    for start in range(0, queries.rows.shape[0], n_rows):
        block = slice(start, start + n_rows)
        yield block, np.round((queries.rows[block] @ by_term).toarray() * inverse[block, None], DECIMALS)


def find_nearest(queries: Queries, seeds: csr_array) -> tuple[Indices, Floats]:
    """Return the seed of the largest cosine of every document, of equal ones the first, and that cosine."""
    nearest = np.empty(queries.rows.shape[0], dtype=np.intp)
    similarity = np.empty(len(nearest))
    for block, cosines in similarity_blocks(queries, seeds):
        nearest[block] = cosines.argmax(axis=1)
        similarity[block] = np.take_along_axis(cosines, nearest[block, None], axis=1)[:, 0]
    return nearest, similarity
