"""Compiled passes of MPCKMeans: nearest centres under diagonal metrics, moments, sweeps over linked rows.

Links come as (indptr, partner, pair, price): the partners of linked row i are at indptr[i]:indptr[i + 1], `pair` is the
number of the link, and `length[pair, c]` its squared length under the metric of cluster c. `reach[c]` is the squared
length of the longest pair under that metric. `labels` is written, and -1 stands for a row without a label yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# Rows handled at a time: a tile of so many rows and its products stay in the cache.
TILE = 256

# A move must lower the objective by more than rounding, or two rows could hand a tie to and fro for ever.
LEAST_GAIN = 1e-12


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


@jit
def sweep_rows(
    costs: Any,
    must_indptr: Any,
    must_partner: Any,
    must_pair: Any,
    must_price: Any,
    must_length: Any,
    cannot_indptr: Any,
    cannot_partner: Any,
    cannot_pair: Any,
    cannot_price: Any,
    cannot_length: Any,
    reach: Any,
    order: Any,
    most_sweeps: int,
    labels: Any,
) -> None:
    """Give each row in turn the cluster that lowers the objective most, until no row moves."""
    n_clusters = costs.shape[1]
    value = np.empty(n_clusters)
    for _ in range(most_sweeps):
        moved = False
        for row in order:
            size = 0.0
            for c in range(n_clusters):
                value[c] = costs[row, c]
                size = max(size, abs(value[c]))
            for p in range(must_indptr[row], must_indptr[row + 1]):
                other = labels[must_partner[p]]
                if other >= 0:
                    pair = must_pair[p]
                    for c in range(n_clusters):
                        if c != other:
                            broken = 0.5 * must_price[p] * (must_length[pair, c] + must_length[pair, other])
                            value[c] += broken
                            size = max(size, value[c])
            for p in range(cannot_indptr[row], cannot_indptr[row + 1]):
                other = labels[cannot_partner[p]]
                if other >= 0:
                    value[other] += cannot_price[p] * (reach[other] - cannot_length[cannot_pair[p], other])
                    size = max(size, value[other])
            best = 0
            for c in range(1, n_clusters):
                if value[c] < value[best]:
                    best = c
            old = labels[row]
            if old < 0 or value[best] < value[old] - LEAST_GAIN * size:
                labels[row] = best
                moved = True
        if not moved:
            break


@jit
def sweep_groups(
    costs: Any,
    must_indptr: Any,
    must_partner: Any,
    must_pair: Any,
    must_price: Any,
    must_length: Any,
    cannot_indptr: Any,
    cannot_partner: Any,
    cannot_pair: Any,
    cannot_price: Any,
    cannot_length: Any,
    reach: Any,
    group_indptr: Any,
    group_rows: Any,
    group_of: Any,
    order: Any,
    labels: Any,
) -> bool:
    """Let each must-link component in turn move as a whole where that lowers the objective; say whether any did."""
    n_clusters = costs.shape[1]
    value = np.empty(n_clusters)
    any_moved = False
    for group in order:
        for c in range(n_clusters):
            value[c] = 0.0
        now = 0.0
        size = 0.0
        for q in range(group_indptr[group], group_indptr[group + 1]):
            row = group_rows[q]
            own = labels[row]
            now += costs[row, own]
            for c in range(n_clusters):
                value[c] += costs[row, c]
                size += abs(costs[row, c])
            for p in range(must_indptr[row], must_indptr[row + 1]):
                other = labels[must_partner[p]]
                if other != own:
                    # A must-link lies inside the component, and is met from both of its ends.
                    pair = must_pair[p]
                    now += 0.25 * must_price[p] * (must_length[pair, own] + must_length[pair, other])
            for p in range(cannot_indptr[row], cannot_indptr[row + 1]):
                partner = cannot_partner[p]
                other = labels[partner]
                pair = cannot_pair[p]
                inside = group_of[partner] == group
                share = 0.5 * cannot_price[p] if inside else cannot_price[p]
                if other == own:
                    now += share * (reach[own] - cannot_length[pair, own])
                if inside:
                    for c in range(n_clusters):
                        value[c] += share * (reach[c] - cannot_length[pair, c])
                else:
                    value[other] += share * (reach[other] - cannot_length[pair, other])
        best = 0
        for c in range(1, n_clusters):
            if value[c] < value[best]:
                best = c
        if value[best] < now - LEAST_GAIN * (size + abs(now)):
            any_moved = True
            for q in range(group_indptr[group], group_indptr[group + 1]):
                labels[group_rows[q]] = best
    return any_moved
