"""Runs of the constrained k-means with priorities on rows in blocks: rows without links are read in passes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import read_only
from mustlink._types import Array, Floats, Indices
from mustlink.blocks import BlockedRows
from mustlink.kmeans._blocked import BlockedLabels
from mustlink.kmeans._prioritycop_kernels import MEMORY, inertia_of, nearest, nearest_two, place_pairs, sum_rows

__all__ = ["PriorityPasses", "PriorityRun", "label_by_nearest", "nearest_rows"]

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class PriorityRun:
    """The labels of the linked rows, the centers that gave them, and the number of assignments."""

    labels: Labels
    centers: Array
    n_iter: int


class PriorityPasses:
    """Rows in blocks, the linked ones of them in memory."""

    def __init__(self, rows: BlockedRows, linked: Indices) -> None:
        self.rows, self.linked = rows, linked
        self.table = np.ascontiguousarray(rows.gather(linked))
        self._held = rows.split(linked)

    def cluster(self, left: Indices, right: Indices, is_must: Array, centers: Array, max_iter: int) -> PriorityRun:
        """Assign and average in turn; the links are places among the linked rows, by descending priority."""
        trail: deque[Array] = deque(maxlen=min(max_iter, MEMORY))
        n_iter = 0
        while True:
            trail.append(centers)
            n_iter += 1
            labels = self._place(left, right, is_must, centers)
            if n_iter == max_iter:
                break
            moved = self._means(labels, centers)
            # The centers decide all that follows: at centers met before the run has settled, or goes round.
            if any(np.array_equal(moved, past) for past in trail):
                break
            centers = moved
        return PriorityRun(labels, centers, n_iter)

    def label(self, run: PriorityRun) -> BlockedLabels:
        """Return the labels of all rows, computed when they are needed."""
        nothing = np.empty(0, dtype=np.uint8)
        return BlockedLabels(self.rows, label_by_nearest, (run.centers,), self.linked, nothing, run.labels)

    def inertia(self, run: PriorityRun) -> float:
        """Return the sum of squared distances of all rows to the centers of their clusters."""
        free = float(self.rows.total(inertia_of_free, run.centers, each=self._held))
        return free + float(inertia_of(self.table, run.labels, run.centers))

    def _place(self, left: Indices, right: Indices, is_must: Array, centers: Array) -> Labels:
        """Return the clusters of the linked rows."""
        every, n_linked = np.arange(len(self.table)), len(self.table)
        first, second, labels = (np.empty(n_linked, dtype=np.int32) for _ in range(3))
        distance = np.empty(n_linked, dtype=self.table.dtype)
        nearest_two(self.table, every, centers, first, second, distance)
        place_pairs(left, right, is_must, first, second, distance, labels)
        return labels

    def _means(self, labels: Labels, centers: Array) -> Array:
        """Return the means of the clusters; an empty cluster keeps its center."""
        sums, counts = self.rows.total(sum_free, centers, each=self._held)
        own_sums, own_counts = sum_rows(self.table, np.arange(len(labels)), labels, len(centers))
        sums, counts = sums + own_sums, counts + own_counts
        filled = counts > 0
        moved = centers.copy()
        moved[filled] = sums[filled] / counts[filled, None]
        return moved


def nearest_rows(block: Array, rows: Indices, centers: Array) -> Labels:
    """Return the nearest center of some rows of a block, and anything for the others."""
    labels = np.zeros(len(block), dtype=np.int32)
    nearest(read_only(block), rows, centers.astype(block.dtype), labels)
    return labels


def free_rows(block: Array, held: Indices) -> Indices:
    """Return the rows of a block without those that links place."""
    return np.delete(np.arange(len(block)), held)


def sum_free(block: Array, centers: Array, held: Indices) -> tuple[Floats, Array]:
    """Sum the rows of a block by their nearest centers, and count them; rows that links place are left out."""
    free = free_rows(block, held)
    sums, counts = sum_rows(read_only(block), free, nearest_rows(block, free, centers), len(centers))
    return sums, counts


def inertia_of_free(block: Array, centers: Array, held: Indices) -> float:
    """Return the sum of squared distances of the rows of a block that no link places to their nearest centers."""
    free = np.ascontiguousarray(np.delete(block, held, axis=0))
    labels = nearest_rows(free, np.arange(len(free)), centers)
    return float(inertia_of(free, labels, centers))


def label_by_nearest(block: Array, centers: Array, held: Indices | None = None, labels: Any = None) -> Labels:
    """Return the nearest center of the rows of a block; rows that links place have labels already."""
    found = nearest_rows(block, np.arange(len(block)), centers)
    if held is not None:
        found[held] = labels
    return found
