"""Compiled passes of dual coordinate ascent over pairs of rows.

A pass visits the pairs in `active`, writes their squared distances, and moves each multiplier to its best value given
the others; ``learn=False`` only writes the distances. The matrix is d x d, or 1 x d for a diagonal one. Returns how
many pairs stay active (they are moved to the front), the largest violation of the optimality conditions, and the gain
of the dual objective.
"""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit
from mustlink._types import Floats, Ints

__all__ = ["pass_over_dense", "pass_over_gram", "pass_over_sparse"]


@jit
def pass_over_dense(
    X: Floats,
    pairs: Ints,
    matrix: Floats,
    alpha: Floats,
    upper: Floats,
    norm: Floats,
    squared: Floats,
    active: Ints,
    margin: float,
    learn: bool,
) -> tuple[int, float, float]:
    """Visit pairs of dense rows: d^2 operations each."""
    n_features = X.shape[1]
    delta, image = np.empty(n_features), np.empty(n_features)
    is_diagonal = matrix.shape[0] == 1
    n_active, largest, gain, place = len(active), 0.0, 0.0, 0
    while place < n_active:
        pair = active[place]
        delta[:] = X[pairs[pair, 0]] - X[pairs[pair, 1]]
        if is_diagonal:
            delta[:] = delta * delta
            image[:] = matrix[0]
        else:
            image[:] = 0.0
            for s in range(n_features):
                for t in range(n_features):
                    image[t] += delta[s] * matrix[s, t]
        squared[pair] = (image * delta).sum()
        place += 1
        if not learn:
            continue
        if _can_rest(alpha[pair], squared[pair], upper[pair], margin):
            place, n_active = place - 1, n_active - 1
            active[place], active[n_active] = active[n_active], active[place]
            continue
        step, gained, violation = _step(alpha[pair], squared[pair], norm[pair], upper[pair])
        largest, gain = max(largest, violation), gain + gained
        if step != 0.0:
            alpha[pair] += step
            if is_diagonal:
                matrix[0] += step * delta
            else:
                for s in range(n_features):
                    weight = step * delta[s]
                    for t in range(n_features):
                        matrix[s, t] += weight * delta[t]
    return n_active, largest, gain


@jit
def pass_over_sparse(
    values: Floats,
    column: Ints,
    start: Ints,
    pairs: Ints,
    matrix: Floats,
    alpha: Floats,
    upper: Floats,
    norm: Floats,
    squared: Floats,
    active: Ints,
    margin: float,
    learn: bool,
) -> tuple[int, float, float]:
    """Visit pairs of sparse rows with sorted columns; only the lower half of the matrix at their columns is used."""
    longest = 2 * (start[1:] - start[:-1]).max()
    delta, where = np.empty(longest), np.empty(longest, dtype=np.int64)
    is_diagonal = matrix.shape[0] == 1
    n_active, largest, gain, place = len(active), 0.0, 0.0, 0
    while place < n_active:
        pair = active[place]
        n_columns = _subtract(values, column, start, pairs[pair, 0], pairs[pair, 1], delta, where)
        squared[pair] = _quadratic(matrix, delta, where, n_columns, is_diagonal)
        place += 1
        if not learn:
            continue
        if _can_rest(alpha[pair], squared[pair], upper[pair], margin):
            place, n_active = place - 1, n_active - 1
            active[place], active[n_active] = active[n_active], active[place]
            continue
        step, gained, violation = _step(alpha[pair], squared[pair], norm[pair], upper[pair])
        largest, gain = max(largest, violation), gain + gained
        if step != 0.0:
            alpha[pair] += step
            for s in range(n_columns):
                weight = step * delta[s]
                if is_diagonal:
                    matrix[0, where[s]] += weight * delta[s]
                else:
                    for t in range(s + 1):
                        matrix[where[s], where[t]] += weight * delta[t]
    return n_active, largest, gain


@jit
def pass_over_gram(
    gram: Floats, alpha: Floats, upper: Floats, squared: Floats, active: Ints
) -> tuple[int, float, float]:
    """Visit pairs by the inner products of their matrices; the squared distances of all pairs are kept up to date."""
    largest, gain = 0.0, 0.0
    for place in range(len(active)):
        pair = active[place]
        step, gained, violation = _step(alpha[pair], squared[pair], gram[pair, pair], upper[pair])
        largest, gain = max(largest, violation), gain + gained
        if step != 0.0:
            alpha[pair] += step
            for other in range(len(squared)):
                squared[other] += step * gram[pair, other]
    return len(active), largest, gain


@jit
def _step(alpha: float, squared: float, norm: float, upper: float) -> tuple[float, float, float]:
    """Return the step to the best multiplier of one pair, the gain, and the size of the projected gradient before."""
    slope = 1.0 - squared
    step = min(max(alpha + slope / norm, 0.0), upper) - alpha
    gain = step * slope - 0.5 * step * step * norm
    if alpha <= 0.0:
        return step, gain, max(slope, 0.0)
    if alpha >= upper:
        return step, gain, max(-slope, 0.0)
    return step, gain, abs(slope)


@jit
def _can_rest(alpha: float, squared: float, upper: float, margin: float) -> bool:
    """Return whether a multiplier is at a bound that it is unlikely to leave."""
    return (alpha <= 0.0 and squared > 1.0 + margin) or (alpha >= upper and squared < 1.0 - margin)


@jit
def _subtract(values: Floats, column: Ints, start: Ints, first: int, second: int, delta: Floats, where: Ints) -> int:
    """Write the difference of two sparse rows and its columns, and return the number of entries."""
    a, a_end, b, b_end, n = start[first], start[first + 1], start[second], start[second + 1], 0
    while a < a_end or b < b_end:
        if b >= b_end or (a < a_end and column[a] < column[b]):
            where[n], delta[n] = column[a], values[a]
            a += 1
        elif a >= a_end or column[b] < column[a]:
            where[n], delta[n] = column[b], -values[b]
            b += 1
        else:
            where[n], delta[n] = column[a], values[a] - values[b]
            a, b = a + 1, b + 1
        if delta[n] != 0.0:
            n += 1
    return n


@jit
def _quadratic(matrix: Floats, delta: Floats, where: Ints, n_columns: int, is_diagonal: bool) -> float:
    """Return the squared distance under the lower half of a symmetric matrix, or under a diagonal one."""
    total = 0.0
    for s in range(n_columns):
        if is_diagonal:
            total += matrix[0, where[s]] * delta[s] * delta[s]
        else:
            image = 0.5 * matrix[where[s], where[s]] * delta[s]
            for t in range(s):
                image += matrix[where[s], where[t]] * delta[t]
            total += 2.0 * image * delta[s]
    return total
