"""Marginals of nodes that no edge lets be equal, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np


def enumerate_marginals(belief, edges):
    """Add up the products of the potentials over all states in which no edge has two equal ends, in logarithms."""
    n_nodes, n_states = belief.shape
    allowed = np.array(
        [
            states
            for states in itertools.product(range(n_states), repeat=n_nodes)
            if all(states[a] != states[b] for a, b in edges)
        ]
    )
    log_weight = belief[np.arange(n_nodes), allowed].sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    total = np.zeros(belief.shape)
    for states, share in zip(allowed, weight / weight.sum(), strict=True):
        total[np.arange(n_nodes), states] += share
    return total
