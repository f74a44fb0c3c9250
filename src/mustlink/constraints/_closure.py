"""What the pairs entail: must-link components, and the cannot-link graph between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mustlink.constraints._pairs import each_once
from mustlink.errors import InfeasibleError, TooLargeError

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

__all__ = ["Closure"]

MOST_EXPLICIT_PAIRS = 50_000_000


@dataclass(frozen=True, eq=False)
class Closure:
    """The entailed constraints, kept implicit.

    Must-links are an equivalence, so they come down to components of rows. One cannot-link between two
    components keeps all their rows apart, so cannot-links come down to a graph between components, called H in
    the literature. Nothing here grows with the square of a component.

    Attributes
    ----------
    component : ndarray of shape (n_samples,)
        The must-link component of every row, numbered in the order of their first rows.
    sizes : ndarray of shape (n_components,)
        How many rows each component has.
    cannot_link : ndarray of shape (n_edges, 2)
        Pairs of components that must be apart, each once, smaller number first.
    self_loops : ndarray of shape (n_conflicted,)
        Components with a cannot-link between two of their own rows: no clustering can keep all their links.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> closure = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)]).closure(5)
    >>> closure.component
    array([0, 0, 0, 1, 2])
    >>> closure.cannot_link
    array([[0, 1]])
    """

    component: NDArray[np.intp]
    sizes: NDArray[np.intp]
    cannot_link: NDArray[np.int64]
    self_loops: NDArray[np.int64]

    @classmethod
    def of(cls, constraints: Constraints, n_samples: int) -> Closure:
        """Work out what the constraints entail for a table of n_samples rows."""
        component = must_link_components(constraints.must_link, n_samples)
        return cls._from_edges(component, component[constraints.cannot_link])

    @classmethod
    def _from_edges(cls, component: NDArray[np.intp], edges: NDArray[np.intp]) -> Closure:
        """Build the closure from component numbers and possibly repeated edges between them."""
        pairs = edges.reshape(-1, 2).astype(np.int64)
        inner = pairs[:, 0] == pairs[:, 1]
        between, _ = each_once(pairs[~inner], np.ones((~inner).sum()))
        return cls(
            component=component,
            sizes=np.bincount(component).astype(np.intp),
            cannot_link=between,
            self_loops=np.unique(pairs[inner, 0]),
        )

    @property
    def n_components(self) -> int:
        """The number of must-link components, rows without a link counting as one each."""
        return len(self.sizes)

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cannot-link graph between components as (indptr, indices), neighbours in ascending order.

        Returns
        -------
        indptr : ndarray of shape (n_components + 1,)
            Where the neighbours of each component begin.
        indices : ndarray of shape (2 * n_edges,)
            The neighbours.
        """
        return graph_rows(self.cannot_link, self.n_components)

    def two_clusters(self) -> Closure:
        """Return the closure that holds when there are only two clusters.

        Then two steps along cannot-links lead back to the same cluster: a path of even length entails a
        must-link, a path of odd length a cannot-link. Each connected part of the cannot-link graph becomes two
        components that face each other.

        Returns
        -------
        Closure
            With at most one cannot-link per component.

        Raises
        ------
        InfeasibleError
            If the cannot-links form a ring of odd length, or a component contradicts itself.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints(cannot_link=[(0, 1), (1, 2)])
        >>> links.closure(3).two_clusters().component
        array([0, 1, 0])
        """
        if self.self_loops.size:
            raise InfeasibleError("A cannot-link stands between rows that must-links join.")
        side, opposite = self._two_colouring()
        if (side == opposite).any():
            raise InfeasibleError("The cannot-links form a ring of odd length, so that two clusters cannot keep them.")
        component, renumbered = _in_order_of_first_row(side[self.component], 2 * self.n_components)
        facing = np.column_stack([side, opposite])[np.unique(self.cannot_link)]
        return Closure._from_edges(component, renumbered[facing])

    def _two_colouring(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Label each component with the side it is on and the side it is not on.

        Every component stands twice, in a graph where a cannot-link leads from one copy to the other copy of its
        neighbour. Components whose first copies are connected are on one side. Where the two copies of one
        component are connected, there is a ring of odd length, and the two labels are equal.
        """
        n = self.n_components
        label = must_link_components(self._doubled(), 2 * n)
        return label[:n], label[n:]

    def _doubled(self) -> NDArray[np.int64]:
        """Return the edges of the doubled graph, the second copies numbered from n_components on."""
        a, b = self.cannot_link.T
        n = self.n_components
        return np.concatenate([np.column_stack([a, b + n]), np.column_stack([b, a + n])])

    def explicit(self) -> Constraints:
        """Return every entailed pair as constraints of weight one.

        Returns
        -------
        Constraints
            All must-links inside components and all cannot-links between them.

        Raises
        ------
        TooLargeError
            If there are more than 50 million such pairs.
        InfeasibleError
            If a component contradicts itself: its pairs are entailed both ways.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)]).closure(3).explicit().cannot_link
        array([[0, 2],
               [1, 2]])
        """
        from mustlink.constraints._constraints import Constraints

        if self.self_loops.size:
            raise InfeasibleError("A cannot-link stands between rows that must-links join.")
        sizes = self.sizes.astype(float)
        a, b = self.cannot_link.T
        n_pairs = (sizes * (sizes - 1) / 2).sum() + (sizes[a] * sizes[b]).sum()
        if n_pairs > MOST_EXPLICIT_PAIRS:
            raise TooLargeError(
                f"The closure has {n_pairs:,.0f} pairs, more than the {MOST_EXPLICIT_PAIRS:,} that are written "
                "out; work with its components and its cannot_link instead."
            )
        members = np.split(np.argsort(self.component, kind="stable"), np.cumsum(self.sizes)[:-1])
        inside = [_all_pairs(rows) for rows in members if len(rows) > 1]
        between = [_cross_pairs(members[i], members[j]) for i, j in self.cannot_link]
        nothing = np.empty((0, 2), dtype=np.int64)
        return Constraints(np.concatenate([nothing, *inside]), np.concatenate([nothing, *between]))


def must_link_components(pairs: NDArray[np.int64], n_nodes: int) -> NDArray[np.intp]:
    """Number the connected components of a graph in the order of their first nodes."""
    if len(pairs) == 0:
        return np.arange(n_nodes, dtype=np.intp)
    a, b = pairs.T
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), (a, b)), shape=(n_nodes, n_nodes))
    n_components, label = connected_components(graph, directed=False)
    return _in_order_of_first_row(label, n_components)[0]


def _in_order_of_first_row(label: NDArray[np.intp], n_labels: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Renumber labels by first appearance; also return the new number of every old label (unused ones last)."""
    first = np.full(n_labels, len(label), dtype=np.intp)
    first[label[::-1]] = np.arange(len(label))[::-1]
    new = np.empty(n_labels, dtype=np.intp)
    new[np.argsort(first, kind="stable")] = np.arange(n_labels)
    return new[label], new


def graph_rows(edges: NDArray[np.int64], n_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an undirected graph as (indptr, indices), the neighbours of each node in ascending order."""
    if len(edges) == 0:
        return np.zeros(n_nodes + 1, dtype=np.int64), np.empty(0, dtype=np.int64)
    a, b = edges.T
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    # SciPy sorts by counting, several times faster than by comparing.
    graph = coo_array((np.ones(2 * len(edges), dtype=bool), ends), shape=(n_nodes, n_nodes)).tocsr()
    graph.sort_indices()
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


def _all_pairs(rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Pair every row of a component with every later one."""
    i, j = np.triu_indices(len(rows), k=1)
    return np.column_stack([rows[i], rows[j]]).astype(np.int64)


def _cross_pairs(rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.int64]:
    """Pair every row of one component with every row of another."""
    return np.column_stack([np.repeat(rows, len(others)), np.tile(others, len(rows))]).astype(np.int64)
