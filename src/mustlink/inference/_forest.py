"""Exact marginals where the cannot-links form a forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csgraph, csr_array

from mustlink._types import Floats, Indices
from mustlink.inference._forest_kernels import pass_messages

__all__ = ["CannotLinkForest"]


@dataclass(frozen=True, eq=False)
class CannotLinkForest:
    """A forest of cannot-links that are never broken.

    On a forest the marginals are exact and take linear time; with cycles they are as hard as graph coloring.

    Attributes
    ----------
    order : ndarray of shape (n_linked,)
        The nodes of the forest, each after its parent.
    parent : ndarray of shape (n_nodes,)
        The parent of every node of the forest, -1 for roots.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.inference import CannotLinkForest
    >>> forest = CannotLinkForest.heaviest(np.array([[0, 1]]), np.array([1.0]), 2)
    >>> beliefs = forest.add_messages(np.log([[0.5, 0.5], [0.2, 0.8]]))
    >>> (np.exp(beliefs[0]) / np.exp(beliefs[0]).sum()).round(2)
    array([0.8, 0.2])
    """

    order: Indices
    parent: Indices

    @classmethod
    def heaviest(cls, edges: Indices, weight: Floats, n_nodes: int) -> Self:
        """Choose the heaviest edges that close no cycle.

        Parameters
        ----------
        edges : ndarray of shape (n_edges, 2)
            Each pair of nodes once, the smaller one first, in ascending order.
        weight : ndarray of shape (n_edges,)
            The weights of the edges, not negative.
        n_nodes : int
            The number of nodes.

        Returns
        -------
        CannotLinkForest
        """
        if not len(edges):
            return cls(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
        # csgraph finds the lightest tree and reads zero as no edge.
        cost = 2 * weight.max() - weight
        graph = csr_array((cost, tuple(edges.T)), shape=(n_nodes, n_nodes))
        tree = csgraph.minimum_spanning_tree(graph).tocoo()
        # One more node, connected with a node of each tree: a single traversal then visits all of them.
        linked = np.unique(edges)
        _, tree_of = csgraph.connected_components(tree, directed=False)
        roots = linked[np.unique(tree_of[linked], return_index=True)[1]]
        ends = np.append(tree.row, np.full(len(roots), n_nodes)), np.append(tree.col, roots)
        joined = csr_array((np.ones(len(ends[0])), ends), shape=(n_nodes + 1, n_nodes + 1))
        order, parent = csgraph.breadth_first_order(joined, n_nodes, directed=False)
        parent = np.where(parent[:n_nodes] == n_nodes, -1, parent[:n_nodes])
        return cls(order[1:].astype(np.intp), parent.astype(np.intp))

    def add_messages(self, log_potentials: Floats) -> Floats:
        """Return the log-marginals of every node, each up to a constant.

        Parameters
        ----------
        log_potentials : ndarray of shape (n_nodes, n_states)
            The evidence for each state.

        Returns
        -------
        ndarray of shape (n_nodes, n_states)
            The evidence itself for nodes outside the forest, and for all nodes if there is one state only.
        """
        beliefs = log_potentials.copy()
        if len(self.order) and beliefs.shape[1] > 1:
            pass_messages(beliefs, self.order, self.parent)
        return beliefs
