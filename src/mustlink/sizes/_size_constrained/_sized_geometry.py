"""Geometries of the k-means engine whose assignment keeps to sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import Assignment, RowBlocks
from mustlink._types import Array, Floats
from mustlink.kmeans.core import Euclidean, Geometry, LinkRule, Run, State, Step
from mustlink.sizes._size_constrained._manhattan import Manhattan
from mustlink.sizes._size_constrained._row_costs import RowCosts, absolute_costs, square_costs
from mustlink.sizes._size_constrained._sizing import Prices, Sizing

__all__ = ["Sized", "SizedEuclidean", "SizedManhattan"]


@dataclass(frozen=True)
class Found:
    """What a step found: that of the geometry without sizes, the prices, and the cost of outliers."""

    inner: Any
    prices: Prices
    outlier_cost: float = 0.0


@dataclass(frozen=True)
class Previous:
    """The labels and prices that the next assignment starts from."""

    labels: Array
    prices: Prices


class Sized(Geometry):
    """A geometry whose rows go to the nearest clusters that the sizes allow, for all rows together."""

    # An empty cluster is what a minimum of zero allows, and another row in it might break a bound.
    fills_empty_clusters = False

    sizing: Sizing

    def nearest(self, state: State) -> tuple[NDArray[np.int32], Any]:
        previous: Previous | None = state.previous
        if previous is None or previous.prices.are_zero:
            labels, inner = super().nearest(state)  # type: ignore[safe-super]
            if self.sizing.is_met_by_nearest(labels):
                return labels, Found(inner, self.sizing.no_prices())
        start, before = (None, None) if previous is None else (previous.prices, previous.labels)
        placed = self.sizing.place(self.costs(state), start, before)
        is_inside = placed.labels >= 0
        inner = self.found(placed.labels, np.where(is_inside, placed.own, 0.0))
        return placed.labels, Found(inner, placed.prices, float(placed.own[~is_inside].sum()))

    def costs(self, state: State) -> RowCosts:
        """Return the cost of every row in every cluster."""
        raise NotImplementedError

    def found(self, labels: NDArray[np.int32], own: Floats) -> Any:
        """Return what the geometry without sizes finds for labels, given the costs of the rows in their clusters."""
        raise NotImplementedError

    def state_of(self, labels: NDArray[np.int32], run: Run) -> State:
        """Return the state that continues a run from other labels, with their centers."""
        found = Found(self.found(labels, np.zeros(len(labels))), run.found.prices)
        return self.update(Step(labels, found), run.state)

    def inertia(self, step: Step) -> float:
        return super().inertia(_inner(step)) + step.found.outlier_cost

    def update(self, step: Step, state: State) -> State:
        updated = super().update(_inner(step), state)  # type: ignore[safe-super]
        return replace(updated, previous=Previous(step.labels, step.found.prices))


def _inner(step: Step) -> Step:
    """Return a step as the geometry without sizes knows it."""
    return replace(step, found=step.found.inner)


class SizedEuclidean(Sized, Euclidean):
    """Squared distances of weighted rows under sizes."""

    def __init__(self, rows: RowBlocks, weight: Floats, sizing: Sizing) -> None:
        super().__init__(rows, weight, LinkRule())
        self.sizing, self._row_weight = sizing, weight

    def costs(self, state: State) -> RowCosts:
        return square_costs(self._rows, self._row_weight, state.centers)

    def found(self, labels: NDArray[np.int32], own: Floats) -> Assignment:
        return self._rows.summed(labels, self._row_weight, self.sizing.n_clusters, float(own.sum()))


class SizedManhattan(Sized, Manhattan):
    """Sums of absolute differences of weighted rows under sizes."""

    def __init__(self, rows: RowBlocks, weight: Floats, sizing: Sizing) -> None:
        super().__init__(rows, weight)
        self.sizing = sizing

    def costs(self, state: State) -> RowCosts:
        return absolute_costs(self._rows, self._row_weight, state.centers)

    def found(self, labels: NDArray[np.int32], own: Floats) -> Floats:
        return own
