"""Small random models of linked rows, and their sum over all labelings."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import logsumexp

from mustlink import Constraints
from mustlink.inference import LinkModel


def half_of_all_pairs(rng, n_rows):
    pairs = [pair for pair in itertools.combinations(range(n_rows), 2) if rng.uniform() < 0.5]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def random_model(rng, n_rows, n_clusters, strength=2.0):
    """Evidence, and links between a random half of all pairs, of either kind, with random penalties."""
    pairs = half_of_all_pairs(rng, n_rows)
    is_must = rng.uniform(size=len(pairs)) < 0.5
    graph = Constraints(pairs[is_must], pairs[~is_must]).adjacency(n_rows)
    return LinkModel(rng.normal(size=(n_rows, n_clusters)), graph, rng.uniform(0, strength, len(pairs)))


def planted_model(rng, n_rows, n_clusters, scale):
    """Hard and soft links that a hidden labeling satisfies, and evidence of some strength that says nothing of it."""
    y = rng.randint(n_clusters, size=n_rows)
    pairs = half_of_all_pairs(rng, n_rows)
    is_must = (y[pairs[:, 0]] == y[pairs[:, 1]]) & (rng.uniform(size=len(pairs)) < 0.3)
    is_kept = is_must | (y[pairs[:, 0]] != y[pairs[:, 1]])
    links = Constraints(pairs[is_must], pairs[is_kept & ~is_must])
    penalty = np.where(rng.uniform(size=len(links)) < 0.7, np.inf, rng.uniform(0, 3, len(links)))
    return LinkModel(scale * rng.normal(size=(n_rows, n_clusters)), links.adjacency(n_rows), penalty)


def permute(model, order):
    """The same model with its rows in another order, and the new number of each link."""
    place = np.argsort(order)
    graph = model.graph
    pairs = np.sort(place[graph.pairs], axis=1)
    is_must = graph.sign > 0
    links = Constraints(pairs[is_must], pairs[~is_must])
    number = [links.pairs.tolist().index(pair) for pair in pairs.tolist()]
    penalty = np.empty(len(pairs))
    penalty[number] = model.penalty
    return LinkModel(model.log_potentials[order], links.adjacency(len(order)), penalty), number


def labelings(n_rows, n_clusters):
    """All labelings, one per line."""
    return np.array(list(itertools.product(range(n_clusters), repeat=n_rows))).reshape(-1, n_rows)


def satisfied_links(labels, pairs, is_must):
    """Whether each labeling satisfies each link."""
    a, b = np.reshape(pairs, (-1, 2)).astype(int).T
    return (labels[:, a] == labels[:, b]) == is_must


def sum_over_labelings(log_potentials, pairs, is_must, penalty):
    """The probability of each row being in each cluster and of each link being satisfied, and the log-normalizer.

    A labeling has the log-weight of its evidence minus the penalties of the links that it breaks.
    """
    n_rows, n_clusters = log_potentials.shape
    labels = labelings(n_rows, n_clusters)
    satisfied = satisfied_links(labels, pairs, is_must)
    evidence = log_potentials[np.arange(n_rows), labels].sum(axis=1)
    log_weight = evidence - np.where(satisfied, 0, penalty).sum(axis=1)
    log_normalizer = logsumexp(log_weight)
    probability = np.exp(log_weight - log_normalizer)
    rows = np.array([[probability[labels[:, i] == k].sum() for k in range(n_clusters)] for i in range(n_rows)])
    return rows.reshape(n_rows, n_clusters), probability @ satisfied, float(log_normalizer)


def enumerate_labelings(model):
    """The marginals of rows and links and the log-normalizer of a model, by enumeration."""
    return sum_over_labelings(model.log_potentials, model.graph.pairs, model.graph.sign > 0, model.penalty)


def log_weight(model, labels):
    """The log-weight of one labeling, link by link."""
    total = sum(model.log_potentials[row, label] for row, label in enumerate(labels))
    for (a, b), sign, penalty in zip(model.graph.pairs, model.graph.sign, model.penalty, strict=True):
        if (labels[a] == labels[b]) != (sign > 0):
            total -= penalty
    return float(total)
