"""Cannot-links that must-links contradict, each with the chain that causes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mustlink._html import render_html
from mustlink._spelling import count
from mustlink.constraints._display import conflict_list
from mustlink.constraints._graph import connected_nodes, shortest_path, symmetric_csr

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

__all__ = ["Conflict", "Conflicts"]

# A longer chain is printed without its middle.
SHOWN_IN_CHAIN = 8
# The most conflicts that a message names.
MAX_NAMED = 3


class Conflict:
    """One cannot-link between two rows that must-links join.

    Made by :meth:`Constraints.conflicts`.

    Parameters
    ----------
    cannot_link : tuple of int
        The two rows.
    graph : object
        The graph of the must-links, in which the chain is found.

    Attributes
    ----------
    cannot_link : tuple of int
        The two rows.
    chain : tuple of int
        The rows along a shortest chain of must-links from the one to the other.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> conflict, = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]).conflicts()
    >>> conflict.chain
    (0, 1, 2)
    >>> print(conflict)
    Rows 0 and 2 have a cannot-link, but must-links connect them: 0 - 1 - 2.
    """

    def __init__(self, cannot_link: tuple[int, int], graph: _MustLinkGraph) -> None:
        self.cannot_link = cannot_link
        self._graph = graph

    @cached_property
    def chain(self) -> tuple[int, ...]:
        """The rows along a shortest chain of must-links, found on first access."""
        return self._graph.chain(*self.cannot_link)

    def describe(self, names: Sequence[object] | None = None) -> str:
        """Describe the conflict in a sentence.

        Parameters
        ----------
        names : sequence, default=None
            The names of the rows, such as their ids; row numbers if None.

        Returns
        -------
        str
            The sentence. The middle of a long chain is left out.
        """

        def name(row: int) -> str:
            return str(row if names is None else names[row])

        a, b = self.cannot_link
        shown = [name(row) for row in self.chain[:SHOWN_IN_CHAIN]]
        left_out = len(self.chain) - len(shown)
        if left_out > 1:
            shown = [*shown[:-1], f"({left_out} more)", name(self.chain[-1])]
        elif left_out == 1:
            shown.append(name(self.chain[-1]))
        rows = "Rows " if names is None else ""
        return f"{rows}{name(a)} and {name(b)} have a cannot-link, but must-links connect them: {' - '.join(shown)}."

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"Conflict(cannot_link={self.cannot_link})"

    def _repr_html_(self) -> str:
        return render_html("Conflict:", str(self))


class Conflicts(Sequence[Conflict]):
    """All conflicts of a set of constraints; the chain of each is found on first access."""

    def __init__(self, pairs: NDArray[np.int64], graph: _MustLinkGraph) -> None:
        self.pairs = pairs
        self._graph = graph

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Conflict: ...
    @overload
    def __getitem__(self, index: slice) -> Conflicts: ...
    def __getitem__(self, index: int | slice) -> Conflict | Conflicts:
        if isinstance(index, slice):
            return Conflicts(self.pairs[index], self._graph)
        a, b = self.pairs[index]
        return Conflict((int(a), int(b)), self._graph)

    def describe(self, names: Sequence[object] | None = None) -> str:
        """Describe the first conflicts in a sentence each, and count the others; row numbers if there are no names."""
        named = " ".join(conflict.describe(names) for conflict in self[:MAX_NAMED])
        n_more = len(self) - MAX_NAMED
        return f"{named} And {count(n_more, 'more conflict')}." if n_more > 0 else named

    def __repr__(self) -> str:
        return count(len(self), "conflict")

    def _repr_html_(self) -> str:
        return render_html("" if len(self) else "No conflicts.", "", conflict_list(self))


class _MustLinkGraph:
    """The must-links as a graph on their rows, numbered without gaps."""

    def __init__(self, must_link: NDArray[np.int64]) -> None:
        self.rows, nodes = np.unique(must_link, return_inverse=True)
        self._edges = nodes.reshape(-1, 2).astype(np.int64)

    @cached_property
    def _graph(self) -> csr_array:
        return symmetric_csr(self._edges, np.ones(len(self._edges), dtype=np.int8), len(self.rows))

    @cached_property
    def _component(self) -> NDArray[np.intp]:
        return connected_nodes(self._edges, len(self.rows))

    def component_of(self, rows: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the component of some rows, -1 for a row without a must-link."""
        if len(self.rows) == 0:
            return np.full(rows.shape, -1, dtype=np.intp)
        position = np.searchsorted(self.rows, rows).clip(max=len(self.rows) - 1)
        return np.where(self.rows[position] == rows, self._component[position], -1)

    def joins(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs have two rows that must-links join."""
        a, b = self.component_of(pairs).T
        return (a == b) & (a >= 0)

    def chain(self, a: int, b: int) -> tuple[int, ...]:
        """Return the rows of a shortest path between two rows that are joined."""
        start, end = np.searchsorted(self.rows, (a, b))
        path = shortest_path(self._graph, start, end)
        return tuple(self.rows[path].tolist())


def find_conflicts(links: Constraints) -> Conflicts:
    """List the cannot-links whose rows must-links join."""
    graph = _MustLinkGraph(links.must_link)
    given = links.without_groups()
    joined = given.take((given.sign < 0) & graph.joins(given.pairs))
    split = [one.cross(graph.component_of(one.rows)) for one in links.cannot_link_groups]
    return Conflicts(joined.with_groups([one for one in split if one is not None]).cannot_link, graph)
