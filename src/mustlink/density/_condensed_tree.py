"""HDBSCAN's condensed tree, as arrays over its nodes and over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mustlink._types import Array, Floats, Ints, Mask
from mustlink.density._tree_kernels import condense, lowest_common_nodes, owners, select_nodes, sum_subtrees

EDGE = np.dtype([("parent", np.intp), ("child", np.intp), ("value", np.float64), ("cluster_size", np.intp)])
ROOT = 0


@dataclass(frozen=True)
class CondensedTree:
    """The nodes, numbered from the root (0) with parents before their children, and where each row leaves the tree."""

    # For each row and each node but the root; nodes are numbered from the number of rows on, as in scikit-learn.
    edges: Array
    # For each node: its parent (-1 for the root), the inverse distance at which it appears, its number of rows.
    node_parent: Ints
    birth: Floats
    size: Ints
    # For each row: the last node that it is in, and the inverse distance at which it leaves that.
    row_node: Ints
    row_value: Floats
    # For each node: for how long its rows stay in it, summed over the rows (excess of mass).
    stability: Floats

    @classmethod
    def from_single_linkage(cls, linkage: Array, min_cluster_size: int) -> CondensedTree:
        """Condense a single-linkage tree of scikit-learn."""
        n_rows = len(linkage) + 1
        parts = (linkage[name] for name in ("left_node", "right_node", "value", "cluster_size"))
        parent, child, value, count = condense(*(np.ascontiguousarray(part) for part in parts), min_cluster_size)
        edges = np.empty(len(parent), dtype=EDGE)
        for name, column in zip(EDGE.names or (), (parent, child, value, count), strict=True):
            edges[name] = column
        is_node = child >= n_rows
        n_nodes = int(is_node.sum()) + 1
        node_parent, birth = np.full(n_nodes, -1, dtype=np.int64), np.zeros(n_nodes)
        size = np.full(n_nodes, n_rows, dtype=np.int64)
        numbers = child[is_node] - n_rows
        node_parent[numbers], birth[numbers], size[numbers] = parent[is_node] - n_rows, value[is_node], count[is_node]
        row_node, row_value = np.empty(n_rows, dtype=np.int64), np.empty(n_rows)
        row_node[child[~is_node]], row_value[child[~is_node]] = parent[~is_node] - n_rows, value[~is_node]
        with np.errstate(invalid="ignore"):
            stability = _excess_of_mass(edges, birth)
        # A node that appears at distance 0, among equal rows, has the stability inf - inf = nan; it counts as zero.
        return cls(edges, node_parent, birth, size, row_node, row_value, np.nan_to_num(stability, posinf=np.inf))

    @property
    def n_nodes(self) -> int:
        """The number of nodes, including the root."""
        return len(self.node_parent)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.row_node)

    @cached_property
    def is_leaf(self) -> Mask:
        """Whether each node has no node below it."""
        leaf = np.ones(self.n_nodes, dtype=np.bool_)
        leaf[self.node_parent[1:]] = False
        return leaf

    @cached_property
    def death(self) -> Floats:
        """The inverse distance at which the last row or node leaves each node."""
        death = np.zeros(self.n_nodes)
        np.maximum.at(death, self.edges["parent"] - self.n_rows, self.edges["value"])
        return death

    @cached_property
    def in_root(self) -> Mask:
        """Whether each row is in the cluster if the root is selected: not if it leaves before the root splits."""
        return self.row_value >= self.death[ROOT]

    @cached_property
    def finite_stability(self) -> Floats:
        """The stability with distances of equal rows replaced by the smallest positive distance."""
        if np.isfinite(self.edges["value"]).all():
            return self.stability
        finite = self.edges["value"][np.isfinite(self.edges["value"])]
        largest = float(finite.max(initial=0.0)) or 1.0
        return _excess_of_mass(self.edges, self.birth, largest)

    def weight_inside(self, pairs: Ints, weight: Floats) -> Floats:
        """Return for each node the weight of the pairs that would be in one cluster if it were selected."""
        one, other = (np.ascontiguousarray(nodes) for nodes in self.row_node[pairs].T)
        lowest = lowest_common_nodes(self.node_parent, one, other)
        total = sum_subtrees(self.node_parent, np.bincount(lowest, weight, self.n_nodes))
        total[ROOT] = weight[self.in_root[pairs].all(axis=1)].sum()
        return total

    def select(self, value: Floats, allowed: Mask) -> tuple[Mask, float]:
        """Select allowed nodes, none below another, of the largest total value; return them and that value."""
        selected, best = select_nodes(self.node_parent, value, allowed)
        return selected, float(best)

    def cluster_nodes(self, selected: Mask) -> Ints:
        """Return the selected node that contains each row, or -1."""
        of_row: Ints = owners(self.node_parent, selected)[self.row_node]
        if selected[ROOT]:
            of_row[~self.in_root] = -1
        return of_row

    def strength(self, of_row: Ints) -> Floats:
        """Return the membership strength of each row in its selected node, 0 for noise."""
        strength = np.zeros(self.n_rows)
        rows = np.flatnonzero(of_row >= 0)
        death, value = self.death[of_row[rows]], self.row_value[rows]
        sure = (death == 0.0) | np.isinf(value)
        strength[rows[sure]] = 1.0
        strength[rows[~sure]] = np.minimum(value[~sure], death[~sure]) / death[~sure]
        return strength


def _excess_of_mass(edges: Array, birth: Floats, largest: float = np.inf) -> Floats:
    """Return for how long the rows of each node stay in it, summed over the rows, with values of at most `largest`."""
    parent = edges["parent"] - edges["parent"].min()
    stays = np.minimum(edges["value"], largest) - np.minimum(birth, largest)[parent]
    return np.asarray(np.bincount(parent, stays * edges["cluster_size"], len(birth)), dtype=np.float64)
