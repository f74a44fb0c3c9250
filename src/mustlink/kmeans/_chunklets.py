"""Must-link components as single weighted points, and clusters for them that keep all cannot-links."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import breadth_first_order, connected_components

from mustlink._rows import RowBlocks
from mustlink._types import Floats
from mustlink.constraints import Constraints, Feasibility
from mustlink.errors import InfeasibleError
from mustlink.kmeans._copkmeans_kernels import place_by_saturation, place_forest, settle, smallest_last
from mustlink.kmeans._lloyd import BoundRows, Labels, NoPlacement


class Chunklets(BoundRows):
    """The must-link components that have two rows or a cannot-link, placed so that no cannot-link is broken.

    Components of the cannot-link graph are independent of each other. Trees (single components and edges among them)
    and cliques get the cheapest placement there is. The rest is placed greedily, then by moves of one component at
    a time; the placement of the round before is kept if it is cheaper, so that the inertia never rises.

    Parameters
    ----------
    table, weight : RowBlocks and ndarray of shape (n_rows,)
        All rows and their weights.
    links : Constraints
        The links.
    n_clusters : int
        The number of clusters.
    order : {"saturation", "degeneracy", "given", "random"}
        In which order the greedy placement goes.
    relax : bool
        Whether to break as few cannot-links as possible where not all can be kept, instead of giving up.
    rng : RandomState
        For the random order.
    """

    def __init__(
        self,
        table: RowBlocks,
        weight: Floats,
        links: Constraints,
        n_clusters: int,
        *,
        order: str,
        relax: bool,
        rng: np.random.RandomState,
    ) -> None:
        self._links, self._n_clusters, self._n_rows = links, n_clusters, table.n_rows
        self._order, self._relax, self._rng = order, relax, rng
        component = links.components(table.n_rows)
        self.n_groups = int(component.max()) + 1
        edges, self._n_links, self.n_inner = _graph_between(component, links.cannot_link)
        needed = np.bincount(component) > 1
        needed[edges] = True
        self._component_of_item = np.flatnonzero(needed)
        number = np.cumsum(needed) - 1
        rows = np.flatnonzero(needed[component])
        super().__init__(table, weight, rows, number[component[rows]])
        self._edges = number[edges]
        if self.n_items:
            self._sort_parts()

    def _sort_parts(self) -> None:
        """Tell the connected parts of the cannot-link graph apart: trees, cliques, and the rest."""
        a, b = self._edges.T
        graph = _undirected(a, b, self._n_links, self.n_items)
        n_parts, part = connected_components(graph, directed=False)
        n_nodes = np.bincount(part, minlength=n_parts)
        n_edges = np.bincount(part[a], minlength=n_parts)
        is_tree = (n_edges == n_nodes - 1) & ((self._n_clusters > 1) | (n_nodes == 1))
        is_clique = (n_edges == n_nodes * (n_nodes - 1) // 2) & (n_nodes <= self._n_clusters) & ~is_tree
        self._tree_order, self._parent = _from_the_roots(graph, part, is_tree)
        self._cliques = _members(part, is_clique)
        is_hard = ~(is_tree | is_clique)
        self._hard = np.flatnonzero(is_hard[part])
        self._hard_graph = graph[self._hard][:, self._hard].tocsr()
        position = np.cumsum(is_hard[part]) - 1
        self._hard_parts = [position[nodes] for nodes in _members(part, is_hard)]

    def place(self, costs: Floats, previous: Labels | None) -> Labels:
        """Return a cluster for each component."""
        labels = np.full(self.n_items, -1, dtype=np.intp)
        place_forest(costs, self._tree_order, self._parent, labels)
        for nodes in self._cliques:
            labels[nodes] = linear_sum_assignment(costs[nodes])[1]
        if self._hard.size:
            before = None if previous is None else previous[self._hard]
            labels[self._hard] = self._place_hard(costs[self._hard], before)
        return labels

    def _place_hard(self, costs: Floats, previous: Labels | None) -> Labels:
        """Place the components for which no exact method is at hand; the best of several ways is taken."""
        tried = [self._greedily(costs, self._order)]
        if previous is not None:
            tried.append(self._settled(costs, previous, self._by_regret(costs)))
        if _fewest_broken(tried) and self._order != "degeneracy":
            tried.append(self._greedily(costs, "degeneracy"))
        if _fewest_broken(tried) and self.feasibility.colors is not None:
            tried.append(self._settled(costs, self._coloured(costs), self._by_regret(costs)))
        n_broken, _, labels = min(tried, key=lambda outcome: outcome[:2])
        if n_broken and not self._relax:
            if self.feasibility.answer is False:
                raise InfeasibleError(self.feasibility.reason)
            raise NoPlacement
        return labels

    def _greedily(self, costs: Floats, order: str) -> tuple[int, float, Labels]:
        """Place the components one after the other, each in the cheapest cluster that is open to it."""
        graph = self._hard_graph
        labels = np.full(len(costs), -1, dtype=np.intp)
        visits = self._by_regret(costs)
        if order == "saturation":
            place_by_saturation(graph.indptr, graph.indices, graph.data, costs, visits, labels)
        elif order == "degeneracy":
            visits = smallest_last(graph.indptr, graph.indices, visits)
        elif order == "random":
            visits = self._rng.permutation(len(costs))
        else:
            visits = np.arange(len(costs))
        return self._settled(costs, labels, visits)

    def _settled(self, costs: Floats, labels: Labels, visits: NDArray[np.int64]) -> tuple[int, float, Labels]:
        """Improve a placement by single moves; return the number of broken links, the cost, and the placement."""
        graph = self._hard_graph
        labels = labels.copy()
        settle(graph.indptr, graph.indices, graph.data, costs, visits, labels)
        of_node = np.repeat(np.arange(len(costs)), np.diff(graph.indptr))
        n_broken = int(graph.data[labels[of_node] == labels[graph.indices]].sum()) // 2
        return n_broken, float(costs[np.arange(len(costs)), labels].sum()), labels

    def _by_regret(self, costs: Floats) -> NDArray[np.int64]:
        """List the components with the most neighbours first, equals by what the second-best cluster costs more.

        Nothing here depends on how the rows are numbered, except among exact equals.
        """
        two = np.sort(costs, axis=1)[:, :2]
        regret = two[:, -1] - two[:, 0]
        return np.lexsort((-regret, -np.diff(self._hard_graph.indptr)))

    def _coloured(self, costs: Floats) -> Labels:
        """Take a known colouring, and match its colours with the clusters at the least cost in each connected part."""
        assert self.feasibility.colors is not None
        colours = self.feasibility.colors[self._component_of_item[self._hard]]
        labels = np.empty(len(costs), dtype=np.intp)
        for nodes in self._hard_parts:
            of_colour = np.zeros((self._n_clusters, self._n_clusters))
            np.add.at(of_colour, colours[nodes], costs[nodes])
            labels[nodes] = linear_sum_assignment(of_colour)[1][colours[nodes]]
        return labels

    @cached_property
    def feasibility(self) -> Feasibility:
        """Whether all links can be kept, asked only when the quick ways fail."""
        return self._links.feasible(self._n_clusters, self._n_rows)

    def try_another_order(self) -> None:
        """Visit the components at random from now on."""
        self._order = "random"

    def n_broken(self, labels: Labels) -> int:
        """Count the cannot-links that a placement breaks, those inside components with them."""
        a, b = self._edges.T
        return self.n_inner + int(self._n_links[labels[a] == labels[b]].sum())

    def gain_of_leaving(self, labels: Labels, own_cost: Floats) -> Floats:
        """Return the cost of each component: no link forbids an empty cluster."""
        return own_cost.copy()


def _graph_between(
    component: NDArray[np.intp], cannot_link: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the edges between components, the number of links behind each, and the number of links inside one."""
    pairs = np.sort(component[cannot_link].astype(np.int64).reshape(-1, 2), axis=1)
    inner = pairs[:, 0] == pairs[:, 1]
    n_components = int(component.max()) + 1
    key, n_links = np.unique(pairs[~inner] @ np.array([n_components, 1]), return_counts=True)
    return np.column_stack(np.divmod(key, n_components)), n_links, int(inner.sum())


