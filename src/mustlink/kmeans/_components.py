"""Must-link components as single weighted points, and clusters for them that keep all cannot-links."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import breadth_first_order, connected_components

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.constraints import Feasibility
from mustlink.errors import InfeasibleError
from mustlink.kmeans._copkmeans_kernels import place_by_saturation, place_forest, settle, smallest_last
from mustlink.kmeans._rules import LinkedRows, LinkRule, NoPlacement


class Components(LinkRule):
    """Must-link components kept whole, and placed such that no cannot-link is broken.

    Connected parts of the cannot-link graph between components are independent of each other. Trees (single components
    among them) and cliques get the placement of least cost. The rest is placed greedily, then by moves of one
    component at a time; the previous placement is kept if it costs less, and the inertia never rises. With `relax`, as
    few cannot-links as possible are broken where not all can be kept, instead of giving up.
    """

    def __init__(
        self, linked: LinkedRows, n_clusters: int, *, order: str, relax: bool, rng: np.random.RandomState
    ) -> None:
        closure = linked.closure
        super().__init__(linked.rows, closure.component)
        self._linked, self._n_clusters = linked, n_clusters
        self._order, self._relax, self._rng = order, relax, rng
        self._edges, self._n_links = closure.cannot_link, closure.count
        # Cannot-links inside components, which no placement keeps.
        self._n_inner = len(linked.links.cannot_link) - int(closure.count.sum())
        if self.n_units:
            self._sort_parts(replace(closure, weight=closure.count.astype(np.float64)).graph())

    @property
    def n_components(self) -> int:
        """The number of components, rows without a link among them."""
        return self._linked.n_samples - len(self.rows) + self.n_units

    def _sort_parts(self, graph: sparse.csr_array) -> None:
        """Find the connected parts of the cannot-link graph: trees, cliques, and the rest."""
        n_parts, part = connected_components(graph, directed=False)
        n_nodes = np.bincount(part, minlength=n_parts)
        n_edges = np.bincount(part[self._edges[:, 0]], minlength=n_parts)
        is_tree = (n_edges == n_nodes - 1) & ((self._n_clusters > 1) | (n_nodes == 1))
        is_clique = (n_edges == n_nodes * (n_nodes - 1) // 2) & (n_nodes <= self._n_clusters) & ~is_tree
        roots = np.unique(part, return_index=True)[1][is_tree]
        self._tree_order, self._parent = _from_the_roots(self._edges, roots, self.n_units)
        self._cliques = _members(part, is_clique)
        is_hard = ~(is_tree | is_clique)
        self._hard = np.flatnonzero(is_hard[part])
        if self._hard.size:
            self._hard_graph = graph[self._hard][:, self._hard].tocsr().astype(np.int64)
            position = np.cumsum(is_hard[part]) - 1
            self._hard_parts = [position[nodes] for nodes in _members(part, is_hard)]

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        labels = np.full(self.n_units, -1, dtype=np.intp)
        place_forest(costs, self._tree_order, self._parent, labels)
        for nodes in self._cliques:
            labels[nodes] = linear_sum_assignment(costs[nodes])[1]
        if self._hard.size:
            before = None if previous is None else previous[self._hard]
            labels[self._hard] = self._place_hard(costs[self._hard], before)
        return labels

    def _place_hard(self, costs: Floats, previous: Indices | None) -> Indices:
        """Place the components for which there is no exact method; the best of several ways is taken."""
        tried = [self._greedily(costs, self._order)]
        if previous is not None:
            tried.append(self._settled(costs, previous, self._by_regret(costs)))
        if _fewest_broken(tried) and self._order != "degeneracy":
            tried.append(self._greedily(costs, "degeneracy"))
        if _fewest_broken(tried) and self.feasibility.colors is not None:
            start = self._from_coloring(self.feasibility.colors, costs)
            tried.append(self._settled(costs, start, self._by_regret(costs)))
        n_broken, _, labels = min(tried, key=lambda outcome: outcome[:2])
        if n_broken and not self._relax:
            if self.feasibility.answer is False:
                raise InfeasibleError(self.feasibility.reason, feasibility=self.feasibility)
            raise NoPlacement
        return labels

    def _greedily(self, costs: Floats, order: str) -> tuple[int, float, Indices]:
        """Place the components one after the other, each in the cheapest cluster without a cannot-linked one."""
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

    def _settled(self, costs: Floats, labels: Indices, visits: Ints) -> tuple[int, float, Indices]:
        """Improve a placement by single moves; return the number of broken links, the cost, and the placement."""
        graph = self._hard_graph
        labels = labels.copy()
        settle(graph.indptr, graph.indices, graph.data, costs, visits, labels)
        of_node = np.repeat(np.arange(len(costs)), np.diff(graph.indptr))
        n_broken = int(graph.data[labels[of_node] == labels[graph.indices]].sum()) // 2
        return n_broken, float(costs[np.arange(len(costs)), labels].sum()), labels

    def _by_regret(self, costs: Floats) -> Ints:
        """List the components with the most neighbors first, equals by the extra cost of their second-best cluster.

        Only exact ties depend on how the rows are numbered.
        """
        two = np.sort(costs, axis=1)[:, :2]
        regret = two[:, -1] - two[:, 0]
        return np.lexsort((-regret, -np.diff(self._hard_graph.indptr)))

    def _from_coloring(self, known: Ints, costs: Floats) -> Indices:
        """Match the colors of a known coloring with the clusters at the least cost in each connected part."""
        rows = self.rows[np.unique(self.unit, return_index=True)[1]]
        colors = known[self._linked.given.components(self._linked.n_samples)[rows[self._hard]]]
        labels = np.empty(len(costs), dtype=np.intp)
        for nodes in self._hard_parts:
            of_color = np.zeros((self._n_clusters, self._n_clusters))
            np.add.at(of_color, colors[nodes], costs[nodes])
            labels[nodes] = linear_sum_assignment(of_color)[1][colors[nodes]]
        return labels

    @cached_property
    def feasibility(self) -> Feasibility:
        """Whether all links can be kept; computed only when the quick ways fail."""
        return self._linked.given.feasible(self._n_clusters, self._linked.n_samples)

    def try_another_order(self) -> None:
        self._order = "random"

    def n_broken(self, units: Indices) -> int:
        """Count the cannot-links that a placement breaks, including those inside components."""
        a, b = self._edges.T
        return self._n_inner + int(self._n_links[units[a] == units[b]].sum())

    def gain_of_leaving(self, units: Indices, distance: Floats, c: int) -> Floats:
        # No link forbids an empty cluster.
        return distance.copy()


def _from_the_roots(edges: Ints, roots: Indices, n_nodes: int) -> tuple[Ints, Ints]:
    """List the nodes of the trees with these roots, parents before children, and the parent of each; -1 of a root."""
    # One more node, joined to every root, makes one tree of them all.
    ends = np.concatenate([edges, edges[:, ::-1], np.column_stack([np.full(len(roots), n_nodes), roots])])
    joined = sparse.csr_array((np.ones(len(ends)), tuple(ends.T)), shape=(n_nodes + 1, n_nodes + 1))
    order, parent = breadth_first_order(joined, n_nodes)
    parent = np.where(parent[:-1] == n_nodes, -1, parent[:-1])
    return order[1:].astype(np.int64), parent.astype(np.int64)


def _members(part: NDArray[np.int32], wanted: Mask) -> list[Indices]:
    """List the nodes of each wanted part."""
    nodes = np.flatnonzero(wanted[part])
    nodes = nodes[np.argsort(part[nodes], kind="stable")]
    _, start = np.unique(part[nodes], return_index=True)
    return np.split(nodes, start[1:]) if nodes.size else []


def _fewest_broken(tried: list[tuple[int, float, Indices]]) -> int:
    """Return the fewest broken links among several placements."""
    return min(n_broken for n_broken, _, _ in tried)
