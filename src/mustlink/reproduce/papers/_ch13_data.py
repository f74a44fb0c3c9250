"""Random signed graphs and clusterings of the chapter on correlation clustering, and their best values."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from mustlink._types import Array, Floats, Ints
from mustlink.graph import CorrelationClustering

# Rows of the small graphs, few enough for the exact optimum.
N_SMALL = 8
N_CLUSTERS = 5
N_RUNS = 25


def make_rows(n_rows: int, n_clusters: int = N_CLUSTERS) -> tuple[Array, Ints]:
    """Rows without a content, in clusters of equal size."""
    return np.zeros((n_rows, 1)), np.arange(n_rows) % n_clusters


def complete_graph(seed: int) -> csr_array:
    """A small graph with a weight of 1 or -1, at random, for every pair."""
    return _symmetric(np.random.RandomState(seed).choice([-1.0, 1.0], size=(N_SMALL, N_SMALL)))


def weighted_graph(seed: int) -> csr_array:
    """A small graph with random weights, and none for a third of the pairs."""
    rng = np.random.RandomState(seed)
    weights = rng.normal(size=(N_SMALL, N_SMALL)) * (rng.uniform(size=(N_SMALL, N_SMALL)) < 2 / 3)
    return _symmetric(weights)


def planted_graph(y: Ints, flip: float, seed: int) -> csr_array:
    """All pairs: 1 if of one class, else -1, and the sign of a fraction of them flipped."""
    rng = np.random.RandomState(seed)
    weights = np.where(y[:, None] == y, 1.0, -1.0)
    weights[rng.uniform(size=weights.shape) < flip] *= -1
    return _symmetric(weights)


def _symmetric(weights: Floats) -> csr_array:
    upper = np.triu(weights, 1)
    return csr_array(upper + upper.T)


def small_partitions(seed: int) -> Ints:
    """Five random clusterings of few rows into up to three clusters."""
    return np.random.RandomState(seed).randint(3, size=(N_SMALL, 5))


def optimum(X: csr_array) -> CorrelationClustering:
    """Return the exact solution."""
    return CorrelationClustering("exact", random_state=0).fit(X)


def least_consensus(partitions: Ints) -> float:
    """Return the least summed Mirkin distance to some clusterings."""
    joins = (partitions[:, None] == partitions[None]).sum(axis=2).astype(float)
    parts = partitions.shape[1] - joins
    pairs = np.triu_indices(len(partitions), 1)
    return float(np.minimum(joins, parts)[pairs].sum()) + optimum(_symmetric(joins - parts)).disagreement_


def kmeans_runs(X: Array, n_clusters: int, seed: int) -> tuple[Ints, Floats]:
    """Run k-means from random rows; return the labels, a column per run, and the inertia of every run."""
    rng = np.random.RandomState(seed)
    models = [
        KMeans(n_clusters, init="random", n_init=1, random_state=rng.randint(2**31)).fit(X) for _ in range(N_RUNS)
    ]
    return np.column_stack([model.labels_ for model in models]), np.array([model.inertia_ for model in models])
