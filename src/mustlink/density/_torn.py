"""Nodes that hold rows which must be kept apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mustlink.constraints import Constraints
from mustlink.density._condensed_tree import CondensedTree, Floats, Mask


class Apart:
    """Which must-link components are to be kept apart.

    Parameters
    ----------
    links : Constraints
        The links. Cannot-links inside a component are passed over.
    n_rows : int
        The number of rows.
    """

    def __init__(self, links: Constraints, n_rows: int) -> None:
        closure = links.closure(n_rows)
        self.component: NDArray[np.intp] = closure.component
        self.sizes = closure.sizes
        self.from_: defaultdict[int, set[int]] = defaultdict(set)
        for one, other in closure.cannot_link.tolist():
            self.from_[one].add(other)
            self.from_[other].add(one)
        self.concerned: Mask = np.zeros(closure.n_components, dtype=np.bool_)
        self.concerned[closure.cannot_link] = True

    def meets(self, component: int, others: set[int]) -> bool:
        """Say whether a component is to be kept apart from one of others."""
        return component in self.from_ and not self.from_[component].isdisjoint(others)

    def any_meet(self, components: Iterable[int]) -> bool:
        """Say whether two of some components are to be kept apart."""
        seen: set[int] = set()
        for component in components:
            if self.meets(component, seen):
                return True
            seen.add(component)
        return False

    def sets_meet(self, one: set[int], other: set[int]) -> bool:
        """Say whether a component of one set is to be kept apart from one of the other set."""
        fewer, more = (one, other) if len(one) < len(other) else (other, one)
        return any(self.meets(component, more) for component in fewer)


def torn_nodes(tree: CondensedTree, apart: Apart) -> Mask:
    """Return which nodes hold rows of two components to be kept apart.

    From the leaves up, each node takes over the components of its children, the fewer to the more.
    """
    rows = np.flatnonzero(apart.concerned[apart.component])
    met = np.unique(np.column_stack([tree.row_node[rows], apart.component[rows]]), axis=0)
    own: defaultdict[int, set[int]] = defaultdict(set)
    for node, component in met.tolist():
        own[node].add(component)
    torn = np.zeros(tree.n_nodes, dtype=np.bool_)
    for node, components in own.items():
        torn[node] = apart.any_meet(components)
    parent = tree.node_parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        here, above = own.pop(node, set()), parent[node]
        if torn[node] or torn[above] or apart.sets_meet(here, own[above]):
            torn[above] = True
            continue
        fewer, more = (here, own[above]) if len(here) < len(own[above]) else (own[above], here)
        more |= fewer
        own[above] = more
    return torn


def rows_that_stay(rows: NDArray[np.intp], leaves_at: Floats, apart: Apart) -> Mask:
    """Return which rows of a leaf stay: those that leave last come first, and bring their component in.

    A component is out if it is to be kept apart from one that is in.
    """
    order = np.lexsort((rows, -leaves_at))
    component = apart.component[rows[order]]
    concerned = apart.concerned[component]
    inside: set[int] = set()
    outside: set[int] = set()
    for number in component[concerned].tolist():
        if number in inside or number in outside:
            continue
        (outside if apart.meets(number, inside) else inside).add(number)
    stays: Mask = ~np.isin(apart.component[rows], np.fromiter(outside, dtype=np.intp, count=len(outside)))
    return stays
