"""Cannot-links between equal rows, which no metric separates."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._spelling import count
from mustlink._types import Ints
from mustlink._warnings import warn_caller
from mustlink.errors import InfeasibleError, UnmetConstraintsWarning
from mustlink.metric_learning._max_margin import squared_lengths

# Rows whose squared distance is smaller than this, relative to the median of all pairs, are equal.
EQUAL = 1e-30


def find_different(Z: Any, pairs: Ints) -> tuple[Any, float]:
    """Return which pairs are of different rows, and the median squared distance of these."""
    squared = squared_lengths(Z, pairs)
    positive = squared[squared > 0]
    if not len(positive):
        return np.zeros(len(pairs), dtype=bool), 1.0
    scale = float(np.median(positive))
    return squared > EQUAL * scale, scale


def refuse_equal(equal: Ints) -> None:
    """Refuse cannot-links between equal rows where C is infinite, so that all are to be kept."""
    if len(equal):
        raise InfeasibleError(
            f"No metric separates equal rows, and C is infinite: there are {_describe(equal)}; leave them out, or pass "
            "a finite C.",
            pairs=[(int(i), int(j)) for i, j in equal],
        )


def warn_of_equal(equal: Ints) -> None:
    """Warn of cannot-links between equal rows, which are left out."""
    if len(equal):
        warn_caller(
            f"CannotLinkMetric leaves out {_describe(equal)}; no metric separates them.", UnmetConstraintsWarning
        )


def _describe(equal: Ints) -> str:
    """Return how many cannot-links are between equal rows, and some of them."""
    some = ", ".join(f"{i} and {j}" for i, j in equal[:3].tolist()) + (", ..." if len(equal) > 3 else "")
    return f"{count(len(equal), 'cannot-link')} between equal rows ({some})"
