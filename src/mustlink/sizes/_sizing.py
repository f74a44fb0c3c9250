"""What the sizes of the clusters have to be, and the assignment of rows that keeps to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mustlink._types import Array, Floats, Indices, Mask
from mustlink.sizes._assign import assign
from mustlink.sizes._cost_blocks import CostBlocks
from mustlink.sizes._row_costs import RowCosts

__all__ = ["Placement", "Prices", "Sizing"]

# Which gain of an assignment, relative to its cost, is taken for rounding: the labels before it are then kept.
MIN_GAIN = 1e-12


@dataclass(frozen=True)
class Prices:
    """The prices of the bounds: what the total cost would fall by if a minimum were one lower.

    `of_sizes` are those of the clusters, `of_labeled` those of the minimum numbers of labeled rows, and `columns` those
    of all columns of the assignment problem, for a warm start.
    """

    of_sizes: Floats
    of_labeled: Floats
    columns: Floats

    @property
    def are_zero(self) -> bool:
        """Whether no bound binds."""
        return not self.columns.any()


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
    `labeled`, every cluster has at least `labeled_lowest` of these rows. With `outlier_cost` (one cost for each row),
    rows may be in no cluster at this cost. With `apart`, a cluster has at most `apart_max` rows of a group.
    """

    lowest: Array
    highest: Array
    weight: Floats | None = None
    labeled: Mask | None = None
    labeled_lowest: Indices | None = None
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
        return self.labeled is None and self.outlier_cost is None and self.apart is None

    def no_prices(self) -> Prices:
        """Return the prices if no bound binds."""
        zeros = np.zeros(self.n_clusters)
        return Prices(zeros, zeros, np.zeros(sum(1 for _ in self._columns())))

    @property
    def is_bound(self) -> Mask | None:
        """Which rows other conditions than the sizes hold in their clusters; None if there are none."""
        bound = self.labeled
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
        sizes = self.sizes(labels)
        return bool((sizes >= self.lowest).all() and (sizes <= self.highest).all())

    def place(self, costs: RowCosts, previous: Prices | None = None, before: Array | None = None) -> Placement:
        """Return the assignment of least cost; labels from before it are kept if they cost no more.

        Where costs tie, the labels stay: no sequence of assignments can then return to one that it has left.
        """
        columns = list(self._columns())
        solution = assign(
            self._add_columns(costs),
            size_min=[lowest for _, lowest, _ in columns],
            size_max=[highest for _, _, highest in columns],
            start=None if previous is None else previous.columns,
        )
        cluster = np.array([cluster for cluster, _, _ in columns], dtype=np.int32)
        labels = cluster[solution.labels]
        own = self._own_costs(costs, labels)
        if before is not None and not np.array_equal(labels, before):
            kept = self._own_costs(costs, before)
            if own.sum() >= (1 - MIN_GAIN) * kept.sum():
                labels, own = before.copy(), kept
        return Placement(labels, own, self._split(solution.prices))

    def _columns(self) -> Iterator[tuple[int, float, float]]:
        """Yield the cluster and the bounds of every column of the assignment problem, the clusters first.

        A cluster with a minimum number of labeled rows has a second column with exactly this many rows, all labeled;
        the bounds of its first column are lower by as many. The last column is for outliers.
        """
        labeled = np.zeros(self.n_clusters, dtype=np.intp) if self.labeled_lowest is None else self.labeled_lowest
        for cluster, number in enumerate(labeled):
            yield cluster, max(self.lowest[cluster] - number, 0), self.highest[cluster] - number
        for required in np.flatnonzero(labeled):
            yield int(required), int(labeled[required]), int(labeled[required])
        if self.outlier_cost is not None:
            yield -1, 0, np.inf

    def _add_columns(self, costs: CostBlocks) -> CostBlocks:
        """Return the costs in all columns of the assignment problem."""
        if self.labeled is None and self.outlier_cost is None:
            return costs
        required = np.flatnonzero([] if self.labeled_lowest is None else self.labeled_lowest)
        # More than a chain of moves through all columns can save: no row enters that is not labeled.
        largest = max(float(block.max()) for _, block in costs.blocks()) if len(required) else 0.0
        forbidding = 4.0 * (self.n_clusters + 1) * (1.0 + largest)

        def compute(rows: slice | Indices) -> Floats:
            parts = [costs.rows(rows)]
            if self.labeled is not None:
                parts.append(np.where(self.labeled[rows, None], parts[0][:, required], forbidding))
            if self.outlier_cost is not None:
                parts.append(self.outlier_cost[rows, None])
            return np.concatenate(parts, axis=1)

        return CostBlocks((costs.shape[0], sum(1 for _ in self._columns())), compute)

    def _own_costs(self, costs: RowCosts, labels: Array) -> Floats:
        """Return the cost of every row in its cluster, or as an outlier."""
        own = costs.own(labels)
        return own if self.outlier_cost is None else np.where(labels < 0, self.outlier_cost, own)

    def _split(self, prices: Floats) -> Prices:
        """Return the prices of the columns as those of the sizes and of the labeled rows."""
        of_sizes, of_labeled = prices[: self.n_clusters], np.zeros(self.n_clusters)
        if self.labeled_lowest is not None:
            required = np.flatnonzero(self.labeled_lowest)
            of_labeled[required] = prices[self.n_clusters :][: len(required)] - of_sizes[required]
        return Prices(of_sizes, of_labeled, prices)
