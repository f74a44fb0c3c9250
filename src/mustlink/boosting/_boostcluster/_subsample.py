"""Some rows, or links, that stand for all: drawn once, and the same ones every time."""

from __future__ import annotations

import numpy as np

from mustlink._types import Ints
from mustlink.boosting._boostcluster._links import LinkSet

__all__ = ["MAX_ROWS_COMPARED", "draw_places", "subsample_with_linked"]

# So many rows are enough to compare results.
MAX_ROWS_COMPARED = 2_000


def draw_places(n: int, max_count: int) -> Ints:
    """Draw at most `max_count` of the numbers below `n`, ascending; the same ones every time.

    Evenly spaced ones could be all alike, if the rows alternate.
    """
    if n <= max_count:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, size=max_count, replace=False, shuffle=False))


def subsample_with_linked(links: LinkSet, n_samples: int) -> Ints:
    """Choose the linked rows and some others, ascending."""
    chosen = np.zeros(n_samples, dtype=np.bool_)
    chosen[links.rows] = chosen[draw_places(n_samples, MAX_ROWS_COMPARED)] = True
    return np.flatnonzero(chosen)
