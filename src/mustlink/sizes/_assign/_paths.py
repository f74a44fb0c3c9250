"""The assignment of least cost by successive shortest paths between clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.sizes._assign._assign_kernels import (
    BALANCED,
    NO_PATH,
    UNKNOWN_MOVE,
    UNKNOWN_ROW,
    Network,
    Rows,
    assign_cheapest,
    collect_moves,
    take_paths,
)
from mustlink.sizes._assign._cost_blocks import CostBlocks, as_cost_blocks, rows_of_block
from mustlink.sizes._assign._moves_kernels import Moves, empty_moves
from mustlink.sizes._assign._terms import Terms

__all__ = ["Solution", "initial_flow", "paths_at_once", "round_prices", "round_to_bounds", "solve_by_paths"]

# Steps, and paths, between two checks for interrupts.
STEPS_AT_ONCE = 1 << 27
PATHS_AT_ONCE = 2_000

# In networks of more nodes than this, a search goes on until it has found one in so many of the nodes that lack rows.
MAX_NODES_ONE_END = 128
ENDS_RATIO = 4

# A cold start of more rows than this begins with the prices of one row in SAMPLED_RATIO, or of so many per cluster.
MAX_ROWS_UNSAMPLED = 8_192
MIN_SAMPLED_PER_CLUSTER = 32
SAMPLED_RATIO = 8
# The most costs of a sample that are held (128 MB).
MAX_HELD = 1 << 24
# A start that leaves more rows to move than one in so many is no better than none.
MIN_ROWS_PER_MOVE = 32

# Moves that are collected for each row that is to move, at least, and at most.
MOVES_PER_ROW = 16
MIN_MOVES = 1 << 13
MIN_MOVES_PER_CLUSTER = 64
MIN_SHARE_OF_MOVES = 1 / 512
MAX_MOVES = 1 << 22
# The fewest rows whose costs are looked up at a time.
MIN_LOOKED_UP = 1_024
# How many rows tell how many moves there are below a cost.
N_PROBED = 2_048


class Solution(NamedTuple):
    """Labels, potentials of the nodes relative to the sink, and the rows that are in several clusters.

    `split` holds such rows, and `shares` their units in every cluster.
    """

    labels: Ints
    potential: Floats
    is_feasible: bool
    split: Indices
    shares: Array


def solve_by_paths(costs: CostBlocks, terms: Terms, start: Floats | None = None) -> Solution:
    """Solve the linear program exactly, from the given potentials of the nodes or from none.

    Without a start, rows that satisfy the bounds in their cheapest clusters stay there; otherwise large problems start
    with the prices of a sample of their rows, and so they do if a start leaves many rows to move. The least cost does
    not depend on the start.
    """
    solver = _PathSolver(costs, terms)
    n_rows, n_clusters = costs.shape
    solver.begin(np.zeros(solver.n_nodes) if start is None else np.append(start, 0.0))
    n_sampled = max(n_rows // SAMPLED_RATIO, MIN_SAMPLED_PER_CLUSTER * n_clusters)
    is_large = n_rows > MAX_ROWS_UNSAMPLED and n_sampled <= n_rows // 2
    max_left = 0 if start is None else n_rows // MIN_ROWS_PER_MOVE
    if is_large and solver.n_rows_left > max_left:
        rows = np.sort(np.random.RandomState(0).permutation(n_rows)[:n_sampled])
        sample = solve_by_paths(_take_costs(costs, rows), terms.sample(rows, n_rows), start)
        solver.begin(np.append(sample.potential, 0.0))
    while not solver.is_balanced and solver.is_feasible:
        solver.run_round()
    return solver.solution()


def _take_costs(costs: CostBlocks, rows: Indices) -> CostBlocks:
    """Return the costs of some rows, held if they are not too many."""
    shape = len(rows), costs.shape[1]
    if shape[0] * shape[1] <= MAX_HELD:
        return as_cost_blocks(costs.rows(rows))
    return CostBlocks(shape, lambda part: costs.rows(rows[part]))


def paths_at_once(n_nodes: int) -> int:
    """Return how many shortest paths are found between two checks for interrupts."""
    return max(1, min(PATHS_AT_ONCE, STEPS_AT_ONCE // n_nodes**2))


def initial_flow(sizes: Ints, prices: Floats, lowest: Ints, highest: Ints) -> Ints:
    """Return the flow out of every cluster that its price asks for: a bound where there is a price, or the nearest."""
    flow = np.clip(sizes, lowest, highest)
    return np.where(prices > 0, lowest, np.where(prices < 0, highest, flow))


def round_prices(network: Network) -> Floats:
    """Return the prices of the clusters, exactly zero where no bound binds."""
    n_clusters = len(network.flow)
    prices = network.potential[:n_clusters] - network.potential[-1]
    return round_to_bounds(prices, network.flow, network.lowest, network.highest)


def round_to_bounds(prices: Floats, sizes: Array, lowest: Array, highest: Array) -> Floats:
    """Return prices that are at least zero below the maximum, and at most zero above the minimum."""
    prices = np.where((sizes > lowest) & (prices > 0), 0.0, prices)
    return np.where((sizes < highest) & (prices < 0), 0.0, prices)


class _PathSolver:
    """Rows, network and moves of one problem."""

    def __init__(self, costs: CostBlocks, terms: Terms) -> None:
        self.costs, self.terms = costs, terms
        self.n_rows, self.n_clusters = costs.shape
        self.n_kinds = 1 if terms.pivots is None else 2
        self.n_nodes = self.n_kinds * self.n_clusters + 1
        self.is_feasible = True
        self.moves_per_row = MOVES_PER_ROW
        units, self.lowest, self.highest = terms.in_units()
        per_unit = np.empty(0)
        if terms.weight is not None:
            per_unit = np.divide(1.0, terms.weight, where=terms.weight > 0, out=np.zeros(self.n_rows))
        self.rows = Rows(
            np.empty(self.n_rows, dtype=np.int64),
            units,
            per_unit,
            np.empty(0, dtype=np.uint8) if terms.pivots is None else terms.pivots.astype(np.uint8),
            np.full(self.n_rows, -1, dtype=np.int32),
            np.empty((0, self.n_clusters)),
            np.empty((0, self.n_clusters), dtype=np.int64),
        )
        self.gaps, self.assigned_at = np.empty(self.n_rows), np.zeros(self.n_nodes - 1)

    @property
    def is_balanced(self) -> bool:
        """Whether the flow meets all bounds."""
        return not (self.network.excess > 0).any()

    def begin(self, potential: Floats) -> None:
        """Assign every row to its cheapest cluster at the potentials, and let the prices decide on the flow."""
        terms, k = self.terms, self.n_clusters
        self._assign_cheapest(potential)
        sizes = np.bincount(self._nodes(), self.rows.weight if len(self.rows.weight) else None, self.n_nodes - 1)
        sizes = sizes.astype(np.int64)
        pivot_min = np.zeros(k, dtype=np.int64) if terms.pivot_min is None else terms.pivot_min
        pivot_flow = np.zeros(k, dtype=np.int64)
        excess = np.zeros(self.n_nodes, dtype=np.int64)
        inflow = sizes[:k].copy()
        prices = potential[:k]
        if self.n_kinds == 2:
            is_priced = potential[k:-1] > prices
            pivot_flow = np.where(is_priced, pivot_min, np.maximum(sizes[k:], pivot_min))
            excess[k:-1] = sizes[k:] - pivot_flow
            inflow += pivot_flow
        flow = initial_flow(inflow, prices, self.lowest, self.highest)
        excess[:k] = inflow - flow
        excess[-1] = flow.sum() - sizes.sum()
        self.network = Network(flow, self.lowest, self.highest, pivot_flow, pivot_min, excess, potential)

    def _assign_cheapest(self, potential: Floats) -> None:
        """Assign every row to its cheapest cluster, and keep by how much the next one is more expensive."""
        self.assigned_at = potential[:-1].copy()
        is_plain = self.n_kinds == 1 and self.terms.weight is None
        found = self.costs.cheapest(self.assigned_at) if is_plain else None
        if found is not None:
            self.rows.label[:], self.gaps = found
            return
        for first, block in self.costs.blocks():
            assign_cheapest(block, first, self.rows, potential, self.gaps)

    def _nodes(self) -> Ints:
        """Return the node of every row: its cluster, or that of pivots."""
        return self.rows.label + self.n_clusters * self.rows.kind if self.n_kinds == 2 else self.rows.label

    def _near_rows(self, limit: float) -> Iterator[Indices]:
        """Yield the rows that may have a move which costs up to a limit beyond staying, some at a time.

        The potentials have changed since the gaps were found: a move has become cheaper by no more than the potential
        of its end has risen beyond that of its start.
        """
        risen = (self.network.potential[:-1] - self.assigned_at).reshape(self.n_kinds, self.n_clusters)
        reach = limit + (risen.max(axis=1, keepdims=True) - risen).ravel()
        near = np.flatnonzero(self.gaps < reach[self._nodes()])
        size = rows_of_block(self.n_clusters)
        for start in range(0, len(near), size):
            yield near[start : start + size]

    def run_round(self) -> None:
        """Collect the cheapest moves, and take paths for as long as these suffice."""
        self._forget_whole_rows()
        moves = self._collect_moves()
        n_before = self.n_left
        while True:
            # Where nodes are many, a search is the more worth the more paths it finds.
            n_lacking = int((self.network.excess < 0).sum())
            max_ends = max(1, n_lacking // ENDS_RATIO) if self.n_nodes > MAX_NODES_ONE_END else 1
            n_paths = paths_at_once(self.n_nodes)
            reason, row = take_paths(self.network, self.rows, moves, n_paths, max_ends)
            if reason == UNKNOWN_ROW:
                self._look_up_rows(row, moves)
            elif reason == UNKNOWN_MOVE:
                # Too few moves for the paths that are needed.
                if self.n_left > n_before // 2:
                    self.moves_per_row *= 4
                return
            elif reason == NO_PATH:
                self.is_feasible = False
                return
            elif reason == BALANCED:
                return

    @property
    def n_left(self) -> int:
        """Return how many rows, or units of weight, are still in excess."""
        excess = self.network.excess
        return int(excess[excess > 0].sum())

    @property
    def n_rows_left(self) -> int:
        """Return about how many rows are still to move."""
        units = self.rows.weight
        return int(np.ceil(self.n_left / max(1.0, units.mean()))) if len(units) else self.n_left

    def _collect_moves(self) -> Moves:
        """Collect the moves of all rows up to a cost that is chosen by the number of rows that are to move."""
        k = self.n_clusters
        n_least = max(MIN_MOVES, MIN_MOVES_PER_CLUSTER * k, int(MIN_SHARE_OF_MOVES * self.n_rows * k))
        n_wanted = max(n_least, self.moves_per_row * self.n_rows_left)
        limit = self._cost_of_moves(n_wanted)
        potential = self.network.potential[:-1].reshape(self.n_kinds, k)
        bound = (limit + potential[:, None, :] - potential[:, :, None]).ravel()
        n_wanted = min(n_wanted, MAX_MOVES, self.n_rows * k)
        moves = empty_moves(bound, 2 * n_wanted, 64 + 4 * n_wanted // k)
        for near in self._near_rows(limit):
            collect_moves(self.costs.rows(near), near, self.rows, moves)
        return moves

    def _cost_of_moves(self, n_wanted: int) -> float:
        """Estimate from some rows the cost, beyond that of staying, below which there are so many moves."""
        n_all = self.n_rows * (self.n_clusters - 1)
        n_wanted = min(n_wanted, MAX_MOVES) if self.moves_per_row < MAX_MOVES else n_all
        if n_all <= n_wanted:
            return np.inf
        n_probed = min(N_PROBED, self.n_rows)
        probed = np.sort(np.random.RandomState(1).randint(self.n_rows, size=n_probed))
        k = self.n_clusters
        kind = self.rows.kind[probed] if self.n_kinds == 2 else np.zeros(n_probed, dtype=np.uint8)
        potential = self.network.potential[:-1].reshape(self.n_kinds, k)[kind]
        weight = np.ones(n_probed) if self.terms.weight is None else self.terms.weight[probed]
        priced = self.costs.rows(probed) - weight[:, None] * potential
        priced.sort(axis=1)
        extra = (priced[:, 1:] - priced[:, :1])[weight > 0] / weight[weight > 0, None]
        place = extra.size * n_wanted // n_all
        if place >= extra.size:
            return np.inf
        return float(np.nextafter(np.partition(extra.ravel(), place)[place], np.inf))

    def _look_up_rows(self, row: int, moves: Moves) -> None:
        """Put the costs of a row that is to move, and of those that move next, into the table."""
        k = self.n_clusters
        taken = moves.pool[0]
        row_of, pair = moves.row[:taken], moves.pair[:taken]
        potential = self.network.potential
        node = pair // k
        extra = moves.cost[:taken] + potential[node] - potential[node - node % k + pair % k]
        is_new = (row_of >= 0) & (self.rows.place[row_of] < 0)
        row_of, extra = row_of[is_new], extra[is_new]
        n_wanted = min(max(MIN_LOOKED_UP, 2 * self.n_rows_left), max(1, MAX_MOVES // k))
        if n_wanted < len(extra):
            row_of = row_of[extra <= np.partition(extra, n_wanted)[n_wanted]]
            row_of = row_of[: 2 * n_wanted]
        self._tabulate(np.union1d(row_of, row))

    def _tabulate(self, found: Indices) -> None:
        """Add rows to the table, each with all its units in its cluster."""
        rows = self.rows
        n_old = len(rows.costs)
        costs = np.concatenate([rows.costs, self.costs.rows(found)])
        amount = np.zeros(costs.shape, dtype=np.int64)
        amount[:n_old] = rows.amount
        places = np.arange(n_old, len(costs))
        amount[places, rows.label[found]] = 1 if self.terms.weight is None else rows.weight[found]
        rows.place[found] = places
        # A row that moves may have any gap.
        self.gaps[found] = -np.inf
        self.rows = rows._replace(costs=costs, amount=amount)

    def _forget_whole_rows(self) -> None:
        """Keep only rows that are in several clusters in the table."""
        split, shares = self._split_rows()
        costs = self.rows.costs[self.rows.place[split]]
        self.rows.place[:] = -1
        self.rows.place[split] = np.arange(len(split))
        self.rows = self.rows._replace(costs=costs, amount=shares)

    def _split_rows(self) -> tuple[Indices, Ints]:
        """Return the rows that are in several clusters, and their units in each."""
        if self.terms.weight is None:
            return np.empty(0, dtype=np.intp), np.empty((0, self.n_clusters), dtype=np.int64)
        listed = np.flatnonzero(self.rows.place >= 0)
        shares = self.rows.amount[self.rows.place[listed]]
        is_split = (shares > 0).sum(axis=1) > 1
        return listed[is_split], shares[is_split]

    def solution(self) -> Solution:
        """Return the solution, with prices that are exactly zero where no bound binds."""
        network, k = self.network, self.n_clusters
        potential = network.potential[:-1] - network.potential[-1]
        prices = potential[:k] = round_prices(network)
        if self.n_kinds == 2:
            is_slack = network.pivot_flow > network.pivot_min
            potential[k:] = np.where(is_slack, prices, np.maximum(prices, potential[k:]))
        return Solution(self.rows.label, potential, self.is_feasible, *self._split_rows())
