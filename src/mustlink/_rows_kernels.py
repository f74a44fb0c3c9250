"""Compiled passes over the rows: nearest center, sums per cluster, squared distances.

The arrays `labels`, `sums`, `counts`, `gaps`, `own` and `out` are written; everything else is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# Rows handled at a time: a tile of this size and its products with the centers stay in the cache.
TILE = 256


@jit
def dense_pass(
    X: Any, weight: Any, origin: Any, centers: Any, norms: Any, labels: Any, sums: Any, counts: Any
) -> float:
    """Label every row with its nearest center and add it to that cluster; return the weighted inertia.

    `centers` (n_features, n_clusters) and `sums` (n_clusters, n_features) are relative to `origin`, which keeps
    |c|^2 - 2 x.c exact for rows far from zero. `norms` holds |c|^2.
    """
    n_rows, n_features = X.shape
    n_clusters = centers.shape[1]
    tile = np.empty((TILE, n_features), X.dtype)
    products = np.empty((TILE, n_clusters), X.dtype)
    rows_first = np.ascontiguousarray(centers.T)
    inertia = 0.0
    for start in range(0, n_rows, TILE):
        size = min(TILE, n_rows - start)
        for r in range(size):
            for f in range(n_features):
                tile[r, f] = X[start + r, f] - origin[f]
        np.dot(tile[:size], centers, products[:size])
        for r in range(size):
            best = 0
            least = norms[0] - 2 * products[r, 0]
            for c in range(1, n_clusters):
                value = norms[c] - 2 * products[r, c]
                if value < least:
                    least = value
                    best = c
            labels[start + r] = best
            w = weight[start + r]
            counts[best] += w
            for f in range(n_features):
                sums[best, f] += w * tile[r, f]
            inertia += w * squared_distance(tile, r, rows_first, best)
    return inertia


@jit
def priced_pass(
    X: Any, weight: Any, origin: Any, centers: Any, norms: Any, prices: Any, labels: Any, gaps: Any, own: Any
) -> None:
    """Label every row with the center of the least weighted squared distance minus price, in double precision.

    Also write by how much the next center exceeds this least difference, and the squared distance to the center.
    """
    n_rows, n_features = X.shape
    n_clusters = centers.shape[1]
    tile = np.empty((TILE, n_features))
    products = np.empty((TILE, n_clusters))
    rows_first = np.ascontiguousarray(centers.T)
    for start in range(0, n_rows, TILE):
        size = min(TILE, n_rows - start)
        for r in range(size):
            for f in range(n_features):
                tile[r, f] = X[start + r, f] - origin[f]
        np.dot(tile[:size], centers, products[:size])
        for r in range(size):
            w = weight[start + r]
            value = products[r]
            for c in range(n_clusters):
                value[c] = w * (norms[c] - 2 * value[c]) - prices[c]
            best = 0
            least = value[0]
            for c in range(1, n_clusters):
                if value[c] < least:
                    least = value[c]
                    best = c
            # A loop of its own, without branches, takes half the time of one loop for both.
            value[best] = np.inf
            following = np.inf
            for c in range(n_clusters):
                following = min(following, value[c])
            labels[start + r] = best
            gaps[start + r] = following - least
            own[start + r] = squared_distance(tile, r, rows_first, best)


@jit
def dense_sums(X: Any, weight: Any, labels: Any, sums: Any, counts: Any) -> None:
    """Add every row to its cluster; a label below zero is none."""
    n_rows, n_features = X.shape
    for i in range(n_rows):
        c = labels[i]
        if c >= 0:
            w = weight[i]
            counts[c] += w
            for f in range(n_features):
                sums[c, f] += w * X[i, f]


@jit
def squared_distance(rows: Any, r: int, others: Any, o: int) -> float:
    """Return the squared distance between row r of one array and row o of another."""
    # Four running sums, because a single one makes every addition wait for the one before.
    s0 = s1 = s2 = s3 = 0.0
    n_features = rows.shape[1]
    whole = n_features - n_features % 4
    for f in range(0, whole, 4):
        d0 = rows[r, f] - others[o, f]
        d1 = rows[r, f + 1] - others[o, f + 1]
        d2 = rows[r, f + 2] - others[o, f + 2]
        d3 = rows[r, f + 3] - others[o, f + 3]
        s0 += d0 * d0
        s1 += d1 * d1
        s2 += d2 * d2
        s3 += d3 * d3
    for f in range(whole, n_features):
        d0 = rows[r, f] - others[o, f]
        s0 += d0 * d0
    return (s0 + s1) + (s2 + s3)


@jit
def expand_row(indptr: Any, indices: Any, data: Any, i: int, centers: Any, norms: Any, value: Any) -> float:
    """Write |c|^2 - 2 x.c of row i in compressed form and every center into `value`, and return |x|^2."""
    for c in range(len(value)):
        value[c] = norms[c]
    square = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        x = data[p]
        square += x * x
        for c in range(len(value)):
            value[c] -= 2 * x * centers[indices[p], c]
    return square


@jit
def sparse_pass(
    indptr: Any, indices: Any, data: Any, weight: Any, centers: Any, norms: Any, labels: Any, sums: Any, counts: Any
) -> float:
    """Do what `dense_pass` does for rows in compressed form; the origin is zero."""
    n_clusters = centers.shape[1]
    value = np.empty(n_clusters)
    inertia = 0.0
    for i in range(len(indptr) - 1):
        square = expand_row(indptr, indices, data, i, centers, norms, value)
        best = 0
        for c in range(1, n_clusters):
            if value[c] < value[best]:
                best = c
        labels[i] = best
        w = weight[i]
        counts[best] += w
        for p in range(indptr[i], indptr[i + 1]):
            sums[best, indices[p]] += w * data[p]
        inertia += w * max(0.0, square + value[best])
    return inertia


@jit
def dense_distances(X: Any, origin: Any, centers: Any, norms: Any, out: Any) -> None:
    """Write the squared distance of every row to every center, computed in double precision."""
    n_rows, n_features = X.shape
    n_clusters = centers.shape[1]
    tile = np.empty((TILE, n_features))
    products = np.empty((TILE, n_clusters))
    for start in range(0, n_rows, TILE):
        size = min(TILE, n_rows - start)
        for r in range(size):
            for f in range(n_features):
                tile[r, f] = X[start + r, f] - origin[f]
        np.dot(tile[:size], centers, products[:size])
        for r in range(size):
            square = 0.0
            for f in range(n_features):
                square += tile[r, f] * tile[r, f]
            for c in range(n_clusters):
                out[start + r, c] = max(0.0, square + (norms[c] - 2 * products[r, c]))


@jit
def sparse_distances(indptr: Any, indices: Any, data: Any, centers: Any, norms: Any, out: Any) -> None:
    """Do what `dense_distances` does for rows in compressed form; the origin is zero."""
    value = np.empty(centers.shape[1])
    for i in range(len(indptr) - 1):
        square = expand_row(indptr, indices, data, i, centers, norms, value)
        for c in range(len(value)):
            out[i, c] = max(0.0, square + value[c])
