"""Compiled passes over the codes of the rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink._jit import jit


@jit
def least_in_common(codes: NDArray[Any], weights: NDArray[np.float64]) -> float:
    """Return the smallest weight that two different rows have in common: the least entry of the co-association.

    At worst all pairs of rows are compared. Mostly two of the first rows have nothing in common, and then nothing
    less can be found.
    """
    n_rows, n_rounds = codes.shape
    least: float = np.sum(weights)
    for i in range(n_rows):
        for j in range(i):
            common = 0.0
            for t in range(n_rounds):
                if codes[i, t] == codes[j, t] and codes[i, t] >= 0:
                    common += weights[t]
                    if common >= least:
                        break
            if common < least:
                least = common
            if least == 0.0:
                return least
    return least
