"""Consensus by each method: balls, linear program, samples, and local search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mustlink._types import Floats, Indices, Ints
from mustlink.graph._consensus._codes import UNKNOWN, Codes, dense_graph
from mustlink.graph._consensus._codes_kernels import (
    count_labels,
    join_best,
    move_codes,
    take_balls,
)
from mustlink.graph._correlation._candidates import PartSolver
from mustlink.graph._correlation._local_search import compact, improve

# Mean distance of a ball: with 1/4, at most 3 times the least disagreement.
PROVEN_MEAN = 0.25
# The most nodes of a linear program.
MAX_LP_NODES = 100
# Draws of the rounding of the linear program.
N_DRAWS = 20
# Samples of what the samples before left without a cluster.
MAX_SAMPLES = 5
# More clusters than this are not searched: every node is compared with every cluster.
MAX_CLUSTERS = 2_000
# Empty clusters that local search may fill.
N_EMPTY = 8
MAX_PASSES = 100
MAX_ROUNDS = 20
MIN_GAIN = 1e-12


def balls(codes: Codes, max_mean: float) -> Indices:
    """Take balls around nodes in the order of their summed distances."""
    joins, known = empty_tables(codes, 1)
    count_labels(codes.columns, codes.weights, codes.size, np.zeros(codes.n_nodes, dtype=np.intp), joins, known)
    # Two more zeros, which the numbers of noise and of unknown labels refer to.
    joined = np.append(joins[:, 0], [0.0, 0.0])[codes.columns].sum(axis=1)
    net = 2.0 * joined - (codes.columns != UNKNOWN) @ known[:, 0]
    order = np.argsort(-net, kind="stable")
    return np.asarray(take_balls(codes.columns, codes.weights, codes.size, order, max_mean))


def pivots(codes: Codes, random_state: np.random.RandomState) -> Indices:
    """Let random nodes take all free nodes that at least half of the weight joins with them."""
    order = random_state.permutation(codes.n_nodes)
    return np.asarray(take_balls(codes.columns, codes.weights, codes.size, order, 1.0))


def lp_pivots(codes: Codes, random_state: np.random.RandomState) -> Indices:
    """Round the linear program."""
    solver = PartSolver(codes.signed_graph(), N_DRAWS, random_state)
    solver.lp_pivot()
    assert solver.labels is not None
    return solver.labels


def by_samples(
    codes: Codes, sample_size: int, method: Callable[[Codes], Indices], random_state: np.random.RandomState
) -> Indices:
    """Cluster a sample of the nodes, let others join a cluster where they agree, and sample again from the rest."""
    labels = np.full(codes.n_nodes, -1, dtype=np.intp)
    for _ in range(MAX_SAMPLES):
        free = np.flatnonzero(labels < 0)
        if not len(free):
            break
        chosen = free
        if len(free) > sample_size:
            chance = codes.size[free] / codes.size[free].sum()
            chosen = np.sort(random_state.choice(free, size=sample_size, replace=False, p=chance))
        found = compact(method(codes.take(chosen)))
        labels[chosen] = labels.max() + 1 + found
        labels = _join(codes, labels, chosen, found)
    free = np.flatnonzero(labels < 0)
    labels[free] = labels.max() + 1 + np.arange(len(free))
    return labels


def _join(codes: Codes, labels: Indices, chosen: Indices, found: Indices) -> Indices:
    """Let nodes without a cluster join the largest clusters of the sample."""
    free = np.flatnonzero(labels < 0)
    if not len(free):
        return labels
    mass = np.bincount(found, weights=codes.size[chosen])
    largest = np.argsort(-mass, kind="stable")[:MAX_CLUSTERS]
    place = np.full(len(mass), -1, dtype=np.intp)
    place[largest] = np.arange(len(largest))
    sample = codes.take(chosen)
    joins, known = empty_tables(codes, len(largest))
    count_labels(sample.columns, sample.weights, sample.size, place[found], joins, known)
    joined = np.full(len(free), -1, dtype=np.intp)
    join_best(codes.columns[free], joins, known, joined)
    first = labels[chosen].min()
    labels[free] = np.where(joined >= 0, first + largest[joined], -1)
    return labels


def search(codes: Codes, labels: Indices, random_state: np.random.RandomState) -> Indices:
    """Move nodes until no move lowers the disagreement, then clusters as nodes, and so on."""
    labels = compact(labels)
    min_gain = MIN_GAIN * codes.total
    for _ in range(MAX_ROUNDS):
        n_clusters = int(labels.max(initial=-1)) + 1
        if n_clusters > MAX_CLUSTERS:
            return labels
        joins, known = empty_tables(codes, min(n_clusters + N_EMPTY, codes.n_nodes))
        order = random_state.permutation(codes.n_nodes)
        n_moves = move_codes(
            codes.columns, codes.weights, codes.size, order, joins, known, min_gain, MAX_PASSES, labels
        )
        labels = compact(labels)
        merged = _merge_clusters(codes, labels, random_state)
        n_merged = int(merged.max(initial=-1)) + 1
        is_full = n_moves > 0 and int(labels.max(initial=-1)) + 1 > n_clusters
        if n_merged == int(labels.max(initial=-1)) + 1 and not is_full:
            break
        labels = merged
    return labels


def _merge_clusters(codes: Codes, labels: Indices, random_state: np.random.RandomState) -> Indices:
    """Move clusters as nodes."""
    n_clusters = int(labels.max(initial=-1)) + 1
    joins, known = empty_tables(codes, n_clusters)
    count_labels(codes.columns, codes.weights, codes.size, labels, joins, known)
    # The tables have every weight once: a product of two columns would have it twice.
    joins /= np.sqrt(_column_weights(codes))[:, None]
    known /= np.sqrt(codes.weights)[:, None]
    net = 2.0 * joins.T @ joins - known.T @ known
    np.fill_diagonal(net, 0.0)
    mass: Floats = np.bincount(labels, weights=codes.size).astype(float)
    return improve(dense_graph(net, mass), np.arange(n_clusters), random_state)[labels]


def _column_weights(codes: Codes) -> Floats:
    """Return the weight of the clustering that every label belongs to."""
    weights = np.ones(codes.n_columns)
    for t in range(codes.columns.shape[1]):
        column = codes.columns[:, t]
        weights[column[column >= 0]] = codes.weights[t]
    return weights


def empty_tables(codes: Codes, n_clusters: int) -> tuple[Floats, Floats]:
    """Return tables of labels by clusters, and of clusterings by clusters."""
    return np.zeros((codes.n_columns, n_clusters)), np.zeros((codes.columns.shape[1], n_clusters))


def pair_bound(distances: Ints, weights: Floats) -> float:
    """Return a lower bound on the disagreement from the distances between the clusterings.

    By the triangle inequality, sum_{i<j} w_i w_j d_ij <= sum_i w_i (W - w_i) d(Y, i) <= (W - min w) D(Y).
    """
    rest = weights.sum() - weights.min()
    return float(weights @ distances @ weights / 2 / rest) if rest > 0 else 0.0
