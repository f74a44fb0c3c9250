"""k-means on codes of rows in blocks: every assignment is one pass over the codes, which stay where the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.blocks import BlockedRows
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._code_kmeans import (
    CodeCenters,
    CodeMasses,
    assign,
    centers_of,
    merge_equal,
    sum_codes,
)

__all__ = ["CodeBlocks", "CodeRun", "count_bytes", "nearest_codes"]

# Smaller gains of the objective, in relation to it, are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class CodeRun:
    """A run of k-means on codes: the labels of the shown rows, and the masses of all others."""

    labels: Ints
    centers: CodeCenters
    others: CodeMasses


@dataclass(frozen=True, eq=False)
class CodeBlocks:
    """The codes of all rows, in blocks, and those of the shown rows in memory."""

    codes: BlockedRows
    kernel: CoAssociation  # of the shown rows
    index: Indices  # the shown rows
    held: list[tuple[Array, ...]]  # their places in each block

    @property
    def _rounds(self) -> CoAssociation:
        """The co-association of no rows: enough to read the codes."""
        return self.kernel.without_rows()

    def label(self, task: Any, *shared: Any, labels: Ints) -> Any:
        """Return the labels of all rows by a function of codes, but for the shown rows, whose labels are given."""
        given = [(one,) for one in self.codes.split(self.index, labels)]
        return self.codes.label(label_distinct, task, self._rounds, *shared, each=given)

    def sum_others(self, columns: Sequence[int], n_clusters: int) -> list[CodeMasses]:
        """Return the masses of the clusters of some rounds, without the shown rows."""
        found = self.codes.total(sum_columns, self._rounds, tuple(columns), n_clusters, each=self.held)
        return list(found)

    def run_kmeans(self, starts: Sequence[CodeCenters], max_iter: int) -> list[CodeRun]:
        """Run k-means from several centers; the runs share their passes."""
        runs = [KMeansOnCodes(self, centers) for centers in starts]
        for _ in range(max_iter):
            moving = [run for run in runs if not run.is_settled]
            if not moving:
                break
            self._advance(moving)
        return [run.result() for run in runs]

    def _advance(self, runs: list[KMeansOnCodes]) -> None:
        """Make one assignment of several runs, in one pass."""
        centers = tuple(run.centers for run in runs)
        found = self.codes.total(sum_nearest_codes, self._rounds, centers, each=self.held)
        for run, others in zip(runs, found, strict=True):
            run.take_step(others)

    def farthest(self, centers: CodeCenters) -> list[FarRow]:
        """Return the rows that are farthest from their centers, enough to fill all empty clusters."""
        count = 2 * len(centers.lengths)
        found = self.codes.run(farthest_codes, self._rounds, centers, count, each=self.held)
        found.append(farthest_codes(self.kernel.codes, self.kernel, centers, count, np.empty(0, dtype=np.intp)))
        return sorted((row for part in found for row in part), key=lambda row: -row.gap)


@dataclass(frozen=True)
class FarRow:
    """A code that is far from its center."""

    code: Array
    weight: float
    label: int
    gap: float  # its squared distance less its squared length


class KMeansOnCodes:
    """One run of k-means, step by step."""

    def __init__(self, blocks: CodeBlocks, centers: CodeCenters) -> None:
        self._blocks, self.centers = blocks, centers
        self.is_settled = False
        self._labels: Ints | None = None
        self._others: CodeMasses | None = None
        self._masses: CodeMasses | None = None

    def take_step(self, others: CodeMasses) -> None:
        """Take the masses of the other rows at the centers, and move the centers."""
        kernel, n_clusters = self._blocks.kernel, len(self.centers.lengths)
        nowhere = np.full(kernel.n_samples, -1, dtype=np.int64)
        labels = assign(kernel, self.centers, nowhere)[0]
        masses = sum_codes(kernel, labels, n_clusters) + others
        is_filled = (masses.sizes > 0).all()
        if not is_filled:
            masses = self._fill_empty(masses)
        centers = centers_of(masses, kernel)
        before, self._masses = self._masses, masses
        self._labels, self._others = labels, others
        # Labels are not compared, as they are nowhere: the masses change whenever the centers do.
        self.is_settled = before is not None and np.array_equal(masses.columns, before.columns)
        if before is not None and not self.is_settled and is_filled:
            # Noise has a distance of its own, which could keep rows moving back and forth.
            was = centers_of(before, kernel).objective
            self.is_settled = centers.objective >= was - ROUNDING * abs(was) and bool((kernel.codes < 0).any())
        self.centers = centers

    def _fill_empty(self, masses: CodeMasses) -> CodeMasses:
        """Give every empty cluster the code farthest from its center, as long as that empties no other."""
        kernel, n_clusters = self._blocks.kernel, len(masses.sizes)
        least = -kernel.weights.sum() * (1 - 1e-12)
        far = iter(self._blocks.farthest(self.centers))
        for cluster in np.flatnonzero(masses.sizes == 0):
            for row in far:
                if row.gap <= least:
                    return masses
                if masses.sizes[row.label] > row.weight:
                    one = kernel.with_codes(row.code[None, :], np.array([row.weight]))
                    old, new = (sum_codes(one, np.array([label]), n_clusters) for label in (row.label, cluster))
                    masses = masses - old + new
                    break
        return masses

    def result(self) -> CodeRun:
        """Return the labels of the shown rows by the last centers that labeled all rows."""
        if self._labels is None or self._others is None:
            raise RuntimeError("A run of k-means on codes needs at least one step.")
        return CodeRun(self._labels, self.centers, self._others)


def without_held(block: Array, rounds: CoAssociation, held: Indices) -> CoAssociation:
    """Return the codes of a block without some rows, each distinct code once where that saves much."""
    codes = np.delete(block, held, axis=0) if len(held) else np.ascontiguousarray(block)
    return merge_equal(rounds.with_codes(codes))[0]


def nearest_codes(rows: CoAssociation, centers: CodeCenters) -> tuple[Ints, Floats]:
    """Return the nearest center of every code, and its squared distance less the code's squared length."""
    return assign(rows, centers, np.full(rows.n_samples, -1, dtype=np.int64))


