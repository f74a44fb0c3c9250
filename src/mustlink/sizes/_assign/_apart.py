"""The assignment of least cost where rows of a group are apart: at most so many of them in a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mustlink._types import Array, Floats, Ints, Mask
from mustlink.base import check_fits
from mustlink.sizes._assign._apart_kernels import Chains, Groups, add_chains, place_groups, take_group_paths
from mustlink.sizes._assign._assign_kernels import BALANCED, NO_PATH, TAKEN, Network
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._assign._moves_kernels import Moves, empty_moves
from mustlink.sizes._assign._paths import initial_flow, paths_at_once, round_prices, round_to_bounds, solve_by_paths
from mustlink.sizes._assign._terms import Terms

__all__ = ["solve_apart"]

# The most costs, all of which are held together with a move for each.
MAX_COSTS = 1 << 27
# Steps between two checks for interrupts.
STEPS_AT_ONCE = 1 << 27
# States of groups, and moves in the heaps, that there is room for, for each that there is at the start.
ROOM = 2
# So many rows near the borders of clusters take part: at the least, for each row of a group, and how many times as many
# if they prove too few.
MIN_NEAR = 1024
NEAR_PER_ROW = 2
MORE_NEAR = 4
# Differences of costs below this, relative to the costs, are rounding.
ROUNDING = 1e-12


def solve_apart(costs: CostBlocks, terms: Terms, start: Floats | None) -> tuple[Ints, Floats]:
    """Return labels and prices of an exact solution.

    Begins with the solution without groups. Only rows that a group may divide, and others near the borders of clusters,
    are assigned again; the prices prove whether all others are where they should be, or more rows take part.
    """
    n_rows = costs.shape[0]
    plain = solve_by_paths(costs, Terms(terms.lowest, terms.highest), start)
    labels, prices = plain.labels, plain.potential
    group, is_active = _dividing_groups(terms)
    if _is_apart(labels, group, terms):
        return labels, prices
    n_near = max(MIN_NEAR, NEAR_PER_ROW * int(is_active.sum()))
    margins = _margins(costs, labels, prices)
    while True:
        is_active |= margins < 0
        if 2 * (n_near + is_active.sum()) > n_rows:
            is_active[:] = True
        else:
            is_active[np.argpartition(np.where(is_active, np.inf, margins), n_near)[:n_near]] = True
        found = _solve_active(costs, terms, group, is_active, labels, prices)
        if found is not None and is_active.all():
            return found
        if found is not None:
            margins = _margins(costs, *found)
            # A minimum that the other rows meet by themselves does not bind.
            binding = round_to_bounds(found[1], terms.sizes(found[0]), terms.lowest, terms.highest)
            if (margins >= 0)[~is_active].all() and np.array_equal(binding, found[1]):
                return found
        n_near *= MORE_NEAR


def _dividing_groups(terms: Terms) -> tuple[Ints, Mask]:
    """Return the group of every row, -1 where the whole group may be in one cluster, and which rows have one."""
    group = np.asarray(terms.apart).astype(np.int64)
    n_members = np.bincount(group[group >= 0], minlength=1)
    is_divided = (group >= 0) & (n_members[group] > terms.apart_max)
    return np.where(is_divided, group, -1), is_divided


def _is_apart(labels: Ints, group: Ints, terms: Terms) -> bool:
    """Return whether no cluster has too many rows of a group."""
    rows = np.flatnonzero(group >= 0)
    n_together = np.unique(group[rows] * len(terms.lowest) + labels[rows], return_counts=True)[1]
    return bool(n_together.max(initial=0) <= terms.apart_max)


def _margins(costs: CostBlocks, labels: Ints, prices: Floats) -> Floats:
    """Return by how much the second-best cluster of every row costs more than its own, negative if it costs less."""
    margins = np.empty(costs.shape[0])
    for first, block in costs.blocks():
        numbers = np.arange(len(block))
        own = labels[first : first + len(block)]
        priced = block - prices
        rounding = ROUNDING * max(float(np.abs(priced).max()), float(np.abs(prices).max()))
        mine = priced[numbers, own]
        priced[numbers, own] = np.inf
        margin = priced.min(axis=1) - mine
        margins[first : first + len(block)] = np.where(np.abs(margin) <= rounding, 0.0, margin)
    return margins


def _solve_active(
    costs: CostBlocks, terms: Terms, group: Ints, is_active: Mask, labels: Ints, prices: Floats
) -> tuple[Ints, Floats] | None:
    """Assign some rows beside the others, which stay; None if these leave no way."""
    rows = np.flatnonzero(is_active)
    what, shape = "The assignment of rows that are to be apart", (len(rows), costs.shape[1])
    check_fits(what, shape, MAX_COSTS, "use fewer rows, or leave out groups or cannot-links")
    n_fixed = np.bincount(labels[~is_active], minlength=len(terms.lowest))
    bounds = np.maximum(terms.lowest - n_fixed, 0), terms.highest - n_fixed
    part = replace(terms, lowest=bounds[0], highest=bounds[1], apart=group[rows])
    solver = _ApartSolver(costs.rows(slice(None) if is_active.all() else rows), part, prices)
    try:
        while not solver.run_round():
            pass
    except NoAssignmentError:
        if is_active.all():
            raise
        return None
    together = labels.copy()
    together[rows] = solver.groups.label
    return together, round_prices(solver.network)


class NoAssignmentError(AssertionError):
    """There is no assignment; with all rows, conditions that were checked have one."""


class _ApartSolver:
    """Groups and network of one problem."""

    def __init__(self, costs: Array, terms: Terms, prices: Floats) -> None:
        n_rows, k = costs.shape
        self.n_clusters = k
        group = np.asarray(terms.apart).astype(np.int64)
        # Rows without a group are groups of their own.
        alone = group < 0
        group = np.where(alone, group.max(initial=-1) + 1 + np.cumsum(alone), group)
        _, group, n_members = np.unique(group, return_inverse=True, return_counts=True)
        self.n_groups = len(n_members)
        self.groups = Groups(
            costs,
            np.zeros(n_rows, dtype=np.int64),
            np.argsort(group, kind="stable"),
            np.concatenate([[0], np.cumsum(n_members)]),
            terms.apart_max,
            *self._states(),
        )
        self.chains = Chains(np.empty((k, k)), *(np.empty(shape, dtype=np.int64) for shape in ((k, k), (k, k), k)))
        sizes = np.zeros(k, dtype=np.int64)
        # To place a row, the chains of a group are found again.
        self.groups_at_once = max(1, STEPS_AT_ONCE // (k * int(n_members.max() + 1) ** 3 + k * k))
        for begin, end in self._runs():
            place_groups(begin, end, self.groups, prices, sizes, self.chains)
        flow = initial_flow(sizes, prices, terms.lowest, terms.highest)
        excess = np.append(sizes - flow, flow.sum() - n_rows)
        no_marks = np.zeros(k, dtype=np.int64)
        self.network = Network(flow, terms.lowest, terms.highest, no_marks, no_marks, excess, np.append(prices, 0.0))

    def _states(self) -> tuple[Ints, Ints, Ints]:
        """Return a state for every group, the group of every state with room for more, and the number of states."""
        states = np.arange(self.n_groups)
        room = np.empty(ROOM * self.n_groups + 64 * self.n_clusters, dtype=np.int64)
        room[: self.n_groups] = states
        return states, room, np.array([self.n_groups])

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield the first group and the end of every run of groups."""
        for begin in range(0, self.n_groups, self.groups_at_once):
            yield begin, min(begin + self.groups_at_once, self.n_groups)

    def run_round(self) -> bool:
        """Collect the chains of all groups, and take paths while there is room; return whether that solved it."""
        state, group, n_states = self._states()
        self.groups = self.groups._replace(state=state, group=group, n_states=n_states)
        k = self.n_clusters
        n_entries = ROOM * len(self.groups.label) * k + 64 * k * k
        moves: Moves = empty_moves(np.full(k * k, np.inf), n_entries, np.iinfo(np.int32).max)
        for begin, end in self._runs():
            add_chains(begin, end, self.groups, moves, self.chains)
        path, mover = np.empty(k + 2, dtype=np.int64), np.empty(k + 2, dtype=np.int64)
        reason = TAKEN
        while reason == TAKEN:
            reason = take_group_paths(self.network, self.groups, moves, self.chains, path, mover, paths_at_once(k + 1))
        if reason == NO_PATH:
            raise NoAssignmentError("Conditions that were checked have no assignment.")
        return reason == BALANCED
