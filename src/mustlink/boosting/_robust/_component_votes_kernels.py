"""Compiled count of how a clustering places the must-link components that links join."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def vote_by_components(
    labels: Any, n_labels: int, parent: Any, order: Any, component: Any, first: Any, second: Any, below: Any, votes: Any
) -> None:
    """Write the vote of one clustering on each link into `votes`; see :class:`ComponentVotes`.

    `parent` and `order`, parents first, describe the spanning forest of must-links; roots are their own parents.
    `below` is 1 for links of the forest, whose first row is the child; 0 for links between components; -1 for others.
    """
    n_rows = labels.shape[0]
    counts = np.zeros((n_rows, n_labels), np.int32)
    sizes = np.ones(n_rows, np.int64)
    totals = np.zeros((component.max() + 1, n_labels), np.int32)
    total_sizes = np.zeros(component.max() + 1, np.int64)
    for i in range(n_rows):
        total_sizes[component[i]] += 1
        if labels[i] >= 0:
            counts[i, labels[i]] = 1
            totals[component[i], labels[i]] += 1
    for place in range(n_rows - 1, -1, -1):
        i = order[place]
        if parent[i] != i:
            sizes[parent[i]] += sizes[i]
            for label in range(n_labels):
                counts[parent[i], label] += counts[i, label]
    for link in range(first.shape[0]):
        i, j = first[link], second[link]
        of_i, of_j = labels[i], labels[j]
        vote = 0.0
        if below[link] == -1:
            vote = 1.0 if of_i == of_j and of_i >= 0 else 0.0
        elif below[link] == 1:
            if of_j >= 0:
                vote += 0.5 * counts[i, of_j] / sizes[i]
            if of_i >= 0:
                rest = totals[component[i], of_i] - counts[i, of_i]
                vote += 0.5 * rest / (total_sizes[component[i]] - sizes[i])
        else:
            if of_j >= 0:
                vote += 0.5 * totals[component[i], of_j] / total_sizes[component[i]]
            if of_i >= 0:
                vote += 0.5 * totals[component[j], of_i] / total_sizes[component[j]]
        votes[link] = vote
