"""The pivot-movement problem without geometry: which pivots move, and in which order.

Given are how many pivots each cluster has and needs, and for each pivot that is nearer to another cluster how much is
gained by moving it there. Phase A moves pivots out of clusters with more than they need, one at a time; phase B moves
pivots round cycles of clusters that have none to spare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.sizes._existential._movement_kernels import (
    find_cycle,
    move_at_random,
    move_by_lookahead,
    move_round_cycle,
)

__all__ = ["CheckedSums", "Items", "Schedule", "schedule_moves"]

Heuristic = Literal["random", "lookahead"]

# The most moves of one compiled call, so that a fit can be interrupted.
MAX_MOVES = 4096


@dataclass(frozen=True)
class Items:
    """Pivots that are nearer to another cluster than to their own.

    Parameters
    ----------
    source, target : ndarray of shape (n_items,)
        The cluster of each, and the cluster it is nearest to.
    gain : ndarray of shape (n_items,)
        By how much moving one unit lowers the total, above zero.
    units : ndarray of shape (n_items,)
        How many pivots each stands for: 1, or the share that a cluster has of a micro-cluster.
    group : ndarray of shape (n_items,)
        Which row of `member` says what it counts for.
    member : ndarray of shape (n_groups, n_kinds)
        For which kinds of pivots the items of a group count.
    values : ndarray of shape (n_items, n_sums)
        What a unit adds to each checked sum.
    """

    source: Indices
    target: Indices
    gain: Floats
    units: Ints
    group: Indices
    member: Mask
    values: Floats

    @classmethod
    def of_one_kind(cls, source: Indices, target: Indices, gain: Floats, units: Ints | None = None) -> Items:
        """Return items that all count for the only kind of pivots."""
        n_items = len(gain)
        units = np.ones(n_items, dtype=np.int64) if units is None else units
        group = np.zeros(n_items, dtype=np.intp)
        return cls(source, target, gain, units, group, np.ones((1, 1), dtype=bool), np.empty((n_items, 0)))


@dataclass(frozen=True)
class CheckedSums:
    """Sums over each cluster that have to keep their side of a bound, such as ``sum(sales) >= 1e6``.

    `operator` holds positions in ``OPERATORS``, and differences up to `slack` are taken for rounding.
    """

    totals: Floats  # (n_clusters, n_sums)
    operator: Ints
    bound: Floats
    slack: Floats

    @classmethod
    def none(cls, n_clusters: int) -> CheckedSums:
        """Return no sums."""
        return cls(np.empty((n_clusters, 0)), np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))


@dataclass(frozen=True)
class Schedule:
    """Moves in their order.

    Parameters
    ----------
    items, units : ndarray of shape (n_moves,)
        Which item moves, and how many of its units.
    step : ndarray of shape (n_moves,)
        The number of the step. In phase A each move is a step; in phase B a step moves all items of a cycle.
    n_steps_a : int
        How many steps belong to phase A.
    moved : ndarray of shape (n_items,)
        The units of each item that have moved in the end.
    gain : float
        The sum of the gains.
    """

    items: Indices
    units: Ints
    step: Indices
    n_steps_a: int
    moved: Ints
    gain: float


class Graph(NamedTuple):
    """The graph as arrays that compiled loops read and change: clusters are nodes; items lie on edges."""

    gain: Floats  # of the items, those of an edge side by side, the largest first
    left: Ints  # units of each item that have not moved
    values: Floats
    first: Indices  # the items of edge e are first[e] to first[e + 1]
    head: Indices  # the first item of each edge that has not moved
    edge_left: Ints  # units on each edge
    source: Indices
    target: Indices
    group: Indices
    outgoing: Indices  # the edges that leave cluster i are outgoing[i] to outgoing[i + 1]
    member: Mask
    counts: Ints  # (n_clusters, n_kinds)
    minimum: Ints
    sums: Floats
    operator: Ints
    bound: Floats
    slack: Floats


@dataclass
class _Record:
    """The moves so far."""

    items: list[Indices] = field(default_factory=list)
    units: list[Ints] = field(default_factory=list)
    step: list[Indices] = field(default_factory=list)
    n_steps: int = 0

    def add(self, items: Indices, units: Ints, *, one_step: bool) -> None:
        """Add moves, as one step or each as a step of its own."""
        self.items.append(items.copy())
        self.units.append(units.copy())
        self.step.append(self.n_steps + (np.zeros(len(items), dtype=np.intp) if one_step else np.arange(len(items))))
        self.n_steps += 1 if one_step else len(items)


def schedule_moves(
    items: Items,
    counts: Ints,
    minimum: Ints,
    rng: np.random.RandomState,
    *,
    heuristic: Heuristic = "random",
    depth: int = 2,
    deadlocks: bool = True,
    sums: CheckedSums | None = None,
) -> Schedule:
    """Choose moves that leave every cluster with enough pivots after each step.

    Parameters
    ----------
    items : Items
        The pivots that gain by moving.
    counts, minimum : ndarray of shape (n_clusters, n_kinds)
        How many pivots of each kind every cluster has and needs.
    rng : RandomState
        The source of randomness.
    heuristic : {"random", "lookahead"}, default="random"
        Phase A: move along a random edge, or along the path of largest gain.
    depth : int, default=2
        The most moves of a path.
    deadlocks : bool, default=True
        Whether phase B follows: cycles are resolved until there are none.
    sums : CheckedSums, default=None
        What else must hold after each step.

    Returns
    -------
    Schedule
    """
    graph, order = build_graph(items, counts, minimum, CheckedSums.none(len(counts)) if sums is None else sums)
    record = _Record()
    for moved, units in _move_pivots(graph, rng, heuristic, depth):
        record.add(moved, units, one_step=False)
    n_steps_a = record.n_steps
    if deadlocks:
        for moved, units in _resolve_deadlocks(graph, rng):
            record.add(moved, units, one_step=True)
    no_moves = np.empty(0, dtype=np.int64)
    places, units, step = (np.concatenate([no_moves, *part]) for part in (record.items, record.units, record.step))
    moved = np.empty(len(order), dtype=np.int64)
    moved[order] = items.units[order] - graph.left
    return Schedule(order[places], units, step, n_steps_a, moved, float(graph.gain[places] @ units))


def build_graph(items: Items, counts: Ints, minimum: Ints, sums: CheckedSums) -> tuple[Graph, Indices]:
    """Put items on edges, and return the graph and the order of the items in it."""
    order = np.lexsort((-items.gain, items.group, items.target, items.source))
    source, target, group = items.source[order], items.target[order], items.group[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (np.diff(source) != 0) | (np.diff(target) != 0) | (np.diff(group) != 0)
    first = np.flatnonzero(is_first)
    units = items.units[order].astype(np.int64)
    edge_left = np.add.reduceat(units, first) if len(first) else np.empty(0, dtype=np.int64)
    graph = Graph(
        gain=np.ascontiguousarray(items.gain[order], dtype=np.float64),
        left=units,
        values=np.ascontiguousarray(items.values[order], dtype=np.float64),
        first=np.append(first, len(order)),
        head=first.copy(),
        edge_left=edge_left,
        source=source[first].astype(np.intp),
        target=target[first].astype(np.intp),
        group=group[first].astype(np.intp),
        outgoing=np.searchsorted(source[first], np.arange(len(counts) + 1)),
        member=items.member,
        counts=np.array(counts, dtype=np.int64),
        minimum=np.array(minimum, dtype=np.int64),
        sums=np.array(sums.totals, dtype=np.float64),
        operator=sums.operator,
        bound=sums.bound,
        slack=sums.slack,
    )
    return graph, order


def _move_pivots(
    graph: Graph, rng: np.random.RandomState, heuristic: Heuristic, depth: int
) -> Iterator[tuple[Indices, Ints]]:
    """Phase A: make moves out of surplus clusters until none can be made; yield them in batches."""
    capacity = min(len(graph.gain), MAX_MOVES) + depth
    moved, units = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    while graph.edge_left.any():
        if heuristic == "random":
            n_moves = move_at_random(graph, rng.random_sample(capacity), moved, units)
        else:
            n_moves = move_by_lookahead(graph, depth, moved, units)
        yield moved[:n_moves], units[:n_moves]
        if n_moves + depth <= capacity:
            return


def _resolve_deadlocks(graph: Graph, rng: np.random.RandomState) -> Iterator[tuple[Indices, Ints]]:
    """Phase B: while there is a cycle, move as many units round it as its weakest edge has; yield the moves of each.

    The items of a cycle are of one group, so that no count changes. Where a checked sum would not hold, half as many
    are tried, and in the end the weakest edge is closed.
    """
    closed = np.zeros(len(graph.source), dtype=bool)
    cycle = np.empty(len(graph.counts), dtype=np.int64)
    for group in range(len(graph.member)):
        roots = rng.permutation(len(graph.counts))
        while (length := find_cycle(graph, group, roots, closed, cycle)) > 0:
            edges = cycle[:length]
            n_units = int(graph.edge_left[edges].min())
            capacity = int((graph.first[edges + 1] - graph.head[edges]).sum())
            moved, units = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
            n_moves = 0
            while n_units > 0 and n_moves == 0:
                n_moves = move_round_cycle(graph, edges, n_units, moved, units)
                n_units //= 2
            if n_moves:
                yield moved[:n_moves], units[:n_moves]
            else:
                closed[edges[np.argmin(graph.edge_left[edges])]] = True
