"""Compiled kernels of affinity propagation and of k-medoids."""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit
from mustlink._types import Array, Floats, Indices, Mask


@jit
def _send_responsibilities(S: Array, A: Array, R: Array, damping: float, support: Floats) -> None:
    """Update the responsibilities in place and sum their positive parts by column."""
    n_rows = S.shape[0]
    support[:] = 0.0
    keep = S.dtype.type(damping)
    take = S.dtype.type(1.0 - damping)
    for i in range(n_rows):
        best = A[i, 0] + S[i, 0]
        best_at = 0
        second = S.dtype.type(-np.inf)
        for k in range(1, n_rows):
            value = A[i, k] + S[i, k]
            if value > second:
                if value > best:
                    second = best
                    best = value
                    best_at = k
                else:
                    second = value
        own = keep * R[i, best_at] + take * (S[i, best_at] - second)
        for k in range(n_rows):
            R[i, k] = keep * R[i, k] + take * (S[i, k] - best)
        R[i, best_at] = own
        for k in range(n_rows):
            support[k] += max(R[i, k], 0.0)
        support[i] += R[i, i] - max(R[i, i], 0.0)


@jit
def _send_availabilities(A: Array, R: Array, damping: float, support: Floats) -> None:
    """Update the availabilities in place from the column sums of the responsibilities."""
    n_rows = A.shape[0]
    total = support.astype(A.dtype)
    keep = A.dtype.type(damping)
    take = A.dtype.type(1.0 - damping)
    nothing = A.dtype.type(0.0)
    for i in range(n_rows):
        own = keep * A[i, i] + take * (total[i] - R[i, i])
        for k in range(n_rows):
            A[i, k] = keep * A[i, k] + take * min(nothing, total[k] - max(R[i, k], nothing))
        A[i, i] = own


@jit
def pass_messages(S: Array, damping: float, max_iter: int, convergence_iter: int) -> tuple[Mask, int, bool]:
    """Pass messages until the exemplars stay the same; the diagonal of S holds the preferences.

    Returns which rows are exemplars, the number of iterations, and whether the exemplars have converged.
    """
    n_rows = S.shape[0]
    A = np.zeros_like(S)
    R = np.zeros_like(S)
    support = np.zeros(n_rows)
    exemplar = np.zeros(n_rows, dtype=np.bool_)
    stable_for = 0
    for iteration in range(max_iter):
        _send_responsibilities(S, A, R, damping, support)
        _send_availabilities(A, R, damping, support)
        changed = False
        n_exemplars = 0
        for k in range(n_rows):
            chosen = A[k, k] + R[k, k] > 0
            changed = changed or chosen != exemplar[k]
            exemplar[k] = chosen
            n_exemplars += chosen
        stable_for = 1 if changed else stable_for + 1
        if stable_for >= convergence_iter and n_exemplars > 0 and iteration >= convergence_iter:
            return exemplar, iteration + 1, True
    return exemplar, max_iter, False


@jit
def _two_nearest(D: Array, medoids: Indices, nearest: Indices, first: Floats, second: Floats) -> None:
    """Find for every row the nearest medoid and the distances to the nearest two."""
    for i in range(D.shape[0]):
        first[i] = np.inf
        second[i] = np.inf
        for m in range(medoids.shape[0]):
            distance = D[i, medoids[m]]
            if distance < first[i]:
                second[i] = first[i]
                first[i] = distance
                nearest[i] = m
            elif distance < second[i]:
                second[i] = distance


@jit
def _greedy_medoids(D: Array, n_clusters: int) -> Indices:
    """Add medoids one at a time, each the row that lowers the sum of distances most."""
    n_rows = D.shape[0]
    medoids = np.empty(n_clusters, dtype=np.intp)
    taken = np.zeros(n_rows, dtype=np.bool_)
    first = np.full(n_rows, np.inf)
    for m in range(n_clusters):
        best = np.inf
        best_at = -1
        for c in range(n_rows):
            if taken[c]:
                continue
            total = 0.0
            for i in range(n_rows):
                total += min(first[i], D[c, i])
            if total < best:
                best = total
                best_at = c
        medoids[m] = best_at
        taken[best_at] = True
        for i in range(n_rows):
            first[i] = min(first[i], D[best_at, i])
    return medoids


@jit
def k_medoids(D: Array, n_clusters: int, max_sweeps: int) -> tuple[Indices, Indices]:
    """Start greedily, then make every swap of a medoid with another row that lowers the sum of distances.

    D is symmetric. A sweep tries every row; the work of one trial is one pass over the rows, for all medoids
    together. Returns the medoids and the number of the medoid of every row.
    """
    n_rows = D.shape[0]
    medoids = _greedy_medoids(D, n_clusters)
    is_medoid = np.zeros(n_rows, dtype=np.bool_)
    is_medoid[medoids] = True
    nearest = np.zeros(n_rows, dtype=np.intp)
    first = np.empty(n_rows)
    second = np.empty(n_rows)
    _two_nearest(D, medoids, nearest, first, second)
    change = np.empty(n_clusters)
    for _ in range(max_sweeps if n_clusters > 1 else 0):
        swapped = False
        for c in range(n_rows):
            if is_medoid[c]:
                continue
            change[:] = 0.0
            gain = 0.0
            for i in range(n_rows):
                distance = D[c, i]
                if distance < first[i]:
                    gain += distance - first[i]
                else:
                    change[nearest[i]] += min(distance, second[i]) - first[i]
            m = np.argmin(change)
            if change[m] + gain < -1e-9 * np.sum(first):
                is_medoid[medoids[m]] = False
                is_medoid[c] = True
                medoids[m] = c
                _two_nearest(D, medoids, nearest, first, second)
                swapped = True
        if not swapped:
            break
    # A medoid keeps its own row if another one is equal to it.
    nearest[medoids] = np.arange(n_clusters)
    return medoids, nearest
