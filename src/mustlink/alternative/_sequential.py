"""The sequential method: hard clusters, improved by moves of single rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mustlink._progress import Advance
from mustlink._types import Ints
from mustlink.alternative._annealing import Annealed, hard
from mustlink.alternative._families import Multinomial
from mustlink.alternative._sequential_kernels import pass_over_counts, pass_over_points

__all__ = ["improve_by_moves", "random_partition"]

# The least gain of a move, relative to the largest gain of a row.
MIN_GAIN = 1e-10


def random_partition(n_rows: int, n_clusters: int, rng: np.random.RandomState) -> Ints:
    """Return random labels with clusters of equal size, up to one row."""
    return rng.permutation(np.arange(n_rows) % n_clusters).astype(np.int64)


def improve_by_moves(
    model: Any, n_clusters: int, max_passes: int, rng: np.random.RandomState, report: Advance
) -> Annealed:
    """Move rows until a pass makes no move; no cluster becomes empty."""
    labels = random_partition(model.n_rows, n_clusters, rng)
    rows = sparse.csr_array(model.X)
    indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    data = rows.data.astype(np.float64)
    is_counts = isinstance(model, Multinomial)
    one_pass = pass_over_counts if is_counts else pass_over_points
    gain = np.empty(n_clusters)
    min_gain = MIN_GAIN * float(model.weight.max()) * max(float((model.ceiling() - model.baseline).max()), 0.0)
    objective: list[float] = []
    for _ in range(max_passes):
        # Summed once more in each pass, so that rounding errors do not add up.
        sums, mass = model.sums(hard(labels, n_clusters))
        sums = np.ascontiguousarray(sums.transpose(0, 2, 1))
        tables = [sums.sum(axis=0), mass.sum(axis=0), sums, mass]
        if not is_counts:
            tables += [np.square(tables[0]).sum(axis=0), np.square(sums).sum(axis=1)]
        sizes = np.bincount(labels, minlength=n_clusters)
        order = rng.permutation(model.n_rows)
        given = (order, indptr, indices, data, model.weight, model.cell, labels, sizes)
        n_moved = one_pass(*given, *tables, model.lam, gain, min_gain)
        within, overall = model.gains(hard(labels, n_clusters))
        objective.append(within + model.lam * overall)
        report(None, f"{n_moved:,} moves")
        if not n_moved:
            break
    return Annealed(hard(labels, n_clusters), np.inf, objective, [np.inf] * len(objective))
