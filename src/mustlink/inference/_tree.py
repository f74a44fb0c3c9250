"""Exact inference on trees of nodes, alone or hanging from parts with cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from mustlink._coloring_kernels import smallest_last_order
from mustlink._types import Floats, Indices, Ints
from mustlink.inference._tree_kernels import assign_best, collect_best, collect_sums, distribute_sums

__all__ = ["Trees"]


@dataclass(frozen=True, eq=False)
class Trees:
    """All nodes of a graph that are in no cycle and on no path between cycles.

    A connected part without cycles is a tree with a root. In other parts the trees hang from the core, the nodes that
    remain when nodes with one neighbor are removed again and again.

    Attributes
    ----------
    order : ndarray of shape (n_in_trees,)
        The nodes outside the cores, each before its parent.
    parent : ndarray of shape (n_nodes,)
        The parent of every node, -1 for roots and nodes of cores.
    edge : ndarray of shape (n_nodes,)
        The number of the edge to the parent, -1 without one.
    coupling : ndarray of shape (n_nodes,)
        The coupling of that edge.
    core : ndarray of shape (n_core,)
        The nodes of the cores.
    """

    order: Ints
    parent: Ints
    edge: Ints
    coupling: Floats
    core: Indices

    @classmethod
    def of(cls, edges: Ints, coupling: Floats, n_nodes: int, kept: Ints | None = None) -> Self:
        """Separate the trees of a graph from its cores.

        Parameters
        ----------
        edges : ndarray of shape (n_edges, 2)
            The edges, each once.
        coupling : ndarray of shape (n_edges,)
            Their couplings.
        n_nodes : int
            The number of nodes.
        kept : ndarray of shape (n_kept,), default=None
            The numbers of the edges to use; all if None.

        Returns
        -------
        Trees
        """
        numbers = np.arange(len(edges)) if kept is None else kept
        a, b = edges[numbers].T
        ends = np.concatenate([a, b]), np.concatenate([b, a])
        graph = csr_array((np.ones(2 * len(a), dtype=np.int8), ends), shape=(n_nodes, n_nodes))
        order, core_number = smallest_last_order(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
        place = np.empty(n_nodes, dtype=np.int64)
        place[order] = np.arange(n_nodes)
        # A node outside the cores has at most one neighbor after it in this order.
        earlier, later = np.where(place[a] < place[b], a, b), np.where(place[a] < place[b], b, a)
        hangs = core_number[earlier] <= 1
        parent, edge = np.full(n_nodes, -1, dtype=np.int64), np.full(n_nodes, -1, dtype=np.int64)
        parent[earlier[hangs]], edge[earlier[hangs]] = later[hangs], numbers[hangs]
        on_edge = np.where(edge >= 0, coupling[edge], 0.0) if len(edges) else np.zeros(n_nodes)
        return cls(order[core_number[order] <= 1], parent, edge, on_edge, np.flatnonzero(core_number > 1))

    def without(self, nodes: Indices) -> Self:
        """Count isolated nodes as a core.

        Parameters
        ----------
        nodes : ndarray of shape (n_core,)
            Nodes without edges.

        Returns
        -------
        Trees
        """
        return replace(self, order=self.order[~np.isin(self.order, nodes)], core=nodes)

    def collect(self, belief: Floats, marginal: Floats) -> tuple[float, tuple[Floats, ...]]:
        """Add to every node the messages of the tree below it.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials; messages are added in place.
        marginal : ndarray of shape (n_nodes, n_states)
            Written at the roots.

        Returns
        -------
        log_normalizer : float
            Of all trees; those that hang from a core count what is not in its `belief`.
        messages : tuple of ndarray
            For :meth:`distribute`.
        """
        share, mass, message = np.empty_like(belief), np.empty_like(belief), np.empty_like(belief)
        log_normalizer = collect_sums(belief, self.order, self.parent, self.coupling, share, mass, message, marginal)
        return log_normalizer, (share, mass)

    def distribute(self, belief: Floats, messages: tuple[Floats, ...], marginal: Floats, equal: Floats) -> None:
        """Write the marginals of all nodes with parents, and the chance of equality of their edges.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            As :meth:`collect` leaves it.
        messages : tuple of ndarray
            Of :meth:`collect`.
        marginal : ndarray of shape (n_nodes, n_states)
            With the marginals of roots and cores.
        equal : ndarray of shape (n_edges,)
            Written at the edges of the trees.
        """
        equal_above = np.empty(len(belief))
        distribute_sums(belief, self.order, self.parent, self.coupling, *messages, marginal, equal_above)
        child = np.flatnonzero(self.edge >= 0)
        equal[self.edge[child]] = equal_above[child]

    def collect_best(self, belief: Floats) -> None:
        """Add to every node the best log-weights of the tree below it.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials; log-weights are added in place.
        """
        collect_best(belief, self.order, self.parent, self.coupling)

    def assign_best(self, belief: Floats, state: Indices) -> None:
        """Write the best state of every node outside the cores.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            As :meth:`collect_best` leaves it.
        state : ndarray of shape (n_nodes,)
            With the states of the cores.
        """
        assign_best(belief, self.order, self.parent, self.coupling, state)
