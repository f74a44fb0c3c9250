"""Compiled sweeps of belief propagation over links, and the votes of linked rows on others."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

LEAST_GAIN = 1e-12


@jit
def sweep_messages(
    order: Any, evidence: Any, starts: Any, back: Any, leaning: Any, damping: float, messages: Any, cavities: Any
) -> float:
    """Let every row tell the other ends of its links what it takes itself for, in place; return the largest change.

    Row i has the links ``starts[i]:starts[i + 1]``, each of them seen from that end; ``back[e]`` is link e seen from
    the other one. `evidence` (n_rows, n_clusters) holds logarithms. `cavities[e]` becomes the belief of the near end
    without what the far end says, and `messages[e]` the logarithm of what it tells the far end, up to a constant. A
    message is log(1 + leaning p): `leaning` is the odds that the link is right less one for a must-link, and for a
    cannot-link one over the odds less one.
    """
    n_clusters = evidence.shape[1]
    total = np.empty(n_clusters)
    said = np.empty(n_clusters)
    largest = 0.0
    for i in order:
        total[:] = evidence[i]
        for e in range(starts[i], starts[i + 1]):
            total += messages[back[e]]
        for e in range(starts[i], starts[i + 1]):
            normalise(total - messages[back[e]], cavities[e])
            for c in range(n_clusters):
                said[c] = np.log1p(leaning[e] * cavities[e, c])
            top = said.max()
            for c in range(n_clusters):
                new = damping * messages[e, c] + (1 - damping) * (said[c] - top)
                largest = max(largest, abs(new - messages[e, c]))
                messages[e, c] = new
    return largest


@jit
def gather_beliefs(evidence: Any, starts: Any, back: Any, messages: Any) -> Any:
    """Return what every row takes itself for, given its evidence and what it was told."""
    beliefs = np.empty_like(evidence)
    for i in range(len(evidence)):
        total = evidence[i].copy()
        for e in range(starts[i], starts[i + 1]):
            total += messages[back[e]]
        normalise(total, beliefs[i])
    return beliefs


@jit
def normalise(logarithms: Any, shares: Any) -> None:
    """Write exp(logarithms), divided by their sum, into `shares`."""
    top = logarithms.max()
    whole = 0.0
    for c in range(len(logarithms)):
        shares[c] = np.exp(logarithms[c] - top)
        whole += shares[c]
    for c in range(len(logarithms)):
        shares[c] /= whole


@jit
def sweep_rows(order: Any, distance: Any, starts: Any, neighbour: Any, price: Any, is_must: Any, labels: Any) -> int:
    """Give each row in turn the cluster that costs it least, in place; return the number of moves.

    A link that is together costs its price if it is a cannot-link and earns it if it is a must-link, which differs from
    the price of broken links by a constant.
    """
    cost = np.empty(distance.shape[1])
    n_moves = 0
    for i in order:
        cost[:] = distance[i]
        for e in range(starts[i], starts[i + 1]):
            cost[labels[neighbour[e]]] += -price[e] if is_must[e] else price[e]
        best = np.argmin(cost)
        if cost[best] < cost[labels[i]] - LEAST_GAIN:
            labels[i] = best
            n_moves += 1
    return n_moves


@jit
def vote_by_nearness(
    codes: Any, anchors: Any, weights: Any, beliefs: Any, power: int, most_apart: float, votes: Any
) -> None:
    """Add up the beliefs of the anchors, each times its co-association with a row to some power, into `votes`.

    The weights sum to one. They should fall from voter to voter, so that most anchors are soon found too far away.
    """
    n_voters = codes.shape[1]
    for i in range(len(codes)):
        for a in range(len(anchors)):
            apart = 0.0
            for t in range(n_voters):
                if codes[i, t] != anchors[a, t] or codes[i, t] < 0:
                    apart += weights[t]
                    if apart > most_apart:
                        break
            if apart <= most_apart:
                votes[i] += (1.0 - apart) ** power * beliefs[a]
