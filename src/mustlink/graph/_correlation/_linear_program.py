"""The linear program of correlation clustering; rows of triangles are added when they are broken."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, vstack

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.graph._correlation._signed_graph import SignedGraph

# By how much a triangle may be broken; the solver keeps rows to 1e-7.
TOLERANCE = 1e-6
# How far from 0 or 1 a number may be to count as whole.
WHOLE = 1e-6
# The status of a program that was stopped.
OUT_OF_TIME = 1


@dataclass(frozen=True)
class SmallProblem:
    """Net weights and hard rules of few nodes, as full matrices.

    Attributes
    ----------
    net : ndarray of shape (n, n)
        Symmetric, with a diagonal of zeros.
    apart : ndarray of bool, shape (n, n)
        Which pairs no cluster may hold.
    held : ndarray of shape (n, n_keys)
        How many rows of a key every node holds.
    limit : ndarray of shape (n_keys,)
        How many a cluster may hold.
    """

    net: Floats
    apart: Mask
    held: Floats
    limit: Ints

    @classmethod
    def of(cls, graph: SignedGraph) -> SmallProblem:
        """Return the problem of a small graph."""
        net = graph.weights.toarray() - graph.penalty * np.outer(graph.size, graph.size)
        np.fill_diagonal(net, 0.0)
        rules = graph.rules
        shape = (graph.n_nodes, len(rules.key_max))
        held = csr_array((rules.key_count.astype(float), rules.keys, rules.key_indptr), shape=shape)
        used = np.flatnonzero(held.sum(axis=0) > rules.key_max)
        rows, limit = held[:, used].toarray(), rules.key_max[used]
        apart = rules.apart.toarray() != 0
        for key in range(len(used)):
            has = rows[:, key] > 0
            apart |= has & has[:, None] & (rows[:, key] + rows[:, key, None] > limit[key])
        np.fill_diagonal(apart, False)
        return cls(net, apart, rows, limit)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.net)


class Relaxation(NamedTuple):
    """Distances `x` of the linear program, 0 together and 1 apart, the largest `gain`, and whether time was enough.

    If not, some triangles are broken, and the gain is a weaker bound.
    """

    x: Floats
    gain: float
    is_finished: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether every pair is together or apart."""
        return self.is_finished and bool((np.minimum(self.x, 1 - self.x) < WHOLE).all())


def solve_relaxation(problem: SmallProblem, ends: float | None = None) -> Relaxation:
    """Minimize the disagreement over distances from 0 to 1 that keep the triangle inequality.

    `ends` is a time of the monotonic clock at which it stops.
    """
    if problem.n_nodes < 2:
        return Relaxation(np.zeros_like(problem.net), 0.0)
    first, second, cost, least = _pairs(problem)
    rows, limits = _key_rows(problem)
    last = Relaxation(np.ones_like(problem.net), float(cost[cost > 0].sum()), is_finished=False)
    while True:
        options = {} if ends is None else {"time_limit": max(ends - time.monotonic(), 0.01)}
        found = linprog(
            cost,
            A_ub=rows if rows.shape[0] else None,
            b_ub=limits if rows.shape[0] else None,
            bounds=np.column_stack([least, np.ones(len(cost))]),
            method="highs",
            options=options,
        )
        if found.status == OUT_OF_TIME and ends is not None:
            return last
        if found.status != 0:
            raise RuntimeError(f"The linear program was not solved: {found.message}")
        x = _square(found.x.clip(0.0, 1.0), problem.n_nodes)
        new = _broken_triangles(x, first, second)
        last = Relaxation(x, float(cost.sum() - found.fun), is_finished=not new.shape[0])
        if last.is_finished:
            return last
        rows, limits = vstack([rows, new]).tocsr(), np.concatenate([limits, np.zeros(new.shape[0])])


def labels_of(x: Floats) -> Indices:
    """Return the clusters of distances that are 0 or 1: every node has the number of the first node of its cluster."""
    return np.asarray((x < 0.5).argmax(axis=1), dtype=np.intp)


def _pairs(problem: SmallProblem) -> tuple[Indices, Indices, Floats, Floats]:
    """Return both ends of all pairs, their cost if apart, and 1 for pairs that must be apart, else 0."""
    first, second = np.triu_indices(problem.n_nodes, 1)
    return first, second, problem.net[first, second], problem.apart[first, second].astype(float)


def _square(condensed: Floats, n_nodes: int) -> Floats:
    """Return the distances of all pairs as a symmetric matrix."""
    x = np.zeros((n_nodes, n_nodes))
    x[np.triu_indices(n_nodes, 1)] = condensed
    return x + x.T


def _place(a: Indices, b: Indices, n_nodes: int) -> Indices:
    """Return the places of pairs in the list of all pairs."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    return low * (2 * n_nodes - low - 1) // 2 + high - low - 1


def _broken_triangles(x: Floats, first: Indices, second: Indices) -> csr_array:
    """Return for every pair the row of the third node over which the way is shortest, if it is shorter than the pair.

    A row is x_uv - x_uw - x_wv <= 0.
    """
    n_nodes = len(x)
    shortest = np.full_like(x, np.inf)
    over = np.zeros(x.shape, dtype=np.intp)
    for third in range(n_nodes):
        # A way over one of its own ends is the pair itself, and never shorter.
        way = x[:, [third]] + x[third]
        is_shorter = way < shortest
        shortest[is_shorter] = way[is_shorter]
        over[is_shorter] = third
    broken = np.flatnonzero((x - shortest)[first, second] > TOLERANCE)
    u, v = first[broken], second[broken]
    w = over[u, v]
    columns = np.concatenate([broken, _place(u, w, n_nodes), _place(w, v, n_nodes)])
    values = np.repeat([1.0, -1.0, -1.0], len(broken))
    row = np.tile(np.arange(len(broken)), 3)
    return coo_array((values, (row, columns)), shape=(len(broken), len(first))).tocsr()


def _key_rows(problem: SmallProblem) -> tuple[csr_array, Floats]:
    """Return a row for every node and key: the cluster of the node holds no more rows of the key than it may."""
    n_nodes = problem.n_nodes
    n_pairs = n_nodes * (n_nodes - 1) // 2
    rows, limits = [csr_array((0, n_pairs))], [np.empty(0)]
    for key in np.flatnonzero(problem.limit > 1):
        nodes = np.flatnonzero(problem.held[:, key])
        held = problem.held[nodes, key]
        a, b = np.nonzero(~np.eye(len(nodes), dtype=bool))
        columns = _place(nodes[a], nodes[b], n_nodes)
        rows.append(coo_array((-held[b], (a, columns)), shape=(len(nodes), n_pairs)).tocsr())
        # The rows of all other nodes, less those that are apart from the node, and its own.
        limits.append(problem.limit[key] - np.full(len(nodes), held.sum()))
    return vstack(rows).tocsr(), np.concatenate(limits)
