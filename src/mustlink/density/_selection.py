"""Which nodes of the condensed tree become clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.constraints import Constraints
from mustlink.density._cannot_links import ComponentGraph, nodes_with_conflicts, rows_without_conflicts
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
