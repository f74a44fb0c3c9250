"""Compiled sweeps of belief propagation over links."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def sweep_messages(
    evidence: Any,
    indptr: Any,
    neighbors: Any,
    reverse: Any,
    leaning: Any,
    damping: float,
    tol: float,
    messages: Any,
    cavities: Any,
    unsettled: Any,
) -> bool:
    """Update the messages of unsettled rows to their neighbors, in place and in the order of rows.

    A row is settled once the messages to it and from it change by no more than `tol`. Return whether any is not.

    Row i has the entries ``indptr[i]:indptr[i + 1]``, one for each link; ``neighbors[e]`` is the row at the other end
    of the link, and ``reverse[e]`` the entry there. `evidence` (n_rows, n_clusters) holds log-potentials. `cavities[e]`
    becomes the distribution of the near end without the message of the far end, and `messages[e]` the logarithm of the
    message to the far end, up to a constant. A message is log(1 + leaning p), where `leaning` is exp(penalty) - 1 for a
    must-link and exp(-penalty) - 1 for a cannot-link.
    """
    n_clusters = evidence.shape[1]
    total = np.empty(n_clusters)
    outgoing = np.empty(n_clusters)
    any_change = False
    for i in range(len(evidence)):
        if not unsettled[i]:
            continue
        unsettled[i] = False
        add_messages(evidence[i], reverse[indptr[i] : indptr[i + 1]], messages, total)
        for e in range(indptr[i], indptr[i + 1]):
            for c in range(n_clusters):
                outgoing[c] = total[c] - messages[reverse[e], c]
            normalize(outgoing, cavities[e])
            top = -np.inf
            for c in range(n_clusters):
                # Faster than log1p. Messages are added up, and only their absolute error matters.
                outgoing[c] = np.log(1.0 + leaning[e] * cavities[e, c])
                top = max(top, outgoing[c])
            largest = 0.0
            for c in range(n_clusters):
                new = damping * messages[e, c] + (1 - damping) * (outgoing[c] - top)
                largest = max(largest, abs(new - messages[e, c]))
                messages[e, c] = new
            if largest > tol:
                unsettled[i] = unsettled[neighbors[e]] = any_change = True
    return any_change


@jit
def collect_marginals(evidence: Any, indptr: Any, reverse: Any, messages: Any) -> Any:
    """Return the distribution of every row, given its evidence and the messages to it."""
    marginals = np.empty_like(evidence)
    total = np.empty(evidence.shape[1])
    for i in range(len(evidence)):
        add_messages(evidence[i], reverse[indptr[i] : indptr[i + 1]], messages, total)
        normalize(total, marginals[i])
    return marginals


@jit
def add_messages(evidence: Any, incoming: Any, messages: Any, total: Any) -> None:
    """Write the evidence of a row and the messages to it, whose entries are `incoming`, added up into `total`."""
    for c in range(len(total)):
        total[c] = evidence[c]
    for e in incoming:
        for c in range(len(total)):
            total[c] += messages[e, c]


@jit
def normalize(logarithms: Any, shares: Any) -> None:
    """Write exp(logarithms), divided by their sum, into `shares`."""
    top = -np.inf
    for c in range(len(logarithms)):
        top = max(top, logarithms[c])
    whole = 0.0
    for c in range(len(logarithms)):
        shares[c] = np.exp(logarithms[c] - top)
        whole += shares[c]
    for c in range(len(logarithms)):
        shares[c] /= whole
