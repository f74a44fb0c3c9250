"""Compiled sweeps of belief propagation over links.

Row i has the entries ``indptr[i]:indptr[i + 1]``, one for each link; ``neighbors[e]`` is the row at the other end of
the link, and ``reverse[e]`` the entry there. ``messages[e]`` is the message to row i from that neighbor: those to a row
are together in memory. `evidence` (n_rows, n_clusters) holds log-potentials, and `shares` their exponentials, the
largest of each row one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# The product of so many messages, none of them below exp(-30), is far from the smallest number.
MAX_FACTORS = 16


@jit
def sweep_messages(
    evidence: Any,
    shares: Any,
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

    A row is settled once the logarithms of the messages to it and from it change by no more than `tol`. Return whether
    any is not.

    ``cavities[e]`` becomes the distribution of the row without the message of the neighbor. The message to the neighbor
    is 1 + leaning p of this distribution, divided by its largest entry; `leaning` is exp(penalty) - 1 for a must-link
    and exp(-penalty) - 1 for a cannot-link.
    """
    n_clusters = evidence.shape[1]
    belief = np.empty(n_clusters)
    outgoing = np.empty(n_clusters)
    max_ratio = np.exp(tol)
    any_change = False
    for i in range(len(evidence)):
        if not unsettled[i]:
            continue
        unsettled[i] = False
        multiply_messages(evidence, shares, messages, i, indptr[i], indptr[i + 1], belief)
        for e in range(indptr[i], indptr[i + 1]):
            whole = 0.0
            for c in range(n_clusters):
                outgoing[c] = belief[c] / messages[e, c]
                whole += outgoing[c]
            top, scale = 0.0, 1.0 / whole
            for c in range(n_clusters):
                cavities[e, c] = scale * outgoing[c]
                outgoing[c] = 1.0 + leaning[e] * cavities[e, c]
                top = max(top, outgoing[c])
            factor = 1.0 / top
            there = reverse[e]
            changed = False
            for c in range(n_clusters):
                old, new = messages[there, c], factor * outgoing[c]
                if damping > 0.0:
                    new = old**damping * new ** (1.0 - damping)
                changed |= (new > max_ratio * old) | (old > max_ratio * new)
                messages[there, c] = new
            if changed:
                unsettled[i] = unsettled[neighbors[e]] = any_change = True
    return any_change


@jit
def collect_marginals(evidence: Any, shares: Any, indptr: Any, messages: Any) -> Any:
    """Return the distribution of every row, given its evidence and the messages to it."""
    n_clusters = evidence.shape[1]
    marginals = np.empty_like(evidence)
    belief = np.empty(n_clusters)
    for i in range(len(evidence)):
        multiply_messages(evidence, shares, messages, i, indptr[i], indptr[i + 1], belief)
        whole = belief.sum()
        for c in range(n_clusters):
            marginals[i, c] = belief[c] / whole
    return marginals


@jit
def collect_together(ends: Any, cavities: Any) -> Any:
    """Return for every link, whose entries are `ends`, the probability that two rows of its cavities are together."""
    together = np.zeros(len(ends))
    for k in range(len(ends)):
        for c in range(cavities.shape[1]):
            together[k] += cavities[ends[k, 0], c] * cavities[ends[k, 1], c]
    return together


@jit
def multiply_messages(evidence: Any, shares: Any, messages: Any, i: int, start: int, stop: int, belief: Any) -> None:
    """Write the distribution of row i, up to a factor, into `belief`; its entries are ``start:stop``."""
    n_clusters = len(belief)
    if stop - start <= MAX_FACTORS:
        for c in range(n_clusters):
            belief[c] = shares[i, c]
        for e in range(start, stop):
            for c in range(n_clusters):
                belief[c] *= messages[e, c]
        return
    # The product of more could be zero.
    for c in range(n_clusters):
        belief[c] = evidence[i, c]
    for e in range(start, stop):
        for c in range(n_clusters):
            belief[c] += np.log(messages[e, c])
    top = belief.max()
    for c in range(n_clusters):
        belief[c] = np.exp(belief[c] - top)
