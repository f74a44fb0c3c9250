"""Compiled passes of MPCKMeans: nearest centers under diagonal metrics, and moments of the clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# Rows handled at a time: a tile of this size and its products stay in the cache.
TILE = 256


@jit
def nearest_diagonal(Z: Any, factors: Any, offset: Any, labels: Any, own: Any) -> None:
    """Find the cheapest cluster of every row, and write what it costs.

    The cost of cluster c is offset[c] + z.factors[:d, c] + z^2.factors[d:, c].
    """
    n_rows, n_features = Z.shape
    n_clusters = factors.shape[1]
    tile = np.empty((TILE, 2 * n_features))
    products = np.empty((TILE, n_clusters))
    for start in range(0, n_rows, TILE):
        size = min(TILE, n_rows - start)
        for r in range(size):
            for f in range(n_features):
                z = Z[start + r, f]
                tile[r, f] = z
                tile[r, n_features + f] = z * z
        np.dot(tile[:size], factors, products[:size])
        for r in range(size):
            best = 0
            least = offset[0] + products[r, 0]
            for c in range(1, n_clusters):
                value = offset[c] + products[r, c]
                if value < least:
                    least = value
                    best = c
            labels[start + r] = best
            own[start + r] = least


@jit
def add_moments(Z: Any, labels: Any, moments: Any) -> None:
    """Add a one, every row and the squares of its values to the moments (n_clusters, 1 + 2 d) of its cluster."""
    n_rows, n_features = Z.shape
    for i in range(n_rows):
        c = labels[i]
        moments[c, 0] += 1
        for f in range(n_features):
            z = Z[i, f]
            moments[c, 1 + f] += z
            moments[c, 1 + n_features + f] += z * z
