"""Compiled sweeps of mean field over linked rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def sweep_until_stable(evidence: Any, links: Any, order: Any, max_iter: int, tol: float, shares: Any) -> None:
    """Update the distribution of each row in turn, in place, until none changes by more than `tol`.

    `evidence` (n_rows, n_clusters) holds log-potentials. `links` are three arrays (indptr, neighbors, coupling): row i
    has the entries ``indptr[i]:indptr[i + 1]``, and `coupling` is the penalty of the link, negative for a cannot-link.
    `order` lists the rows as they are visited.
    """
    indptr, neighbors, coupling = links
    n_clusters = evidence.shape[1]
    field = np.empty(n_clusters)
    for _ in range(max_iter):
        largest = 0.0
        for i in order:
            for c in range(n_clusters):
                field[c] = evidence[i, c]
            for e in range(indptr[i], indptr[i + 1]):
                for c in range(n_clusters):
                    field[c] += coupling[e] * shares[neighbors[e], c]
            top = field[0]
            for c in range(1, n_clusters):
                top = max(top, field[c])
            whole = 0.0
            for c in range(n_clusters):
                field[c] = np.exp(field[c] - top)
                whole += field[c]
            for c in range(n_clusters):
                share = field[c] / whole
                largest = max(largest, abs(share - shares[i, c]))
                shares[i, c] = share
        if largest <= tol:
            break
