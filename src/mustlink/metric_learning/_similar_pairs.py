"""Pairs of rows with a small distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import pairwise_distances_chunked

from mustlink._spelling import count
from mustlink._types import Floats, Ints
from mustlink.metric_learning._max_margin import squared_lengths


def find_similar(Z: Floats, pairs: ArrayLike | None, threshold: float) -> tuple[Ints, Floats]:
    """Return the pairs, of those given or of all, with a squared distance below a threshold, closest first."""
    if pairs is None:
        found, squared = _close_pairs(Z, threshold)
    else:
        found = _check_pairs(pairs, len(Z))
        squared = squared_lengths(Z, found)
    close = np.flatnonzero(squared < threshold)
    close = close[np.lexsort((found[close, 1], found[close, 0], squared[close]))]
    return found[close], squared[close]


def _check_pairs(pairs: ArrayLike, n_samples: int) -> Ints:
    """Return pairs of rows as an array, with all rows inside the table."""
    checked = np.asarray(pairs)
    if checked.ndim != 2 or checked.shape[1] != 2 or checked.dtype.kind not in "iu":
        raise ValueError(f"pairs must be row numbers of shape (n_pairs, 2); got {checked.dtype} of {checked.shape}.")
    if len(checked) and not 0 <= checked.min() <= checked.max() < n_samples:
        raise ValueError(f"pairs name the rows {checked.min()} to {checked.max()}; X has {count(n_samples, 'row')}.")
    return checked.astype(np.int64)


def _close_pairs(Z: Floats, threshold: float) -> tuple[Ints, Floats]:
    """Return all pairs of rows with a squared distance below a threshold, and that distance, some rows at a time."""
    found: list[Ints] = [np.empty((0, 2), dtype=np.int64)]
    squared: list[Floats] = [np.empty(0)]
    start = 0
    for block in pairwise_distances_chunked(Z, metric="sqeuclidean"):
        first, second = np.nonzero(block < threshold)
        later = second > first + start
        found.append(np.column_stack([first[later] + start, second[later]]))
        squared.append(block[first[later], second[later]])
        start += len(block)
    return np.concatenate(found), np.concatenate(squared)
