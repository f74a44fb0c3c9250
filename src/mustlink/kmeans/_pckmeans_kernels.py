"""Compiled sweeps of iterated conditional modes over rows with weighted links.

Links come as (indptr, indices, weights) with the partners of row i at indices[indptr[i]:indptr[i + 1]]. `costs`
(n_rows, n_clusters) is the data term of the objective; `labels` is written, and -1 stands for a row without a label
yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# A move must lower the objective by more than rounding, or two rows could hand a tie to and fro for ever.
LEAST_GAIN = 1e-13


@jit
def sweep_rows(
    costs: Any,
    must_indptr: Any,
    must_indices: Any,
    must_weight: Any,
    cannot_indptr: Any,
    cannot_indices: Any,
    cannot_weight: Any,
    order: Any,
    labels: Any,
) -> None:
    """Give each row in turn the cluster that lowers the objective most, until no row moves."""
    n_clusters = costs.shape[1]
    value = np.empty(n_clusters)
    moved = True
    while moved:
        moved = False
        for row in order:
            # Loops over numbers compile several times faster than assignments of slices.
            for c in range(n_clusters):
                value[c] = costs[row, c]
            for p in range(must_indptr[row], must_indptr[row + 1]):
                partner = labels[must_indices[p]]
                if partner >= 0:
                    for c in range(n_clusters):
                        if c != partner:
                            value[c] += must_weight[p]
            for p in range(cannot_indptr[row], cannot_indptr[row + 1]):
                partner = labels[cannot_indices[p]]
                if partner >= 0:
                    value[partner] += cannot_weight[p]
            best = 0
            for c in range(1, n_clusters):
                if value[c] < value[best]:
                    best = c
            old = labels[row]
            if old < 0 or value[best] < value[old] * (1 - LEAST_GAIN):
                labels[row] = best
                moved = True


@jit
def sweep_groups(
    costs: Any,
    must_indptr: Any,
    must_indices: Any,
    must_weight: Any,
    cannot_indptr: Any,
    cannot_indices: Any,
    cannot_weight: Any,
    group_indptr: Any,
    group_rows: Any,
    group_of: Any,
    order: Any,
    labels: Any,
) -> bool:
    """Let each must-link component in turn move as a whole where that lowers the objective; say whether any did.

    Row by row, a component whose links weigh much can never leave a cluster.
    """
    n_clusters = costs.shape[1]
    value = np.empty(n_clusters)
    moved = False
    for group in order:
        for c in range(n_clusters):
            value[c] = 0.0
        now = 0.0
        inside = 0.0
        for q in range(group_indptr[group], group_indptr[group + 1]):
            row = group_rows[q]
            now += costs[row, labels[row]]
            for c in range(n_clusters):
                value[c] += costs[row, c]
            for p in range(must_indptr[row], must_indptr[row + 1]):
                if labels[must_indices[p]] != labels[row]:
                    now += 0.5 * must_weight[p]
            for p in range(cannot_indptr[row], cannot_indptr[row + 1]):
                other = cannot_indices[p]
                # A link inside the component is met from both of its ends.
                share = 0.5 if group_of[other] == group else 1.0
                if labels[other] == labels[row]:
                    now += share * cannot_weight[p]
                if group_of[other] == group:
                    inside += share * cannot_weight[p]
                else:
                    value[labels[other]] += cannot_weight[p]
        best = 0
        for c in range(1, n_clusters):
            if value[c] < value[best]:
                best = c
        if value[best] + inside < now * (1 - LEAST_GAIN):
            moved = True
            for q in range(group_indptr[group], group_indptr[group + 1]):
                labels[group_rows[q]] = best
    return moved
