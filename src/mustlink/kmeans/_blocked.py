"""k-means on rows in blocks: every assignment is one pass, and no array has an entry for each row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mustlink._rows import Assignment
from mustlink._types import Array, Floats, Indices
from mustlink.blocks import BlockedRows, Task
from mustlink.constraints import Constraints
from mustlink.kmeans._blocked_passes import BlockSums, farthest_rows, nearest_labels, sum_nearest
from mustlink.kmeans._engine import Euclidean, MovableRows, State, Step
from mustlink.kmeans._rules import LinkRule

__all__ = ["BlockedEuclidean", "BlockedGeometry", "BlockedLabels"]


@dataclass
class BlockedLabels:
    """The labels that a task computes of rows in blocks, but for rows that links place; computed when they are needed.

    The task is called on a block with the arguments `model`, and with the rows held and their labels.
    """

    rows: BlockedRows
    task: Task
    model: tuple[Any, ...]
    held: Indices
    digest: Array
    held_labels: Array = field(default_factory=lambda: np.empty(0, dtype=np.int32))

    def __len__(self) -> int:
        return self.rows.n_rows

    def compute(self) -> Any:
        """Return the labels of all rows, in the form of the rows."""
        return self.rows.label(self.task, *self.model, each=self.rows.split(self.held, self.held_labels))

    def is_same(self, other: BlockedLabels) -> bool:
        """Return whether all labels are the same."""
        return np.array_equal(self.digest, other.digest) and np.array_equal(self.held_labels, other.held_labels)

    def at(self, index: Indices) -> Array:
        """Return the labels of some rows."""
        if not len(index):
            return np.empty(0, dtype=np.int32)
        labels: Array = self.task(self.rows.gather(index), *self.model)
        order = np.argsort(self.held, kind="stable")
        place = np.searchsorted(self.held, index, sorter=order)
        is_held = place < len(order)
        is_held[is_held] = self.held[order[place[is_held]]] == index[is_held]
        labels[is_held] = self.held_labels[order[place[is_held]]]
        return labels

    def violations(self, links: Constraints) -> Constraints:
        """Return the links that the labels break."""
        listed = links.expand()
        linked, local = listed.compact()
        return listed.take(~local.satisfied(self.at(linked)))


class BlockedGeometry:
    """What geometries of rows in blocks have in common, put before the geometry of rows in memory.

    No array has an entry for each row: labels are computed after the last step, and steps have digests of them.
    """

    rule: LinkRule
    _rows: Any
    _held: list[tuple[Array, ...]]
    _free_counts: Floats

    def label_units(self, step: Step) -> None:
        """Give the rows of the rule the labels of their units."""
        step.labels.held_labels = step.units[self.rule.unit]

    def has_same_labels(self, step: Step, previous: Step) -> bool:
        """Whether two steps label all rows alike."""
        return bool(step.labels.is_same(previous.labels))

    def free_counts(self, step: Step, n_clusters: int) -> Indices:
        """Return the number of free rows of every cluster."""
        return self._free_counts.astype(np.intp)

    def _each_block(self) -> list[tuple[Any, ...]]:
        """Return the rows held in every block, and its number."""
        return [(*held, number) for number, held in enumerate(self._held)]

    def _farthest(self, task: Task, *model: Any, n_clusters: int) -> MovableRows:
        """Return the free rows that are farthest from their centers, by a task that finds those of a block."""
        # As many as may be needed: at most one row of a cluster cannot leave it, and every move takes one row.
        found = self._rows.run(task, *model, each=[(*held, 2 * n_clusters) for held in self._held])
        rows = np.concatenate([start + part[0] for start, part in zip(self._rows.bounds[:-1], found, strict=True)])
        labels, distance = (np.concatenate([part[i] for part in found]) for i in (1, 2))
        self._labels_of_movable = dict(zip(rows.tolist(), labels.tolist(), strict=True))
        return MovableRows(rows, labels, distance)


class BlockedEuclidean(BlockedGeometry, Euclidean):
    """Squared distances of rows in blocks; what a step finds is an `Assignment` without labels."""

    def __init__(self, rows: BlockedRows, rule: LinkRule) -> None:
        self.rule, self._rows = rule, rows
        self._held = rows.split(rule.rows)
        self._average_units(rows, np.broadcast_to(1.0, rows.n_rows))

    def nearest(self, state: State) -> tuple[Any, Assignment]:
        found: BlockSums = self._rows.total(sum_nearest, state.centers, each=self._each_block())
        sums, counts, inertia, digest = found
        self._free_counts = counts.copy()
        # The kernels sum relative to this point, rounded like the rows.
        origin = state.centers.mean(axis=0).astype(self._rows.dtype).astype(np.float64)
        labels = BlockedLabels(self._rows, nearest_labels, (state.centers,), self.rule.rows, digest)
        return labels, Assignment(np.empty(0, dtype=np.int32), inertia, origin, sums, counts)

    def movable_rows(self, step: Step, state: State) -> tuple[MovableRows, Floats]:
        movable = self._farthest(farthest_rows, state.centers, n_clusters=len(state.centers))
        return movable, step.unit_cost.copy()

    def noise(self, state: State) -> float:
        rounding = 32 * np.finfo(self._rows.dtype).eps * np.abs(state.centers).max()
        return float(self._rows.n_features * rounding**2)

    def move_row(self, step: Step, row: int, c: int) -> None:
        step.found.move(self._rows.rows(np.array([row])), np.ones(1), self._labels_of_movable[row], c)
