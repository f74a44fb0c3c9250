"""Parts of a link graph that are too wide for exact inference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import entr

from mustlink._types import Floats, Indices, Ints
from mustlink.constraints import Constraints, LinkGraph
from mustlink.inference._hard_links import finite_penalty, relabel_broken_parts
from mustlink.inference._icm import iterated_conditional_modes
from mustlink.inference._marginals import Marginals
from mustlink.inference._model import LinkModel

__all__ = ["Approximation", "SubModel"]


@dataclass(frozen=True, eq=False)
class SubModel:
    """Some nodes of a graph and the edges between them, as a link model of their own.

    Attributes
    ----------
    nodes : ndarray of shape (n_sub_nodes,)
        The nodes, ascending.
    edges : ndarray of shape (n_sub_edges,)
        The numbers of the edges, in the order of the links of `graph`.
    graph : LinkGraph
        The edges as links between the positions of the nodes.
    penalty : ndarray of shape (n_sub_edges,)
        Their penalties.
    """

    nodes: Indices
    edges: Ints
    graph: LinkGraph
    penalty: Floats

    @classmethod
    def of(cls, nodes: Indices, edges: Ints, coupling: Floats) -> Self:
        """Take some nodes of a graph.

        Parameters
        ----------
        nodes : ndarray of shape (n_sub_nodes,)
            The nodes, ascending.
        edges : ndarray of shape (n_edges, 2)
            All edges of the graph, each once, in ascending order.
        coupling : ndarray of shape (n_edges,)
            Their couplings.

        Returns
        -------
        SubModel
        """
        inside = np.flatnonzero(np.isin(edges, nodes).all(axis=1))
        numbers = np.concatenate([inside[coupling[inside] >= 0], inside[coupling[inside] < 0]])
        ends = np.searchsorted(nodes, edges[numbers])
        is_must = coupling[numbers] >= 0
        graph = Constraints(ends[is_must], ends[~is_must]).adjacency(len(nodes))
        return cls(nodes, numbers, graph, np.abs(coupling[numbers]))

    def model(self, belief: Floats) -> LinkModel:
        """Return the link model with the potentials of these nodes.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials of all nodes.

        Returns
        -------
        LinkModel
        """
        return LinkModel(belief[self.nodes], self.graph, self.penalty)

    def improve(self, belief: Floats, state: Indices) -> None:
        """Improve the states of these nodes by iterated conditional modes, in place.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials of all nodes.
        state : ndarray of shape (n_nodes,)
            The states of all nodes.
        """
        model = self.model(belief)
        finite = replace(model, penalty=finite_penalty(model, "Inference"))
        labels = iterated_conditional_modes(finite, labels=state[self.nodes])
        broken = (labels[self.graph.pairs[:, 0]] == labels[self.graph.pairs[:, 1]]) != (self.graph.sign > 0)
        if (broken & np.isinf(self.penalty)).any():
            rows, feasible = relabel_broken_parts(model, broken)
            labels[rows] = feasible
            labels = iterated_conditional_modes(finite, labels=labels)
        state[self.nodes] = labels


@dataclass(frozen=True, eq=False)
class Approximation:
    """Nodes whose probabilities are approximated.

    Attributes
    ----------
    sub_model : SubModel
        The nodes and their edges.
    solve : callable
        Takes a link model and probabilities to start from, or None, and returns marginals.
    """

    sub_model: SubModel
    solve: Callable[[LinkModel, Floats | None], Marginals]

    def add_marginals(self, belief: Floats, marginal: Floats, equal: Floats, start: Floats | None) -> float:
        """Write the marginals of the nodes and the chance of equality of the edges; return the log-normalizer.

        It is an estimate where the method computes none.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials.
        marginal : ndarray of shape (n_nodes, n_states)
            Written at the nodes of these parts.
        equal : ndarray of shape (n_edges,)
            Written at the edges of these parts.
        start : ndarray of shape (n_nodes, n_states) or None
            The probabilities to start from.

        Returns
        -------
        float
        """
        part = self.sub_model
        model = part.model(belief)
        found = self.solve(model, None if start is None else start[part.nodes])
        marginal[part.nodes] = found.rows
        equal[part.edges] = np.where(part.graph.sign > 0, found.links, 1 - found.links)
        return estimate_log_normalizer(model, found) if found.log_normalizer is None else found.log_normalizer

    def add_best(self, belief: Floats, state: Indices) -> None:
        """Write the states of a labeling that no change of a single node improves.

        Parameters
        ----------
        belief : ndarray of shape (n_nodes, n_states)
            The log-potentials.
        state : ndarray of shape (n_nodes,)
            Written at the nodes of these parts.
        """
        part = self.sub_model
        state[part.nodes] = self.solve(part.model(belief), None).rows.argmax(axis=1)
        part.improve(belief, state)


def estimate_log_normalizer(model: LinkModel, marginals: Marginals) -> float:
    """Return the mean log-weight of labelings, plus the entropy of the rows as if they were independent.

    With the entropy of all rows together, which is at most that of independent ones, it would be the log-normalizer.
    """
    rows, is_soft = marginals.rows, np.isfinite(model.penalty)
    energy = (rows * np.where(rows > 0, model.log_potentials, 0)).sum()
    energy -= model.penalty[is_soft] @ (1 - marginals.links[is_soft])
    return float(energy + entr(rows).sum())
