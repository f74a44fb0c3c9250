"""Exact inference on cliques of hard cannot-links: no two of the nodes have the same state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from mustlink._types import Floats, Indices, Ints
from mustlink.inference._clique_kernels import place_cliques

__all__ = ["Cliques"]

# Below all sums of log-potentials that occur, and far from overflow.
MIN_LOG_WEIGHT = -1e200


@dataclass(frozen=True, eq=False)
class Cliques:
    """Parts in which all nodes must have different states.

    Attributes
    ----------
    nodes : ndarray of shape (n_in_cliques,)
        The nodes of all cliques, one clique after the other.
    indptr : ndarray of shape (n_cliques + 1,)
        Where each clique begins.
    edges : ndarray of shape (n_edges,)
        The numbers of their edges.
    """

    nodes: Ints
    indptr: Ints
    edges: Ints

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
        equal[self.edges] = 0.0
        log_normalizer: float = place_cliques(belief, self.nodes, self.indptr, marginal)
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
        # The solver refuses infinite numbers where they cannot be avoided.
        finite = np.maximum(belief, MIN_LOG_WEIGHT)
        for members in np.split(self.nodes, self.indptr[1:-1]):
            state[members] = linear_sum_assignment(finite[members], maximize=True)[1]
