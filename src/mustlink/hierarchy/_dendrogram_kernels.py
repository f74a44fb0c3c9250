"""Merges as a linkage matrix of scipy, and clusters cut from them. A merge is a pair of rows of the two clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink._union_find_kernels import find_root


@jit
def as_linkage(pairs: Any, heights: Any, n_rows: Any) -> Any:
    """Return merges in the format of ``scipy.cluster.hierarchy.linkage``."""
    matrix = np.empty((len(pairs), 4))
    parent, node, size = np.arange(n_rows), np.arange(n_rows), np.ones(n_rows)
    for number in range(len(pairs)):
        one, other = find_root(parent, pairs[number, 0]), find_root(parent, pairs[number, 1])
        # The larger cluster keeps its root, which keeps paths short.
        if size[one] > size[other]:
            one, other = other, one
        matrix[number, 0] = min(node[one], node[other])
        matrix[number, 1] = max(node[one], node[other])
        parent[one] = other
        size[other] += size[one]
        node[other] = n_rows + number
        matrix[number, 2], matrix[number, 3] = heights[number], size[other]
    return matrix


@jit
def cut(pairs: Any, n_rows: Any) -> Any:
    """Return the clusters after some merges, numbered by their first rows."""
    parent, number, labels = np.arange(n_rows), np.full(n_rows, -1), np.empty(n_rows, dtype=np.int64)
    for at in range(len(pairs)):
        parent[find_root(parent, pairs[at, 0])] = find_root(parent, pairs[at, 1])
    n_clusters = 0
    for row in range(n_rows):
        root = find_root(parent, row)
        if number[root] < 0:
            number[root] = n_clusters
            n_clusters += 1
        labels[row] = number[root]
    return labels
