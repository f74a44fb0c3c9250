"""Compiled sweeps of Gibbs sampling over linked rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def sample_labels(
    potentials: Any, links: Any, uniforms: Any, labels: Any, collects: bool, row_total: Any, link_total: Any
) -> None:
    """Draw the label of every row in turn, given those of its neighbors; `labels` is overwritten.

    `potentials` are two arrays (n_rows, n_clusters), the log-potentials and their exponentials, divided by the largest
    of the row. `links` are six arrays (indptr, neighbors, link, coupling, factor, is_strong): row i has the entries
    ``indptr[i]:indptr[i + 1]``, `coupling` is the penalty of the link, negative for a cannot-link, `factor` its
    exponential, and `is_strong` says of each row whether products of these can leave the range of numbers.
    `uniforms` (n_sweeps, n_rows) are numbers from 0 to below 1 that decide the draws. A label of -1 is not known yet,
    and does not count. If `collects`, the probabilities from which each label is drawn are added to `row_total`, and
    that of having the label of the neighbor to the entry of the link in `link_total`, from either end.
    """
    log_potentials, weights = potentials
    indptr, neighbors, link, coupling, factor, is_strong = links
    n_sweeps, n_rows = uniforms.shape
    n_clusters = weights.shape[1]
    share = np.empty(n_clusters)
    for s in range(n_sweeps):
        for i in range(n_rows):
            if is_strong[i]:
                for c in range(n_clusters):
                    share[c] = log_potentials[i, c]
                for e in range(indptr[i], indptr[i + 1]):
                    if labels[neighbors[e]] >= 0:
                        share[labels[neighbors[e]]] += coupling[e]
                top = share.max()
                for c in range(n_clusters):
                    share[c] = np.exp(share[c] - top)
            else:
                # Without an exponential for every cluster.
                for c in range(n_clusters):
                    share[c] = weights[i, c]
                for e in range(indptr[i], indptr[i + 1]):
                    if labels[neighbors[e]] >= 0:
                        share[labels[neighbors[e]]] *= factor[e]
            whole = 0.0
            for c in range(n_clusters):
                whole += share[c]
            # Counted, since branches on random numbers are slow. A number below 1 leads to a cluster with a share.
            drawn, passed = 0, 0.0
            for c in range(n_clusters - 1):
                passed += share[c]
                drawn += passed <= uniforms[s, i] * whole
            labels[i] = drawn
            if collects:
                for c in range(n_clusters):
                    row_total[i, c] += share[c] / whole
                for e in range(indptr[i], indptr[i + 1]):
                    link_total[link[e]] += share[labels[neighbors[e]]] / whole
