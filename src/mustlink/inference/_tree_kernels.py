"""Compiled passes over trees of nodes: sum-product and max-product with couplings between neighbors.

`belief` (n_nodes, n_states) holds log-potentials. `order` lists nodes before their parents, `parent` is -1 for roots.
`coupling` belongs to the edge of a node to its parent: the penalty of unequal states if positive, minus the penalty of
equal states if negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# Sums of exponentials below this have lost digits, or all of them.
MIN_MASS = 1e-280


@jit
def first_largest(values: Any) -> int:
    """Return the place of the largest value."""
    top = 0
    for s in range(1, len(values)):
        if values[s] > values[top]:
            top = s
    return top


@jit
def send_sum(belief: Any, coupling: float, share: Any, mass: Any, message: Any) -> float:
    """Write the message of a node to its parent, and return the logarithm of its scale.

    `share` becomes exp(belief) and `mass` the sum of the shares, each with the weight of the edge, both relative to the
    scale; `message` is the logarithm of `mass`, and is accurate where `mass` underflows.
    """
    n_states = len(belief)
    top = first_largest(belief)
    scale = belief[top]
    if scale == -np.inf:
        for s in range(n_states):
            message[s], mass[s], share[s] = -np.inf, 0.0, 0.0
        return scale
    others = 0.0
    for s in range(n_states):
        share[s] = np.exp(belief[s] - scale)
        if s != top:
            others += share[s]
    weak = np.exp(-abs(coupling))
    strong = -np.expm1(-abs(coupling))
    if coupling >= 0:
        for s in range(n_states):
            mass[s] = strong * share[s] + weak * (1.0 + others)
    else:
        # Without subtraction for the top state, where everything else could cancel.
        for s in range(n_states):
            mass[s] = others + weak if s == top else 1.0 + others - strong * share[s]
    for s in range(n_states):
        if mass[s] >= MIN_MASS:
            message[s] = np.log(mass[s])
        else:
            message[s] = log_mass(belief, coupling, s, scale)
    return scale


@jit
def log_mass(belief: Any, coupling: float, state: int, scale: float) -> float:
    """Return the logarithm of the mass of one state, relative to the scale, without underflow."""
    largest = -np.inf
    for s in range(len(belief)):
        largest = max(largest, belief[s] + log_weight(coupling, s == state))
    if largest == -np.inf:
        return largest
    total = 0.0
    for s in range(len(belief)):
        total += np.exp(belief[s] + log_weight(coupling, s == state) - largest)
    return largest - scale + np.log(total)


@jit
def log_weight(coupling: float, is_equal: bool) -> float:
    """Return minus the penalty of two states."""
    if is_equal:
        return min(coupling, 0.0)
    return min(-coupling, 0.0)


@jit
def send_best(belief: Any, coupling: float, message: Any) -> None:
    """Write the log-weight of the best state of a node for every state of its parent."""
    top = first_largest(belief)
    second = -np.inf
    for s in range(len(belief)):
        if s != top:
            second = max(second, belief[s])
    for s in range(len(belief)):
        if coupling >= 0:
            message[s] = max(belief[s], belief[top] - coupling)
        else:
            message[s] = max(second, belief[top] + coupling) if s == top else belief[top]


@jit
def collect_sums(
    belief: Any, order: Any, parent: Any, coupling: Any, share: Any, mass: Any, message: Any, marginal: Any
) -> float:
    """Add to every node the messages of its children; return the log-normalizer of the trees that end in `order`.

    Writes the `marginal` of the roots in `order`. A parent outside `order` keeps its messages in `belief`.
    """
    log_normalizer = 0.0
    for node in order:
        if parent[node] >= 0:
            up = parent[node]
            log_normalizer += send_sum(belief[node], coupling[node], share[node], mass[node], message[node])
            for s in range(belief.shape[1]):
                belief[up, s] += message[node, s]
        else:
            top = belief[node, first_largest(belief[node])]
            total = 0.0
            for s in range(belief.shape[1]):
                marginal[node, s] = np.exp(belief[node, s] - top)
                total += marginal[node, s]
            for s in range(belief.shape[1]):
                marginal[node, s] /= total
            log_normalizer += top + np.log(total)
    return log_normalizer


@jit
def distribute_sums(
    belief: Any, order: Any, parent: Any, coupling: Any, share: Any, mass: Any, marginal: Any, equal: Any
) -> None:
    """Write the `marginal` of every node from that of its parent, and the probability that both are `equal`."""
    n_states = belief.shape[1]
    ratio = np.empty(n_states)
    for place in range(len(order) - 1, -1, -1):
        node = order[place]
        up = parent[node]
        if up < 0:
            continue
        is_tiny = False
        for s in range(n_states):
            is_tiny |= mass[node, s] < MIN_MASS
        if is_tiny:
            equal[node] = distribute_logs(belief[node], coupling[node], marginal[up], marginal[node])
            continue
        for s in range(n_states):
            ratio[s] = marginal[up, s] / mass[node, s]
        top = first_largest(ratio)
        others = 0.0
        for s in range(n_states):
            if s != top:
                others += ratio[s]
        weak = np.exp(-abs(coupling[node]))
        strong = -np.expm1(-abs(coupling[node]))
        is_must = coupling[node] >= 0
        equal[node] = 0.0
        for s in range(n_states):
            if is_must:
                marginal[node, s] = share[node, s] * (strong * ratio[s] + weak * (ratio[top] + others))
            elif s == top:
                marginal[node, s] = share[node, s] * (others + weak * ratio[s])
            else:
                marginal[node, s] = share[node, s] * (ratio[top] + others - strong * ratio[s])
            equal[node] += share[node, s] * ratio[s] * (1.0 if is_must else weak)


@jit
def distribute_logs(belief: Any, coupling: float, above: Any, marginal: Any) -> float:
    """Write the marginal of a node whose masses underflow, from that of its parent; return the chance of equality.

    The chances given a state of the parent are divided by their own sum: the message, a difference of large numbers,
    may have lost all digits.
    """
    n_states = len(belief)
    chance = np.empty(n_states)
    equal = 0.0
    marginal[:] = 0.0
    for t in range(n_states):
        for s in range(n_states):
            chance[s] = belief[s] + log_weight(coupling, s == t)
        top = chance[first_largest(chance)]
        if above[t] == 0 or top == -np.inf:
            continue
        total = 0.0
        for s in range(n_states):
            chance[s] = np.exp(chance[s] - top)
            total += chance[s]
        for s in range(n_states):
            marginal[s] += above[t] * chance[s] / total
        equal += above[t] * chance[t] / total
    return equal


@jit
def collect_best(belief: Any, order: Any, parent: Any, coupling: Any) -> None:
    """Add to every node the best log-weights of the trees below it."""
    message = np.empty(belief.shape[1])
    for node in order:
        if parent[node] >= 0:
            up = parent[node]
            send_best(belief[node], coupling[node], message)
            for s in range(belief.shape[1]):
                belief[up, s] += message[s]


@jit
def assign_best(belief: Any, order: Any, parent: Any, coupling: Any, state: Any) -> None:
    """Write the best state of every node, given that of its parent."""
    value = np.empty(belief.shape[1])
    for place in range(len(order) - 1, -1, -1):
        node = order[place]
        for s in range(belief.shape[1]):
            value[s] = belief[node, s]
            if parent[node] >= 0:
                value[s] += log_weight(coupling[node], s == state[parent[node]])
        state[node] = first_largest(value)
