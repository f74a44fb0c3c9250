"""Rows of a memory-mapped file for algorithms that work on an array in place, some rows at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from mustlink._rows import RowBlocks
from mustlink._types import Array, Indices

__all__ = ["MappedRowBlocks"]

# The most bytes of the file that a thread works on at a time.
MAX_BLOCK_BYTES = 64 << 20


class MappedRowBlocks(RowBlocks):
    """Rows in a memory map whose pages are given back as soon as they have been read."""

    def __init__(self, array: Array, pages: Any) -> None:
        super().__init__(array)
        self._pages = pages

    def pick(self, index: Indices | slice) -> Any:
        if isinstance(index, slice):
            return self.X[index]
        return self._pages.take(self.X, index)

    def release(self, rows: slice) -> None:
        start, stop, _ = rows.indices(self.n_rows)
        self._pages.release(start, stop)

    def _blocks(self, n_sums: int) -> list[slice]:
        blocks = super()._blocks(n_sums)
        n_blocks = -(-self.X.nbytes // MAX_BLOCK_BYTES)
        if n_blocks <= len(blocks):
            return blocks
        edges = np.arange(n_blocks + 1) * self.n_rows // n_blocks
        return [slice(start, stop) for start, stop in pairwise(edges)]
