"""What k-means computes of a block of rows in one pass, as plain functions."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from mustlink._rows import RowBlocks
from mustlink._types import Array, Floats, Indices

__all__ = ["BlockSums", "digest_labels", "farthest_first", "farthest_rows", "nearest_labels", "sum_nearest"]


class BlockSums(NamedTuple):
    """The rows of each cluster: their sums relative to the mean of all centers, their number, and the inertia.

    Two passes whose digests are equal have the same labels.
    """

    sums: Floats
    counts: Floats
    inertia: float
    digest: Array


def sum_nearest(block: Array, centers: Floats, held: Indices, number: int) -> BlockSums:
    """Assign the rows of a block to the nearest centers and sum them by cluster, but for rows that links place."""
    found = RowBlocks(block, max_threads=1).assign(centers, _weight(len(block), held))
    digest = digest_labels(found.labels, len(centers), held, number)
    return BlockSums(found.sums, found.counts, found.inertia, digest)


def nearest_labels(block: Array, centers: Floats, held: Indices | None = None, labels: Any = None) -> Array:
    """Return the nearest center of the rows of a block; some rows have labels already."""
    found = RowBlocks(block, max_threads=1).assign(centers, _unit_weight(len(block))).labels
    if held is not None:
        found[held] = labels
    return found


def farthest_rows(block: Array, centers: Floats, held: Indices, count: int) -> tuple[Indices, Indices, Floats]:
    """Return the rows of a block that are farthest from their nearest centers, those centers, and the distances.

    At most `count` of them; rows that links place are left out.
    """
    rows = RowBlocks(block, max_threads=1)
    labels = rows.assign(centers, _unit_weight(len(block))).labels
    return farthest_first(labels, rows.distances_to_own(centers, labels), held, count)


def farthest_first(labels: Array, distance: Floats, held: Indices, count: int) -> tuple[Indices, Indices, Floats]:
    """Return the rows of the largest distances, at most `count`, their labels and distances; without rows held."""
    distance = np.where(_weight(len(labels), held) > 0, distance, -np.inf)
    chosen = np.argsort(-distance, kind="stable")[:count]
    chosen = chosen[np.isfinite(distance[chosen])]
    return chosen, labels[chosen].astype(np.intp), distance[chosen]


def digest_labels(labels: Array, n_clusters: int, held: Indices, number: int) -> Array:
    """Return a hash of the labels of a block, but for rows held; those of all blocks are added up."""
    # A byte per label is hashed in a quarter of the time of an int32.
    small = labels.astype(np.min_scalar_type(n_clusters))
    small[held] = n_clusters
    # The number of the block: blocks that exchange their labels have another sum.
    found = blake2b(small.data, digest_size=16, key=number.to_bytes(8, "little"))
    return np.frombuffer(found.digest(), dtype=np.uint64)


def _weight(n_rows: int, held: Indices) -> Floats:
    """Return weight one for all rows but those held; must not be written."""
    if not len(held):
        return _unit_weight(n_rows)
    weight = np.ones(n_rows)
    weight[held] = 0.0
    return weight


# The blocks of a pass have few lengths, and new memory takes longer to get than to fill.
@lru_cache(maxsize=2)
def _unit_weight(n_rows: int) -> Floats:
    """Return weight one for all rows; must not be written."""
    return np.ones(n_rows)
