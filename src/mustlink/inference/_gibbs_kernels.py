"""Compiled sweeps of Gibbs sampling over linked rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def sample_labels(
    evidence: Any, links: Any, uniforms: Any, labels: Any, collects: bool, row_total: Any, link_total: Any
) -> None:
    """Draw the label of every row in turn, given those of its neighbors; `labels` is overwritten.

    `evidence` (n_rows, n_clusters) holds log-potentials. `links` are four arrays (indptr, neighbors, link, coupling):
    row i has the entries ``indptr[i]:indptr[i + 1]``, and `coupling` is the penalty of the link, negative for a
    cannot-link. `uniforms` (n_sweeps, n_rows) are numbers from 0 to 1 that decide the draws. A label of -1 is not
    known yet, and does not count. If `collects`, the probabilities from which each label is drawn are added
    to `row_total`, and that of having the label of the neighbor to the entry of the link in `link_total`, from either
    end.
    """
    indptr, neighbors, link, coupling = links
    n_sweeps, n_rows = uniforms.shape
    n_clusters = evidence.shape[1]
    share = np.empty(n_clusters)
    for s in range(n_sweeps):
        for i in range(n_rows):
            for c in range(n_clusters):
                share[c] = evidence[i, c]
            for e in range(indptr[i], indptr[i + 1]):
                other = labels[neighbors[e]]
                if other >= 0:
                    share[other] += coupling[e]
            top = share[0]
            for c in range(1, n_clusters):
                top = max(top, share[c])
            whole = 0.0
            for c in range(n_clusters):
                share[c] = np.exp(share[c] - top)
                whole += share[c]
            # Rounding could lead beyond the last cluster, which may have no share; the last one with a share is kept.
            left = uniforms[s, i] * whole
            for c in range(n_clusters):
                if share[c] > 0 and left >= 0:
                    labels[i] = c
                left -= share[c]
            if collects:
                for c in range(n_clusters):
                    row_total[i, c] += share[c] / whole
                for e in range(indptr[i], indptr[i + 1]):
                    link_total[link[e]] += share[labels[neighbors[e]]] / whole
