"""Rows that hard links tie together as one node each, and the links between these nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.constraints import Constraints, LinkGraph
from mustlink.errors import InfeasibleError

__all__ = ["Condensation"]


@dataclass(frozen=True, eq=False)
class Condensation:
    """The nodes and edges that remain when hard links are collapsed.

    Hard must-links join rows to one node. With two clusters hard cannot-links do so too: one end has the state of the
    node, the other end the opposite one. Several links between two nodes are one edge.

    Attributes
    ----------
    node : ndarray of shape (n_rows,)
        The node of every row.
    is_opposite : ndarray of shape (n_rows,)
        Whether a row has the opposite state of its node.
    n_nodes : int
        The number of nodes.
    n_clusters : int
        The number of states of each.
    edges : ndarray of shape (n_edges, 2)
        Pairs of nodes, each once, smaller number first, in ascending order.
    coupling : ndarray of shape (n_edges,)
        The coupling of each edge; minus infinity for a hard cannot-link.
    constant : float
        What every labeling that keeps the hard links loses for other links.
    link_edge : ndarray of shape (n_links,)
        The edge of every link, -1 if it is inside a node.
    when_equal, when_unequal : ndarray of shape (n_links,)
        Whether a link is satisfied (1 or 0) if the states of its two nodes are equal or unequal.
    """

    node: Indices
    is_opposite: Mask
    n_nodes: int
    n_clusters: int
    edges: Ints
    coupling: Floats
    constant: float
    link_edge: Ints
    when_equal: Floats
    when_unequal: Floats

    @classmethod
    def of(cls, graph: LinkGraph, penalty: Floats, n_clusters: int, rows: Indices | None = None) -> Self:
        """Collapse the hard links of a graph.

        Parameters
        ----------
        graph : LinkGraph
            The links.
        penalty : ndarray of shape (n_links,)
            The penalty of each, infinite for hard links.
        n_clusters : int
            The number of clusters.
        rows : ndarray of shape (n_rows,), default=None
            The names of the rows in messages; their numbers if None.

        Returns
        -------
        Condensation

        Raises
        ------
        InfeasibleError
            If no labeling keeps all hard links.
        """
        node, is_opposite = _collapse(graph, np.isinf(penalty), n_clusters, rows)
        n_nodes = int(node.max(initial=-1)) + 1
        ends = np.sort(node[graph.pairs], axis=1)
        is_even = is_opposite[graph.pairs[:, 0]] == is_opposite[graph.pairs[:, 1]]
        # A link between a row and one of opposite state is satisfied where one of the other kind would be.
        when_equal = (is_even == (graph.sign > 0)).astype(np.float64)
        is_between = ends[:, 0] != ends[:, 1]
        constant = -float(penalty[~is_between & (when_equal == 0)].sum())
        keys, link_edge = np.unique(ends[is_between] @ [n_nodes, 1], return_inverse=True)
        edges = np.column_stack(np.divmod(keys, n_nodes)).astype(np.int64).reshape(-1, 2)
        # What the links of each edge lose where the two states are unequal, and where they are equal.
        apart, together = (
            np.bincount(link_edge, np.where(when_equal == kind, penalty, 0)[is_between], len(keys)) for kind in (1, 0)
        )
        return cls(
            node,
            is_opposite,
            n_nodes,
            n_clusters,
            edges,
            np.asarray(apart - together, dtype=np.float64),
            constant - float(np.minimum(together, apart).sum()),
            _spread(link_edge, is_between),
            when_equal,
            1 - when_equal,
        )

    def potentials(self, log_potentials: Floats) -> Floats:
        """Return the log-potentials of the nodes, the sums of those of their rows.

        Parameters
        ----------
        log_potentials : ndarray of shape (n_rows, n_clusters)
            Those of the rows.

        Returns
        -------
        ndarray of shape (n_nodes, n_clusters)
            A new array.
        """
        facing = self._turn(log_potentials)
        return np.array(facing) if self.n_nodes == len(self.node) else np.asarray(self._sum @ facing)

    @cached_property
    def _sum(self) -> csr_array:
        """The matrix that adds up the rows of each node."""
        n_rows = len(self.node)
        return csr_array((np.ones(n_rows), (self.node, np.arange(n_rows))), shape=(self.n_nodes, n_rows))

    def choose(self, of_rows: Floats) -> Floats:
        """Return the values of one row of each node, facing its states.

        Parameters
        ----------
        of_rows : ndarray of shape (n_rows, n_clusters)
            The probabilities of the clusters of rows.

        Returns
        -------
        ndarray of shape (n_nodes, n_clusters)
        """
        first = np.unique(self.node, return_index=True)[1]
        return self._turn(of_rows)[first]

    def spread(self, of_nodes: Floats) -> Floats:
        """Return the values of every row, given those of the nodes.

        Parameters
        ----------
        of_nodes : ndarray of shape (n_nodes, n_clusters)
            The probabilities of the states of nodes.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
        """
        return self._turn(of_nodes[self.node])

    def label(self, state: Indices) -> Indices:
        """Return the label of every row, given the states of the nodes.

        Parameters
        ----------
        state : ndarray of shape (n_nodes,)
            The state of every node.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        labels = state[self.node]
        return np.where(self.is_opposite, 1 - labels, labels)

    def satisfied(self, equal: Floats) -> Floats:
        """Return the probability that each link is satisfied.

        Parameters
        ----------
        equal : ndarray of shape (n_edges,)
            The probability that the two nodes of each edge have equal states.

        Returns
        -------
        ndarray of shape (n_links,)
        """
        together = np.append(equal, 1.0)[self.link_edge]
        return self.when_equal * together + self.when_unequal * (1 - together)

    def _turn(self, values: Floats) -> Floats:
        """Exchange the two columns at the rows of opposite state."""
        if not self.is_opposite.any():
            return values
        return np.where(self.is_opposite[:, None], values[:, ::-1], values)


