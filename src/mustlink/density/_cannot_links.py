"""Cannot-links between must-link components, and the nodes of the tree that contain a cannot-linked pair."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from mustlink._types import Floats, Indices, Mask
from mustlink.constraints import Closure
from mustlink.density._condensed_tree import CondensedTree


class ComponentGraph:
    """The cannot-link graph between must-link components, for lookups by component.

    Cannot-links inside a component are ignored. `forbidden` has the components that each one is cannot-linked with.
    """

    def __init__(self, closure: Closure) -> None:
        self.component = closure.component
        self.forbidden: defaultdict[int, set[int]] = defaultdict(set)
        for one, other in closure.cannot_link.tolist():
            self.forbidden[one].add(other)
            self.forbidden[other].add(one)
        self.has_cannot_link: Mask = np.zeros(closure.n_components, dtype=np.bool_)
        self.has_cannot_link[closure.cannot_link] = True

    def is_forbidden(self, component: int, others: set[int]) -> bool:
        """Return whether a component is cannot-linked with one of others."""
        return component in self.forbidden and not self.forbidden[component].isdisjoint(others)

    def sets_conflict(self, one: set[int], other: set[int]) -> bool:
        """Return whether a component of one set is cannot-linked with one of the other set."""
        smaller, larger = (one, other) if len(one) < len(other) else (other, one)
        return any(self.is_forbidden(component, larger) for component in smaller)

    def components_by(self, number: Indices, rows: Indices) -> defaultdict[int, set[int]]:
        """Return for each number the set of components, among those with a cannot-link, of the rows that have it."""
        rows = rows[self.has_cannot_link[self.component[rows]]]
        found: defaultdict[int, set[int]] = defaultdict(set)
        for key, component in np.unique(np.column_stack([number[rows], self.component[rows]]), axis=0).tolist():
            found[key].add(component)
        return found


def nodes_with_conflicts(tree: CondensedTree, graph: ComponentGraph) -> Mask:
    """Return which nodes contain rows of two cannot-linked components.

    From the leaves up, each node takes over the components of its children, the smaller set into the larger.
    """
    own = graph.components_by(tree.row_node, np.arange(tree.n_rows))
    conflict = np.zeros(tree.n_nodes, dtype=np.bool_)
    for node, components in own.items():
        conflict[node] = graph.sets_conflict(components, components)
    parent = tree.node_parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        here, above = own.pop(node, set()), parent[node]
        if conflict[node] or conflict[above] or graph.sets_conflict(here, own[above]):
            conflict[above] = True
            continue
        smaller, larger = sorted((here, own[above]), key=len)
        larger |= smaller
        own[above] = larger
    return conflict


def rows_without_conflicts(rows: Indices, leaves_at: Floats, graph: ComponentGraph) -> Mask:
    """Return which rows of a leaf are kept: greedily by component, in the order in which rows leave, last ones first.

    A component is dropped if it is cannot-linked with one that is kept.
    """
    component = graph.component[rows]
    in_order = component[np.lexsort((rows, -leaves_at))]
    kept: set[int] = set()
    dropped: set[int] = set()
    for number in in_order[graph.has_cannot_link[in_order]].tolist():
        if number not in kept and number not in dropped:
            (dropped if graph.is_forbidden(number, kept) else kept).add(number)
    return ~np.isin(component, list(dropped))
