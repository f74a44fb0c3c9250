"""Several clusterings as codes: rows with equal labels in all of them are one node with a weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from mustlink._codes_kernels import group_rows
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.graph._consensus._codes_kernels import net_weights, sum_of_minima
from mustlink.graph._correlation._signed_graph import HardRules, SignedGraph

NOISE = -1
UNKNOWN = -2
# The most cells of a table of counts for two clusterings; above, cells are sorted.
MAX_CELLS = 10_000_000


@dataclass(frozen=True)
class Codes:
    """Nodes with their labels in every clustering.

    Attributes
    ----------
    columns : ndarray of shape (n_nodes, n_clusterings)
        The label of a node in a clustering as a number that no other clustering has; -1 is noise, -2 is unknown.
    weights : ndarray of shape (n_clusterings,)
        The weight of every clustering.
    size : ndarray of shape (n_nodes,)
        The number of rows of every node.
    n_columns : int
        The number of labels of all clusterings.
    """

    columns: Array
    weights: Floats
    size: Floats
    n_columns: int

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.size)

    @property
    def total(self) -> float:
        """The weight of all clusterings."""
        return float(self.weights.sum())

    def take(self, nodes: Indices) -> Codes:
        """Return some of the nodes."""
        return Codes(self.columns[nodes], self.weights, self.size[nodes], self.n_columns)

    def signed_graph(self) -> SignedGraph:
        """Return the net weights of all pairs of few nodes as a graph."""
        net = net_weights(self.columns, self.weights) * np.outer(self.size, self.size)
        np.fill_diagonal(net, 0.0)
        return dense_graph(net, self.size)

    def sum_of_minima(self) -> float:
        """Return the weight in which every clustering disagrees with the columns: the lesser side of every pair."""
        least: float = sum_of_minima(self.columns, self.weights, self.size)
        return least


def dense_graph(net: Floats, size: Floats) -> SignedGraph:
    """Return a graph with all pairs and without rules."""
    n_nodes = len(net)
    nothing = np.empty(0, dtype=np.int64)
    rules = HardRules(csr_array((n_nodes, n_nodes)), np.zeros(n_nodes + 1, dtype=np.int64), nothing, nothing, nothing)
    return SignedGraph(csr_array(net), size, 0.0, rules)


def encode(X: Any) -> Ints:
    """Number the categories of every column; noise is -1, unknown is -2."""
    encoded = np.empty(X.shape, dtype=np.int64)
    for t in range(X.shape[1]):
        column = pd.Series(X[:, t])
        code, categories = pd.factorize(column, sort=False)
        code = code.astype(np.int64)
        is_unknown = code < 0
        noise = [place for place, category in enumerate(categories) if _is_noise(category)]
        if noise:
            code = np.where(code == noise[0], NOISE, code - (code > noise[0]))
        code[is_unknown] = UNKNOWN
        encoded[:, t] = code
    return encoded


def _is_noise(category: object) -> bool:
    return isinstance(category, int | float | np.number) and category == NOISE


def build_codes(labels: Ints, weights: Floats) -> tuple[Codes, Indices]:
    """Join rows with equal labels that are better together; return the nodes, and the node of every row.

    Rows with equal labels are apart where they are noise. If that weighs more than where they are together, each is a
    node of its own.
    """
    n_categories = labels.max(axis=0, initial=-1) + 1
    offsets = np.concatenate([[0], np.cumsum(n_categories)])
    columns = np.where(labels >= 0, labels + offsets[:-1], labels).astype(np.int32)
    first, node = group_rows(columns)
    own = (labels[first] >= 0) @ weights - (labels[first] == NOISE) @ weights
    alone = np.flatnonzero((own < 0)[node])
    node[alone] = len(first) + np.arange(len(alone))
    _, first, node = np.unique(node, return_index=True, return_inverse=True)
    size = np.bincount(node).astype(float)
    return Codes(np.ascontiguousarray(columns[first]), weights, size, int(offsets[-1])), node.astype(np.intp)


def mirkin_distances(labels: Ints, columns: Ints) -> Ints:
    """Return for every column the number of pairs of its known rows that it joins and the labels do not, or converse.

    A row of noise is apart from all others.
    """
    return np.array([_mirkin(labels, columns[:, t]) for t in range(columns.shape[1])], dtype=np.int64)


def _mirkin(labels: Ints, column: Ints) -> int:
    known = column != UNKNOWN
    label, code = (labels, column) if known.all() else (labels[known], column[known])
    together = _n_pairs(np.bincount(label))
    is_code = code >= 0
    if not is_code.all():
        label, code = label[is_code], code[is_code]
    n_codes = int(code.max(initial=-1)) + 1
    cell = label * n_codes + code
    if (int(label.max(initial=-1)) + 1) * n_codes <= MAX_CELLS:
        both = np.bincount(cell)
    else:
        both = np.unique(cell, return_counts=True)[1]
    return together + _n_pairs(np.bincount(code)) - 2 * _n_pairs(both)


def _n_pairs(sizes: Indices) -> int:
    """Return the number of pairs inside groups of some sizes."""
    sizes = sizes.astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def column_labels(column: Ints) -> Ints:
    """Return a column as a clustering: a row that is noise or unknown is a cluster of its own."""
    labels = column.copy()
    alone = np.flatnonzero(column < 0)
    labels[alone] = int(column.max(initial=-1)) + 1 + np.arange(len(alone))
    return labels
