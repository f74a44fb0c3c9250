"""What k-means computes of a block of rows in one pass, as plain functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import RowBlocks
from mustlink._types import Array, Floats, Indices

__all__ = ["BlockSums", "farthest_rows", "nearest_labels", "sum_nearest"]


# An odd number with irregular bits; its multiples, modulo 2^64, are weights of the rows that no two rows share.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class BlockSums(NamedTuple):
    """The rows of each cluster: their sums relative to the mean of all centers, their number, and the inertia.

    Two assignments of the same rows have the same fingerprint if all labels are the same, and practically only then.
    """

    sums: Floats
    counts: Floats
    inertia: float
    fingerprint: NDArray[np.uint64]


def sum_nearest(block: Array, centers: Floats, first_row: int, held: Indices) -> BlockSums:
    """Assign the rows of a block to the nearest centers and sum them by cluster, but for rows that links place."""
    found = RowBlocks(block, max_threads=1).assign(centers, _weight(len(block), held))
    labels = found.labels.astype(np.uint64)
    labels[held] = 0
    numbers = np.arange(first_row, first_row + len(block), dtype=np.uint64)
    # An array, whose sums wrap around without a warning.
    fingerprint = np.sum(labels * (numbers * SPREAD), keepdims=True)
    return BlockSums(found.sums, found.counts, found.inertia, fingerprint)


def nearest_labels(block: Array, centers: Floats, held: Indices | None = None, labels: Any = None) -> Array:
    """Return the nearest center of the rows of a block; some rows have labels already."""
    found = RowBlocks(block, max_threads=1).assign(centers, np.ones(len(block))).labels
    if held is not None:
        found[held] = labels
    return found


def farthest_rows(block: Array, centers: Floats, held: Indices, count: int) -> tuple[Indices, Indices, Floats]:
    """Return the rows of a block that are farthest from their nearest centers, those centers, and the distances.

    At most `count` of them; rows that links place are left out.
    """
    rows = RowBlocks(block, max_threads=1)
    labels = rows.assign(centers, np.ones(len(block))).labels
    distance = np.where(_weight(len(block), held) > 0, rows.distances_to_own(centers, labels), -np.inf)
    chosen = np.argsort(-distance, kind="stable")[:count]
    chosen = chosen[np.isfinite(distance[chosen])]
    return chosen, labels[chosen].astype(np.intp), distance[chosen]


def _weight(n_rows: int, held: Indices) -> Floats:
    """Return weight one for all rows but those held."""
    weight = np.ones(n_rows)
    weight[held] = 0.0
    return weight
