"""Compiled moves of single rows between clusters under the objective of kernel k-means with links.

K is the kernel S plus the sparse matrix W of links. `sums` (n_rows, n_clusters) holds the sum of K over each row and
each cluster, `within` (n_clusters,) the sum of K over all pairs inside a cluster, `counts` the sizes, and `squares`
the diagonal of K. `labels`, `counts`, `sums`, `feature_sums` and `within` are written.
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
def move_rows(
    values: Any,
    squares: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    order: Any,
    min_gain: float,
    labels: Any,
    counts: Any,
    sums: Any,
    feature_sums: Any,
    within: Any,
) -> None:
    """Move each row in turn where it gains most, if it gains more than `min_gain`.

    `values` is the matrix S, and `feature_sums` has no columns; or S is the inner product of features, then `sums`
    holds the sums of W alone and `feature_sums` (n_clusters, n_features) the sums of the features.
    """
    n_clusters, n_features = feature_sums.shape
    own = np.empty(n_clusters)
    for row in order:
        old = labels[row]
        if counts[old] < 2:
            continue
        for c in range(n_clusters):
            total = sums[row, c]
            for f in range(n_features):
                total += values[row, f] * feature_sums[c, f]
            own[c] = total
        square = squares[row]
        new, gain = _best_move(old, square, own, within, counts)
        if gain <= min_gain:
            continue
        within[old] -= 2 * own[old] - square
        within[new] += 2 * own[new] + square
        counts[old] -= 1
        counts[new] += 1
        labels[row] = new
        for f in range(n_features):
            feature_sums[old, f] -= values[row, f]
            feature_sums[new, f] += values[row, f]
        if n_features == 0:
            for i in range(len(sums)):
                sums[i, old] -= values[row, i]
                sums[i, new] += values[row, i]
        for p in range(indptr[row], indptr[row + 1]):
            sums[indices[p], old] -= weights[p]
            sums[indices[p], new] += weights[p]
