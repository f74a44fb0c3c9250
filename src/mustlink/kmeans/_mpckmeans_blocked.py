"""Learned metrics of rows in blocks: every assignment is one pass, which also sums what the next metrics need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mustlink._rows import RowBlocks
from mustlink._types import Array, Floats, Indices
from mustlink.blocks import BlockedRows
from mustlink.kmeans._blocked import BlockedGeometry, BlockedLabels
from mustlink.kmeans._blocked_passes import digest_labels, farthest_first
from mustlink.kmeans._engine import MovableRows, State, Step
from mustlink.kmeans._mpckmeans_metrics import DiagonalMetrics, LearnedMetrics
from mustlink.kmeans._rules import SoftLinks

__all__ = ["BlockedMetrics", "ClusterMoments"]


@dataclass(frozen=True)
class ClusterMoments:
    """The number of rows, the mean and the scatter of each cluster; the scatter of all together if a metric is shared.

    The scatter is that of columns, (n_metrics, d), or full, (n_metrics, d, d).
    """

    counts: Floats
    means: Floats
    scatter: Floats

    @classmethod
    def of(cls, Z: Floats, labels: Array, metrics: DiagonalMetrics, n_clusters: int) -> ClusterMoments:
        """Return those of labeled rows."""
        rows = RowBlocks(Z, max_threads=1)
        counts, means, scatter = metrics.moments(rows, labels.astype(np.int32, copy=False), n_clusters)
        if len(metrics.matrices) == 1:
            scatter = scatter.sum(axis=0, keepdims=True)
        return cls(counts, means, scatter)

    def without(self, other: ClusterMoments) -> ClusterMoments:
        """Return those of the rows that are left, when single rows are taken out of clusters of several."""
        return self + ClusterMoments(-other.counts, other.means, -other.scatter)

    def __add__(self, other: ClusterMoments) -> ClusterMoments:
        """Return the moments of both sets of rows (Chan, Golub and LeVeque)."""
        counts = self.counts + other.counts
        share = other.counts / np.where(counts == 0, 1.0, counts)
        apart = other.means - self.means
        weighted = apart * (self.counts * share)[:, None]
        is_full, is_shared = self.scatter.ndim == 3, len(self.scatter) == 1
        if is_full:
            between = weighted.T @ apart if is_shared else weighted[:, :, None] * apart[:, None, :]
        else:
            between = (weighted * apart).sum(axis=0) if is_shared else weighted * apart
        return ClusterMoments(counts, self.means + apart * share[:, None], self.scatter + other.scatter + between)


class BlockFound(NamedTuple):
    """What a pass finds of free rows: their moments, what they cost, and a digest of their labels."""

    moments: ClusterMoments
    cost: float
    digest: Array


@dataclass
class Found:
    """What a step finds of free rows; a row that moves is entered here."""

    moments: ClusterMoments
    cost: float


class BlockedMetrics(BlockedGeometry, LearnedMetrics):
    """Learned metrics of rows in blocks."""

    def _set_rule(self, rows: Any, rule: SoftLinks) -> None:
        assert isinstance(rows, BlockedRows)
        self.rule = rule
        self._held = rows.split(rule.rows)

    def nearest(self, state: State) -> tuple[Any, Found]:
        model = state.metric, state.centers
        moments, cost, digest = self._rows.total(sum_cheapest, *model, each=self._each_block())
        self._free_counts = moments.counts
        return BlockedLabels(self._rows, cheapest_labels, model, self.rule.rows, digest), Found(moments, cost)

    def add_units(self, step: Step) -> None:
        """Enter nothing: units may move until the update."""

    def inertia(self, step: Step) -> float:
        return float(step.found.cost) + float(step.unit_cost.sum())

    def counts(self, step: Step, n_clusters: int) -> Indices:
        return self.free_counts(step, n_clusters) + np.bincount(step.units, minlength=n_clusters)

    def movable_rows(self, step: Step, state: State) -> tuple[MovableRows, Floats]:
        n_clusters = len(state.centers)
        log_dets = np.broadcast_to(state.metric.log_dets, n_clusters)
        movable = self._farthest(costliest_rows, state.metric, state.centers, n_clusters=n_clusters)
        return movable, step.unit_cost + log_dets[step.units]

    def move_row(self, step: Step, row: int, c: int) -> None:
        metrics, centers = step.labels.model
        Z, n_clusters = self._rows.rows(np.array([row])), len(centers)
        old = np.array([self._labels_of_movable[row]])
        left = step.found.moments.without(ClusterMoments.of(Z, old, metrics, n_clusters))
        step.found.moments = left + ClusterMoments.of(Z, np.array([c]), metrics, n_clusters)

    def _moments(self, step: Step, state: State) -> tuple[Floats, Floats, Floats]:
        moments = step.found.moments
        if self.rule.n_units:
            moments = moments + ClusterMoments.of(self._linked, step.units, state.metric, len(state.centers))
        return moments.counts, moments.means, moments.scatter


def sum_cheapest(block: Floats, metrics: DiagonalMetrics, centers: Floats, held: Indices, number: int) -> BlockFound:
    """Assign the rows of a block to the cheapest clusters and sum up what new metrics need, but for rows held."""
    labels, own = metrics.nearest(RowBlocks(block, max_threads=1), centers)
    digest = digest_labels(labels, len(centers), held, number)
    if len(held):
        block, labels, own = np.delete(block, held, axis=0), np.delete(labels, held), np.delete(own, held)
    return BlockFound(ClusterMoments.of(block, labels, metrics, len(centers)), float(own.sum()), digest)


def cheapest_labels(
    block: Floats, metrics: DiagonalMetrics, centers: Floats, held: Indices | None = None, labels: Any = None
) -> Array:
    """Return the cheapest cluster of the rows of a block; some rows have labels already."""
    found, _ = metrics.nearest(RowBlocks(block, max_threads=1), centers)
    if held is not None:
        found[held] = labels
    return found


def costliest_rows(
    block: Floats, metrics: DiagonalMetrics, centers: Floats, held: Indices, count: int
) -> tuple[Indices, Indices, Floats]:
    """Return the rows of a block that are farthest from their centers, their clusters, and the squared distances."""
    labels, own = metrics.nearest(RowBlocks(block, max_threads=1), centers)
    return farthest_first(labels, own + np.broadcast_to(metrics.log_dets, len(centers))[labels], held, count)
