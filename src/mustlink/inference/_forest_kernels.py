"""Compiled kernels of exact inference on a forest of cannot-links."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def send_message(belief: Any, message: Any) -> None:
    """Write the logarithm of the mass of all states but each one, minus the largest of them.

    This is the message of a node to a neighbor that may be in any other state than its own.
    """
    n_states = len(belief)
    top = 0
    for s in range(1, n_states):
        if belief[s] > belief[top]:
            top = s
    second = -np.inf
    total = 0.0
    for s in range(n_states):
        total += np.exp(belief[s] - belief[top])
        if s != top:
            second = max(second, belief[s])
    rest = 0.0
    for s in range(n_states):
        if s != top:
            # The sum keeps the 1 of the top state, and nothing cancels.
            message[s] = np.log(total - np.exp(belief[s] - belief[top]))
            rest += np.exp(belief[s] - second)
    message[top] = second - belief[top] + np.log(rest)
    largest = message[0]
    for s in range(1, n_states):
        largest = max(largest, message[s])
    for s in range(n_states):
        message[s] -= largest


@jit
def pass_messages(belief: Any, order: Any, parent: Any) -> None:
    """Turn log-potentials of nodes into log-marginals, each up to a constant, on a forest; `belief` is overwritten.

    The two ends of an edge are never in the same state. `order` lists every node of the forest after its parent,
    and `parent` is -1 for roots. There are at least two states.
    """
    n_states = belief.shape[1]
    upward = np.empty((len(order), n_states))
    downward = np.empty(n_states)
    without = np.empty(n_states)
    for place in range(len(order) - 1, -1, -1):
        node = order[place]
        if parent[node] >= 0:
            send_message(belief[node], upward[place])
            for s in range(n_states):
                belief[parent[node], s] += upward[place, s]
    for place in range(len(order)):
        node = order[place]
        if parent[node] >= 0:
            for s in range(n_states):
                without[s] = belief[parent[node], s] - upward[place, s]
            send_message(without, downward)
            for s in range(n_states):
                belief[node, s] += downward[s]
