"""Micro-clusters: large tables as groups of close rows, whose pivots several clusters may share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import RowBlocks
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.kmeans.core import Geometry, LinkRule, State, Step
from mustlink.sizes._assign._assign import assign
from mustlink.sizes._existential._micro_kernels import lead
from mustlink.sizes._existential._movement import Items, schedule_moves
from mustlink.sizes._existential._placement import find_unstable

__all__ = ["MicroClusters", "SharedPivots", "allot", "micro_clusters"]

# The groups of leaders, by which the leader of a row is found, are this many times as wide as micro-clusters.
COARSENESS = 4.0


@dataclass(frozen=True)
class MicroClusters:
    """Groups of rows: which one each row is in, their means, and how many pivots and other rows they have."""

    number: Indices
    means: Floats
    n_pivots: Ints
    n_others: Ints
    scatter: float  # the squared distances of all rows to the means of their micro-clusters


@dataclass(frozen=True)
class Found:
    """What a step finds: the shares, the prices of an exact assignment, and the sums and weights of the clusters."""

    shares: Ints
    prices: Floats | None
    sums: Floats
    weight: Floats
    inertia: float


def micro_clusters(X: Array, is_pivot: Mask, radius: float) -> MicroClusters:
    """Group rows in one pass, as BIRCH does: each joins the nearest leader within the radius, or becomes one."""
    number = np.empty(len(X), dtype=np.int64)
    n_micro = lead(X, radius, COARSENESS * radius, number)
    rows, ones = RowBlocks(X), np.ones(len(X))
    means = rows.averages(number, n_micro, ones)
    scatter = float(rows.scatter(number, means, ones).sum())
    n_pivots = np.bincount(number[is_pivot], minlength=n_micro)
    n_others = np.bincount(number[~is_pivot], minlength=n_micro)
    return MicroClusters(number, means.X.astype(np.float64), n_pivots, n_others, scatter)


class SharedPivots(Geometry):
    """Micro-clusters at their means: other rows go to the nearest center, pivots are shared among clusters.

    The table of shares has a row per micro-cluster and a column per cluster; each row adds up to the number of pivots.
    With `options` pivots move on the pivot-movement graph; without, the shares are those of an exact assignment.
    """

    # A share in it might break a minimum elsewhere.
    fills_empty_clusters = False

    def __init__(
        self, micro: MicroClusters, minimum: Ints, rng: np.random.RandomState, options: dict[str, Any] | None
    ) -> None:
        super().__init__(len(micro.means), LinkRule())
        self._micro, self._minimum, self._rng, self._options = micro, minimum, rng, options
        self._means = RowBlocks(micro.means)

    def nearest(self, state: State) -> tuple[NDArray[np.int32], Found]:
        costs = self._means.squared_distances(state.centers)
        labels = costs.argmin(axis=1)
        previous: Found | None = state.previous
        if previous is None or self._options is None:
            shares, prices = self._assign(costs, None if previous is None else previous.prices)
        else:
            shares, prices = self._move(costs, previous.shares), None
        weight = shares.astype(np.float64)
        weight[np.arange(len(labels)), labels] += self._micro.n_others
        inertia = float((weight * costs).sum()) + self._micro.scatter
        found = Found(shares, prices, weight.T @ self._micro.means, weight.sum(axis=0), inertia)
        return labels.astype(np.int32), found

    def _assign(self, costs: Floats, start: Floats | None) -> tuple[Ints, Floats]:
        """Return the shares of the cheapest assignment of all pivots, and its prices."""
        of_pivot = np.repeat(np.arange(len(costs)), self._micro.n_pivots)
        labels, prices = assign(costs[of_pivot], size_min=self._minimum, start=start)
        return count_shares(of_pivot, labels, costs.shape), prices

    def _move(self, costs: Floats, shares: Ints) -> Ints:
        """Move shares to the nearest clusters on the pivot-movement graph, so that every step stays valid."""
        micro, cluster = np.nonzero(shares)
        unstable, target, gain = find_unstable(costs[micro], cluster)
        micro, cluster = micro[unstable], cluster[unstable]
        items = Items.of_one_kind(cluster, target, gain, shares[micro, cluster])
        counts = shares.sum(axis=0)[:, None]
        found = schedule_moves(items, counts, self._minimum[:, None], self._rng, **(self._options or {}))
        moved = shares.copy()
        np.add.at(moved, (micro, cluster), -found.moved)
        np.add.at(moved, (micro, target), found.moved)
        return moved

    def unit_costs(self, state: State) -> Floats:
        return np.empty((0, len(state.centers)))

    def inertia(self, step: Step) -> float:
        return float(step.found.inertia)

    def update(self, step: Step, state: State) -> State:
        centers, weight = state.centers.copy(), step.found.weight
        filled = weight > 0
        centers[filled] = step.found.sums[filled] / weight[filled, None]
        return State(centers, previous=step.found)

    def finish(self, step: Step, state: State) -> State:
        return self.update(step, state)


def count_shares(micro: Indices, cluster: Indices, shape: tuple[int, int]) -> Ints:
    """Return how many pivots of each micro-cluster are in each cluster."""
    return np.bincount(micro * shape[1] + cluster, minlength=shape[0] * shape[1]).reshape(shape)


def allot(X: Array, is_pivot: Mask, micro: MicroClusters, shares: Ints, centers: Floats) -> Indices:
    """Return the cluster of every row: the nearest one for other rows, and for pivots as the shares say.

    The pivots of a micro-cluster that several clusters share are assigned at the least total cost.
    """
    labels = RowBlocks(X).assign(centers, np.ones(len(X))).labels.astype(np.intp)
    labels[is_pivot] = shares.argmax(axis=1)[micro.number[is_pivot]]
    is_shared = (shares > 0).sum(axis=1) > 1
    rows = np.flatnonzero(is_pivot & is_shared[micro.number])
    rows = rows[np.argsort(micro.number[rows], kind="stable")]
    for part in np.split(rows, np.flatnonzero(np.diff(micro.number[rows])) + 1 if rows.size else []):
        if part.size:
            owned = shares[micro.number[part[0]]]
            costs = RowBlocks(X).take(part).squared_distances(centers)
            labels[part] = assign(costs, size_min=owned, size_max=owned).labels
    return labels