def sum_nearest_codes(
    block: Array, rounds: CoAssociation, starts: tuple[CodeCenters, ...], held: Indices
) -> tuple[CodeMasses, ...]:
    """Assign the codes of a block to the nearest centers of several runs, and add them up by cluster."""
    rows = without_held(block, rounds, held)
    return tuple(sum_codes(rows, nearest_codes(rows, centers)[0], len(centers.lengths)) for centers in starts)


def sum_columns(
    block: Array, rounds: CoAssociation, columns: tuple[int, ...], n_clusters: int, held: Indices
) -> tuple[CodeMasses, ...]:
    """Add up the codes of a block by their labels in some rounds."""
    rows = without_held(block, rounds, held)
    return tuple(sum_codes(rows, rows.codes[:, t].astype(np.int64), n_clusters) for t in columns)


def farthest_codes(
    block: Array, rounds: CoAssociation, centers: CodeCenters, count: int, held: Indices
) -> list[FarRow]:
    """Return the distinct codes of a block that are farthest from their nearest centers, at most `count`."""
    rows = without_held(block, rounds, held)
    labels, gap = nearest_codes(rows, centers)
    chosen = np.argsort(-gap, kind="stable")[:count]
    return [FarRow(rows.codes[i].copy(), float(rows.row_weight[i]), int(labels[i]), float(gap[i])) for i in chosen]


def label_distinct(block: Array, task: Any, rounds: CoAssociation, *arguments: Any) -> Array:
    """Label the codes of a block by a function of distinct codes; rows that are held have labels already."""
    *shared, (held, held_labels) = arguments
    few, number = merge_equal(rounds.with_codes(np.ascontiguousarray(block)))
    labels = np.asarray(task(few, *shared))
    labels = labels if number is None else labels[number]
    labels[held] = held_labels
    return labels


def count_bytes(codes: BlockedRows) -> str:
    """Say how many bytes codes take."""
    size = codes.dtype.itemsize
    whole = codes.n_rows * codes.n_features * size
    return (
        f"The codes take {size} byte{'s' if size > 1 else ''} per row and round, {codes.n_features * size} per row in "
        f"{codes.n_features} rounds, {whole / 1e9:,.3f} GB in all."
    )
