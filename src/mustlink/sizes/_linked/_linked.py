"""Assignment of rows to clusters under links and sizes together."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from mustlink._types import Floats, Indices, Ints
from mustlink.errors import InfeasibleError
from mustlink.kmeans.core import Components, NoPlacement
from mustlink.sizes._assign._assign import Assignment, assign
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._linked._feasibility import find_placement, refuse_clashes, refuse_placement
from mustlink.sizes._linked._linked_kernels import improve
from mustlink.sizes._linked._program import solve
from mustlink.sizes._linked._units import Units

__all__ = ["LinkedAssignment"]

# Up to these sizes the placement is exact: entries of units, and of units and rows together, times clusters.
MAX_EXACT_UNITS = 500
MAX_EXACT_ENTRIES = 3_000
# Branches of the exact search; beyond them the moves decide.
MAX_BRANCHES = 500
# Rounds of moves, each followed by an exact assignment of the rows without links.
MAX_ROUNDS = 8
# The most units with which a unit tries to trade places, and the most moves per unit.
MAX_PARTNERS = 50
MAX_MOVES = 20
# Gains below this share of the costs are rounding.
MIN_GAIN = 1e-10


class Placement(NamedTuple):
    """Units in clusters, the rows without links at their best beside them, and what it costs in all."""

    cost: float
    units: Indices
    free: Assignment


class LinkedAssignment:
    """Assigns rows at the least cost such that links and sizes are kept; prepared once for many costs.

    Parameters
    ----------
    units : Units
        The links and the sizes.
    exact : bool or "auto", default="auto"
        Whether the placement of the units is found by an exact search: always, never, or where the problem is small.
    known : ndarray of shape (n_rows,), default=None
        Labels that keep the links and the sizes, to begin from where nothing better is found.
    relax : bool, default=False
        Whether cannot-links may be broken.
    """

    def __init__(
        self, units: Units, *, exact: bool | str = "auto", known: Ints | None = None, relax: bool = False
    ) -> None:
        self._units, self._exact, self._known, self._relax = units, exact, known, relax

    def check(self) -> None:
        """Refuse links and sizes that do not go together, as far as quick tests tell."""
        refuse_clashes(self._units)

    def assign(self, costs: Floats, previous: Ints | None = None, start: Floats | None = None) -> Assignment:
        """Return labels and prices; a previous answer is kept unless another one costs less.

        Parameters
        ----------
        costs : ndarray of shape (n_rows, n_clusters)
            What each row costs in each cluster.
        previous : ndarray of shape (n_rows,), default=None
            Labels that keep links and sizes.
        start : ndarray of shape (n_clusters,), default=None
            Prices of a previous answer.

        Returns
        -------
        Assignment
            The prices are those of the rows without links beside the units.
        """
        units = self._units
        if not units.n_units:
            return assign(costs, size_min=units.size_min, size_max=units.size_max, start=start)
        if units.is_network:
            return self.assign_network(costs, previous, start)
        before = None if previous is None else self._complete(costs, previous[units.first_row], start)
        best = self._cheapest(costs, before, start)
        if before is not None and previous is not None:
            kept = float(costs[np.arange(len(costs)), previous].sum()) + units.broken_penalty(before.units)
            # The labels stay where the gain is rounding, or equal placements could alternate.
            if not best.cost < kept - MIN_GAIN * abs(kept):
                return Assignment(previous, before.free.prices)
        # Another run, from other costs, can then always begin.
        self._known = self._labels(best)
        return Assignment(self._known, best.free.prices)

    @property
    def is_network(self) -> bool:
        """Whether all links are cannot-links that form separate cliques."""
        return self._units.n_units > 0 and self._units.is_network

    def assign_network(
        self, costs: Floats | CostBlocks, previous: Ints | None = None, start: Floats | None = None
    ) -> Assignment:
        """Place single rows whose cannot-links form separate cliques: a network flow, exact at any size."""
        units = self._units
        lowest, highest = units.size_min, units.size_max
        try:
            found = assign(costs, size_min=lowest, size_max=highest, apart=units.clique_of_row, start=start)
        except InfeasibleError:
            # In the words of links, where the flow speaks of groups.
            refuse_placement(units, is_proven=True)
        if previous is not None:
            kept = Assignment(previous, found.prices)
            cost = kept.cost(costs)
            # The labels stay where the gain is rounding, or equal placements could alternate.
            if not found.cost(costs) < cost - MIN_GAIN * abs(cost):
                return kept
        return Assignment(found.labels, found.prices)

    def with_few_breaks(self, costs: Floats) -> Indices:
        """Return clusters of the units that break few cannot-links, and leave few rows without a place."""
        if not self._units.n_units:
            return np.empty(0, dtype=np.intp)
        unit_costs = self._units.costs(costs)
        priced = unit_costs - self._units.size[:, None] * self._relaxed_prices(costs, unit_costs, None)
        return self._moved(priced, self._start(priced))[0]

    def labels_beside(self, costs: Floats, placed: Indices) -> Ints:
        """Return the labels of all rows if the units are placed so."""
        return self._labels(self._complete(costs, placed, None))

    def _labels(self, placement: Placement) -> Ints:
        """Return the labels of all rows in a placement."""
        units = self._units
        labels = np.empty(units.linked.n_samples, dtype=np.int64)
        labels[units.free] = placement.free.labels
        labels[units.linked.rows] = placement.units[units.unit]
        return labels

    def _cheapest(self, costs: Floats, before: Placement | None, start: Floats | None) -> Placement:
        """Return the cheapest placement that is found, proven to be so where the search is exact."""
        found, is_proven = self._by_search(costs, start)
        if not is_proven:
            found = _cheaper(found, self._by_moves(costs, before, start))
        if found is None:
            raise AssertionError("A placement is always found, or its absence refused.")
        return found if before is None or found.cost < before.cost else before

    # ---- exact ------------------------------------------------------------------------------------------------------

    def _by_search(self, costs: Floats, start: Floats | None) -> tuple[Placement | None, bool]:
        """Place the units by a mixed-integer program, where the problem is small enough."""
        units = self._units
        n_entries = costs.shape[0] * costs.shape[1]
        is_small = units.n_units * units.n_clusters <= MAX_EXACT_UNITS and n_entries <= MAX_EXACT_ENTRIES
        if not (is_small if self._exact == "auto" else self._exact):
            return None, False
        placed, is_proven = solve(units.program(costs), MAX_BRANCHES if self._exact == "auto" else 2**31 - 1)
        if placed is None:
            if is_proven:
                # Says what clashes, in numbers.
                find_placement(units)
            return None, False
        return self._complete(costs, placed[: units.n_units].argmax(axis=1), start), is_proven

    # ---- by moves ---------------------------------------------------------------------------------------------------

    def _by_moves(self, costs: Floats, before: Placement | None, start: Floats | None) -> Placement:
        """Place the units at the prices of the sizes, repair, and improve by moves."""
        units = self._units
        unit_costs = units.costs(costs)
        prices = self._relaxed_prices(costs, unit_costs, start)
        priced = unit_costs - units.size[:, None] * prices
        placed = self._moved(priced, self._start(priced))[0]
        if units.misfit(placed) and before is None:
            placed = self._moved(priced, self._known_placement(unit_costs))[0]
        best = before if units.misfit(placed) else _cheaper(before, self._complete(costs, placed, prices))
        assert best is not None
        return self._refined(costs, unit_costs, best)

    def _relaxed_prices(self, costs: Floats, unit_costs: Floats, start: Floats | None) -> Floats:
        """Return the prices of the sizes if units could be divided among clusters: a bound, and a network flow."""
        units = self._units
        relaxed = np.array(costs, dtype=np.float64)
        relaxed[units.linked.rows] = (unit_costs / units.size[:, None])[units.unit]
        return assign(relaxed, size_min=units.size_min, size_max=units.size_max, start=start).prices

    def _start(self, priced: Floats) -> Indices:
        """Place the units as COP-KMeans does, at costs that include the prices of the sizes."""
        units = self._units
        # A unit that exceeds a maximum by itself goes there only if nothing else is left.
        too_large = units.size[:, None] > units.size_max
        barred = priced + too_large * (1.0 + np.ptp(priced, axis=1).sum())
        try:
            return self._components.place(barred, None)
        except NoPlacement:
            return self._known_placement(priced)

    @cached_property
    def _graph(self) -> tuple[Ints, Ints]:
        """The cannot-linked neighbors of each unit."""
        graph = self._units.graph
        return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)

    @cached_property
    def _pulls(self) -> tuple[Ints, Ints, Floats]:
        """The units that a penalty or a triple joins with each unit, and the penalties; zero for triples."""
        joined, triples = self._units.joined, self._units.one_of
        pairs = np.concatenate([joined, triples[:, :2], triples[:, ::2]])
        penalty = np.concatenate([self._units.penalty, np.zeros(2 * len(triples))])
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        order = np.argsort(ends[:, 0], kind="stable")
        starts = np.searchsorted(ends[order, 0], np.arange(self._units.n_units + 1)).astype(np.int64)
        return starts, ends[order, 1].astype(np.int64), np.concatenate([penalty, penalty])[order]

    @cached_property
    def _components(self) -> Components:
        """The placement of components without sizes."""
        units = self._units
        rng = np.random.RandomState(0)
        return Components(units.linked, units.n_clusters, order="saturation", relax=self._relax, rng=rng)

    @cached_property
    def _found(self) -> Indices:
        """Clusters of the units that keep links and sizes, whatever they cost; refused if there are none."""
        return find_placement(self._units) if self._known is None else self._known[self._units.first_row]

    def _known_placement(self, unit_costs: Floats) -> Indices:
        """Give the clusters of a known placement the numbers that cost least; only clusters of equal bounds trade."""
        units = self._units
        of_cluster = np.zeros((units.n_clusters, units.n_clusters))
        np.add.at(of_cluster, self._found, unit_costs)
        bounds = np.column_stack([units.size_min, units.size_max])
        differ = (bounds[:, None] != bounds[None]).any(axis=2)
        of_cluster[differ] = np.abs(of_cluster).sum() + 1.0
        return linear_sum_assignment(of_cluster)[1][self._found]

    def _moved(self, costs: Floats, placed: Indices, max_moves: int | None = None) -> tuple[Indices, int]:
        """Improve a placement by moves; also return their number."""
        units = self._units
        labels, filled = placed.astype(np.int64), units.filled(placed)
        order = _by_regret(costs, units.size)
        gain = MIN_GAIN * float(np.abs(costs).max(initial=0.0))
        bounds = np.array([units.size_min, units.size_max])
        sizes = units.size, bounds, len(units.free), units.one_of
        limits = gain, MAX_PARTNERS, MAX_MOVES * units.n_units if max_moves is None else max_moves
        n_moves = improve(*self._graph, *self._pulls, costs, *sizes, order, labels, filled, *limits)
        return labels.astype(np.intp), n_moves

    def _refined(self, costs: Floats, unit_costs: Floats, best: Placement) -> Placement:
        """Move units at the prices of the rows without links, which follow; fewer moves at a time where that fails."""
        units = self._units
        max_moves = MAX_MOVES * units.n_units
        for _ in range(MAX_ROUNDS):
            priced = unit_costs - units.size[:, None] * best.free.prices
            placed, n_moves = self._moved(priced, best.units, max_moves)
            if n_moves == 0:
                break
            trial = self._complete(costs, placed, best.free.prices)
            if trial.cost < best.cost - MIN_GAIN * abs(best.cost):
                best = trial
            elif n_moves == 1:
                break
            else:
                max_moves = max(1, n_moves // 4)
        return best

    def _complete(self, costs: Floats, placed: Indices, start: Floats | None) -> Placement:
        """Assign the rows without links beside units that are placed, exactly, and sum up."""
        units = self._units
        filled = units.filled(placed)
        rows = units.linked.rows
        total = float(costs[rows, placed[units.unit]].sum()) + units.broken_penalty(placed)
        if not len(units.free):
            return Placement(total, placed, Assignment(np.empty(0, dtype=np.int64), np.zeros(units.n_clusters)))
        left = np.maximum(units.size_min - filled, 0), units.size_max - filled
        free_costs = costs[units.free]
        free = assign(free_costs, size_min=left[0], size_max=left[1], start=start)
        return Placement(total + free.cost(free_costs), placed, free)


def _cheaper(one: Placement | None, other: Placement | None) -> Placement | None:
    """Return the placement that costs less, the first of equals."""
    if one is None or other is None:
        return other if one is None else one
    return other if other.cost < one.cost else one


def _by_regret(costs: Floats, size: Ints) -> Ints:
    """List the largest units first, equals by the extra cost of their second-best cluster."""
    two = np.sort(costs, axis=1)[:, :2]
    return np.lexsort((two[:, 0] - two[:, -1], -size)).astype(np.int64)
