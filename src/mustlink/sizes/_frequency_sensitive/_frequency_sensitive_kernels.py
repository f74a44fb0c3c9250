"""Compiled passes of frequency-sensitive k-means: rows are presented one by one, and counts and centers follow.

The arrays `centers`, `scale`, `squares`, `counts`, `n_seeded` and `labels` are written; everything else is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink._rows_kernels import squared_distance

# A row within this squared distance of a seeded center, relative to its own square, is the same row.
SAME_ROW = 1e-12
# Below this factor a center is multiplied out, long before the factor underflows.
MIN_SCALE = 1e-100


@jit
def frequency_cost(square: float, count: float, is_cosine: bool, log_weight: float) -> float:
    """Return what a row at a squared distance costs in a cluster of an effective count, at least one."""
    count = max(count, 1.0)
    if is_cosine:
        # Between unit vectors the cosine is 1 - square / 2.
        return -(2.0 - 0.5 * square) / count + log_weight * np.log(count)
    return count * square + log_weight * np.log(count)


@jit
def cheapest_cluster(squares: Any, counts: Any, is_cosine: bool, log_weight: float) -> int:
    """Return the cluster in which a row costs least."""
    best, least = 0, np.inf
    for c in range(len(squares)):
        cost = frequency_cost(squares[c], counts[c], is_cosine, log_weight)
        if cost < least:
            best, least = c, cost
    return best


@jit
def choose_cluster(squares: Any, counts: Any, is_cosine: bool, log_weight: float, length: float, n_seeded: Any) -> int:
    """Return the cluster of a row; while clusters are without a seed, a row unlike the seeded ones becomes one."""
    first = n_seeded[0]
    if first < len(counts) and (first == 0 or squares[:first].min() > SAME_ROW * length):
        n_seeded[0] += 1
        return int(first)
    return cheapest_cluster(squares[:first], counts[:first], is_cosine, log_weight)


@jit
def dense_presentation(
    X: Any,
    order: Any,
    centers: Any,
    counts: Any,
    n_seeded: Any,
    labels: Any,
    is_cosine: bool,
    log_weight: float,
    decay: float,
    moves_centers: bool,
) -> float:
    """Present rows in an order, label each by the rule, and return the sum of their squared distances."""
    n_clusters, n_features = centers.shape
    squares = np.empty(n_clusters)
    total = 0.0
    for row in order:
        length = 0.0
        for f in range(n_features):
            length += X[row, f] * X[row, f]
        for c in range(n_seeded[0]):
            squares[c] = squared_distance(X, row, centers, c)
        n_before = n_seeded[0]
        best = choose_cluster(squares, counts, is_cosine, log_weight, length, n_seeded)
        labels[row] = best
        counts *= decay
        counts[best] += 1.0
        if n_seeded[0] == n_before:
            total += squares[best]
        if moves_centers:
            rate = 1.0 / max(counts[best], 1.0)
            norm = 0.0
            for f in range(n_features):
                centers[best, f] += rate * (X[row, f] - centers[best, f])
                norm += centers[best, f] * centers[best, f]
            if is_cosine and norm > 0.0:
                centers[best] /= np.sqrt(norm)
    return total


@jit
def sparse_presentation(
    indptr: Any,
    indices: Any,
    data: Any,
    order: Any,
    centers: Any,
    scale: Any,
    norms: Any,
    counts: Any,
    n_seeded: Any,
    labels: Any,
    is_cosine: bool,
    log_weight: float,
    decay: float,
    moves_centers: bool,
) -> float:
    """Do the same for rows of a CSR matrix; a row costs as many steps as it has entries, times the clusters.

    A center is ``scale[c] * centers[c]`` with the squared norm ``norms[c]``: a step towards a row changes the factor,
    the norm, and the entries of that row alone. `centers` has the features first.
    """
    n_clusters = len(counts)
    squares = np.empty(n_clusters)
    products = np.empty(n_clusters)
    total = 0.0
    for row in order:
        products[:] = 0.0
        length = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            value = float(data[place])
            length += value * value
            for c in range(n_clusters):
                products[c] += value * centers[indices[place], c]
        for c in range(n_seeded[0]):
            products[c] *= scale[c]
            squares[c] = max(0.0, length - 2.0 * products[c] + norms[c])
        n_before = n_seeded[0]
        best = choose_cluster(squares, counts, is_cosine, log_weight, length, n_seeded)
        labels[row] = best
        counts *= decay
        counts[best] += 1.0
        if n_seeded[0] == n_before:
            total += squares[best]
        if not moves_centers:
            continue
        rate = 1.0 / max(counts[best], 1.0)
        kept = 1.0 - rate
        norms[best] = kept * kept * norms[best] + 2.0 * kept * rate * products[best] + rate * rate * length
        scale[best] *= kept
        if scale[best] < MIN_SCALE:
            centers[:, best] *= scale[best]
            scale[best] = 1.0
        for place in range(indptr[row], indptr[row + 1]):
            centers[indices[place], best] += rate * float(data[place]) / scale[best]
        if is_cosine and norms[best] > 0.0:
            scale[best] /= np.sqrt(norms[best])
            norms[best] = 1.0
    return total
