"""The rows of a table that a fit has not in memory: what runs and the consensus do with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mustlink._types import Array
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._blocked._checkpoint import Checkpoint, describe_table, rounded
from mustlink.boosting._blocked._code_passes import CodeBlocks, count_bytes
from mustlink.boosting._blocked._refinement import NearestCenter, Represent, is_kmeans, refine_centers, with_model
from mustlink.boosting._blocked._shown import ShownRows
from mustlink.boosting._boostcluster._consensus import Consensus
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._representations import Directions
from mustlink.boosting._coassociation import CoAssociation, label_names, renumber
from mustlink.boosting._code_kmeans import centers_of, sum_codes

__all__ = ["Elsewhere"]

MAX_ITER = 300


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """The rows of a table in blocks beyond those in memory."""

    shown: ShownRows
    coordinates: Coordinates  # of the shown rows
    verbose: int | bool

    @property
    def n_rows(self) -> int:
        """The number of rows of the whole table."""
        return self.shown.rows.n_rows

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        rows = self.shown.rows
        return Checkpoint(rows.checkpoint, *describe_table(rows, self.shown.table), self.shown.index)

    def finish(self, run: BaseRun, seed: int) -> BaseRun:
        """Return a run of the shown rows that labels all rows: k-means is continued over all of them."""
        table, base = self._table(run), run.model
        if base is None or not is_kmeans(base):
            return with_model(run, table)

        def compute() -> dict[str, Array]:
            rows = self.shown.rows.transform(self._represent(run), table.shape[1], table.dtype)
            return {"centers": refine_centers(rows, base, table)}

        # The centers that it starts from are left out: threads of scikit-learn add up in any order, and they differ by
        # rounding. They depend on nothing else.
        parts = ("kmeans", seed, *describe_parameters(base), *describe(run.directions))
        centers = self._checkpoint.load_or_compute(parts, compute)["centers"]
        model = NearestCenter(centers)
        labels = model.predict(table).astype(np.min_scalar_type(-len(centers)))
        return replace(run, labels=labels, model=model, n_labels=len(centers))

    def complete(self, runs: Sequence[BaseRun]) -> list[BaseRun]:
        """Return runs of the shown rows that can label all rows."""
        return [with_model(run, self._table(run)) for run in runs]

    def _encode(self, kernel: CoAssociation, voters: Sequence[BaseRun]) -> CodeBlocks:
        """Compute the codes of all rows in one pass; they stay where the rows are."""
        bare = [run.without_rows() for run in voters]
        coder = Coder(bare, self.coordinates.without_rows(), kernel.without_rows())
        rows = self.shown.rows
        codes = rows.derive(encode_block, coder, n_features=len(voters), dtype=kernel.codes.dtype)
        if self.verbose:
            print(count_bytes(codes))
        return CodeBlocks(codes, kernel, self.shown.index, self.shown.held)

    def extend(self, consensus: Consensus, voters: Sequence[BaseRun], n_clusters: int) -> Consensus:
        """Return a consensus of all rows, given that of the shown rows: k-means on their codes is continued.

        It has `n_clusters` clusters, if there are as many distinct codes.
        """
        blocks = self._encode(consensus.kernel, voters)
        if consensus.run is not None:
            # The base predicts from the eigenvectors of the shown rows.
            return replace(consensus, blocks=blocks)
        # The shown rows may have fewer distinct codes than clusters are wanted; all rows may have more.
        start = consensus.code_centers().padded(n_clusters)
        (run,) = blocks.run_kmeans([start], MAX_ITER)
        return in_use(replace(consensus, labels=run.labels, centers=run.centers, others=run.others, blocks=blocks))

    def of_run(self, run: BaseRun) -> Consensus:
        """Take the labels of one run as they are."""
        consensus = Consensus.of_run(run)
        blocks = self._encode(consensus.kernel, [run])
        n_clusters = len(consensus.kernel.names[0])
        if not n_clusters:
            return replace(consensus, blocks=blocks)
        (others,) = blocks.sum_others([0], n_clusters)
        centers = centers_of(sum_codes(consensus.kernel, consensus.labels, n_clusters) + others, consensus.kernel)
        return in_use(replace(consensus, centers=centers, others=others, blocks=blocks))

    def _table(self, run: BaseRun) -> Array:
        """Return the shown rows as the base of a run was given them."""
        return np.asarray(self.coordinates.table_of(run.directions, takes_sparse=False))

    def _represent(self, run: BaseRun) -> Represent:
        return Represent(self.coordinates.without_rows(), run.directions)


def in_use(consensus: Consensus) -> Consensus:
    """Return a consensus of all rows without empty clusters; those that no shown row is in get the last numbers."""
    centers, others = consensus.centers, consensus.others
    if centers is None or others is None:
        raise RuntimeError("A consensus of all rows needs centers, and the masses of the rows that are not shown.")
    shown = label_names(consensus.labels)
    used = np.concatenate([shown, np.setdiff1d(np.flatnonzero(others.sizes > 0), shown)])
    labels = renumber(consensus.labels, shown).astype(np.int64)
    return replace(consensus, labels=labels, centers=centers.take(used), others=others.take(used))


@dataclass(frozen=True)
class Coder:
    """What turns rows into codes: the runs that count, without the rows of the fit."""

    voters: list[BaseRun]
    coordinates: Coordinates
    kernel: CoAssociation


def encode_block(block: Array, coder: Coder) -> Array:
    """Return the codes of a block of rows."""
    new, kernel = coder.coordinates.of_rows(block), coder.kernel
    codes = np.empty((len(block), kernel.n_rounds), dtype=kernel.codes.dtype)
    for t, run in enumerate(coder.voters):
        labels = run.model.predict(new.table_of(run.directions, takes_sparse=False))  # type: ignore[union-attr]
        codes[:, t] = renumber(np.asarray(labels), kernel.names[t])
    return codes


def describe_parameters(base: Any) -> list[Any]:
    """Return the parameters of a k-means; centers to start from are an array, as repr abbreviates large ones."""
    parameters = base.get_params()
    start = parameters.pop("init")
    # The repr of a function has its address, so that another session does not take it for the same one.
    is_array = not (isinstance(start, str) or callable(start))
    return [repr(sorted(parameters.items())), np.asarray(start, dtype=np.float64) if is_array else start]


def describe(directions: Directions | None) -> tuple[Any, ...]:
    """Return what tells a representation apart from others."""
    if directions is None:
        return ("plain",)
    scale = float(np.abs(directions.matrix).max(initial=0.0))
    return f"{scale:.7e}", rounded(directions.matrix), directions.columns
