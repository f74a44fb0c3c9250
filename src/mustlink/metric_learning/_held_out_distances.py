"""How far apart a learned metric and the Euclidean one put cannot-linked rows that were not learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from mustlink._types import Floats, Ints
from mustlink.metric_learning._max_margin import squared_lengths

# Up to so many pairs of rows the held-out ones are compared with all of them; of more rows so many are drawn.
MAX_COMPARED = 10_000
# With fewer held-out pairs the comparison is noise.
MIN_HELD_OUT = 5


def held_out_separation(
    X: Any, pairs: Ints, learn: Callable[[Ints], Floats], rng: np.random.RandomState
) -> tuple[float, float] | None:
    """Return the separation of held-out pairs under the learned and under the Euclidean metric.

    The linked rows are split in two halves. A metric is learned from the pairs within one half, by ``learn(numbers of
    pairs)``, which returns the map, and measured on the pairs within the other half, and the other way round. None if a
    half has too few pairs.
    """
    rows = np.unique(pairs)
    half = np.zeros(X.shape[0], dtype=bool)
    half[rng.permutation(rows)[: len(rows) // 2]] = True
    sides = half[pairs]
    parts = np.flatnonzero(sides.all(axis=1)), np.flatnonzero(~sides.any(axis=1))
    if min(len(part) for part in parts) < MIN_HELD_OUT:
        return None
    learned, plain = [], []
    for train, test in (parts, parts[::-1]):
        held_rows, place = np.unique(pairs[test], return_inverse=True)
        held, place = X[held_rows], place.reshape(-1, 2)
        others = _pairs_to_compare(len(held_rows), rng)
        learned.append(separation(held @ learn(train).T, place, others))
        plain.append(separation(held, place, others))
    return float(np.mean(learned)), float(np.mean(plain))


def separation(Z: Any, pairs: Ints, others: Ints) -> float:
    """Return how often one of the pairs is farther apart than one of the others; ties count half."""
    squared = np.concatenate([squared_lengths(Z, pairs), squared_lengths(Z, others)])
    return float(roc_auc_score(np.arange(len(squared)) < len(pairs), squared))


def _pairs_to_compare(n_rows: int, rng: np.random.RandomState) -> Ints:
    """Return all pairs of rows, or some drawn at random if there are many."""
    if n_rows * (n_rows - 1) // 2 <= MAX_COMPARED:
        return np.column_stack(np.triu_indices(n_rows, 1)).astype(np.int64)
    first = rng.randint(n_rows, size=MAX_COMPARED)
    second = rng.randint(n_rows - 1, size=MAX_COMPARED)
    return np.column_stack([first, second + (second >= first)]).astype(np.int64)
