"""Passes of frequency-sensitive k-means: all rows at once on the k-means engine, or one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import PIECE_ROWS, RowBlocks, squared_norms
from mustlink._types import Floats, Indices, Ints
from mustlink.kmeans.core import Geometry, LinkRule, Run, State, Step
from mustlink.sizes._frequency_sensitive._frequency_sensitive_kernels import dense_presentation, sparse_presentation
from mustlink.sizes._representatives import representatives

__all__ = ["FrequencyGeometry", "FrequencyRule", "MeanSizes", "Presentation", "present_until_settled"]


@dataclass(frozen=True)
class FrequencyRule:
    """What a row costs in a cluster, by its squared distance and the cluster's count.

    `log_weight` multiplies the logarithm of the count, `decay` the counts before each row. Rows and centers are unit
    vectors if `is_cosine`.
    """

    is_cosine: bool
    log_weight: float = 0.0
    decay: float = 1.0

    def costs(self, squares: Floats, counts: Floats | None) -> Floats:
        """Return the cost of every row in every cluster; without counts, all clusters are alike."""
        if counts is None:
            return squares
        counts = np.maximum(counts, 1.0)
        penalty = self.log_weight * np.log(counts)
        return (0.5 * squares - 2.0) / counts + penalty if self.is_cosine else squares * counts + penalty

    def loss(self, squares: Any) -> Any:
        """Return what is reported of squared distances: themselves, or 1 - cosine."""
        return 0.5 * squares if self.is_cosine else squares


class MeanSizes(NamedTuple):
    """The mean of the sizes of all passes so far, and of the counts at the start."""

    counts: Floats
    n_averaged: int = 1

    def add(self, sizes: Ints) -> MeanSizes:
        """Return the mean with those of one more pass."""
        return MeanSizes(self.counts + (sizes - self.counts) / (self.n_averaged + 1), self.n_averaged + 1)


class FrequencyGeometry(Geometry):
    """All rows by the rule, with the counts of the passes before; `MeanSizes` are the metric of a state.

    Counts of the last pass alone would let clusters exchange their sizes for ever: nearly all rows go to the cluster
    that was the smallest.
    """

    def __init__(self, rows: RowBlocks, rule: FrequencyRule, *, fills_empty_clusters: bool) -> None:
        super().__init__(rows.n_rows, LinkRule())
        self._rows, self._rule = rows, rule
        self.fills_empty_clusters = fills_empty_clusters

    def nearest(self, state: State) -> tuple[NDArray[np.int32], Floats]:
        labels, own = np.empty(self._rows.n_rows, dtype=np.int32), np.empty(self._rows.n_rows)
        counts = None if state.metric is None else state.metric.counts

        def work(rows: slice, piece: RowBlocks) -> None:
            squares = piece.squared_distances(state.centers)
            labels[rows] = self._rule.costs(squares, counts).argmin(axis=1)
            own[rows] = self._rule.loss(squares[np.arange(piece.n_rows), labels[rows]])

        self._rows.map_pieces(work)
        return labels, own

    def unit_costs(self, state: State) -> Floats:
        return np.empty((0, len(state.centers)))

    def update(self, step: Step, state: State) -> State:
        centers = representatives(
            self._rows, step.labels, np.ones(self._rows.n_rows), state.centers, is_cosine=self._rule.is_cosine
        )
        if state.metric is None:
            return State(centers)
        return State(centers, state.metric.add(np.bincount(step.labels, minlength=len(centers))))


@dataclass
class Presentation:
    """Centers and counts that change while rows are presented; `n_seeded` centers have a place."""

    rule: FrequencyRule
    centers: Floats
    counts: Floats
    n_seeded: Indices
    moves_centers: bool = True

    @classmethod
    def of(cls, rule: FrequencyRule, centers: Floats, counts: Any, *, moves_centers: bool = True) -> Presentation:
        """Start with all centers in place, and counts, one for each or the same for all."""
        k = len(centers)
        return cls(
            rule, centers.copy(), np.array(np.broadcast_to(counts, k), dtype=float), np.array([k]), moves_centers
        )

    def present(self, X: Any, order: Ints) -> tuple[Ints, float]:
        """Present rows in an order; return the labels, -1 for those left out, and the sum of the losses."""
        rows = RowBlocks(X)
        labels = np.full(rows.n_rows, -1)
        run = self._sparse_run(rows) if rows.is_sparse else self._dense_run(rows)
        # In pieces, so that Ctrl-C is noticed.
        total = sum(run(order[start : start + PIECE_ROWS], labels) for start in range(0, len(order), PIECE_ROWS))
        if rows.is_sparse:
            self.centers = np.ascontiguousarray((self._by_feature * self._scale).T)
        return labels, float(self.rule.loss(total))

    def _dense_run(self, rows: RowBlocks) -> Callable[[Ints, Ints], float]:
        rule = self.rule
        options = (rule.is_cosine, rule.log_weight, rule.decay, self.moves_centers)
        return lambda order, labels: dense_presentation(
            rows.X, order, self.centers, self.counts, self.n_seeded, labels, *options
        )

    def _sparse_run(self, rows: RowBlocks) -> Callable[[Ints, Ints], float]:
        rule, X = self.rule, rows.X
        self._by_feature, self._scale = np.ascontiguousarray(self.centers.T), np.ones(len(self.centers))
        norms = squared_norms(self.centers)
        state = (self._by_feature, self._scale, norms, self.counts, self.n_seeded)
        options = (rule.is_cosine, rule.log_weight, rule.decay, self.moves_centers)
        return lambda order, labels: sparse_presentation(X.indptr, X.indices, X.data, order, *state, labels, *options)


def present_until_settled(
    X: Any,
    presentation: Presentation,
    report: Callable[[int, float], None],
    rng: np.random.RandomState,
    *,
    max_iter: int,
    tol: float,
) -> Run:
    """Present all rows in random orders until no label changes, or the mean loss hardly does (relative to `tol`)."""
    rows, rule = RowBlocks(X), presentation.rule
    labels, objective = np.full(rows.n_rows, -1), list[float]()
    for n_iter in range(1, max_iter + 1):
        before = labels
        labels, total = presentation.present(X, rng.permutation(rows.n_rows))
        objective.append(total / rows.n_rows)
        report(n_iter, objective[-1])
        if not presentation.moves_centers:
            presentation.centers = representatives(
                rows, labels, np.ones(rows.n_rows), presentation.centers, is_cosine=rule.is_cosine
            )
        if np.array_equal(labels, before):
            break
        if n_iter > 1 and abs(objective[-2] - objective[-1]) <= tol * objective[-2]:
            break
    state = State(presentation.centers, presentation.counts)
    return Run(labels.astype(np.int32), n_iter, objective, state, total)
