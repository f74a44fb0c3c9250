"""How far apart a learned metric and the Euclidean one put cannot-linked rows that were not learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from mustlink._types import Floats, Ints

# Of the squared distances of held-out pairs this quantile is compared: the pairs that are likely to be confused.
QUANTILE = 0.1
# With fewer held-out pairs the quantile is noise.
MIN_HELD_OUT = 5


def held_out_separation(
    X: Any, pairs: Ints, learn: Callable[[Ints], Floats], rng: np.random.RandomState
) -> tuple[float, float] | None:
    """Return the separation of held-out pairs under the learned and under the Euclidean metric.

    The linked rows are split in two halves. A metric is learned from the pairs within one half, by ``learn(numbers of
    pairs)``, which returns the map, and measured on the pairs within the other half, and the other way round.
    The separation is a low quantile of the squared distances of held-out pairs, relative to the mean squared distance
    of the rows of that half. None if a half has too few pairs.
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
        held = X[held_rows]
        learned.append(separation(held @ learn(train).T, place.reshape(-1, 2)))
        plain.append(separation(held, place.reshape(-1, 2)))
    return float(np.mean(learned)), float(np.mean(plain))


def separation(Z: Any, pairs: Ints) -> float:
    """Return a low quantile of the squared distances of the pairs over the mean squared distance of the rows."""
    delta = Z[pairs[:, 0]] - Z[pairs[:, 1]]
    squares = delta.multiply(delta) if sparse.issparse(delta) else delta * delta
    squared: Floats = np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
    mean = _mean_squared_distance(Z)
    return float(np.quantile(squared, QUANTILE)) / mean if mean > 0 else 0.0


def _mean_squared_distance(Z: Any) -> float:
    """Return the mean squared distance of two rows: twice the sum of the variances."""
    center = np.asarray(Z.mean(axis=0), dtype=np.float64).ravel()
    squares = Z.multiply(Z) if sparse.issparse(Z) else np.asarray(Z, dtype=np.float64) ** 2
    return 2 * max(float(np.asarray(squares.sum(axis=1), dtype=np.float64).mean() - center @ center), 0.0)
