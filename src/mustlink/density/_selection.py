"""Which nodes of the condensed tree become clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mustlink.constraints import Constraints
from mustlink.density._condensed_tree import ROOT, CondensedTree, Floats, Mask, Nodes
from mustlink.density._torn import Apart, rows_that_stay, torn_nodes


@dataclass(frozen=True)
class Rules:
    """What may be chosen, and what it is worth, before any link is looked at.

    Parameters
    ----------
    method : {"eom", "leaf"}
        Whether a node is worth its stability, or only the leaves are worth anything, each the same.
    allow_single_cluster : bool
        Whether the root may be chosen.
    min_cluster_size, max_cluster_size : int, int or None
        How many rows a cluster may have.
    """

    method: str
    allow_single_cluster: bool
    min_cluster_size: int
    max_cluster_size: int | None

    def allowed(self, tree: CondensedTree) -> Mask:
        """Return whether each node may be chosen."""
        allowed = np.ones(tree.n_nodes, dtype=np.bool_)
        allowed[ROOT] = self.allow_single_cluster and self.method == "eom"
        if self.max_cluster_size is not None and self.method == "eom":
            size = tree.size.copy()
            # scikit-learn counts in the root only the rows of the nodes below it.
            size[ROOT] = tree.size[tree.node_parent == ROOT].sum()
            allowed &= size <= self.max_cluster_size
        return allowed

    def value(self, tree: CondensedTree, *, finite: bool = False) -> Floats:
        """Return what each node is worth."""
        if self.method == "leaf":
            return tree.is_leaf.astype(np.float64)
        return tree.finite_stability if finite else tree.stability


def choose_by_stability(tree: CondensedTree, rules: Rules) -> Nodes:
    """Choose as HDBSCAN does without links; return the chosen node of each row, or -1."""
    chosen, _ = tree.choose(rules.value(tree), rules.allowed(tree))
    return tree.cluster_nodes(chosen)


def worth_with_links(tree: CondensedTree, rules: Rules, links: Constraints, penalty: float) -> Floats:
    """Return what each node is worth when links count.

    The worth of the best choice without links is 1, and `penalty` is taken from it for all links broken together. A
    must-link is kept if one chosen node holds both rows, and a cannot-link broken, so that both can be told node by
    node.
    """
    value = rules.value(tree, finite=True)
    _, best = tree.choose(value, rules.allowed(tree))
    kept = tree.inside(links.must_link, links.must_link_weight)
    broken = tree.inside(links.cannot_link, links.cannot_link_weight)
    total = links.must_link_weight.sum() + links.cannot_link_weight.sum()
    return value / (best or 1.0) + penalty * (kept - broken) / total


def choose_softly(tree: CondensedTree, rules: Rules, links: Constraints, penalty: float) -> Nodes:
    """Choose the nodes with the largest stability less penalties; return the chosen node of each row, or -1."""
    chosen, _ = tree.choose(worth_with_links(tree, rules, links, penalty), rules.allowed(tree))
    return tree.cluster_nodes(chosen)


def choose_untorn(tree: CondensedTree, rules: Rules, apart: Apart) -> Nodes:
    """Choose the most stable nodes that hold no rows to be kept apart; return the chosen node of each row, or -1.

    A leaf with such rows has nothing below it to choose instead. It is kept without those of its rows that are in
    the way of rows that stay in it for longer, if enough are left.
    """
    torn = torn_nodes(tree, apart)
    if rules.allow_single_cluster:
        in_root = np.unique(apart.component[tree.in_root])
        torn[ROOT] = apart.any_meet(in_root[apart.concerned[in_root]].tolist())
    value, allowed = rules.value(tree).copy(), rules.allowed(tree)
    allowed &= ~torn | tree.is_leaf
    leaves = np.flatnonzero(torn & tree.is_leaf & allowed)
    leaving: list[NDArray[np.intp]] = []
    for leaf, rows in zip(leaves.tolist(), _rows_of(tree, leaves), strict=True):
        stays = rows_that_stay(rows, tree.row_value[rows], apart)
        allowed[leaf] = stays.sum() >= rules.min_cluster_size
        if rules.method == "eom" and np.isfinite(tree.birth[leaf]):
            value[leaf] = (tree.row_value[rows[stays]] - tree.birth[leaf]).sum()
        leaving.append(rows[~stays])
    chosen, _ = tree.choose(value, allowed)
    of_row = tree.cluster_nodes(chosen)
    if leaving:
        of_row[np.concatenate(leaving)] = -1
    return of_row


def _rows_of(tree: CondensedTree, leaves: Nodes) -> list[NDArray[np.intp]]:
    """Return the rows that each of some leaves would have as a cluster."""
    inside = np.isin(tree.row_node, leaves)
    if ROOT in leaves:
        inside &= tree.in_root
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(tree.row_node[rows], kind="stable")]
    return np.split(rows, np.searchsorted(tree.row_node[rows], leaves)[1:]) if leaves.size else []
