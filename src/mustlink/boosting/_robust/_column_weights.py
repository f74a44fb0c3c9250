"""What each column counts in the end: its share in the representations of the rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mustlink._types import Floats
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._boostcluster._coordinates import Coordinates

__all__ = ["average_column_weights"]


def average_column_weights(runs: Sequence[BaseRun], coordinates: Coordinates, n_features: int) -> Floats:
    """Average, over the runs as they count, how far a unit of each column moves a row; the largest is one.

    Columns are standardized if the table is. Without runs all columns count alike.
    """
    total = np.zeros(n_features)
    for run in runs:
        lengths = coordinates.column_lengths(run.directions, n_features)
        total += run.weight * lengths / max(lengths.max(initial=0.0), np.finfo(np.float64).tiny)
    largest = total.max(initial=0.0)
    return total / largest if largest > 0 else np.ones(n_features)
