"""Links as a graph: the CSR form of undirected edges, components, and shortest paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from mustlink._numbering import number_by_first

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

__all__ = ["LinkGraph"]


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """The links of every row, in compressed sparse row form.

    Made by :meth:`Constraints.adjacency`. Every link appears twice, once from either end.

    Attributes
    ----------
    pairs : ndarray of shape (n_links, 2)
        The links, must-links first.
    sign : ndarray of shape (n_links,)
        1 for a must-link, -1 for a cannot-link.
    weight : ndarray of shape (n_links,)
        The weights.
    indptr : ndarray of shape (n_samples + 1,)
        The entries of row i are those from ``indptr[i]`` to ``indptr[i + 1]``.
    neighbors : ndarray of shape (2 * n_links,)
        The rows that each row is linked with, in ascending order.
    link : ndarray of shape (2 * n_links,)
        The number of that link in `pairs`.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> graph = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)]).adjacency(3)
    >>> graph.neighbors[graph.indptr[1] : graph.indptr[2]]
    array([0, 2])
    >>> graph.sign[graph.link[graph.indptr[1] : graph.indptr[2]]]
    array([ 1, -1], dtype=int8)
    """

    pairs: NDArray[np.int64]
    sign: NDArray[np.int8]
    weight: NDArray[np.float64]
    indptr: NDArray[np.int64]
    neighbors: NDArray[np.int64]
    link: NDArray[np.int64]

    @classmethod
    def of(cls, links: Constraints, n_samples: int) -> LinkGraph:
        """Build the graph of the links of a table.

        Parameters
        ----------
        links : Constraints
            The links.
        n_samples : int
            The number of rows.

        Returns
        -------
        LinkGraph
        """
        graph = symmetric_csr(links.pairs, np.arange(len(links)), n_samples, add=False)
        return cls(
            links.pairs,
            links.sign,
            links.weight,
            graph.indptr.astype(np.int64),
            graph.indices.astype(np.int64),
            graph.data,
        )

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @cached_property
    def ends(self) -> NDArray[np.intp]:
        """The two entries of each link, an array of shape (n_links, 2)."""
        return np.argsort(self.link, kind="stable").reshape(-1, 2)


def symmetric_csr(edges: NDArray[np.int64], values: NDArray, n_nodes: int, *, add: bool = True) -> csr_array:
    """Return a symmetric CSR array with a value per undirected edge, the columns of each row in ascending order.

    The values of an edge that is given twice are added, or else kept as two entries.
    """
    a, b = edges.T
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    # SciPy sorts by counting, several times faster than by comparing.
    edges_of_both_ends = coo_array((np.concatenate([values, values]), ends), shape=(n_nodes, n_nodes))
    # SciPy adds the values of one place unless there seems to be no such.
    edges_of_both_ends.has_canonical_format = not add
    graph = edges_of_both_ends.tocsr()
    graph.sort_indices()
    return graph


def connected_nodes(edges: NDArray[np.int64], n_nodes: int) -> NDArray[np.intp]:
    """Number the connected components of a graph in the order of their first nodes."""
    if len(edges) == 0:
        return np.arange(n_nodes, dtype=np.intp)
    # Nodes without an edge are left out of the graph: they take ten times the memory there.
    is_first = np.ones(n_nodes, dtype=bool)
    is_first[edges] = False
    nodes = np.flatnonzero(~is_first)
    a, b = (np.cumsum(~is_first, dtype=np.intp) - 1)[edges].T
    graph = coo_array((np.ones(len(edges), dtype=np.int8), (a, b)), shape=(len(nodes), len(nodes)))
    n_components, label = connected_components(graph, directed=False)
    label, _ = number_by_first(label, n_components)
    first = np.empty(n_components, dtype=np.intp)
    first[label[::-1]] = nodes[::-1]
    is_first[first] = True
    number = np.cumsum(is_first, dtype=np.intp) - 1
    number[nodes] = number[first[label]]
    return number


def shortest_path(graph: csr_array, start: int, end: int) -> NDArray[np.int64]:
    """Return the nodes of a shortest path between two connected nodes of a symmetric graph."""
    # The search begins at the end: the predecessors lead from start to end.
    predecessor = breadth_first_order(graph, end, directed=True)[1]
    path = [start]
    while path[-1] != end:
        path.append(predecessor.item(path[-1]))
    return np.array(path, dtype=np.int64)
