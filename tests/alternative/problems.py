"""Tables with a split that is known and another one."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Ints


def counts_with_two_splits(k: int, n_rows: int, seed: int, m: int = 1100) -> tuple[Floats, Ints, Ints]:
    """Counts as chapter 11 draws them, with two independent splits."""
    rng = np.random.default_rng(seed)
    theta = (np.arange(k) + 0.5) / k
    a, b = rng.integers(k, size=(2, n_rows))
    first, second = rng.binomial(m, theta[a]), rng.binomial(m, theta[b])
    return np.column_stack([first, m - first, second, m - second]).astype(float), a, b


def points_with_two_splits(n_rows: int = 120, seed: int = 0) -> tuple[Floats, Ints, Ints]:
    """Points around four corners of a rectangle, which is longer the known way."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(2, size=(2, n_rows))
    return np.column_stack([12.0 * a, 6.0 * b]) + rng.normal(size=(n_rows, 2)), a, b
