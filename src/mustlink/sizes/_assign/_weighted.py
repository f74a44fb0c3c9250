"""Assignments whose sizes are sums of weights: a fractional optimum, rounded, and repaired where it is off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._assign._paths import Solution, solve_by_paths
from mustlink.sizes._assign._terms import ROUNDING, Terms

__all__ = ["solve_weighted"]

# How often the rest of the rows is assigned again after those that were shared out have been placed.
MAX_ROUNDS = 8
# Moves and swaps of single rows, for each cluster.
MAX_REPAIRS_PER_CLUSTER = 8


def solve_weighted(
    costs: CostBlocks, terms: Terms, start: Floats | None, solve: Callable[..., Solution] = solve_by_paths
) -> tuple[Ints, Floats]:
    """Return labels and prices: the prices of the fractional optimum, and labels that meet the bounds if possible.

    Rounding alone keeps every size within the largest weight of its bounds, at no more than the least cost. If it
    misses the bounds, the rows that were shared out are placed and the others assigned again; then single rows are
    moved and swapped.
    """
    solution = solve(costs, terms, start)
    rounded = round_split_rows(costs, terms, solution)
    labels = rounded
    if terms.excess(labels).any():
        labels = _place_and_assign_again(costs, terms, solution, labels)
    if terms.excess(labels).any():
        labels = _Repair(costs, terms, labels).run()
    largest = terms.weight.max() if terms.weight is not None else 1.0
    is_close = np.abs(terms.excess(labels)).max() <= largest
    return (labels if is_close else rounded), solution.potential


def round_split_rows(costs: CostBlocks, terms: Terms, solution: Solution) -> Ints:
    """Place every row that is shared out into one of its clusters, by the method of Shmoys and Tardos.

    Each cluster has as many places as rows are in it in all, filled with the shares of its rows from the heaviest on.
    A row may take a place that has a share of it, and full places are taken. The sum of each cluster changes by less
    than its heaviest row, and the cheapest such matching costs no more than the shares.
    """
    labels = solution.labels.copy()
    if len(solution.split) == 0:
        return labels
    shares = solution.shares / solution.shares.sum(axis=1, keepdims=True)
    heaviest_first = np.argsort(-solution.shares.sum(axis=1), kind="stable")
    cluster_of, allowed, is_full = [], [], []
    for cluster in range(shares.shape[1]):
        ends = np.cumsum(shares[heaviest_first, cluster])
        begins = np.concatenate([[0.0], ends[:-1]])
        for place in range(int(np.ceil(ends[-1] - ROUNDING))):
            cluster_of.append(cluster)
            is_there = (ends > place + ROUNDING) & (begins < place + 1 - ROUNDING) & (ends > begins)
            allowed.append(heaviest_first[is_there])
            is_full.append(ends[-1] >= place + 1 - ROUNDING)
    table = costs.rows(solution.split).astype(np.float64)
    table -= table.min(axis=1, keepdims=True)
    never = 1.0 + 4.0 * len(cluster_of) * float(table.max())
    # Padding rows fill the places that no row takes.
    square = np.full((len(cluster_of), len(cluster_of)), never)
    square[len(table) :] = np.where(is_full, never, 0.0)
    for place, (cluster, rows) in enumerate(zip(cluster_of, allowed, strict=True)):
        square[rows, place] = table[rows, cluster]
    _, places = linear_sum_assignment(square)
    labels[solution.split] = np.array(cluster_of)[places[: len(table)]]
    return labels


def _place_and_assign_again(costs: CostBlocks, terms: Terms, solution: Solution, labels: Ints) -> Ints:
    """Keep the rows that were shared out where rounding put them, and assign the others; return the best labels."""
    n_rows = len(labels)
    weight = np.ones(n_rows) if terms.weight is None else terms.weight
    best, labels = labels, labels.copy()
    is_placed = np.zeros(n_rows, dtype=bool)
    for _ in range(MAX_ROUNDS):
        is_placed[solution.split] = True
        placed = np.bincount(labels[is_placed], weight[is_placed], len(terms.lowest))
        rest = np.flatnonzero(~is_placed)
        lowest, highest = np.maximum(terms.lowest - placed, 0.0), terms.highest - placed
        total = weight[rest].sum()
        if len(rest) == 0 or (highest < 0).any() or lowest.sum() > total or highest.sum() < total:
            break
        part = CostBlocks((len(rest), costs.shape[1]), _RowsOf(costs, rest))
        part_terms = terms.take(rest, lowest, highest)
        solution = solve_by_paths(part, part_terms, solution.potential)
        labels[rest] = round_split_rows(part, part_terms, solution)
        solution = solution._replace(split=rest[solution.split])
        if np.abs(terms.excess(labels)).sum() < np.abs(terms.excess(best)).sum():
            best = labels.copy()
        if not terms.excess(best).any() or len(solution.split) == 0:
            break
    return best


@dataclass(frozen=True)
class _RowsOf:
    """The costs of some of the rows."""

    costs: CostBlocks
    index: Indices

    def __call__(self, rows: slice | Indices) -> Array:
        return self.costs.rows(self.index[rows])


class _Repair:
    """Moves and swaps of single rows that bring sizes nearer to their bounds."""

    def __init__(self, costs: CostBlocks, terms: Terms, labels: Ints) -> None:
        self.costs, self.terms, self.labels = costs, terms, labels.copy()
        self.weight = np.ones(len(labels)) if terms.weight is None else terms.weight

    def run(self) -> Ints:
        """Repair for as long as a move or swap helps."""
        n_clusters = len(self.terms.lowest)
        for _ in range(MAX_REPAIRS_PER_CLUSTER * n_clusters):
            excess = self.terms.excess(self.labels)
            if not excess.any():
                break
            found = [
                change
                for cluster in np.flatnonzero(excess).tolist()
                for other in range(n_clusters)
                if other != cluster and (change := self._best_change(cluster, other)) is not None
            ]
            if not found:
                break
            _, cluster, other, given, taken = min(found)
            rows = self._cheapest_row(cluster, other, given), self._cheapest_row(other, cluster, taken)
            for row, new in zip(rows, (other, cluster), strict=True):
                if row >= 0:
                    self.labels[row] = new
        return self.labels

    def _beyond(self, sizes: Floats, cluster: int) -> Floats:
        """Return how far sizes of a cluster are beyond its bounds."""
        lowest, highest = self.terms.lowest[cluster], self.terms.highest[cluster]
        return np.maximum(sizes - highest, 0.0) + np.maximum(lowest - sizes, 0.0)

    def _best_change(self, cluster: int, other: int) -> tuple[float, int, int, float, float] | None:
        """Return the weights of the rows that two clusters give each other with the largest effect, zero for none."""
        sizes = self.terms.sizes(self.labels)
        given = np.append(0.0, np.unique(self.weight[self.labels == cluster]))
        taken = np.append(0.0, np.unique(self.weight[self.labels == other]))
        # For each weight given, the weights taken on either side of what brings the cluster to its nearer bound.
        aim = np.clip(sizes[cluster], self.terms.lowest[cluster], self.terms.highest[cluster]) - sizes[cluster]
        near = np.clip(np.searchsorted(taken, given + aim)[:, None] + np.array([-1, 0, 1]), 0, len(taken) - 1)
        flow = given[:, None] - taken[near]
        before = self._beyond(sizes[cluster], cluster) + self._beyond(sizes[other], other)
        after = self._beyond(sizes[cluster] - flow, cluster) + self._beyond(sizes[other] + flow, other)
        best = np.unravel_index(after.argmin(), after.shape)
        gain = float(after[best] - before)
        if gain >= -ROUNDING * self.weight.sum():
            return None
        return gain, cluster, other, float(given[best[0]]), float(taken[near[best]])

    def _cheapest_row(self, old: int, new: int, weight: float) -> int:
        """Return the row of a weight that moves between two clusters at the least cost, -1 for the weight zero."""
        if weight == 0.0:
            return -1
        rows = np.flatnonzero((self.labels == old) & (self.weight == weight))
        costs = self.costs.rows(rows)
        return int(rows[(costs[:, new] - costs[:, old]).argmin()])
