"""Compiled marginals of nodes that must all be in different states, by dynamic programming over sets of states."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def place_cliques(belief: Any, nodes: Any, indptr: Any, marginal: Any) -> float:
    """Write the marginals of the nodes of every clique, and return the log-normalizer of all."""
    n_states = belief.shape[1]
    n_sets = 1 << n_states
    n_taken = np.zeros(n_sets, dtype=np.int64)
    for taken in range(1, n_sets):
        n_taken[taken] = n_taken[taken >> 1] + (taken & 1)
    rest = np.empty(n_sets)
    chance = np.empty(n_sets)
    log_normalizer = 0.0
    for clique in range(len(indptr) - 1):
        members = nodes[indptr[clique] : indptr[clique + 1]]
        weigh_rest(belief, members, n_taken, rest)
        place_members(belief, members, n_taken, rest, chance, marginal)
        log_normalizer += rest[0]
    return log_normalizer


@jit
def weigh_rest(belief: Any, members: Any, n_taken: Any, rest: Any) -> None:
    """Write the log-weight of all placements of the members that remain when a set of states is taken.

    The members are placed one after the other, each in a state that is not taken. The bits of the number of a set are
    its states, and their count, `n_taken`, tells which member is next.
    """
    n_states = belief.shape[1]
    for taken in range(len(rest) - 1, -1, -1):
        rest[taken] = 0.0
        if n_taken[taken] >= len(members):
            continue
        node = members[n_taken[taken]]
        top = -np.inf
        for s in range(n_states):
            if not taken >> s & 1:
                top = max(top, belief[node, s] + rest[taken | 1 << s])
        rest[taken] = top
        if top > -np.inf:
            total = 0.0
            for s in range(n_states):
                if not taken >> s & 1:
                    total += np.exp(belief[node, s] + rest[taken | 1 << s] - top)
            rest[taken] += np.log(total)


@jit
def place_members(belief: Any, members: Any, n_taken: Any, rest: Any, chance: Any, marginal: Any) -> None:
    """Write the marginals of the members; `chance` becomes the probability that a set of states is ever taken."""
    n_states = belief.shape[1]
    for node in members:
        for s in range(n_states):
            marginal[node, s] = 0.0
    for taken in range(len(chance)):
        chance[taken] = 0.0
    chance[0] = 1.0
    for taken in range(len(chance)):
        if n_taken[taken] >= len(members) or chance[taken] == 0:
            continue
        node = members[n_taken[taken]]
        for s in range(n_states):
            if not taken >> s & 1:
                more = chance[taken] * np.exp(belief[node, s] + rest[taken | 1 << s] - rest[taken])
                chance[taken | 1 << s] += more
                marginal[node, s] += more
