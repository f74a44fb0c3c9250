"""Compiled sweeps of iterated conditional modes over linked rows and over whole must-link components.

`evidence` (n_rows, n_clusters) holds the log-potentials. `links` are three arrays (indptr, neighbors, link): those of
row i are the entries `indptr[i]:indptr[i + 1]` of `neighbors` and `link`; links below `n_must` are must-links.
`penalty` (n_links, 1 or n_clusters) is what a broken link costs. `labels` is written, and -1 marks a row without
a label yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# A bound on the sweeps over rows in a row; far more than are made, since every move lowers the energy.
MAX_SWEEPS = 10_000

# Minimum gain of a move relative to the terms compared: ties cannot cycle by rounding.
MIN_GAIN = 1e-13


@jit
def sweep_rows(evidence: Any, links: Any, n_must: int, penalty: Any, order: Any, labels: Any) -> None:
    """Give each row in turn the cluster that lowers the energy most, until no row moves."""
    indptr, neighbors, link = links
    n_clusters = evidence.shape[1]
    is_wide = penalty.shape[1] > 1
    value = np.empty(n_clusters)
    for _ in range(MAX_SWEEPS):
        moved = False
        for row in order:
            # Loops over numbers compile several times faster than assignments of slices.
            for c in range(n_clusters):
                value[c] = -evidence[row, c]
            for p in range(indptr[row], indptr[row + 1]):
                other = labels[neighbors[p]]
                if other < 0:
                    continue
                number = link[p]
                if number >= n_must:
                    value[other] += penalty[number, other if is_wide else 0]
                elif is_wide:
                    for c in range(n_clusters):
                        if c != other:
                            value[c] += 0.5 * (penalty[number, c] + penalty[number, other])
                else:
                    cost = penalty[number, 0]
                    for c in range(n_clusters):
                        if c != other:
                            value[c] += cost
            best = 0
            for c in range(1, n_clusters):
                if value[c] < value[best]:
                    best = c
            old = labels[row]
            if old < 0:
                labels[row] = best
                moved = True
            elif best != old:
                size = max(abs(value[old]), abs(value[best]), abs(evidence[row, old]), abs(evidence[row, best]))
                if value[best] < value[old] - MIN_GAIN * size:
                    labels[row] = best
                    moved = True
        if not moved:
            break


@jit
def sweep_groups(evidence: Any, links: Any, n_must: int, penalty: Any, groups: Any, order: Any, labels: Any) -> bool:
    """Move each must-link component as a whole where that lowers the energy; return whether any moved.

    Row by row, a component with heavy links can never leave a cluster.
    """
    indptr, neighbors, link = links
    group_indptr, group_rows, group_of = groups
    n_clusters = evidence.shape[1]
    is_wide = penalty.shape[1] > 1
    value = np.empty(n_clusters)
    any_moved = False
    for group in order:
        for c in range(n_clusters):
            value[c] = 0.0
        now = 0.0
        size = 0.0
        for q in range(group_indptr[group], group_indptr[group + 1]):
            row = group_rows[q]
            own = labels[row]
            now -= evidence[row, own]
            size += abs(evidence[row, own])
            for c in range(n_clusters):
                value[c] -= evidence[row, c]
            for p in range(indptr[row], indptr[row + 1]):
                number = link[p]
                partner = neighbors[p]
                other = labels[partner]
                broken = 0.0
                if number < n_must:
                    if other != own:
                        # A must-link lies inside the component, and is met from both of its ends.
                        one, two = (own, other) if is_wide else (0, 0)
                        broken = 0.25 * (penalty[number, one] + penalty[number, two])
                elif group_of[partner] == group:
                    if other == own:
                        broken = 0.5 * penalty[number, own if is_wide else 0]
                    for c in range(n_clusters):
                        value[c] += 0.5 * penalty[number, c if is_wide else 0]
                else:
                    cost = penalty[number, other if is_wide else 0]
                    value[other] += cost
                    if other == own:
                        broken = cost
                now += broken
                size += broken
        best = 0
        for c in range(1, n_clusters):
            if value[c] < value[best]:
                best = c
        if value[best] < now - MIN_GAIN * size:
            any_moved = True
            for q in range(group_indptr[group], group_indptr[group + 1]):
                labels[group_rows[q]] = best
    return any_moved
