"""Marginals of linked rows by enumeration."""

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


def exact_marginals(
    evidence: np.ndarray, pairs: np.ndarray, is_must: np.ndarray, penalty: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The logarithm of the weight of a labeling is its evidence plus the penalty of every link that it satisfies.

    Returns the probability of each row being in each cluster, and of each link being satisfied.
    """
    n_rows, n_clusters = evidence.shape
    labels = np.array(list(itertools.product(range(n_clusters), repeat=n_rows)))
    satisfied = (labels[:, pairs[:, 0]] == labels[:, pairs[:, 1]]) == is_must
    log_weight = evidence[np.arange(n_rows), labels].sum(axis=1) + satisfied @ penalty
    # Divided by the largest, or all weights could be too small for a float.
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    of_rows = np.array(
        [[weight[labels[:, row] == cluster].sum() for cluster in range(n_clusters)] for row in range(n_rows)]
    )
    return of_rows, weight @ satisfied
