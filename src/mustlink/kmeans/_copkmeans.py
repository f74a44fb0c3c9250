"""COPKMeans: k-means in which every link is kept."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import breadth_first_order, connected_components

from mustlink._sklearn_compat import StrOptions
from mustlink._spelling import count
from mustlink._types import Floats, Indices, Ints, Mask
from mustlink._warnings import warn_caller
from mustlink.base import refuse_contradictions, refuse_infeasible
from mustlink.constraints import Constraints, Feasibility
from mustlink.errors import InfeasibleWarning
from mustlink.kmeans._base import BaseWeightedKMeans, Problem
from mustlink.kmeans._copkmeans_kernels import place_by_saturation, place_forest, settle, smallest_last
from mustlink.kmeans._engine import Run
from mustlink.kmeans._group_units import GroupUnits
from mustlink.kmeans._rules import LinkedRows, LinkRule, NoPlacement

# Larger groups of rows are placed without an array of as many columns as rows; smaller ones are placed faster with it.
MAX_COPIED_ROWS = 64


class COPKMeans(BaseWeightedKMeans):
    """k-means with hard must-link and cannot-link constraints (Wagstaff, Cardie, Rogers and Schroedl 2001).

    Each must-link component moves as one weighted point: no must-link can break. Components with a cannot-link between
    them never share a cluster. Use it when the links are certain; :class:`PCKMeans` is for links that may be wrong.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "components", "random"} or array-like of shape (n_clusters, n_features), default="k-means++"
        The starting centers:

        - "k-means++": rows drawn far from each other;
        - "components": means of must-link components far from each other, then rows as by "k-means++";
        - "random": rows drawn at random;
        - an array: these centers.

    order : {"saturation", "degeneracy", "given", "random"}, default="saturation"
        The order in which components are placed where there is no exact placement:

        - "saturation": the one with the fewest open clusters first;
        - "degeneracy": such that each meets as few placed neighbors as possible;
        - "given": by their first rows;
        - "random": at random.

    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the lowest inertia is kept. "auto" is one run,
        ten for ``init="random"``; if no run keeps the links, up to ten runs are made. From a start without randomness
        one run is made, and further ones only if it fails.
    max_iter : int, default=300
        The maximum number of iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centers together is at most this fraction of the mean variance of
        the features.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if not all links can be kept, or no way to do so is found: raise :class:`InfeasibleError`; or keep
        the must-links, break few cannot-links, and issue an :class:`InfeasibleWarning`.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster.
    inertia_ : float
        The weighted sum of squared distances of the rows to the centers of their clusters.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The inertia after each assignment of that run. It never rises, except where links had to be broken.
    violations_ : Constraints
        The links that the result breaks; none unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="raise"``, if the links contradict each other, leave fewer components than clusters, or
        need more clusters; its `pairs` are the cannot-links concerned, where they are known.

    See Also
    --------
    PCKMeans : Links have a penalty and can be broken.
    SeededKMeans : For a class known for some rows.

    Notes
    -----
    The original visits the rows one by one and gives up when a row has no cluster left. Here the cannot-link graph
    between components is split first. For given centers, trees and cliques of it get the placement of least cost. The
    rest is placed greedily, then improved by moves of single components; if that fails, it is placed in degeneracy
    order, and at last from a coloring found by :meth:`Constraints.feasible`: a problem known to have a solution never
    fails. A placement is replaced only by one of lower cost; the inertia never rises, which the original does not
    guarantee.

    Groups of :meth:`Constraints.from_groups` whose rows are in no other link are cliques; they are placed one after the
    other, without a list of their pairs. In a group of more rows than clusters, ``on_infeasible="relax"`` lets the
    fewest pairs share a cluster.

    An empty cluster is restarted at the component with the largest cost. Without links this is Lloyd's algorithm. The
    numbering of the rows matters only for the orders "given" and "random", and for exact ties.

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl, "Constrained k-means clustering with background knowledge",
    ICML 2001. I. Davidson and S. S. Ravi, "Clustering with constraints: feasibility issues and the k-means
    algorithm", SDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import COPKMeans, Constraints
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> COPKMeans(n_clusters=2, random_state=0).fit(X, constraints=links).labels_
    array([1, 1, 0, 0, 0, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseWeightedKMeans._parameter_constraints,
        "order": [StrOptions({"saturation", "degeneracy", "given", "random"})],
        "on_infeasible": [StrOptions({"raise", "relax"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "k-means++",
        order: str = "saturation",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        on_infeasible: str = "raise",
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.on_infeasible = on_infeasible
        self.verbose = verbose
        self.random_state = random_state

    _takes_groups = True
    _takes_blocks = True

    def _rule(self, problem: Problem) -> Components:
        relax = self.on_infeasible == "relax"
        rule = Components(problem.linked, self.n_clusters, order=self.order, relax=relax, rng=problem.rng)
        if not relax:
            if problem.linked.closure.self_loops.size:
                refuse_contradictions(problem.linked.given)
            if rule.n_components < self.n_clusters:
                refuse_infeasible(rule.feasibility)
        return rule

    def _keep(self, run: Run, links: Constraints, dtype: Any) -> None:
        super()._keep(run, links, dtype)
        if run.n_broken:
            warn_caller(
                f"Not all links could be kept: the clustering breaks {run.n_broken:,} of "
                f"{count(links.n_cannot_links, 'cannot-link')}",
                InfeasibleWarning,
                remedy="see_violations",
            )


class Components(LinkRule):
    """Must-link components kept whole, and placed such that no cannot-link is broken.

    Connected parts of the cannot-link graph between components are independent of each other. Trees (single components
    among them) and cliques get the placement of least cost. The rest is placed greedily, then by moves of one
    component at a time; the previous placement is kept if it costs less, and the inertia never rises. With `relax`, as
    few cannot-links as possible are broken where not all can be kept, instead of giving up.

    The rows of a group of :meth:`Constraints.from_groups` that are in no other link are units after all others. They
    are a clique of their own, placed group by group: there is no list of their links, nor an array of all their costs.
    """

    def __init__(
        self, linked: LinkedRows, n_clusters: int, *, order: str, relax: bool, rng: np.random.RandomState
    ) -> None:
        closure = linked.closure
        self._n_joint = int(closure.component.max(initial=-1)) + 1
        self._alone = GroupUnits(linked.alone, self._n_joint)
        rows = np.concatenate([linked.rows, self._alone.rows])
        n_alone = len(self._alone.rows)
        super().__init__(rows, np.concatenate([closure.component, self._n_joint + np.arange(n_alone)]))
        self._linked, self._n_clusters = linked, n_clusters
        self._order, self._relax, self._rng = order, relax, rng
        self._edges, self._n_links = closure.cannot_link, closure.count
        # Cannot-links inside components, which no placement keeps.
        self._n_inner = len(linked.links.cannot_link) - int(closure.count.sum())
        if self._n_joint:
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
        self._tree_order, self._parent = _from_the_roots(self._edges, roots, self._n_joint)
        self._cliques = _members(part, is_clique)
        is_hard = ~(is_tree | is_clique)
        self._hard = np.flatnonzero(is_hard[part])
        if self._hard.size:
            self._hard_graph = graph[self._hard][:, self._hard].tocsr().astype(np.int64)
            position = np.cumsum(is_hard[part]) - 1
            self._hard_parts = [position[nodes] for nodes in _members(part, is_hard)]

    def parts(self, n_clusters: int) -> list[slice]:
        return self._alone.parts(n_clusters)

    def place_part(self, part: slice, costs: Floats, previous: Indices | None) -> Indices:
        if part.start < self._n_joint:
            return self.place(costs, previous)
        bounds = pairwise(self._alone.bounds(part).tolist())
        return np.concatenate([_place_group(costs[start:stop]) for start, stop in bounds])

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        labels = np.full(self._n_joint, -1, dtype=np.intp)
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
                refuse_infeasible(self.feasibility)
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
        n_broken = self._n_inner + int(self._n_links[units[a] == units[b]].sum())
        return n_broken + int(self._alone.n_sharing(units, self._n_clusters).sum()) // 2

    def gain_of_leaving(self, units: Indices, distance: Floats, c: int) -> Floats:
        # No link forbids an empty cluster.
        return distance.copy()


def _place_group(costs: Floats) -> Indices:
    """Place rows that may not share a cluster at the least cost; if there are too few clusters, few pairs share one."""
    n_rows, n_clusters = costs.shape
    nearest = costs.argmin(axis=1)
    if len(np.unique(nearest)) == n_rows:
        return nearest
    n_copies = -(-n_rows // n_clusters)
    if n_rows > MAX_COPIED_ROWS and n_copies > 1:
        # The family of sizes imports this one.
        from mustlink.sizes import assign

        # The fewest pairs share a cluster if the sizes differ by at most one.
        return assign(costs, size_min=n_rows // n_clusters, size_max=n_copies).labels.astype(np.intp, copy=False)
    if n_copies > 1:
        # The n-th row of a cluster shares it with n - 1 others; one pair fewer is better whatever the costs are.
        per_pair = 1.0 + 2.0 * n_rows * float(np.ptp(costs))
        costs = np.concatenate([costs + place * per_pair for place in range(n_copies)], axis=1)
    return np.asarray(linear_sum_assignment(costs)[1] % n_clusters)


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
