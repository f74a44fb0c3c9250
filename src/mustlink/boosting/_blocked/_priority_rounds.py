"""Rounds of boosted constrained k-means on rows in blocks, and the clusters of their kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.blocks import BlockedRows
from mustlink.boosting._blocked._checkpoint import Checkpoint, describe_table
from mustlink.boosting._blocked._code_passes import CodeBlocks, count_bytes, nearest_codes
from mustlink.boosting._blocked._shown import check_shown, spaced_sample
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._code_kmeans import CodeCenters, centers_of, compute_centers, sum_codes
from mustlink.kmeans import PriorityLinks
from mustlink.kmeans.core import PriorityPasses, label_by_nearest

__all__ = ["BlockedKernel", "BlockedRounds"]

MAX_ITER = 300
# Objectives that differ by less than this fraction differ by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class BlockedRounds:
    """Runs on rows in blocks; their labels are those of the linked rows."""

    rows: BlockedRows
    pairs: PriorityLinks
    passes: PriorityPasses
    checkpoint: Checkpoint

    @classmethod
    def of(cls, rows: BlockedRows, pairs: PriorityLinks, who: str) -> BlockedRounds:
        """Gather the linked rows, unless they are too many."""
        check_shown(rows, len(pairs.linked), who)
        links = pairs.linked, pairs.left, pairs.right, pairs.is_must
        passes = PriorityPasses(rows, pairs.linked)
        checkpoint = Checkpoint(rows.checkpoint, *describe_table(rows, passes.table), *links)
        return cls(rows, pairs, passes, checkpoint)

    def cluster(self, priority: Floats, start: Array, max_iter: int) -> tuple[Array, Array, int]:
        """Make a run; return the labels of the linked rows, the centers, and the number of assignments."""

        def compute() -> dict[str, Array]:
            run = self.pairs.cluster_blocks(self.passes, priority, start, max_iter)
            return {"labels": run.labels, "centers": run.centers, "n_iter": np.array(run.n_iter)}

        # Of the priorities, their order is all that a run depends on.
        parts = ("priority", start, np.argsort(-priority, kind="stable"), max_iter)
        found = self.checkpoint.load_or_compute(parts, compute)
        return found["labels"], found["centers"], int(found["n_iter"])


@dataclass(frozen=True, eq=False)
class BlockedKernel:
    """The kernel of some rounds: that of the linked rows and a sample in memory, and all rows in passes."""

    rows: BlockedRows
    linked: Indices
    columns: list[Array]  # the labels of the linked rows in every round
    centers: Array  # (n_rounds, n_clusters, n_features)
    weights: Floats
    verbose: int

    @property
    def n_clusters(self) -> int:
        """The number of clusters of every round."""
        return int(self.centers.shape[1])

    @cached_property
    def index(self) -> Indices:
        """The rows in memory."""
        return spaced_sample(self.rows.n_rows, self.linked)

    @cached_property
    def linked_places(self) -> Indices:
        """The places of the linked rows among those in memory."""
        return np.searchsorted(self.index, self.linked)

    @cached_property
    def shown(self) -> CoAssociation:
        """The co-association of the rows in memory."""
        table = np.ascontiguousarray(self.rows.gather(self.index))
        # One more row of every cluster, so that each has a number, whether or not a row in memory is in it.
        every = np.arange(self.n_clusters)
        columns = []
        for of_linked, centers in zip(self.columns, self.centers, strict=True):
            labels = PriorityLinks.nearest(table, centers)
            labels[self.linked_places] = of_linked
            columns.append(np.concatenate([labels, every]))
        kernel = CoAssociation.from_labels(columns, self.weights)
        return kernel.with_codes(kernel.codes[: -self.n_clusters].copy())

    def take_round(self, t: int) -> tuple[Any, Ints, CodeCenters]:
        """Return the labels of a round: of all rows, of those in memory, and the centers of these in the kernel."""
        each = self.rows.split(self.linked, self.columns[t])
        labels = self.rows.label(label_by_nearest, self.centers[t], each=each)
        of_shown = self.shown.codes[:, t].astype(np.int64)
        return labels, of_shown, compute_centers(self.shown, of_shown, self.n_clusters)

    def kmeans(self, starts: list[int]) -> tuple[Any, Ints, CodeCenters]:
        """Run kernel k-means from the labels of some rounds and keep the best; returns what :meth:`take_round` does."""
        kernel = self.shown
        codes = self.rows.derive(encode_rounds, self.centers, n_features=len(self.weights), dtype=kernel.codes.dtype)
        if self.verbose:
            print(count_bytes(codes))
        blocks = CodeBlocks(codes, kernel, self.index, codes.split(self.index))
        own = [sum_codes(kernel, kernel.codes[:, t].astype(np.int64), self.n_clusters) for t in starts]
        others = blocks.sum_others(starts, self.n_clusters)
        centers = [centers_of(one + other, kernel) for one, other in zip(own, others, strict=True)]
        runs = blocks.run_kmeans(centers, MAX_ITER)
        best = runs[0]
        for run in runs[1:]:
            least = best.centers.objective
            best = run if run.centers.objective < least - ROUNDING * abs(least) else best
        labels = blocks.label(label_nearest, best.centers, labels=best.labels)
        return labels, best.labels, best.centers


def encode_rounds(block: Array, centers: Array) -> Array:
    """Return the nearest center of every row of a block in every round."""
    codes = np.empty((len(block), len(centers)), dtype=np.min_scalar_type(-centers.shape[1]))
    for t, of_round in enumerate(centers):
        codes[:, t] = PriorityLinks.nearest(block, of_round)
    return codes


def label_nearest(rows: CoAssociation, centers: CodeCenters) -> Ints:
    """Return the nearest center of every code."""
    return nearest_codes(rows, centers)[0]
