"""Feasibility of the links with k clusters: a sequence of tests from cheap ones to a search.

With cannot-links and three or more clusters the question is graph coloring, which no fast method always decides. The
tests (Davidson and Ravi 2005, 2007): a component that contradicts itself; fewer components than clusters; the
degeneracy of the cannot-link graph; two colors; a clique; and a search with a budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from mustlink._html import render_html
from mustlink._spelling import count
from mustlink.constraints._closure import Closure, doubled_edges, two_coloring
from mustlink.constraints._graph import connected_nodes, shortest_path, symmetric_csr
from mustlink.constraints._groups import CannotLinkGroups, split_alone

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

__all__ = ["Feasibility"]

# Elementary steps of the search, about a second.
DEFAULT_BUDGET = 20_000_000
# The most rows that a reason names.
SHOWN_ROWS = 12
# Why the answer is yes.
NO_CANNOT_LINKS = "There are no cannot-links."
FOUND = "A clustering that keeps them was found."
FOUND_BY_SEARCH = "A search found a clustering that keeps them."


@dataclass(frozen=True)
class Feasibility:
    """Whether k clusters can satisfy all links, with the reason.

    Its truth value is True only if the answer is proven.

    Attributes
    ----------
    answer : bool or None
        True, False, or None if the search exceeded its budget.
    reason : str
        A sentence with row numbers; :meth:`describe` uses other names.
    rows : tuple of int
        The rows that the reason names.
    too_many_clusters : bool
        Whether fewer clusters would be feasible, rather than more.
    min_clusters : int or None
        If not feasible for too few clusters: a number below which no other number is feasible either.
    colors : ndarray of shape (n_components,) or None
        If feasible: a cluster for every must-link component that satisfies all cannot-links and leaves none of the k
        clusters empty. It does not depend on the data.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> triangle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
    >>> triangle.feasible(2, n_samples=5).answer
    False
    >>> bool(triangle.feasible(3, n_samples=5))
    True
    """

    answer: bool | None
    words: str = field(repr=False)
    found: NDArray[np.intp] | None = field(default=None, repr=False, compare=False)
    rows: tuple[int, ...] = field(default=(), kw_only=True)
    separator: str = field(default=", ", repr=False, kw_only=True)
    too_many_clusters: bool = field(default=False, repr=False, kw_only=True)
    linked: LinkedRows | None = field(default=None, repr=False, compare=False, kw_only=True)
    min_clusters: int | None = field(default=None, repr=False, kw_only=True)

    def __bool__(self) -> bool:
        return self.answer is True

    def _repr_html_(self) -> str:
        title = {True: "Feasible.", False: "Not feasible.", None: "Not known whether feasible."}[self.answer]
        return render_html(title, self.reason)

    @cached_property
    def colors(self) -> NDArray[np.intp] | None:
        """The cluster of every must-link component, if feasible; written out for the whole table on first access."""
        return self.found if self.found is None or self.linked is None else self.linked.spread(self.found)

    @property
    def reason(self) -> str:
        """The reason, with row numbers."""
        return self.describe()

    def describe(self, names: Sequence[object] | None = None) -> str:
        """Describe the reason in a sentence.

        Parameters
        ----------
        names : sequence, default=None
            The names of the rows, such as their ids; row numbers if None.

        Returns
        -------
        str
            The sentence. Of many rows only the first are named.
        """
        shown = [str(row if names is None else names[row]) for row in self.rows[:SHOWN_ROWS]]
        named = self.separator.join(shown)
        if len(self.rows) > SHOWN_ROWS:
            named += f" and {len(self.rows) - SHOWN_ROWS} more"
        return self.words.replace("{rows}", named)


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """The linked rows of a table, ascending, and the must-link component of each, numbered by first rows."""

    rows: NDArray[np.intp]
    component: NDArray[np.intp]
    n_samples: int
    # Groups whose rows are in no other link; they are not among the rows above.
    alone: Sequence[CannotLinkGroups] = ()

    def spread(self, colors: NDArray[np.intp]) -> NDArray[np.intp]:
        """Write out the colors of these components and some of the rows after them for all components of the table."""
        first = self.rows[np.unique(self.component, return_index=True)[1]]
        others = np.setdiff1d(self.rows, first)
        # Components are numbered by their first rows, which come after all rows below them that are not first.
        number = first - np.searchsorted(others, first)
        spread = np.zeros(self.n_samples - len(others), dtype=np.intp)
        without_link = np.ones(len(spread), dtype=bool)
        without_link[number] = False
        more = colors[len(first) :]
        spread[number] = colors[: len(first)]
        spread[np.flatnonzero(without_link)[: len(more)]] = more
        for one in self.alone:
            indptr, rows = one.members()
            spread[rows - np.searchsorted(others, rows)] = np.arange(len(rows)) - np.repeat(indptr[:-1], one.sizes)
        return _leave_none_empty(spread, int(colors.max()) + 1) if self.alone else spread


def decide_for_table(links: Constraints, n_clusters: int, n_samples: int, budget: int) -> Feasibility:
    """Decide for a table of any size, in memory by the number of links."""
    conflicts = links.conflicts()
    if conflicts:
        return Feasibility(False, str(conflicts[0]))
    for one in links.cannot_link_groups:
        largest = int(one.sizes.argmax())
        if (size := int(one.sizes[largest])) > n_clusters:
            return Feasibility(
                False,
                f"The group {one.names[largest]!s} has {count(size, 'row')}, no two of which may be in one cluster, "
                f"and there {'is' if n_clusters == 1 else 'are'} {count(n_clusters, 'cluster')}.",
                min_clusters=size,
            )
    alone, links = split_alone(links)
    rows, local = links.expand().compact()
    # Rows without a link are alike, and no more of them matter than there are clusters.
    closure = local.closure(len(rows) + min(n_samples - len(rows), n_clusters))
    answer = decide(closure, n_clusters, budget)
    linked = LinkedRows(rows, closure.component[: len(rows)], n_samples, alone)
    if alone and answer.words == NO_CANNOT_LINKS:
        answer = replace(answer, words=FOUND)
    return replace(answer, rows=tuple(rows[list(answer.rows)].tolist()), linked=linked)


def decide(closure: Closure, n_clusters: int, budget: int) -> Feasibility:
    """Run the tests in order of cost and stop at the first that decides."""
    if closure.n_components < n_clusters:
        return Feasibility(
            False,
            f"The must-links leave only {closure.n_components} "
            f"component{'' if closure.n_components == 1 else 's'} for {n_clusters} clusters; a cluster would be empty.",
            too_many_clusters=True,
        )
    if n_clusters == 1:
        return _one_cluster(closure)
    # Imported here because importing the constraints must not load numba.
    from mustlink._coloring_kernels import color_greedily, grow_clique, smallest_last_order

    indptr, indices = _int64_csr(closure.graph())
    order, core_number = smallest_last_order(indptr, indices)
    order = order[::-1].copy()
    colors = color_greedily(indptr, indices, order, np.full(len(order), -1, dtype=np.int64))
    if colors.max() < n_clusters:
        # Always so if k is larger than the degeneracy of the graph.
        reason = FOUND if len(closure.cannot_link) else NO_CANNOT_LINKS
        return Feasibility(True, reason, _leave_none_empty(colors, n_clusters))
    if n_clusters == 2:
        return _two_clusters(closure)
    clique = grow_clique(indptr, indices, order)
    if len(clique) > n_clusters:
        return Feasibility(
            False,
            f"{len(clique)} must-link components are all cannot-linked to each other, more than {n_clusters} clusters; "
            "they contain the rows {rows}.",
            rows=_first_rows(closure, clique),
            min_clusters=len(clique),
        )
    colors = np.full(len(order), -1, dtype=np.int64)
    no = _search(closure, n_clusters, core_number >= n_clusters, budget, colors)
    if no is not None:
        return no
    # In this order a component outside the core meets fewer than k colored neighbors.
    colors = color_greedily(indptr, indices, order, colors)
    return Feasibility(True, FOUND_BY_SEARCH, _leave_none_empty(colors, n_clusters))


def _one_cluster(closure: Closure) -> Feasibility:
    if len(closure.cannot_link):
        apart = _first_rows(closure, closure.cannot_link[0])
        return Feasibility(
            False, "One cluster cannot separate the rows {rows}.", rows=apart, separator=" and ", min_clusters=2
        )
    return Feasibility(True, NO_CANNOT_LINKS, np.zeros(closure.n_components, dtype=np.intp))


def _two_clusters(closure: Closure) -> Feasibility:
    """Color with two colors, or find a cycle of odd length."""
    side, opposite = two_coloring(closure)
    odd = np.flatnonzero(side == opposite)
    if odd.size:
        cycle = _first_rows(closure, _odd_cycle(closure, odd[0]))
        return Feasibility(
            False,
            f"Two clusters cannot satisfy a cycle of {len(cycle) - 1} cannot-links, an odd number: {{rows}}.",
            rows=cycle,
            separator=" - ",
            min_clusters=3,
        )
    colors = (side > opposite).astype(np.int64)
    return Feasibility(True, FOUND, _leave_none_empty(colors, 2))


def _odd_cycle(closure: Closure, component: int) -> NDArray[np.int64]:
    """Find a cycle of odd length that is connected with a component, its first member repeated at the end.

    A shortest walk from the component to its own copy in the doubled graph is closed and odd, but may use edges
    twice. Where it first returns to a node, it has closed a cycle; that one is odd, because without an even cycle
    the walk would be shorter.
    """
    n = closure.n_components
    doubled = doubled_edges(closure)
    graph = symmetric_csr(doubled, np.ones(len(doubled), dtype=np.int8), 2 * n)
    walk = shortest_path(graph, component, component + n) % n
    visited = np.ones(len(walk), dtype=bool)
    visited[np.unique(walk, return_index=True)[1]] = False
    end = np.flatnonzero(visited)[0]
    begin = np.flatnonzero(walk == walk[end])[0]
    return walk[begin : end + 1]


def _search(
    closure: Closure, n_clusters: int, core: NDArray[np.bool_], budget: int, colors: NDArray[np.int64]
) -> Feasibility | None:
    """Color the hard core of the graph by branch and bound, one connected part after the other.

    A component with fewer than k neighbors left can always be colored last; only the core in which all have k or
    more is searched. Fills `colors` there, or returns why there is no coloring.
    """
    from mustlink._coloring_kernels import color_by_search

    for nodes, edges in _connected_parts(closure.cannot_link, core):
        graph = symmetric_csr(edges, np.ones(len(edges), dtype=np.int8), len(nodes))
        answer, found, steps = color_by_search(*_int64_csr(graph), n_clusters, budget)
        budget -= steps
        if answer < 0:
            return Feasibility(None, "The search for a coloring of the cannot-links exceeded its budget.")
        if answer == 0:
            return Feasibility(
                False,
                f"An exhaustive search shows that {n_clusters} clusters cannot satisfy the cannot-links between the "
                f"{len(nodes)} must-link components with the rows {{rows}}.",
                rows=_first_rows(closure, nodes),
                min_clusters=n_clusters + 1,
            )
        colors[nodes] = found
    return None


def _connected_parts(
    edges: NDArray[np.int64], core: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """Yield the nodes of each connected part of the core, and its edges in the numbering of those nodes."""
    edges = edges[core[edges].all(axis=1)]
    part = connected_nodes(edges, len(core))
    nodes = np.flatnonzero(core)
    nodes = nodes[np.argsort(part[nodes], kind="stable")]
    _, starts = np.unique(part[nodes], return_index=True)
    position = np.empty(len(core), dtype=np.int64)
    position[nodes] = np.arange(len(nodes)) - np.repeat(starts, np.diff(np.r_[starts, len(nodes)]))
    edges = edges[np.argsort(part[edges[:, 0]], kind="stable")]
    _, edge_starts = np.unique(part[edges[:, 0]], return_index=True)
    parts = zip(np.split(nodes, starts[1:]), np.split(position[edges], edge_starts[1:]), strict=True)
    yield from parts


def _int64_csr(graph: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a graph as the index arrays that the kernels take."""
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


def _leave_none_empty(colors: NDArray[np.int64], n_clusters: int) -> NDArray[np.intp]:
    """Move components from clusters with several into empty ones; splitting a cluster violates no cannot-link."""
    colors = np.asarray(colors, dtype=np.intp).copy()
    empty = np.setdiff1d(np.arange(n_clusters), colors)
    by_color = np.argsort(colors, kind="stable")
    repeated = by_color[1:][colors[by_color[1:]] == colors[by_color[:-1]]]
    colors[repeated[: len(empty)]] = empty
    return colors


def _first_rows(closure: Closure, components: ArrayLike) -> tuple[int, ...]:
    """Return the first rows of some components."""
    first = np.unique(closure.component, return_index=True)[1]
    return tuple(first[np.asarray(components)].tolist())