def _spread(link_edge: Ints, is_between: Mask) -> Ints:
    """Number the edges of all links, those inside nodes included."""
    numbers = np.full(len(is_between), -1, dtype=np.int64)
    numbers[is_between] = link_edge
    return numbers


def _collapse(graph: LinkGraph, is_hard: Mask, n_clusters: int, rows: Indices | None) -> tuple[Indices, Mask]:
    """Return the node of every row, and whether the row has the opposite state; refuse contradictions."""
    pairs, sign = graph.pairs[is_hard], graph.sign[is_hard]
    _refuse(pairs if rows is None else np.asarray(rows)[pairs], sign, n_clusters)
    closure = Constraints.from_pairs(pairs, sign).closure(graph.n_samples)
    if n_clusters != 2:
        return closure.component, np.zeros(graph.n_samples, dtype=bool)
    closure = closure.two_clusters()
    facing = np.arange(closure.n_components)
    facing[closure.cannot_link[:, 1]] = closure.cannot_link[:, 0]
    _, number = np.unique(facing, return_inverse=True)
    return number[closure.component], facing[closure.component] != closure.component


def _refuse(pairs: Ints, sign: Array, n_clusters: int) -> None:
    """Refuse hard links that no labeling keeps."""
    hard = Constraints.from_pairs(pairs, sign, contradictions="keep")
    conflicts = hard.conflicts()
    if conflicts:
        raise InfeasibleError(
            str(conflicts[0]),
            [conflict.cannot_link for conflict in conflicts],
            remedy=("drop_link", "soft_mixture"),
        )
    # Enough rows without links that no cluster need be empty.
    feasibility = hard.feasible(n_clusters, int(pairs.max(initial=0)) + 1 + n_clusters)
    if feasibility.answer is False:
        raise InfeasibleError(
            feasibility.reason,
            remedy=("at_least_clusters", "soft_mixture"),
            n_needed=feasibility.min_clusters,
            feasibility=feasibility,
        )
