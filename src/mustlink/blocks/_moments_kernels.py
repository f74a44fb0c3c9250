"""Compiled pass over a block of rows: means, sums of squares and ranges of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def column_moments(block: Any) -> Any:
    """Return the mean of every column, the sum of squared deviations from it, the smallest and the largest number.

    A mean that is not finite tells of NaN, which no range does.
    """
    n_rows, n_features = block.shape
    found = np.zeros((4, n_features))
    mean, squares, lowest, highest = found[0], found[1], found[2], found[3]
    lowest[:] = np.inf
    highest[:] = -np.inf
    for i in range(n_rows):
        for j in range(n_features):
            value = float(block[i, j])
            mean[j] += value
            lowest[j] = min(lowest[j], value)
            highest[j] = max(highest[j], value)
    for j in range(n_features):
        mean[j] /= n_rows
    for i in range(n_rows):
        for j in range(n_features):
            apart = float(block[i, j]) - mean[j]
            squares[j] += apart * apart
    return found
