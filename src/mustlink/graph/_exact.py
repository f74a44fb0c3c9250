"""Exact connected k-center for few rows: integer programs whose connectivity cuts are added as they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from mustlink._types import Floats, Indices, Ints
from mustlink.graph._adjacency import Adjacency

__all__ = ["Optimum", "least_radius"]

# What scipy returns for a program without a solution.
INFEASIBLE = 2


class GaveUpError(Exception):
    """An integer program exceeded the limit of its search tree."""


@dataclass(frozen=True)
class Optimum:
    """Clusters of the least radius, and their centers; the clusters may be fewer than asked for."""

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
    parts = [_Part.of(graph, reach, np.flatnonzero(graph.part == part)) for part in range(graph.n_parts)]
    low, high, found = 0, len(radii), None
    while low < high:
        middle = (low + high) // 2
        try:
            optimum = _partition(parts, n_clusters, float(radii[middle]), max_nodes)
        except GaveUpError:
            return float(radii[low]), found
        if optimum is None:
            low = middle + 1
        else:
            high, found = middle, optimum
    return (float(radii[low]) if low < len(radii) else upper), found


def _partition(parts: list[_Part], n_clusters: int, radius: float, max_nodes: int | None) -> Optimum | None:
    """Partition each connected part into as few clusters as possible; None if they are too many."""
    labels = np.full(sum(len(part.rows) for part in parts), -1, dtype=np.int64)
    centers: list[int] = []
    for place, part in enumerate(parts):
        # The parts to come need one cluster each.
        n_left = n_clusters - len(centers) - (len(parts) - place - 1)
        chosen = part.partition(n_left, radius, max_nodes, is_least=place < len(parts) - 1)
        if chosen is None:
            return None
        for center in np.unique(chosen):
            labels[part.rows[chosen == center]] = len(centers)
            centers.append(int(part.rows[center]))
    return Optimum(labels, np.array(centers, dtype=np.intp))


@dataclass
class _Part:
    """A connected part: its rows, their neighbors and reach by place in it, and the cuts that were needed so far.

    A cut is a set of rows and the rows around it: a center outside has a row of the set only with one around it. It
    holds at every radius.
    """

    rows: Indices
    neighbors: list[Indices]
    reach: Floats
    cuts: dict[tuple[int, ...], Indices] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Adjacency, reach: Floats, rows: Indices) -> _Part:
        """Return the part of some rows; a row alone is the first kind of cut."""
        place = np.full(graph.n_rows, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        neighbors = [place[graph.indices[graph.indptr[row] : graph.indptr[row + 1]]] for row in rows]
        cuts: dict[tuple[int, ...], Indices] = {(row,): around for row, around in enumerate(neighbors)}
        return cls(rows, neighbors, reach[np.ix_(rows, rows)], cuts)

    def partition(self, n_clusters: int, radius: float, max_nodes: int | None, *, is_least: bool) -> Indices | None:
        """Return the center of every row for connected clusters of a radius; None if they would be too many.

        With `is_least` the clusters are as few as possible, and otherwise any number up to `n_clusters`, which is found
        sooner.
        """
        while True:
            chosen = self._solve(n_clusters, radius, max_nodes, is_least)
            if chosen is None or not self._add_cuts(chosen):
                return chosen

    def _solve(self, n_clusters: int, radius: float, max_nodes: int | None, is_least: bool) -> Indices | None:
        """Solve the program with the cuts so far."""
        center, row = np.nonzero(self.reach <= radius)
        n_variables = len(row)
        variable = np.full(self.reach.shape, -1, dtype=np.intp)
        variable[center, row] = np.arange(n_variables)
        once = sparse.csr_array(
            (np.ones(n_variables), (row, np.arange(n_variables))), shape=(len(self.rows), n_variables)
        )
        is_center = (center == row).astype(np.float64)
        found = milp(
            is_center if is_least else np.zeros(n_variables),
            constraints=[
                LinearConstraint(once, 1.0, 1.0),
                LinearConstraint(is_center[None], -np.inf, n_clusters),
                LinearConstraint(self._cut_matrix(variable, n_variables), lb=0.0),
            ],
            integrality=np.ones(n_variables),
            bounds=Bounds(0.0, 1.0),
            options={} if max_nodes is None else {"node_limit": max_nodes},
        )
        if found.status == INFEASIBLE:
            return None
        if found.status != 0:
            raise GaveUpError
        taken = found.x > 0.5
        chosen = np.empty(len(self.rows), dtype=np.intp)
        chosen[row[taken]] = center[taken]
        return chosen

    def _cut_matrix(self, variable: Indices, n_variables: int) -> Any:
        """Return the conditions x >= 0 of open centers and of the cuts, for all centers that reach the row."""
        lines = []
        for rows, around in self.cuts.items():
            for row in rows:
                own = variable[:, row]
                centers = np.setdiff1d(np.flatnonzero(own >= 0), rows)
                for c in centers:
                    through = variable[c, around]
                    lines.append((own[c], through[through >= 0]))
        # A row is in the cluster of a center only if the center is one.
        for c, row in np.argwhere(variable >= 0):
            if c != row:
                lines.append((variable[c, row], variable[c, [c]]))
        number = np.repeat(np.arange(len(lines)), [1 + len(through) for _, through in lines])
        columns = [column for own, through in lines for column in (own, *through)]
        signs = [sign for _, through in lines for sign in (-1.0, *np.ones(len(through)))]
        return sparse.csr_array((signs, (number, columns)), shape=(len(lines), n_variables))

    def _add_cuts(self, chosen: Indices) -> bool:
        """Add a cut for every piece of a cluster that is cut off from its center; return whether there was one."""
        n_before = len(self.cuts)
        pairs = [(v, u) for v, around in enumerate(self.neighbors) for u in around if chosen[u] == chosen[v]]
        ends = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        matrix = sparse.csr_array((np.ones(len(pairs)), tuple(ends)), shape=(len(chosen), len(chosen)))
        _, piece = connected_components(matrix, directed=False)
        for number in np.unique(piece[piece != piece[chosen]]):
            inside = np.flatnonzero(piece == number)
            around = np.setdiff1d(np.concatenate([self.neighbors[v] for v in inside]), inside)
            self.cuts[tuple(inside.tolist())] = around
        return len(self.cuts) > n_before
