"""Exact connected k-center for few rows: integer programs whose connectivity cuts are added as they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from mustlink._types import Floats, Indices, Ints
from mustlink.graph._adjacency import Adjacency

__all__ = ["GaveUpError", "Optimum", "connected_partition", "least_radius"]


class GaveUpError(Exception):
    """An integer program exceeded the limit of its search tree."""


@dataclass(frozen=True)
class Optimum:
    """The least radius, clusters that have it, and their centers; the clusters may be fewer than asked for."""

    radius: float
    labels: Ints
    centers: Indices


def least_radius(
    graph: Adjacency, reach: Floats, n_clusters: int, lower: float, upper: float, max_nodes: int | None = None
) -> tuple[float, Optimum | None]:
    """Search the least radius of a partition into connected clusters among the values of the reach.

    Parameters
    ----------
    graph : Adjacency
        The edges.
    reach : ndarray of shape (n_rows, n_rows)
        The reach of every row.
    n_clusters : int
        The number of clusters.
    lower, upper : float
        Bounds of the least radius; `upper` is that of a partition that is known.
    max_nodes : int or None, default=None
        The most nodes of a search tree.

    Returns
    -------
    lower : float
        The best proved lower bound; the optimum if no limit was reached.
    optimum : Optimum or None
        The partition; None if the one that is known is the best that was found.
    """
    values = np.unique(reach[np.isfinite(reach)])
    radii = values[(values >= lower) & (values < upper)]
    low, high, found = 0, len(radii), None
    while low < high:
        middle = (low + high) // 2
        try:
            optimum = _all_parts(graph, reach, n_clusters, float(radii[middle]), max_nodes)
        except GaveUpError:
            return float(radii[low]), found
        if optimum is None:
            low = middle + 1
        else:
            high, found = middle, optimum
    return (float(radii[low]) if low < len(radii) else upper), found


def _all_parts(
    graph: Adjacency, reach: Floats, n_clusters: int, radius: float, max_nodes: int | None
) -> Optimum | None:
    """Partition each connected part into as few clusters as possible; None if they are too many."""
    labels, centers = np.full(graph.n_rows, -1, dtype=np.int64), []
    n_parts = graph.n_parts
    for part in range(n_parts):
        rows = np.flatnonzero(graph.part == part)
        # The other parts need one cluster each.
        n_left = n_clusters - len(centers) - (n_parts - part - 1)
        chosen = connected_partition(graph, reach, rows, n_left, radius, max_nodes)
        if chosen is None:
            return None
        for center in np.unique(chosen):
            labels[rows[chosen == center]] = len(centers)
            centers.append(int(center))
    return Optimum(radius, labels, np.array(centers, dtype=np.intp))


@dataclass
class _Program:
    """The program of one part: a variable for each pair of a center and a row that it reaches."""

    center: Indices
    row: Indices
    variable: Ints
    lines: list[tuple[Indices, Floats]] = field(default_factory=list)

    def require(self, center: int, row: int, through: Indices) -> None:
        """Let a row be in the cluster of a center only if one of some others is."""
        through = self.variable[center, through]
        through = through[through >= 0]
        columns = np.append(through, self.variable[center, row])
        self.lines.append((columns, np.append(np.ones(len(through)), -1.0)))


def connected_partition(
    graph: Adjacency,
    reach: Floats,
    rows: Indices,
    n_clusters: int,
    radius: float,
    max_nodes: int | None = None,
) -> Indices | None:
    """Partition rows of one connected part into connected clusters, each within a radius of a row of its own.

    Parameters
    ----------
    graph : Adjacency
        The edges.
    reach : ndarray of shape (n_rows, n_rows)
        The reach of every row.
    rows : ndarray
        The rows.
    n_clusters : int
        The most clusters.
    radius : float
        The radius.
    max_nodes : int or None, default=None
        The most nodes of a search tree.

    Returns
    -------
    ndarray or None
        The center of every row; None if there is no such partition.
    """
    place = np.full(graph.n_rows, -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    neighbors = [place[graph.indices[graph.indptr[row] : graph.indptr[row + 1]]] for row in rows]
    center, row = np.nonzero(reach[np.ix_(rows, rows)] <= radius)
    variable = np.full((len(rows), len(rows)), -1, dtype=np.int64)
    variable[center, row] = np.arange(len(row))
    program = _Program(center, row, variable)
    for c, v in zip(center, row, strict=True):
        if c != v:
            program.require(c, v, np.array([c]))
            if c not in neighbors[v]:
                program.require(c, v, neighbors[v])
    while True:
        chosen = _solve(program, len(rows), n_clusters, max_nodes)
        if chosen is None:
            return None
        n_cut = sum(_cut(program, chosen, c, neighbors) for c in np.unique(chosen))
        if n_cut == 0:
            return rows[chosen]


def _solve(program: _Program, n_rows: int, n_clusters: int, max_nodes: int | None) -> Indices | None:
    """Solve a program with the cuts so far; return the center of every row, or None."""
    n_variables = len(program.row)
    once = sparse.csr_array((np.ones(n_variables), (program.row, np.arange(n_variables))), shape=(n_rows, n_variables))
    number = np.repeat(np.arange(len(program.lines)), [len(columns) for columns, _ in program.lines])
    conditions = [LinearConstraint(once, 1.0, 1.0)]
    is_center = (program.center == program.row).astype(np.float64)
    conditions.append(LinearConstraint(is_center[None], -np.inf, n_clusters))
    if program.lines:
        columns = np.concatenate([columns for columns, _ in program.lines])
        signs = np.concatenate([signs for _, signs in program.lines])
        cuts = sparse.csr_array((signs, (number, columns)), shape=(len(program.lines), n_variables))
        conditions.append(LinearConstraint(cuts, lb=0.0))
    options = {} if max_nodes is None else {"node_limit": max_nodes}
    found = milp(
        is_center,
        constraints=conditions,
        integrality=np.ones(n_variables),
        bounds=Bounds(0.0, 1.0),
        options=options,
    )
    if found.status == 2:
        return None
    if found.x is None or found.status != 0:
        raise GaveUpError
    taken = found.x > 0.5
    chosen = np.empty(n_rows, dtype=np.intp)
    chosen[program.row[taken]] = program.center[taken]
    return chosen


def _cut(program: _Program, chosen: Indices, center: int, neighbors: list[Indices]) -> int:
    """Add cuts for the pieces of a cluster that are not connected with its center; return how many."""
    members = np.flatnonzero(chosen == center)
    place = np.full(len(chosen), -1)
    place[members] = np.arange(len(members))
    pairs = [(place[v], place[u]) for v in members for u in neighbors[v] if place[u] >= 0]
    ends = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    matrix = sparse.csr_array((np.ones(len(pairs)), tuple(ends)), shape=(len(members), len(members)))
    n_pieces, piece = connected_components(matrix, directed=False)
    own = piece[place[center]]
    for number in range(n_pieces):
        if number != own:
            inside = members[piece == number]
            around = np.setdiff1d(np.concatenate([neighbors[v] for v in inside]), inside)
            for v in inside:
                program.require(center, int(v), around)
    return n_pieces - 1
