"""What each column counts in the end: its share in the representations of the rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mustlink._types import Floats, Mask
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._boostcluster._coordinates import Coordinates

__all__ = ["average_column_weights"]


def average_column_weights(runs: Sequence[BaseRun], coordinates: Coordinates, varies: Mask) -> Floats:
    """Average, over the runs as they count, how far a unit of each column moves a row; the largest is one.

    Columns are standardized if the table is. Those that do not vary count nothing; without runs all others count alike.
    """
    total = np.zeros(len(varies))
    for run in runs:
        lengths = coordinates.column_lengths(run.directions, len(varies)) * varies
        total += run.weight * lengths / max(lengths.max(initial=0.0), np.finfo(np.float64).tiny)
    largest = total.max(initial=0.0)
    return total / largest if largest > 0 else varies.astype(np.float64)
