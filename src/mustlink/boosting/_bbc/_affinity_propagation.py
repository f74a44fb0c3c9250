"""Affinity propagation, and the search for the preference that gives a wanted number of clusters.

The messages are compiled: scikit-learn's ``affinity_propagation`` finds the same labels in two to three times the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mustlink._types import Array, Indices
from mustlink._warnings import warn_caller
from mustlink.boosting._bbc._kernels import pass_messages

__all__ = ["ARRAYS_HELD", "Exemplars", "propagate_affinity", "search_preference", "without_diagonal"]

# How far the damping moves towards 1 at each attempt; the next one is made if the messages do not converge.
EXTRA_DAMPING = (0.0, 0.6)
# Similarities, responsibilities and availabilities.
ARRAYS_HELD = 3


@dataclass(frozen=True)
class Exemplars:
    """What one run of affinity propagation found."""

    labels: Indices
    rows: Indices
    n_iter: int
    converged: bool


def without_diagonal(S: Array) -> Array:
    """Return the similarities between different rows, a view of a square array in C order."""
    n_rows = len(S)
    return S.ravel()[:-1].reshape(n_rows - 1, n_rows + 1)[:, 1:]


def propagate_affinity(
    S: Array,
    preference: float,
    rng: np.random.RandomState,
    *,
    damping: float = 0.75,
    max_iter: int = 300,
    convergence_iter: int = 30,
) -> Exemplars:
    """Cluster by passing messages; if they do not converge, try again with more damping.

    Exemplars that have not converged after the last attempt are used as they are; if there is none, every row is
    noise (-1).
    """
    n_rows = len(S)
    if n_rows == 1:
        return _equal_rows(1, apart=False)
    between = without_diagonal(S)
    if between.min() == between.max():
        return _equal_rows(n_rows, apart=preference > between.max())
    S = S.copy()
    S.flat[:: n_rows + 1] = preference
    # Equal similarities make the messages oscillate; noise in the last digit breaks the ties.
    info = np.finfo(S.dtype)
    S += (info.eps * S + info.tiny * 100) * rng.standard_normal(S.shape).astype(S.dtype)
    n_iter = 0
    for share in EXTRA_DAMPING:
        # More damping takes more iterations to converge, and to detect that it has.
        slower = 1 / (1 - share)
        is_exemplar, used, converged = pass_messages(
            S, 1 - (1 - damping) / slower, round(max_iter * slower), round(convergence_iter * slower)
        )
        n_iter += used
        if converged:
            break
    rows = np.flatnonzero(is_exemplar)
    if len(rows) == 0:
        return Exemplars(np.full(n_rows, -1), rows, n_iter, False)
    return Exemplars(*_join_exemplars(S, rows), n_iter, converged)


def _equal_rows(n_rows: int, *, apart: bool) -> Exemplars:
    """Return the clustering of rows that are all equally similar: one cluster, or one for each row."""
    if apart:
        return Exemplars(np.arange(n_rows), np.arange(n_rows), 0, True)
    return Exemplars(np.zeros(n_rows, dtype=np.intp), np.zeros(1, dtype=np.intp), 0, True)


def _join_exemplars(S: Array, rows: Indices) -> tuple[Indices, Indices]:
    """Assign every row to its most similar exemplar, after each cluster has chosen its best exemplar again."""
    labels = _nearest_exemplar(S, rows)
    better = rows.copy()
    for cluster in range(len(rows)):
        members = np.flatnonzero(labels == cluster)
        better[cluster] = members[np.argmax(S[np.ix_(members, members)].sum(axis=0))]
    better.sort()
    return _nearest_exemplar(S, better), better


def _nearest_exemplar(S: Array, rows: Indices) -> Indices:
    """Return the number of the most similar exemplar of every row; an exemplar is its own."""
    labels = np.argmax(S[:, rows], axis=1)
    labels[rows] = np.arange(len(rows))
    return labels


def search_preference(S: Array, n_clusters: int, seed: int, *, max_search: int = 30) -> tuple[Exemplars, float]:
    """Bisect the preference until affinity propagation finds the wanted number of clusters, or comes nearest to it.

    The number of clusters falls with the preference, though not strictly: some numbers may not occur at all, and then
    a ConvergenceWarning is given. The search works on the logarithm of the distance between the preference and the
    largest similarity, because the number of clusters changes evenly on that scale. The preference is returned as well.
    """
    if len(S) == n_clusters:
        return _equal_rows(n_clusters, apart=True), np.inf
    rng = np.random.RandomState(seed)
    between = without_diagonal(S)
    top = float(between.max())
    # How far the preference lies below the top; the number of clusters falls as it grows.
    depth = top - float(np.median(between)) or top - float(between.min()) or 1.0
    shallow, deep = 0.0, np.inf
    tried: list[tuple[Exemplars, float]] = []
    while len(tried) < max_search and depth not in (shallow, deep):
        found = propagate_affinity(S, top - depth, rng)
        tried.append((found, top - depth))
        if len(found.rows) == n_clusters:
            break
        if len(found.rows) > n_clusters:
            shallow = depth
        else:
            deep = depth
        # The geometric mean, or four times more or less if one side is still open.
        if np.isinf(deep):
            depth = shallow * 4
        elif shallow == 0:
            depth = deep / 4
        else:
            depth = float(np.sqrt(shallow) * np.sqrt(deep))

    def distance(one: tuple[Exemplars, float]) -> tuple[bool, int, bool]:
        # Noise alone is no result.
        n_found = len(one[0].rows)
        return n_found == 0, abs(n_found - n_clusters), not one[0].converged

    best = min(tried, key=distance)
    if len(best[0].rows) != n_clusters:
        warn_caller(
            f"None of the {len(tried)} preferences tried gave {n_clusters} clusters; the nearest gave "
            f"{len(best[0].rows)}.",
            ConvergenceWarning,
        )
    return best
