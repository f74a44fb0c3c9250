"""Compiled moves of single rows between clusters under the objective of kernel k-means with links.

K is the kernel S plus the sparse matrix W of links. `sums` (n_rows, n_clusters) holds the sum of K over each row and
each cluster, `within` (n_clusters,) the sum of K over all pairs inside a cluster, `counts` the sizes, and `squares`
the diagonal of K. `labels`, `counts`, `sums` and `within` are written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def _best_move(old: int, square: float, sums: Any, within: Any, counts: Any) -> tuple[int, float]:
    """Return the cluster that a row gains most by moving to, and the gain; `sums` are those of the row."""
    left = (within[old] - 2 * sums[old] + square) / (counts[old] - 1) - within[old] / counts[old]
    best = old
    most = 0.0
    for c in range(len(counts)):
        if c != old:
            gain = left + (within[c] + 2 * sums[c] + square) / (counts[c] + 1)
            if counts[c] > 0:
                gain -= within[c] / counts[c]
            if gain > most:
                most = gain
                best = c
    return best, most


@jit
def _count_move(row: int, old: int, new: int, square: float, own: Any, within: Any, counts: Any, labels: Any) -> None:
    """Enter a move into the labels, the sizes and the sums inside the clusters; `own` are the sums of the row."""
    within[old] -= 2 * own[old] - square
    within[new] += 2 * own[new] + square
    counts[old] -= 1
    counts[new] += 1
    labels[row] = new


@jit
def _move_links(row: int, old: int, new: int, indptr: Any, indices: Any, weights: Any, sums: Any) -> None:
    """Enter a move into the sums of the rows that are linked to the row."""
    for p in range(indptr[row], indptr[row + 1]):
        sums[indices[p], old] -= weights[p]
        sums[indices[p], new] += weights[p]


@jit
def move_in_matrix(
    matrix: Any,
    squares: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    order: Any,
    min_gain: float,
    labels: Any,
    counts: Any,
    sums: Any,
    within: Any,
) -> int:
    """Move each row in turn where it gains most, if it gains more than `min_gain`; return how many moved."""
    n_rows = matrix.shape[0]
    n_moved = 0
    for row in order:
        old = labels[row]
        if counts[old] > 1:
            new, gain = _best_move(old, squares[row], sums[row], within, counts)
            if gain > min_gain:
                _count_move(row, old, new, squares[row], sums[row], within, counts, labels)
                for i in range(n_rows):
                    value = matrix[row, i]
                    sums[i, old] -= value
                    sums[i, new] += value
                _move_links(row, old, new, indptr, indices, weights, sums)
                n_moved += 1
    return n_moved


@jit
def move_in_features(
    features: Any,
    squares: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    order: Any,
    min_gain: float,
    labels: Any,
    counts: Any,
    cluster_sums: Any,
    link_sums: Any,
    within: Any,
) -> int:
    """Do what `move_in_matrix` does where S is the inner product of features.

    `cluster_sums` (n_clusters, n_features) and `link_sums` (n_rows, n_clusters) hold the sums of S and of W, and
    are written.
    """
    n_features = features.shape[1]
    n_clusters = len(counts)
    own = np.empty(n_clusters)
    n_moved = 0
    for row in order:
        old = labels[row]
        if counts[old] > 1:
            for c in range(n_clusters):
                total = link_sums[row, c]
                for f in range(n_features):
                    total += features[row, f] * cluster_sums[c, f]
                own[c] = total
            new, gain = _best_move(old, squares[row], own, within, counts)
            if gain > min_gain:
                _count_move(row, old, new, squares[row], own, within, counts, labels)
                for f in range(n_features):
                    cluster_sums[old, f] -= features[row, f]
                    cluster_sums[new, f] += features[row, f]
                _move_links(row, old, new, indptr, indices, weights, link_sums)
                n_moved += 1
    return n_moved
