"""k-means on rows in blocks: every assignment is one pass, and no array has an entry for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._rows import Assignment
from mustlink._types import Array, Floats, Indices
from mustlink.blocks import BlockedRows
from mustlink.constraints import Constraints
from mustlink.kmeans._blocked_passes import farthest_rows, nearest_labels, sum_nearest
from mustlink.kmeans._engine import Euclidean, MovableRows, State, Step
from mustlink.kmeans._rules import LinkRule

__all__ = ["BlockedEuclidean", "BlockedLabels"]


@dataclass
class BlockedLabels:
    """The labels that centers give to rows in blocks, but for rows that links place; computed when they are needed."""

    rows: BlockedRows
    centers: Floats
    held: Indices
    held_labels: Array
    fingerprint: int

    def compute(self) -> Any:
        """Return the labels of all rows, in the form of the rows."""
        return self.rows.label(nearest_labels, self.centers, each=self.rows.split(self.held, self.held_labels))

    def at(self, index: Indices) -> Array:
        """Return the labels of some rows."""
        labels = np.empty(0, dtype=np.int32)
        if len(index):
            labels = nearest_labels(self.rows.gather(index), self.centers)
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


class BlockedEuclidean(Euclidean):
    """Squared distances of rows in blocks; what a step finds is an `Assignment` without labels."""

    def __init__(self, rows: BlockedRows, rule: LinkRule) -> None:
        self.rule, self._rows = rule, rows
        self._held = rows.split(rule.rows)
        self._average_units(rows, np.broadcast_to(1.0, rows.n_rows))

    def nearest(self, state: State) -> tuple[Any, Assignment]:
        starts = self._rows.bounds[:-1].tolist()
        each = [(start, *held) for start, held in zip(starts, self._held, strict=True)]
        sums, counts, inertia, fingerprint = self._rows.total(sum_nearest, state.centers, each=each)
        self._free_counts = counts.copy()
        # The kernels sum relative to this point, rounded like the rows.
        origin = state.centers.mean(axis=0).astype(self._rows.dtype).astype(np.float64)
        nothing = np.empty(0, dtype=np.int32)
        labels = BlockedLabels(self._rows, state.centers, self.rule.rows, nothing, int(fingerprint[0]))
        return labels, Assignment(nothing, inertia, origin, sums, counts)

    def label_units(self, step: Step) -> None:
        step.labels.held_labels = step.units[self.rule.unit]

    def has_same_labels(self, step: Step, previous: Step) -> bool:
        is_same = step.labels.fingerprint == previous.labels.fingerprint
        return is_same and np.array_equal(step.units, previous.units)

    def movable_rows(self, step: Step, state: State) -> tuple[MovableRows, Floats]:
        # As many as may be needed: at most one row of a cluster cannot leave it, and every move takes one row.
        count = 2 * len(state.centers)
        found = self._rows.run(farthest_rows, state.centers, each=[(*held, count) for held in self._held])
        rows = [start + part[0] for start, part in zip(self._rows.bounds[:-1], found, strict=True)]
        labels, distance = (np.concatenate([part[i] for part in found]) for i in (1, 2))
        self._labels_of_movable = dict(zip(np.concatenate(rows).tolist(), labels.tolist(), strict=True))
        return MovableRows(np.concatenate(rows), labels, distance), step.unit_cost.copy()

    def free_counts(self, step: Step, n_clusters: int) -> Indices:
        return self._free_counts.astype(np.intp)

    def noise(self, state: State) -> float:
        rounding = 32 * np.finfo(self._rows.dtype).eps * np.abs(state.centers).max()
        return float(self._rows.n_features * rounding**2)

    def move_row(self, step: Step, row: int, c: int) -> None:
        step.found.move(self._rows.rows(np.array([row])), np.ones(1), self._labels_of_movable[row], c)
