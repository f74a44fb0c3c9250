"""The assignment of least cost where rows of a group are apart: at most so many of them in a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mustlink._types import Array, Floats, Ints
from mustlink.base import check_fits
from mustlink.sizes._apart_kernels import Chains, Groups, add_chains, place_groups, take_group_paths
from mustlink.sizes._assign_kernels import BALANCED, NO_PATH, TAKEN, Network
from mustlink.sizes._cost_blocks import CostBlocks
from mustlink.sizes._moves_kernels import Moves, empty_moves
from mustlink.sizes._paths import initial_flow, paths_at_once, round_prices, solve_by_paths
from mustlink.sizes._terms import Terms

__all__ = ["solve_apart"]

# The most costs, all of which are held together with a move for each.
MAX_COSTS = 1 << 27
# Steps between two looks at the keyboard.
STEPS_AT_ONCE = 1 << 27
# States of groups, and moves in the heaps, that there is room for, for each that there is at the start.
ROOM = 2


def solve_apart(costs: CostBlocks, terms: Terms, start: Floats | None) -> tuple[Ints, Floats]:
    """Return labels and prices of an exact solution, from given prices or from those without groups."""
    check_fits("apart", costs.shape, MAX_COSTS, "use fewer rows")
    if start is None:
        start = solve_by_paths(costs, Terms(terms.lowest, terms.highest)).potential
    solver = _ApartSolver(costs.rows(slice(None)), terms, start)
    while not solver.run_round():
        pass
    return solver.groups.label, round_prices(solver.network)


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
            raise AssertionError("Conditions that were checked have no assignment.")
        return reason == BALANCED
