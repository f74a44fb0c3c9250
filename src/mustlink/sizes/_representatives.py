"""Representatives of clusters for squared distances and for the cosine, and rows as directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from mustlink._rows import RowBlocks
from mustlink._spelling import count
from mustlink._types import Array, Floats, Mask

__all__ = ["as_directions", "check_enough_directions", "direction_of", "nearest_to", "representatives"]

# Rows that cancel out leave a mean of this length by rounding.
MIN_LENGTH = 1e-12


def as_directions(X: Any) -> tuple[Any, Mask]:
    """Return the rows that are not zero at unit length, and which rows of X they are."""
    largest = abs(X).max(axis=1).toarray().ravel() if sparse.issparse(X) else abs(X).max(axis=1)
    is_used = largest > 0
    X = X if is_used.all() else X[is_used]
    if not X.shape[0]:
        return X, is_used
    # Scaled by the largest entry first, so that no square overflows or vanishes; of dense rows, normalize would leave
    # short ones as they are.
    X = normalize(X, norm="max") if sparse.issparse(X) else X / largest[is_used, None]
    return normalize(X, copy=False), is_used


def check_enough_directions(n_used: int, n_rows: int, n_clusters: int) -> None:
    """Refuse fewer rows with a direction than clusters."""
    if n_used < n_clusters:
        raise ValueError(
            f"{count(n_used, 'row')} of {n_rows:,} {'has' if n_used == 1 else 'have'} a direction, fewer than "
            f"n_clusters={n_clusters}; the others are zero in every column."
        )


def direction_of(vectors: Floats) -> tuple[Floats, Mask]:
    """Return vectors at unit length, and whether they have a direction."""
    norms = np.sqrt(np.square(vectors).sum(axis=1))
    has_direction = norms > MIN_LENGTH
    return vectors / np.where(has_direction, norms, 1.0)[:, None], has_direction


def representatives(rows: RowBlocks, labels: Array, weight: Floats, old: Floats, *, is_cosine: bool) -> Floats:
    """Return the mean of every cluster, or its direction; one without rows or direction keeps its old one."""
    n_clusters = len(old)
    means = rows.averages(labels, n_clusters, weight).rows(slice(None))
    found = np.bincount(labels, minlength=n_clusters) > 0
    if is_cosine:
        means, has_direction = direction_of(means)
        found &= has_direction
    return np.where(found[:, None], means, old)


def nearest_to(centers: Array, X: Any, is_used: Mask) -> Array:
    """Return the nearest center of the rows X, which are the used ones of a table; -1 for all others of the table."""
    labels = np.full(len(is_used), -1)
    if X.shape[0]:
        labels[is_used] = RowBlocks(X).assign(centers.astype(np.float64), np.ones(X.shape[0])).labels
    return labels
