"""What the sizes of the clusters have to be, and the assignment of rows that keeps to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink._types import Array, Floats, Indices, Mask
from mustlink.sizes._assign._assign import Assignment, assign
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._assign._terms import Terms
from mustlink.sizes._size_constrained._row_costs import RowCosts

__all__ = ["Placement", "Prices", "Sizing"]

# Which gain of an assignment, relative to its cost, is taken for rounding: the labels before it are then kept.
MIN_GAIN = 1e-12
# Sums of weights are compared with bounds up to this share of all weights.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Prices:
    """The prices of the bounds: at least zero at a minimum, at most zero at a maximum.

    `of_sizes` are those of the clusters, `of_pivots` those of the minimum numbers of pivots, and `columns` those
    of the clusters and of the outliers, for a warm start.
    """

    of_sizes: Floats
    of_pivots: Floats
    columns: Floats

    @property
    def are_zero(self) -> bool:
        """Whether no bound binds."""
        return not self.columns.any() and not self.of_pivots.any()


@dataclass(frozen=True)
class Placement:
    """The cluster of every row, -1 for outliers, the cost of every row, and the prices."""

    labels: NDArray[np.int32]
    own: Floats
    prices: Prices


@dataclass(frozen=True)
class Sizing:
    """Bounds of the sizes, and the other conditions of an assignment.

    `lowest` and `highest` bound the sum of `weight` in every cluster, or its number of rows if `weight` is None. With
    `pivots`, every cluster has at least `pivots_lowest` of these rows. With `outlier_cost` (one cost for each row),
    rows may be in no cluster at this cost. With `apart`, a cluster has at most `apart_max` rows of a group.
    """

    lowest: Array
    highest: Array
    weight: Floats | None = None
    pivots: Mask | None = None
    pivots_lowest: Indices | None = None
    outlier_cost: Floats | None = None
    apart: Indices | None = None
    apart_max: int = 1

    @property
    def n_clusters(self) -> int:
        """The number of clusters, without that of the outliers."""
        return len(self.lowest)

    @property
    def is_bounds_only(self) -> bool:
        """Whether the bounds of the sizes are the only condition."""
        return self.pivots is None and self.outlier_cost is None and self.apart is None

    def no_prices(self) -> Prices:
        """Return the prices if no bound binds."""
        zeros = np.zeros(self.n_clusters)
        return Prices(zeros, zeros, zeros)

    @property
    def is_bound(self) -> Mask | None:
        """Which rows other conditions than the sizes hold in their clusters; None if there are none."""
        bound = self.pivots
        if self.apart is not None:
            bound = self.apart >= 0 if bound is None else bound | (self.apart >= 0)
        return bound

    def total(self, n_rows: int) -> float:
        """Return the size of all rows together."""
        return float(n_rows) if self.weight is None else float(self.weight.sum())

    def sizes(self, labels: Array) -> Array:
        """Return the size of every cluster."""
        is_inside = labels >= 0
        weight = None if self.weight is None else self.weight[is_inside]
        return np.bincount(labels[is_inside], weight, self.n_clusters)

    def is_met_by_nearest(self, labels: Array) -> bool:
        """Return whether nearest clusters are the answer: they satisfy the bounds, and there is no other condition."""
        if not self.is_bounds_only:
            return False
        sizes, rounding = self.sizes(labels), 0.0 if self.weight is None else ROUNDING * self.total(len(labels))
        return bool((sizes >= self.lowest - rounding).all() and (sizes <= self.highest + rounding).all())

    def place(self, costs: RowCosts, previous: Prices | None = None, before: Array | None = None) -> Placement:
        """Return the assignment of least cost; labels from before it are kept if they cost no more.

        Where costs tie, the labels stay: no sequence of assignments can then return to one that it has left.
        """
        solution = assign(self._with_outliers(costs), **self._conditions(), start=self._start(previous))
        labels = np.where(solution.labels < self.n_clusters, solution.labels, -1).astype(np.int32)
        own = self._own_costs(costs, labels)
        if before is not None and not np.array_equal(labels, before):
            kept = self._own_costs(costs, before)
            is_worse = self.n_beyond_bounds(before) > self.n_beyond_bounds(labels)
            if not is_worse and own.sum() >= (1 - MIN_GAIN) * kept.sum():
                labels, own = before.copy(), kept
        return Placement(labels, own, self._split(solution.prices, solution.pivot_prices))

    def n_beyond_bounds(self, labels: Array) -> int:
        """Return how many clusters are too large or too small, which whole rows with weights may leave no choice of."""
        if self.weight is None:
            return 0
        sizes, rounding = self.sizes(labels), ROUNDING * self.total(len(labels))
        return int(np.count_nonzero((sizes < self.lowest - rounding) | (sizes > self.highest + rounding)))

    def gains(self, costs_of: Callable[[], RowCosts], labels: Array, prices: Prices) -> Floats:
        """Return what looser minima (first row) and maxima (second row) gain; NaN where not known.

        The costs are asked for only where they are needed.
        """
        if prices.are_zero:
            return np.zeros((2, self.n_clusters))
        if self.weight is not None or self.apart is not None:
            return self.unknown_gains(labels)
        answer = Assignment(
            np.where(labels < 0, self.n_clusters, labels), prices.columns, terms=self._terms(len(labels))
        )
        return answer.gains(self._with_outliers(costs_of()))[:, : self.n_clusters]

    def unknown_gains(self, labels: Array) -> Floats:
        """Return NaN for the bounds that a cluster is at, and zero for the others."""
        sizes, rounding = self.sizes(labels), 0.0 if self.weight is None else ROUNDING * self.total(len(labels))
        is_at_bound = [sizes <= self.lowest + rounding, sizes >= self.highest - rounding]
        return np.where(is_at_bound, np.nan, 0.0)

    def _conditions(self) -> dict[str, Any]:
        """Return the arguments of `assign`; outliers are one more cluster, without bounds."""
        n_more = 0 if self.outlier_cost is None else 1
        conditions: dict[str, Any] = {
            "size_min": np.append(self.lowest, [0] * n_more),
            "size_max": np.append(self.highest.astype(np.float64), [np.inf] * n_more),
            "weights": self.weight,
        }
        if self.pivots is not None and self.pivots_lowest is not None:
            conditions |= {"pivots": self.pivots, "pivot_min": np.append(self.pivots_lowest, [0] * n_more)}
        if self.apart is not None:
            conditions |= {"apart": self.apart, "apart_max": self.apart_max}
        return conditions

    def _terms(self, n_rows: int) -> Terms:
        """Return the conditions of rows that are counted, as `assign` has them."""
        conditions = self._conditions()
        highest = np.minimum(conditions["size_max"], n_rows)
        return Terms(conditions["size_min"], highest, None, conditions.get("pivots"), conditions.get("pivot_min"))

    def _start(self, previous: Prices | None) -> Assignment | None:
        """Return the prices of the last assignment to start from."""
        if previous is None:
            return None
        more = [0.0] * (len(previous.columns) - self.n_clusters)
        return Assignment(np.empty(0, dtype=np.int64), previous.columns, np.append(previous.of_pivots, more))

    def _with_outliers(self, costs: RowCosts) -> CostBlocks:
        """Return the costs with those of outliers as the last column."""
        outliers = self.outlier_cost
        if outliers is None:
            return costs

        def compute(rows: slice | Indices) -> Floats:
            return np.column_stack([costs.rows(rows), outliers[rows]])

        return CostBlocks((costs.shape[0], self.n_clusters + 1), compute)

    def _own_costs(self, costs: RowCosts, labels: Array) -> Floats:
        """Return the cost of every row in its cluster, or as an outlier."""
        own = costs.own(labels)
        return own if self.outlier_cost is None else np.where(labels < 0, self.outlier_cost, own)

    def _split(self, prices: Floats, of_pivots: Floats | None = None) -> Prices:
        """Return the prices of the columns, and among them those of the clusters."""
        if of_pivots is None:
            of_pivots = np.zeros(len(prices))
        return Prices(prices[: self.n_clusters], of_pivots[: self.n_clusters], prices)
