"""Costs of rows in clusters, computed some rows at a time, and those of the rows in clusters that are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import RowBlocks, squared_norms
from mustlink._types import Array, Floats, Indices
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._size_constrained._manhattan import manhattan_distances

__all__ = ["RowCosts", "absolute_costs", "square_costs"]

# Costs of so many entries are held (2 MB): they stay in the cache of the processor from pass to pass.
MAX_HELD = 1 << 18
# How many bytes of rows are read at a time.
PART_BYTES = 64 << 20
# The weight of a row of weight zero in its costs.
MIN_WEIGHT = 1e-150


class RowCosts(CostBlocks):
    """Costs of weighted rows in clusters by a function of rows and centers; `own` returns those in given clusters.

    Where they are too many to be held, `own` only computes the costs of rows in other clusters than the cheapest ones,
    if these were asked for.

    `apart` returns the cost of every row at every center, `apart_from` that of differences between rows and centers.
    """

    def __init__(
        self,
        rows: RowBlocks,
        weight: Floats,
        centers: Floats,
        apart: Callable[[Any, Floats], Floats],
        apart_from: Callable[[Floats], Floats],
    ) -> None:
        self._table, self._weight, self._centers = rows, weight, centers
        # A row of weight zero still goes where it is near.
        self._cost_weight = np.maximum(weight, MIN_WEIGHT)
        self._apart, self._apart_from = apart, apart_from
        self._known: tuple[NDArray[np.int32], Floats] | None = None
        compute: Callable[[Any], Floats] = self._compute
        self.is_held = rows.n_rows * len(centers) <= MAX_HELD
        if self.is_held:
            compute = self._compute(slice(None)).__getitem__
        super().__init__((rows.n_rows, len(centers)), compute)

    def _compute(self, rows: slice | Indices) -> Floats:
        """Return the costs of some rows in all clusters, computed from a few of them at a time."""
        start, stop, _ = rows.indices(self._table.n_rows) if isinstance(rows, slice) else (0, len(rows), 1)
        size = self._n_rows_at_once
        parts: list[Any] = [slice(first, min(first + size, stop)) for first in range(start, stop, size)]
        if not isinstance(rows, slice):
            parts = [rows[part] for part in parts]
        costs = [self._compute_part(part) for part in parts] or [np.empty((0, len(self._centers)))]
        return costs[0] if len(costs) == 1 else np.concatenate(costs)

    @property
    def _n_rows_at_once(self) -> int:
        """How many rows are read at a time; sparse ones are in memory."""
        if self._table.is_sparse:
            return max(1, self._table.n_rows)
        return max(1, PART_BYTES // (self._table.n_features * self._table.dtype.itemsize))

    def _compute_part(self, rows: slice | Indices) -> Floats:
        """Return the costs of a few rows in all clusters."""
        X = self._table.X[rows] if isinstance(rows, slice) else self._table.pick(rows)
        costs = self._apart(X, self._centers)
        costs *= self._cost_weight[rows, None]
        if isinstance(rows, slice):
            self._table.release(rows)
        return costs

    def whole(self) -> Floats:
        """Return all costs as one array that cannot be written, the one that is held if there is one."""
        return np.asarray(self.rows(slice(None)))

    def own(self, labels: Array) -> Floats:
        """Return the cost of every row in its cluster."""
        if self.is_held:
            # The numbers that were compared, so that sums of them rank assignments as the solver does.
            return np.asarray(self.rows(slice(None))[np.arange(len(labels)), labels])
        if self._known is None:
            return self._weight * self._own(self._table, labels)
        known_labels, known = self._known
        own = known.copy()
        other = np.flatnonzero(labels != known_labels)
        # Some at a time: they may be most of the rows.
        size = self._n_rows_at_once
        for start in range(0, len(other), size):
            part = other[start : start + size]
            own[part] = self._own(RowBlocks(self._table.pick(part)), labels[part])
        own *= self._weight
        return own

    def _own(self, table: RowBlocks, labels: Array) -> Floats:
        """Return the costs of some rows of weight one in their clusters."""

        def of_piece(rows: slice, piece: RowBlocks) -> Floats:
            if piece.is_sparse:
                # One dense center for each row would take far more memory than the rows.
                return self._apart(piece.X, self._centers)[np.arange(piece.n_rows), labels[rows]]
            return self._apart_from(piece.X - self._centers[labels[rows]])

        return np.concatenate(table.map_pieces(of_piece))


class SquareCosts(RowCosts):
    """Weighted squared distances."""

    def __init__(self, rows: RowBlocks, weight: Floats, centers: Floats) -> None:
        super().__init__(rows, weight, centers, lambda X, to: RowBlocks(X).squared_distances(to), squared_norms)

    def cheapest(self, prices: Floats) -> tuple[Array, Floats] | None:
        if self._table.is_sparse or self.is_held:
            return None
        labels, gaps, own = self._table.assign_priced(self._centers, self._cost_weight, prices)
        self._known = labels, own
        return labels, gaps


def square_costs(rows: RowBlocks, weight: Floats, centers: Floats) -> RowCosts:
    """Return weighted squared distances."""
    return SquareCosts(rows, weight, centers)


def absolute_costs(rows: RowBlocks, weight: Floats, centers: Floats) -> RowCosts:
    """Return weighted sums of absolute differences."""
    return RowCosts(rows, weight, centers, manhattan_distances, lambda apart: np.abs(apart).sum(axis=1))
