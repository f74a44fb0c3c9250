"""Which part of a graph is solved how: trees, cliques, junction trees, and what is too wide for them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array, csgraph

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.inference._clique import Cliques
from mustlink.inference._condensation import Condensation
from mustlink.inference._junction_tree import Elimination, JunctionTrees, eliminate_by_fill

__all__ = ["Partition", "connected_parts", "spanning_edges"]


@dataclass(eq=False)
class Partition:
    """How the cores of a graph are solved, see :class:`mustlink.inference._tree.Trees`.

    Attributes
    ----------
    cliques : list of ndarray
        The nodes of the cores that are cliques of hard cannot-links.
    eliminations : list of Elimination
        Those of the cores with junction trees.
    wide : list of ndarray
        The nodes of the cores whose tables are too large.
    """

    cliques: list[Indices] = field(default_factory=list)
    eliminations: list[Elimination] = field(default_factory=list)
    wide: list[Indices] = field(default_factory=list)

    @classmethod
    def of(cls, condensed: Condensation, core: Indices, max_table: int) -> Partition:
        """Choose the way to solve each core of a graph.

        Parameters
        ----------
        condensed : Condensation
            The graph.
        core : ndarray of shape (n_core,)
            The nodes of all cores.
        max_table : int
            The maximum number of entries of the tables of a core.

        Returns
        -------
        Partition
        """
        partition = cls()
        if not len(core):
            return partition
        inside = np.flatnonzero(np.isin(condensed.edges, core).all(axis=1))
        part = connected_parts(condensed.edges[inside], condensed.n_nodes)
        by_part = inside[np.argsort(part[condensed.edges[inside, 0]], kind="stable")]
        _, starts = np.unique(part[condensed.edges[by_part, 0]], return_index=True)
        for numbers in np.split(by_part, starts[1:]):
            edges = condensed.edges[numbers]
            nodes = np.unique(edges)
            if _is_clique(nodes, condensed.coupling[numbers], condensed.n_clusters, max_table):
                partition.cliques.append(nodes)
                continue
            elimination = eliminate_by_fill(nodes, edges, condensed.n_clusters, max_table)
            if elimination is None:
                partition.wide.append(nodes)
            else:
                partition.eliminations.append(elimination)
        return partition

    def solvers(self, condensed: Condensation) -> list[Cliques | JunctionTrees]:
        """Return what solves the cores that are not too wide.

        Parameters
        ----------
        condensed : Condensation
            The graph.

        Returns
        -------
        list of Cliques or JunctionTrees
        """
        found: list[Cliques | JunctionTrees] = []
        if self.cliques:
            nodes = np.concatenate(self.cliques).astype(np.int64)
            indptr = np.cumsum([0, *map(len, self.cliques)])
            inside = np.flatnonzero(np.isin(condensed.edges, nodes).all(axis=1))
            found.append(Cliques(nodes, indptr, inside))
        if self.eliminations:
            graph = condensed.edges, condensed.coupling, condensed.n_nodes
            found.append(JunctionTrees.of(self.eliminations, *graph, condensed.n_clusters))
        return found


def _is_clique(nodes: Indices, coupling: Floats, n_states: int, max_table: int) -> bool:
    """Return whether all pairs of nodes have hard cannot-links, and sets of states are fewer than states of nodes."""
    if len(coupling) < len(nodes) * (len(nodes) - 1) // 2 or not np.isneginf(coupling).all():
        return False
    return 2**n_states <= min(max_table, n_states ** len(nodes))


def connected_parts(edges: Ints, n_nodes: int) -> Indices:
    """Number the connected parts of a graph.

    Parameters
    ----------
    edges : ndarray of shape (n_edges, 2)
        The edges.
    n_nodes : int
        The number of nodes.

    Returns
    -------
    ndarray of shape (n_nodes,)
    """
    graph = coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(n_nodes, n_nodes))
    return np.asarray(csgraph.connected_components(graph, directed=False)[1], dtype=np.intp)


def spanning_edges(edges: Ints, weight: Floats, n_nodes: int) -> Mask:
    """Choose the heaviest edges that close no cycle; of equal ones the first.

    Parameters
    ----------
    edges : ndarray of shape (n_edges, 2)
        The edges, each once.
    weight : ndarray of shape (n_edges,)
        Their weights; may be infinite.
    n_nodes : int
        The number of nodes.

    Returns
    -------
    ndarray of shape (n_edges,)
        Whether each edge is chosen.
    """
    rank = np.empty(len(edges), dtype=np.int64)
    rank[np.argsort(-weight, kind="stable")] = np.arange(1, len(edges) + 1)
    graph = coo_array((rank, tuple(edges.T)), shape=(n_nodes, n_nodes))
    tree = csgraph.minimum_spanning_tree(graph.tocsr())
    return np.isin(rank, np.rint(tree.data).astype(np.int64))
