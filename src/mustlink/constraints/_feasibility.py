"""Is there any clustering into k clusters that keeps every link? A ladder from easy answers to a search.

With cannot-links and three or more clusters the question is graph coloring, so no quick method can answer it
always. The steps (Davidson and Ravi 2005, 2007): a component that contradicts itself; fewer components than
clusters; the degeneracy of the cannot-link graph; two colors; a clique; and a search with a budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from mustlink.constraints._closure import Closure
from mustlink.constraints._graph import connected_nodes, shortest_path, symmetric_csr

__all__ = ["Feasibility"]

# Elementary steps of the search, about a second.
DEFAULT_BUDGET = 20_000_000
# The most rows that a reason names.
SHOWN_ROWS = 12


@dataclass(frozen=True)
class Feasibility:
    """The answer to whether k clusters can keep all links, with its reason.

    As a truth value it is true only when the answer is a proven yes.

    Attributes
    ----------
    answer : bool or None
        True, False, or None where the search ran out of its budget.
    reason : str
        A sentence, with rows by their numbers; :meth:`describe` names them otherwise.
    rows : tuple of int
        The rows that the reason names.
    colors : ndarray of shape (n_components,) or None
        For a yes: a cluster for every must-link component that keeps all cannot-links and leaves none of the k
        clusters empty. Geometry plays no part in it.

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
    colors: NDArray[np.intp] | None = field(default=None, repr=False, compare=False)
    rows: tuple[int, ...] = field(default=(), kw_only=True)
    separator: str = field(default=", ", repr=False, kw_only=True)

    def __bool__(self) -> bool:
        return self.answer is True

    @property
    def reason(self) -> str:
        """The reason, with rows by their numbers."""
        return self.describe()

    def describe(self, names: Sequence[object] | None = None) -> str:
        """Say the reason as a sentence.

        Parameters
        ----------
        names : sequence, default=None
            What to call the rows, such as their ids; row numbers if None.

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


def decide(closure: Closure, n_clusters: int, conflict: str | None, budget: int) -> Feasibility:
    """Climb the ladder and stop at the first step that answers."""
    if conflict is not None:
        return Feasibility(False, conflict)
    if closure.n_components < n_clusters:
        return Feasibility(
            False,
            f"The must-links leave {closure.n_components} separate groups of rows, fewer than the {n_clusters} "
            "clusters asked for, so that a cluster would stay empty.",
        )
    if n_clusters == 1:
        return _one_cluster(closure)
    # Loaded here, so that importing the constraints loads no compiler.
    from mustlink._coloring_kernels import color_greedily, grow_clique, smallest_last_order

    indptr, indices = _int64_csr(closure.graph())
    order, core_number = smallest_last_order(indptr, indices)
    order, degeneracy = order[::-1].copy(), core_number.max()
    colors = color_greedily(indptr, indices, order, np.full(len(order), -1, dtype=np.int64))
    n_colors = colors.max() + 1
    if n_colors <= n_clusters:
        reason = (
            f"{n_clusters} clusters are at least one more than the degeneracy of the cannot-link graph, which is "
            f"{degeneracy}."
            if n_clusters > degeneracy
            else f"A greedy coloring keeps all cannot-links with {n_colors} clusters."
        )
        return Feasibility(True, reason, _leave_none_empty(colors, n_clusters))
    if n_clusters == 2:
        return _two_clusters(closure)
    clique = grow_clique(indptr, indices, order)
    if len(clique) > n_clusters:
        return Feasibility(
            False,
            f"{len(clique)} groups of rows are all cannot-linked to each other, more than {n_clusters} clusters; "
            "they hold the rows {rows}.",
            rows=_first_rows(closure, clique),
        )
    colors = np.full(len(order), -1, dtype=np.int64)
    no = _search(closure, n_clusters, core_number >= n_clusters, budget, colors)
    if no is not None:
        return no
    # In this order a component outside the core meets fewer than k colored neighbors.
    colors = color_greedily(indptr, indices, order, colors)
    return Feasibility(True, "A search found a coloring.", _leave_none_empty(colors, n_clusters))


def _one_cluster(closure: Closure) -> Feasibility:
    if len(closure.cannot_link):
        apart = _first_rows(closure, closure.cannot_link[0])
        return Feasibility(False, "One cluster cannot keep the rows {rows} apart.", rows=apart, separator=" and ")
    return Feasibility(True, "There are no cannot-links.", np.zeros(closure.n_components, dtype=np.intp))


def _two_clusters(closure: Closure) -> Feasibility:
    """Color with two colors, or name a ring of odd length."""
    side, opposite = closure.two_coloring()
    odd = np.flatnonzero(side == opposite)
    if odd.size:
        ring = _first_rows(closure, _odd_ring(closure, odd[0]))
        return Feasibility(
            False,
            f"Two clusters cannot keep a ring of {len(ring) - 1} cannot-links, an odd number: {{rows}}.",
            rows=ring,
            separator=" - ",
        )
    colors = (side > opposite).astype(np.int64)
    return Feasibility(True, "The cannot-links have no ring of odd length.", _leave_none_empty(colors, 2))


def _odd_ring(closure: Closure, component: int) -> NDArray[np.int64]:
    """Find a ring of odd length that is connected with a component, its first member repeated at the end.

    A shortest walk from the component to its own copy in the doubled graph is closed and odd, but may go the same
    way there and back. Where it first comes back to a place, it has closed a ring; an even one would have been
    left out for a shorter walk.
    """
    n = closure.n_components
    doubled = closure.doubled()
    graph = symmetric_csr(doubled, np.ones(len(doubled), dtype=np.int8), 2 * n)
    walk = shortest_path(graph, component, component + n) % n
    been_before = np.ones(len(walk), dtype=bool)
    been_before[np.unique(walk, return_index=True)[1]] = False
    end = np.flatnonzero(been_before)[0]
    begin = np.flatnonzero(walk == walk[end])[0]
    return walk[begin : end + 1]


def _search(
    closure: Closure, n_clusters: int, core: NDArray[np.bool_], budget: int, colors: NDArray[np.int64]
) -> Feasibility | None:
    """Color the hard core of the graph by branch and bound, one connected part after the other.

    A component with fewer than k neighbors left can always be colored last, so that only the core in which all
    have k or more is searched. Fills `colors` there, or returns why it cannot be done.
    """
    from mustlink._coloring_kernels import color_by_search

    for nodes, edges in _connected_parts(closure.cannot_link, core):
        graph = symmetric_csr(edges, np.ones(len(edges), dtype=np.int8), len(nodes))
        answer, found, steps = color_by_search(*_int64_csr(graph), n_clusters, budget)
        budget -= steps
        if answer < 0:
            return Feasibility(None, "The search for a coloring of the cannot-links ran out of its budget.")
        if answer == 0:
            return Feasibility(
                False,
                f"A full search shows that {n_clusters} clusters cannot keep the cannot-links between the "
                f"{len(nodes)} groups of rows around the rows {{rows}}.",
                rows=_first_rows(closure, nodes),
            )
        colors[nodes] = found
    return None


def _connected_parts(
    edges: NDArray[np.int64], core: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """Give the nodes of each connected part of the core, and its edges in the numbering of those nodes."""
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
    """Move components out of clusters with several into empty ones; splitting a cluster breaks no cannot-link."""
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
