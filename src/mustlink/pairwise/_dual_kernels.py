"""Compiled passes of coordinate ascent over the dual variables of a support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def ascend_dense(
    directions: Any, gain: Any, lower: Any, upper: Any, scale: Any, norms: Any, chosen: Any, dual: Any, weights: Any
) -> None:
    """Set each of the chosen dual variables to its best value given the others.

    `directions` has a row for each variable, with the squared length `norms`; `weights` is `scale` times the sum of all
    rows times their variables.
    """
    n_features = directions.shape[1]
    for t in chosen:
        slope = gain[t] - np.dot(directions[t], weights)
        change = best_change(slope, scale * norms[t], dual[t], lower[t], upper[t])
        if change != 0:
            dual[t] += change
            step = scale * change
            for k in range(n_features):
                weights[k] += step * directions[t, k]


@jit
def ascend_sparse(
    values: Any, columns: Any, starts: Any, gain: Any, lower: Any, upper: Any, scale: Any, norms: Any, chosen: Any,
    dual: Any, weights: Any
) -> None:  # fmt: skip
    """Do the same with the directions as the rows of a sparse matrix."""
    for t in chosen:
        slope = gain[t]
        for k in range(starts[t], starts[t + 1]):
            slope -= values[k] * weights[columns[k]]
        change = best_change(slope, scale * norms[t], dual[t], lower[t], upper[t])
        if change != 0:
            dual[t] += change
            step = scale * change
            for k in range(starts[t], starts[t + 1]):
                weights[columns[k]] += step * values[k]


@jit
def best_change(slope: Any, curvature: Any, value: Any, lower: Any, upper: Any) -> Any:
    """Return how far a variable moves to the maximum of a parabola within its bounds."""
    if curvature > 0:
        return min(max(value + slope / curvature, lower), upper) - value
    if slope > 0:
        return upper - value
    if slope < 0:
        return lower - value
    return 0.0
