"""Exact inference on parts with cycles of small width: elimination in the order of least fill-in."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.inference._junction_tree_kernels import assign_tables, calibrate, eliminate

__all__ = ["Elimination", "JunctionTrees", "eliminate_by_fill"]


@dataclass(frozen=True, eq=False)
class Elimination:
    """An order of elimination of the nodes of a part, and the neighbors that each node has when it is eliminated.

    Attributes
    ----------
    order : list of int
        The nodes.
    scopes : list of list of int
        The remaining neighbors of each, in the order of elimination.
    """

    order: list[int]
    scopes: list[list[int]]

    @property
    def width(self) -> int:
        """The largest number of remaining neighbors."""
        return max(map(len, self.scopes), default=0)


def eliminate_by_fill(nodes: Indices, edges: Ints, n_states: int, max_table: int) -> Elimination | None:
    """Eliminate the node next that adds fewest edges between its neighbors.

    Returns None if the tables would have more than `max_table` entries in all.
    """
    around: dict[int, set[int]] = {node: set() for node in nodes.tolist()}
    for a, b in edges.tolist():
        around[a].add(b)
        around[b].add(a)
    max_width = 0
    while n_states ** (max_width + 2) <= max_table and n_states > 1:
        max_width += 1
    queue = [(_fill(around, node, max_width), len(near), node) for node, near in around.items()]
    heapq.heapify(queue)
    order, scopes, n_entries = [], [], 0
    while queue:
        fill, degree, node = heapq.heappop(queue)
        if node not in around or (fill, degree) != (_fill(around, node, max_width), len(around[node])):
            continue
        near = around[node]
        n_entries += n_states ** (len(near) + 1)
        if n_entries > max_table:
            return None
        for other in near:
            around[other].discard(node)
        del around[node]
        # The fill-in of a node changes where edges appear or disappear among its neighbors.
        changed = set(near)
        for a, b in combinations(near, 2):
            if b not in around[a]:
                changed |= around[a] & around[b]
                around[a].add(b)
                around[b].add(a)
        order.append(node)
        scopes.append(list(near))
        for other in changed:
            heapq.heappush(queue, (_fill(around, other, max_width), len(around[other]), other))
    place = {node: number for number, node in enumerate(order)}
    return Elimination(order, [sorted(scope, key=place.__getitem__) for scope in scopes])


def _fill(around: dict[int, set[int]], node: int, max_width: int) -> int:
    """Count the edges that are missing between the neighbors of a node; one with too many neighbors comes last."""
    near = around[node]
    if len(near) > max_width:
        return len(near) ** 2
    return sum(b not in around[a] for a, b in combinations(near, 2))


@dataclass(frozen=True, eq=False)
class JunctionTrees:
    """The elimination of all nodes of some parts, in the arrays that compiled code takes.

    Attributes
    ----------
    order : ndarray of shape (n_eliminated,)
        The nodes, one part after the other.
    edges : ndarray of shape (n_edges,)
        The numbers of the edges of these parts, by the place of the end that is eliminated first.
    n_entries : int
        The number of entries of all tables.
    plan : tuple of ndarray
        `order`; the place of every node in it; the scopes in compressed form, two arrays; where the table of each place
        begins; where the edges of each place begin; the digit of the far end of each edge, and its coupling.
    """

    order: Ints
    edges: Ints
    n_entries: int
    plan: tuple[Array, ...]

    @classmethod
    def of(cls, eliminations: list[Elimination], edges: Ints, coupling: Floats, n_nodes: int, n_states: int) -> Self:
        """Combine the eliminations of several parts.

        Parameters
        ----------
        eliminations : list of Elimination
            One for each part.
        edges : ndarray of shape (n_edges, 2)
            All edges; those of other parts are left out.
        coupling : ndarray of shape (n_edges,)
            Their couplings.
        n_nodes : int
            The number of nodes of all parts.
        n_states : int
            The number of states of each node.

        Returns
        -------
        JunctionTrees
        """
        order = np.array([node for part in eliminations for node in part.order], dtype=np.int64)
        scopes = [scope for part in eliminations for scope in part.scopes]
        sizes = np.array([len(scope) for scope in scopes], dtype=np.int64)
        place_of = np.full(n_nodes, -1, dtype=np.int64)
        place_of[order] = np.arange(len(order))
        table_ptr = np.concatenate([[0], np.cumsum(n_states ** (sizes + 1))])
        inside = np.flatnonzero((place_of[edges] >= 0).all(axis=1))
        first = np.argmin(place_of[edges[inside]], axis=1)
        near = place_of[edges[inside, first]]
        by_place = np.argsort(near, kind="stable")
        inside, first, near = inside[by_place], first[by_place], near[by_place]
        far = edges[inside, 1 - first]
        digit = [scopes[place].index(node) + 1 for place, node in zip(near.tolist(), far.tolist(), strict=True)]
        plan = (
            order,
            place_of,
            np.concatenate([[0], np.cumsum(sizes)]),
            np.array([node for scope in scopes for node in scope], dtype=np.int64),
            table_ptr,
            np.searchsorted(near, np.arange(len(order) + 1)),
            np.array(digit, dtype=np.int64),
            coupling[inside],
        )
        return cls(order, inside, int(table_ptr[-1]), plan)

    def add_marginals(self, belief: Floats, marginal: Floats, equal: Floats, start: Floats | None) -> float:
        """Write the marginals of the nodes and the chance of equality of the edges; return the log-normalizer.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials.
        marginal : ndarray of shape (n_nodes, n_states)
            Written at the nodes of these parts.
        equal : ndarray of shape (n_edges,)
            Written at the edges of these parts.
        start : ndarray of shape (n_nodes, n_states) or None
            Not used.

        Returns
        -------
        float
        """
        tables = np.empty(self.n_entries)
        log_normalizer: float = eliminate(belief, self.plan, tables, False)
        equal_here = np.empty(len(self.edges))
        calibrate(self.plan, tables, marginal, equal_here)
        equal[self.edges] = equal_here
        return log_normalizer

    def add_best(self, belief: Floats, state: Indices) -> None:
        """Write the states of the best labeling.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials.
        state : ndarray of shape (n_nodes,)
            Written at the nodes of these parts.
        """
        tables = np.empty(self.n_entries)
        eliminate(belief, self.plan, tables, True)
        assign_tables(self.plan, tables, belief.shape[1], state)