def _undirected(a: NDArray[np.int64], b: NDArray[np.int64], value: NDArray[np.int64], n_nodes: int) -> sparse.csr_array:
    """Return a graph as a symmetric sparse array."""
    both = (np.concatenate([a, b]), np.concatenate([b, a]))
    return sparse.csr_array((np.concatenate([value, value]), both), shape=(n_nodes, n_nodes))


def _from_the_roots(
    graph: sparse.csr_array, part: NDArray[np.int32], is_tree: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the nodes of all trees, parents before children, and the parent of each; that of a root is -1."""
    n_nodes = graph.shape[0]
    _, first = np.unique(part, return_index=True)
    roots = first[is_tree]
    # One more node, joined to every root, makes one tree of them all.
    ground = np.full(len(roots), n_nodes)
    planted = graph.tocoo()
    joined = _undirected(
        np.concatenate([planted.row, roots]),
        np.concatenate([planted.col, ground]),
        np.ones(planted.nnz + len(roots), dtype=np.int64),
        n_nodes + 1,
    )
    order, parent = breadth_first_order(joined, n_nodes, directed=False)
    parent = np.where(parent[:-1] == n_nodes, -1, parent[:-1])
    return order[1:].astype(np.int64), parent.astype(np.int64)


def _members(part: NDArray[np.int32], wanted: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """List the nodes of each wanted part."""
    nodes = np.flatnonzero(wanted[part])
    nodes = nodes[np.argsort(part[nodes], kind="stable")]
    _, start = np.unique(part[nodes], return_index=True)
    return np.split(nodes, start[1:]) if nodes.size else []


def _fewest_broken(tried: list[tuple[int, float, Labels]]) -> int:
    return min(n_broken for n_broken, _, _ in tried)
