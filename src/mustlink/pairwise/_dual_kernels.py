"""Compiled passes of coordinate ascent over the dual variables of a support vector machine."""

from __future__ import annotations

from typing import Any

from mustlink._jit import jit


@jit
def ascend_dense(
    features: Any, first: Any, second: Any, sign: Any, gain: Any, upper: Any, lower: Any, scale: Any, norms: Any,
    dual: Any, weights: Any
) -> None:  # fmt: skip
    """Set every dual variable to its best value given the others.

    The direction of a variable is ``sign[t, 0] * features[first[t]] + sign[t, 1] * features[second[t]]`` with the
    squared norm ``norms[t]``, and `weights` is `scale` times the sum of all directions times their variables.
    """
    n_features = features.shape[1]
    for t in range(len(dual)):
        i, j, a, b = first[t], second[t], sign[t, 0], sign[t, 1]
        slope = gain[t]
        product = 0.0
        for k in range(n_features):
            product += features[i, k] * weights[k]
        slope -= a * product
        if b != 0:
            product = 0.0
            for k in range(n_features):
                product += features[j, k] * weights[k]
            slope -= b * product
        change = best_change(slope, scale * norms[t], dual[t], lower[t], upper[t])
        if change == 0:
            continue
        dual[t] += change
        for k in range(n_features):
            weights[k] += scale * change * a * features[i, k]
        if b != 0:
            for k in range(n_features):
                weights[k] += scale * change * b * features[j, k]


@jit
def ascend_sparse(
    values: Any, columns: Any, starts: Any, gain: Any, upper: Any, lower: Any, scale: Any, norms: Any,
    dual: Any, weights: Any
) -> None:  # fmt: skip
    """Do the same with the directions as the rows of a sparse matrix."""
    for t in range(len(dual)):
        slope = gain[t]
        for k in range(starts[t], starts[t + 1]):
            slope -= values[k] * weights[columns[k]]
        change = best_change(slope, scale * norms[t], dual[t], lower[t], upper[t])
        if change == 0:
            continue
        dual[t] += change
        for k in range(starts[t], starts[t + 1]):
            weights[columns[k]] += scale * change * values[k]


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
