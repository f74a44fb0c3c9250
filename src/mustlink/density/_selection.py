"""Which nodes of the condensed tree become clusters: the most stable ones, with few or no violated links."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.constraints import Closure, Constraints
from mustlink.density._condensed_tree import ROOT, CondensedTree


@dataclass(frozen=True)
class SelectionRules:
    """Which nodes may be selected, and their values, before links are considered; the parameters of HDBSCAN."""

    method: str
    allow_single_cluster: bool
    min_cluster_size: int
    max_cluster_size: int | None

    def allowed(self, tree: CondensedTree) -> Mask:
        """Return whether each node may be selected."""
        allowed = np.ones(tree.n_nodes, dtype=np.bool_)
        allowed[ROOT] = self.allow_single_cluster and self.method == "eom"
        if self.max_cluster_size is not None and self.method == "eom":
            size = tree.size.copy()
            # scikit-learn counts in the root only the rows of the nodes below it.
            size[ROOT] = tree.size[tree.node_parent == ROOT].sum()
            allowed &= size <= self.max_cluster_size
        return allowed

    def value(self, tree: CondensedTree, *, finite: bool = False) -> Floats:
        """Return the value of each node."""
        if self.method == "leaf":
            return tree.is_leaf.astype(np.float64)
        return tree.finite_stability if finite else tree.stability


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


def select_with_penalties(tree: CondensedTree, rules: SelectionRules, links: Constraints, penalty: float) -> Ints:
    """Select the nodes of largest total value minus penalties; return the selected node of each row, or -1.

    Without links and penalty this is the selection of HDBSCAN. Otherwise values are divided by its total, and `penalty`
    is subtracted for all links violated together. A must-link is satisfied, and a cannot-link violated, if one selected
    node contains both rows; hence penalties add up over nodes.
    """
    allowed = rules.allowed(tree)
    if links.is_empty or penalty == 0:
        return tree.cluster_nodes(tree.select(rules.value(tree), allowed)[0])
    value = rules.value(tree, finite=True)
    _, best = tree.select(value, allowed)
    inside = tree.weight_inside(links.pairs, links.sign * links.weight)
    selected, _ = tree.select(value / (best or 1.0) + penalty * inside / links.weight.sum(), allowed)
    return tree.cluster_nodes(selected)


def select_without_conflicts(tree: CondensedTree, rules: SelectionRules, graph: ComponentGraph) -> Ints:
    """Select the most stable nodes without cannot-linked rows; return the selected node of each row, or -1.

    A leaf with cannot-linked rows has no nodes below it to select instead. It gives up the rows that are cannot-linked
    with rows that stay in it for longer, and is dropped if too few rows are left.
    """
    conflict = nodes_with_conflicts(tree, graph)
    if rules.allow_single_cluster:
        in_root = set(graph.component[tree.in_root].tolist())
        conflict[ROOT] = graph.sets_conflict(in_root, in_root)
    value, allowed = rules.value(tree).copy(), rules.allowed(tree)
    allowed &= ~conflict | tree.is_leaf
    leaves = np.flatnonzero(conflict & tree.is_leaf & allowed)
    dropped = [np.empty(0, dtype=np.intp)]
    for leaf, rows in zip(leaves.tolist(), _rows_of(tree, leaves), strict=True):
        kept = rows_without_conflicts(rows, tree.row_value[rows], graph)
        allowed[leaf] = kept.sum() >= rules.min_cluster_size
        if rules.method == "eom" and np.isfinite(tree.birth[leaf]):
            value[leaf] = (tree.row_value[rows[kept]] - tree.birth[leaf]).sum()
        dropped.append(rows[~kept])
    selected, _ = tree.select(value, allowed)
    of_row = tree.cluster_nodes(selected)
    of_row[np.concatenate(dropped)] = -1
    return of_row


def _rows_of(tree: CondensedTree, leaves: Indices) -> list[Indices]:
    """Return the rows that each of some leaves would have as a cluster."""
    inside = np.isin(tree.row_node, leaves)
    if ROOT in leaves:
        inside &= tree.in_root
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(tree.row_node[rows], kind="stable")]
    return np.split(rows, np.searchsorted(tree.row_node[rows], leaves)[1:]) if leaves.size else []


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
