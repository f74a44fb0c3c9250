"""One pass of the sequential method: every row is taken out of its cluster and put where the objective is largest."""

from __future__ import annotations

import math

from mustlink._jit import jit
from mustlink._types import Floats, Indices, Ints

__all__ = ["pass_over_counts", "pass_over_points"]


@jit
def x_log_x(value: float) -> float:
    return value * math.log(value) if value > 0.0 else 0.0


@jit
def best_cluster(gain: Floats, own: int, min_gain: float) -> int:
    """The cluster of the largest gain; its own unless another one is better by more than rounding."""
    best = own
    for c in range(len(gain)):
        if gain[c] > gain[best] and gain[c] > gain[own] + min_gain:
            best = c
    return best


@jit
def pass_over_counts(
    order: Indices,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    weight: Floats,
    cell: Ints,
    labels: Ints,
    sizes: Ints,
    sums: Floats,
    mass: Floats,
    cell_sums: Floats,
    cell_mass: Floats,
    lam: float,
    gain: Floats,
    min_gain: float,
) -> int:
    """Move rows that are distributions; `sums` has the shape (d, K), `cell_sums` (L, d, K). Return the moves."""
    n_clusters = len(sizes)
    n_moved = 0
    for i in order:
        own = labels[i]
        if sizes[own] == 1:
            continue
        z, p = cell[i], weight[i]
        for t in range(indptr[i], indptr[i + 1]):
            s, part = indices[t], p * data[t]
            sums[s, own] = max(sums[s, own] - part, 0.0)
            cell_sums[z, s, own] = max(cell_sums[z, s, own] - part, 0.0)
        mass[own] = max(mass[own] - p, 0.0)
        cell_mass[z, own] = max(cell_mass[z, own] - p, 0.0)
        for c in range(n_clusters):
            overall = x_log_x(mass[c]) - x_log_x(mass[c] + p)
            gain[c] = lam * overall + x_log_x(cell_mass[z, c]) - x_log_x(cell_mass[z, c] + p)
        for t in range(indptr[i], indptr[i + 1]):
            s, part = indices[t], p * data[t]
            for c in range(n_clusters):
                overall = x_log_x(sums[s, c] + part) - x_log_x(sums[s, c])
                gain[c] += lam * overall + x_log_x(cell_sums[z, s, c] + part) - x_log_x(cell_sums[z, s, c])
        new = best_cluster(gain, own, min_gain)
        for t in range(indptr[i], indptr[i + 1]):
            s, part = indices[t], p * data[t]
            sums[s, new] += part
            cell_sums[z, s, new] += part
        mass[new] += p
        cell_mass[z, new] += p
        if new != own:
            labels[i] = new
            sizes[own] -= 1
            sizes[new] += 1
            n_moved += 1
    return n_moved


@jit
def pass_over_points(
    order: Indices,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    weight: Floats,
    cell: Ints,
    labels: Ints,
    sizes: Ints,
    sums: Floats,
    mass: Floats,
    cell_sums: Floats,
    cell_mass: Floats,
    norms: Floats,
    cell_norms: Floats,
    lam: float,
    gain: Floats,
    min_gain: float,
) -> int:
    """Move rows that are points; `norms` are the squared lengths of the sums. Return the moves."""
    n_clusters = len(sizes)
    n_moved = 0
    for i in order:
        own = labels[i]
        if sizes[own] == 1:
            continue
        z, p = cell[i], weight[i]
        square = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            s, part = indices[t], p * data[t]
            square += part * part
            norms[own] -= (2.0 * sums[s, own] - part) * part
            cell_norms[z, own] -= (2.0 * cell_sums[z, s, own] - part) * part
            sums[s, own] -= part
            cell_sums[z, s, own] -= part
        mass[own] -= p
        cell_mass[z, own] -= p
        for c in range(n_clusters):
            dot = 0.0
            cell_dot = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                s, part = indices[t], p * data[t]
                dot += sums[s, c] * part
                cell_dot += cell_sums[z, s, c] * part
            overall = (norms[c] + 2.0 * dot + square) / (mass[c] + p)
            within = (cell_norms[z, c] + 2.0 * cell_dot + square) / (cell_mass[z, c] + p)
            # Less than half a row is no row but rounding.
            overall -= norms[c] / mass[c] if mass[c] > 0.5 * p else 0.0
            within -= cell_norms[z, c] / cell_mass[z, c] if cell_mass[z, c] > 0.5 * p else 0.0
            gain[c] = within + lam * overall
        new = best_cluster(gain, own, min_gain)
        for t in range(indptr[i], indptr[i + 1]):
            s, part = indices[t], p * data[t]
            norms[new] += (2.0 * sums[s, new] + part) * part
            cell_norms[z, new] += (2.0 * cell_sums[z, s, new] + part) * part
            sums[s, new] += part
            cell_sums[z, s, new] += part
        mass[new] += p
        cell_mass[z, new] += p
        if new != own:
            labels[i] = new
            sizes[own] -= 1
            sizes[new] += 1
            n_moved += 1
    return n_moved
