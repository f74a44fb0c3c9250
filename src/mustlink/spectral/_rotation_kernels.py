"""Compiled search for the rotation that aligns rows with axes."""

from __future__ import annotations

import math

import numpy as np

from mustlink._jit import jit
from mustlink._types import Floats


@jit
def _cost_at(Z: Floats, mass: Floats, rest: Floats, a: int, b: int, angle: float) -> float:
    """Return the sum of mass over the largest squared entry of each row, after rotating the plane of axes a and b."""
    cosine = math.cos(angle)
    sine = math.sin(angle)
    total = 0.0
    for i in range(Z.shape[0]):
        if mass[i] > 0:
            u = cosine * Z[i, a] + sine * Z[i, b]
            v = cosine * Z[i, b] - sine * Z[i, a]
            total += mass[i] / max(rest[i], max(u * u, v * v))
    return total


@jit
def _best_angle(
    Z: Floats, mass: Floats, rest: Floats, a: int, b: int, n_grid: int, n_golden: int
) -> tuple[float, float]:
    """Return the best angle for one plane and its cost: a grid from -pi/4 to pi/4, then golden section search."""
    width = math.pi / 2 / n_grid
    best = _cost_at(Z, mass, rest, a, b, 0.0)
    angle = 0.0
    for g in range(n_grid):
        candidate = -math.pi / 4 + g * width
        cost = _cost_at(Z, mass, rest, a, b, candidate)
        if cost < best:
            best = cost
            angle = candidate
    golden = (math.sqrt(5.0) - 1) / 2
    low = angle - width
    high = angle + width
    left = high - golden * (high - low)
    right = low + golden * (high - low)
    at_left = _cost_at(Z, mass, rest, a, b, left)
    at_right = _cost_at(Z, mass, rest, a, b, right)
    for _ in range(n_golden):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = _cost_at(Z, mass, rest, a, b, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = _cost_at(Z, mass, rest, a, b, right)
    if min(at_left, at_right) < best:
        return (left, at_left) if at_left < at_right else (right, at_right)
    return angle, best


@jit
def _largest_elsewhere(Z: Floats, a: int, b: int, rest: Floats) -> None:
    """Find the largest squared entry of each row outside two columns."""
    for i in range(Z.shape[0]):
        largest = 0.0
        for k in range(Z.shape[1]):
            if k != a and k != b:
                largest = max(largest, Z[i, k] * Z[i, k])
        rest[i] = largest


@jit
def align_with_axes(Z: Floats, mass: Floats, max_sweeps: int, tol: float) -> float:
    """Rotate Z in place, one plane of two axes after the other, until a sweep reduces the cost by at most `tol`.

    Z has at least two columns. Returns the cost: the sum over the rows of mass over the largest squared entry.
    """
    n_rows, n_axes = Z.shape
    rest = np.zeros(n_rows)
    _largest_elsewhere(Z, 0, 1, rest)
    cost = _cost_at(Z, mass, rest, 0, 1, 0.0)
    for _ in range(max_sweeps):
        before = cost
        for a in range(n_axes - 1):
            for b in range(a + 1, n_axes):
                _largest_elsewhere(Z, a, b, rest)
                angle, cost = _best_angle(Z, mass, rest, a, b, 12, 26)
                if angle != 0.0:
                    cosine = math.cos(angle)
                    sine = math.sin(angle)
                    for i in range(n_rows):
                        u = cosine * Z[i, a] + sine * Z[i, b]
                        Z[i, b] = cosine * Z[i, b] - sine * Z[i, a]
                        Z[i, a] = u
        if before - cost <= tol * before:
            break
    return cost
