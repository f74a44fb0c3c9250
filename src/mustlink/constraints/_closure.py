"""Entailed constraints: must-link components, and the cannot-link graph between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mustlink._numbering import number_by_first
from mustlink.constraints._graph import connected_nodes, symmetric_csr
from mustlink.constraints._pairs import each_once
from mustlink.errors import InfeasibleError, TooLargeError

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

__all__ = ["Closure", "Groups"]

MAX_EXPLICIT_PAIRS = 50_000_000


class Groups(NamedTuple):
    """The must-link components of two and more rows, in compressed form.

    Attributes
    ----------
    indptr : ndarray of shape (n_groups + 1,)
        The rows of group g are ``rows[indptr[g] : indptr[g + 1]]``.
    rows : ndarray of shape (n_grouped,)
        The rows of all groups, one group after the other, ascending in each.
    number : ndarray of shape (n_samples,)
        The group of every row, -1 for a row in no group.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> Constraints(must_link=[(1, 2)]).closure(4).groups().number
    array([-1,  0,  0, -1])
    """

    indptr: NDArray[np.int64]
    rows: NDArray[np.intp]
    number: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Closure:
    """The entailed constraints, kept implicit.

    Must-links are an equivalence relation, which the components of rows represent. One cannot-link between two
    components separates all their rows, and a graph between components represents the cannot-links. Memory does not
    grow with the square of the size of a component.

    Attributes
    ----------
    component : ndarray of shape (n_samples,)
        The must-link component of every row, numbered in the order of their first rows.
    sizes : ndarray of shape (n_components,)
        The number of rows of each component.
    cannot_link : ndarray of shape (n_edges, 2)
        Pairs of components with a cannot-link between them, each once, smaller number first.
    weight : ndarray of shape (n_edges,)
        The summed weight of the cannot-links between each two.
    count : ndarray of shape (n_edges,)
        The number of those cannot-links.
    self_loops : ndarray of shape (n_conflicted,)
        Components with a cannot-link between two of their own rows; no clustering satisfies all their links.

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
    weight: NDArray[np.float64]
    count: NDArray[np.intp]
    self_loops: NDArray[np.int64]

    @classmethod
    def of(cls, constraints: Constraints, n_samples: int) -> Closure:
        """Compute what the constraints entail for a table of n_samples rows.

        Parameters
        ----------
        constraints : Constraints
            The links.
        n_samples : int
            The number of rows.

        Returns
        -------
        Closure
        """
        component = connected_nodes(constraints.must_link, n_samples)
        return cls._from_edges(component, component[constraints.cannot_link], constraints.cannot_link_weight)

    @classmethod
    def _from_edges(cls, component: NDArray[np.intp], edges: NDArray[np.intp], weight: NDArray[np.float64]) -> Closure:
        """Build the closure from component numbers and possibly repeated edges between them."""
        pairs = edges.reshape(-1, 2).astype(np.int64)
        inner = pairs[:, 0] == pairs[:, 1]
        between, total, count = each_once(pairs[~inner], weight[~inner])
        return cls(
            component=component,
            sizes=np.bincount(component).astype(np.intp),
            cannot_link=between,
            weight=total,
            count=count,
            self_loops=np.unique(pairs[inner, 0]),
        )

    @property
    def n_components(self) -> int:
        """The number of must-link components; a row without a must-link is one by itself."""
        return len(self.sizes)

    def groups(self) -> Groups:
        """Return the components of two and more rows.

        Returns
        -------
        Groups
            Their rows in compressed form, and the group of every row.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 3), (2, 4)]).closure(5).groups().rows
        array([0, 3, 2, 4])
        """
        several = self.sizes > 1
        rows = np.flatnonzero(several[self.component])
        rows = rows[np.argsort(self.component[rows], kind="stable")]
        number_of = np.where(several, np.cumsum(several) - 1, -1)
        indptr = np.concatenate([[0], np.cumsum(self.sizes[several])]).astype(np.int64)
        return Groups(indptr, rows, number_of[self.component])

    def graph(self) -> csr_array:
        """Return the cannot-link graph between components.

        Returns
        -------
        csr_array of shape (n_components, n_components)
            Symmetric, with the summed weight of the cannot-links between two components; the neighbors of each
            component are in ascending order.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 2), (1, 2)])
        >>> links.closure(3).graph().toarray()
        array([[0., 2.],
               [2., 0.]])
        """
        return symmetric_csr(self.cannot_link, self.weight, self.n_components)

    def two_clusters(self) -> Closure:
        """Return the closure that holds when there are only two clusters.

        Then a path of cannot-links of even length entails a must-link, and one of odd length a cannot-link. Each
        connected part of the cannot-link graph becomes two components with a cannot-link between them.

        Returns
        -------
        Closure
            With at most one cannot-link per component.

        Raises
        ------
        InfeasibleError
            If the cannot-links form a cycle of odd length, or a component contradicts itself.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints(cannot_link=[(0, 1), (1, 2)])
        >>> links.closure(3).two_clusters().component
        array([0, 1, 0])
        """
        if self.self_loops.size:
            raise InfeasibleError("A cannot-link is between rows that must-links join", remedy="drop_link")
        side, opposite = two_coloring(self)
        if (side == opposite).any():
            raise InfeasibleError(
                "The cannot-links form a cycle of odd length, which two clusters cannot satisfy", remedy="drop_of_cycle"
            )
        component, renumbered = number_by_first(side[self.component], 2 * self.n_components)
        ends = self.cannot_link[:, 0]
        facing = np.column_stack([side[ends], opposite[ends]])
        return Closure._from_edges(component, renumbered[facing], self.weight)

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
            raise InfeasibleError("A cannot-link is between rows that must-links join", remedy="drop_link")
        sizes = self.sizes.astype(float)
        a, b = self.cannot_link.T
        n_pairs = (sizes * (sizes - 1) / 2).sum() + (sizes[a] * sizes[b]).sum()
        if n_pairs > MAX_EXPLICIT_PAIRS:
            raise TooLargeError(
                f"The closure has {n_pairs:,.0f} pairs, and at most {MAX_EXPLICIT_PAIRS:,} are listed; use its "
                "component and cannot_link instead."
            )
        members = np.split(np.argsort(self.component, kind="stable"), np.cumsum(self.sizes)[:-1])
        inside = [_all_pairs(rows) for rows in members if len(rows) > 1]
        between = [_cross_pairs(members[i], members[j]) for i, j in self.cannot_link]
        nothing = np.empty((0, 2), dtype=np.int64)
        return Constraints(np.concatenate([nothing, *inside]), np.concatenate([nothing, *between]))


def two_coloring(closure: Closure) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Label each component with the side it is on and the side it is not on.

    Components whose first copies in the doubled graph are connected are on one side. Where the two copies of one
    component are connected, there is a cycle of odd length, and the two labels are equal.
    """
    n = closure.n_components
    label = connected_nodes(doubled_edges(closure), 2 * n)
    return label[:n], label[n:]


def doubled_edges(closure: Closure) -> NDArray[np.int64]:
    """Return the edges of the doubled graph: a cannot-link joins a component to the second copy of its neighbor.

    The second copies are numbered from n_components on.
    """
    a, b = closure.cannot_link.T
    n = closure.n_components
    return np.concatenate([np.column_stack([a, b + n]), np.column_stack([b, a + n])])


def _all_pairs(rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Pair every row of a component with every later one."""
    i, j = np.triu_indices(len(rows), k=1)
    return np.column_stack([rows[i], rows[j]]).astype(np.int64)


def _cross_pairs(rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.int64]:
    """Pair every row of one component with every row of another."""
    return np.column_stack([np.repeat(rows, len(others)), np.tile(others, len(rows))]).astype(np.int64)
