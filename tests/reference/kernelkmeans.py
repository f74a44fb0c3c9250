"""Kernel k-means on S + W from dense matrices, by definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mustlink import Constraints

Floats = NDArray[np.float64]


def dense_links(links: Constraints, price: float, n: int) -> Floats:
    """Return W as a full matrix."""
    W = np.zeros((n, n))
    for (i, j), w in zip(links.must_link, links.must_link_weight, strict=True):
        W[i, j] = W[j, i] = price * w
    for (i, j), w in zip(links.cannot_link, links.cannot_link_weight, strict=True):
        W[i, j] = W[j, i] = -price * w
    return W


def objective(S: Floats, W: Floats, labels: NDArray[np.integer]) -> float:
    """Return the distances to the means under S, less the links inside clusters divided by their sizes."""
    total = 0.0
    for c in np.unique(labels):
        rows = np.flatnonzero(labels == c)
        block = np.ix_(rows, rows)
        total += np.trace(S[block]) - S[block].sum() / len(rows) - W[block].sum() / len(rows)
    return float(total)


def distance(K: Floats, i: int, rows: NDArray[np.intp]) -> float:
    """Return the squared distance of a row to the mean of some rows under the kernel K."""
    return float(K[i, i] - 2 * K[i, rows].mean() + K[np.ix_(rows, rows)].mean())


def kernel_k_means(K: Floats, labels: NDArray[np.integer], k: int) -> tuple[NDArray[np.integer], bool]:
    """Send every row to the nearest mean until none moves; also tell whether a cluster was ever empty."""
    for _ in range(100):
        groups = [np.flatnonzero(labels == c) for c in range(k)]
        if any(len(rows) == 0 for rows in groups):
            return labels, True
        new = np.array([np.argmin([distance(K, i, rows) for rows in groups]) for i in range(len(K))])
        if (new == labels).all():
            return labels, False
        labels = new
    return labels, False
