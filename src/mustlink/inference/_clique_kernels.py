"""Compiled marginals of nodes that must all be in different states, by dynamic programming over sets of states."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def place_cliques(belief: Any, nodes: Any, indptr: Any, marginal: Any) -> float:
    """Write the marginals of the nodes of every clique, and return the log-normalizer of all."""
    log_normalizer = 0.0
    for clique in range(len(indptr) - 1):
        members = nodes[indptr[clique] : indptr[clique + 1]]
        of_members = np.zeros((len(members), belief.shape[1]))
        log_normalizer += place_apart(belief[members], of_members)
        for i in range(len(members)):
            marginal[members[i]] = of_members[i]
    return log_normalizer


@jit
def place_apart(belief: Any, marginal: Any) -> float:
    """Add the marginals of nodes that are all in different states, and return the log-normalizer.

    The nodes are placed one after the other. `rest[taken]` is the log-weight of all placements of the nodes that remain
    when a set of states is taken, whose bits are those of its number; it tells how many nodes were placed.
    """
    n_nodes, n_states = belief.shape
    n_sets = 1 << n_states
    n_taken = np.zeros(n_sets, dtype=np.int64)
    for taken in range(1, n_sets):
        n_taken[taken] = n_taken[taken >> 1] + (taken & 1)
    rest = np.zeros(n_sets)
    for taken in range(n_sets - 1, -1, -1):
        node = n_taken[taken]
        if node >= n_nodes:
            continue
        top = -np.inf
        for s in range(n_states):
            if not taken >> s & 1:
                top = max(top, belief[node, s] + rest[taken | 1 << s])
        total = 0.0
        if top > -np.inf:
            for s in range(n_states):
                if not taken >> s & 1:
                    total += np.exp(belief[node, s] + rest[taken | 1 << s] - top)
        rest[taken] = top + np.log(total) if total > 0 else -np.inf
    chance = np.zeros(n_sets)
    chance[0] = 1.0
    for taken in range(n_sets):
        node = n_taken[taken]
        if node >= n_nodes or chance[taken] == 0:
            continue
        for s in range(n_states):
            if not taken >> s & 1:
                more = chance[taken] * np.exp(belief[node, s] + rest[taken | 1 << s] - rest[taken])
                chance[taken | 1 << s] += more
                marginal[node, s] += more
    return rest[0]
