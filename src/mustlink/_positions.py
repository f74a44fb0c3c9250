"""Positions of rows or columns in an order, and the runs of clusters in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.errors import OptionError

__all__ = ["count_runs", "positions_of"]


def positions_of(order: ArrayLike | None, size: int, name: str) -> Ints:
    """Return the position of every row or column in an order by scores; equal scores are one position."""
    if order is None:
        return np.arange(size)
    scores = np.asarray(order)
    if scores.shape != (size,):
        raise OptionError(f"{name} must have one score for each of {count(size, 'number')}, got shape {scores.shape}.")
    is_number = scores.dtype.kind in "biufMm"
    if not is_number or (scores.dtype.kind in "fMm" and not np.isfinite(scores).all()):
        raise OptionError(f"{name} must be finite numbers or dates, such as the times of measurement.")
    return np.unique(scores, return_inverse=True)[1].astype(np.int64)


def count_runs(labels: Ints, position: Ints, n_clusters: int, *, circular: bool) -> tuple[Ints, Ints]:
    """Return the number of runs of positions of each cluster, and the number of its positions.

    If `circular`, the last position is followed by the first.
    """
    taken = np.unique(np.column_stack([labels, position])[labels >= 0], axis=0)
    cluster, place = taken[:, 0], taken[:, 1]
    is_start = np.ones(len(taken), dtype=np.bool_)
    is_start[1:] = (np.diff(cluster) != 0) | (np.diff(place) > 1)
    runs = np.bincount(cluster[is_start], minlength=n_clusters)
    if circular:
        at_both_ends = np.intersect1d(cluster[place == 0], cluster[place == position.max(initial=0)])
        runs[at_both_ends] = np.maximum(runs[at_both_ends] - 1, 1)
    return runs, np.bincount(cluster, minlength=n_clusters)
