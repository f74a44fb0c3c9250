"""A plain Python Gibbs sampler of linked rows, from (4.10) of chapter 4."""

from __future__ import annotations

import math


def neighbors_of(n_rows, pairs, is_must, penalty):
    """List for each row the rows that it is linked with, and what the same label adds to the log-probability."""
    linked = [[] for _ in range(n_rows)]
    for (i, j), must, cost in zip(pairs, is_must, penalty, strict=True):
        linked[i].append((j, cost if must else -cost))
        linked[j].append((i, cost if must else -cost))
    return linked


def conditional(i, labels, evidence, linked):
    """The probabilities of the clusters of row i, given the labels of all others."""
    log_weight = list(evidence[i])
    for j, beta in linked[i]:
        log_weight[labels[j]] += beta
    top = max(log_weight)
    weight = [math.exp(value - top) for value in log_weight]
    whole = sum(weight)
    return [value / whole for value in weight]


def draw(shares, uniform):
    """The first cluster at which the shares add up to more than a number from 0 to 1."""
    for cluster, share in enumerate(shares):
        if uniform < share:
            return cluster
        uniform -= share
    return len(shares) - 1


def sample(labels, evidence, linked, uniforms):
    """Sweep once for every row of `uniforms`; return the mean conditional probabilities of rows, and the last labels.

    The means of links, of the probability of the same label, are a dictionary.
    """
    labels = list(labels)
    n_rows, n_clusters = len(evidence), len(evidence[0])
    rows = [[0.0] * n_clusters for _ in range(n_rows)]
    links = {(min(i, j), max(i, j)): 0.0 for i in range(n_rows) for j, _ in linked[i]}
    for of_sweep in uniforms:
        for i in range(n_rows):
            shares = conditional(i, labels, evidence, linked)
            labels[i] = draw(shares, of_sweep[i])
            for cluster in range(n_clusters):
                rows[i][cluster] += shares[cluster] / len(uniforms)
            for j, _ in linked[i]:
                links[min(i, j), max(i, j)] += shares[labels[j]] / (2 * len(uniforms))
    return rows, links, labels
