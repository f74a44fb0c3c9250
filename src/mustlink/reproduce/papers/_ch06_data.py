"""Data of the chapter on co-clustering: surrogates of its matrices, and information-theoretic co-clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._types import Array, Floats, Ints
from mustlink.coclustering import binarize

N_TIMES, N_GENES = 105, 20
N_STAGES, N_SEXES = 3, 2
# Conditions of yeast_brown in three series of consecutive times.
SERIES = (("alpha", 0, 18), ("Elu", 18, 32), ("cdc15", 32, 47))


def cyclic() -> tuple[Array, Ints]:
    """Periods that follow each other in a circle: every time has four genes in a row; with the co-clustering a."""
    first = N_GENES * np.arange(N_TIMES) // N_TIMES
    X = np.zeros((N_TIMES, N_GENES), dtype=np.int64)
    for shift in range(4):
        X[np.arange(N_TIMES), (first + shift) % N_GENES] = 1
    return X, cyclic_times("a")


def cyclic_times(target: str) -> Ints:
    """The clusters of times: three periods (a), or the first and last together (b)."""
    start = 0 if target == "a" else 14
    return np.asarray((np.arange(N_TIMES) + start) % N_TIMES // 35, dtype=np.int64)


def cyclic_genes(target: str) -> Ints:
    """The clusters of genes: the period in which each is a 1 most often, the first of several."""
    X, times = cyclic()[0], cyclic_times(target)
    return np.asarray([[X[times == period, gene].sum() for period in range(3)] for gene in range(N_GENES)]).argmax(1)


def stages() -> tuple[Array, Ints]:
    """46 times of a development in three stages, and 200 genes that are active around a time of their own."""
    rng = np.random.RandomState(6)
    n_times, n_genes = 46, 200
    y = np.repeat(np.arange(N_STAGES), [16, 15, 15])
    stage = rng.randint(N_STAGES, size=n_genes)
    middle = np.array([8.0, 23.0, 38.0])[stage] + rng.normal(scale=4.0, size=n_genes)
    width = rng.uniform(5.0, 9.0, size=n_genes)
    level = np.exp(-(((np.arange(n_times)[:, None] - middle) / width) ** 2)) * np.exp(
        rng.normal(scale=0.5, size=(n_times, n_genes))
    )
    return binarize(level + np.abs(rng.normal(scale=0.1, size=level.shape)), 25), y


def sexes() -> tuple[Array, Ints]:
    """20 adults, ten males and then ten females by age, and 80 genes of a sex, of an age, or of neither."""
    rng = np.random.RandomState(7)
    y = np.repeat(np.arange(N_SEXES), 10)
    age, n_genes = np.tile(np.arange(10), 2), 80
    kind = rng.choice(3, size=n_genes, p=[0.45, 0.35, 0.2])
    of_sex = y[:, None] == rng.randint(2, size=n_genes)
    of_age = (age[:, None] < 5) == (rng.randint(2, size=n_genes) == 0)
    chance = np.choose(kind, [np.where(of_sex, 0.85, 0.15), np.where(of_age, 0.85, 0.15), np.full(of_sex.shape, 0.3)])
    X = (rng.uniform(size=chance.shape) < chance).astype(np.int64)
    return X[:, X.any(axis=0)], y


def series_of(X: Array) -> tuple[Array, Ints]:
    """The conditions of yeast_brown in its three longest series, by genes as 0/1, and the series of each."""
    # The first column has the names of the genes.
    levels = np.nan_to_num(np.asarray(X[:, 1 : SERIES[-1][2] + 1], dtype=np.float64)).T
    ones = binarize(levels, 25)
    y = np.repeat(np.arange(len(SERIES)), [stop - start for _, start, stop in SERIES])
    return ones[:, ones.any(axis=0)], y


def unstable_pairs(side: str) -> list[tuple[int, int]]:
    """Pairs of an element with one period in both co-clusterings and one that moves from the first to the second."""
    label = cyclic_times if side == "T" else cyclic_genes
    first, second = label("a"), label("b")
    stable = np.flatnonzero((first == 0) & (second == 0))
    unstable = np.flatnonzero((first == 0) & (second != 0))
    return [(int(one), int(other)) for one in stable for other in unstable]


def cocluster(X: Any, n_clusters: int, seed: int, max_iter: int = 100) -> tuple[Ints, Ints]:
    """Information-theoretic co-clustering (Dhillon et al. 2003) from random labels."""
    rng = np.random.RandomState(seed)
    shares = np.asarray(X, dtype=np.float64) / np.sum(X)
    rows, columns = (rng.randint(n_clusters, size=size) for size in shares.shape)
    for _ in range(max_iter):
        before = rows.copy(), columns.copy()
        rows = _nearest(shares, rows, columns, n_clusters)
        columns = _nearest(shares.T, columns, rows, n_clusters)
        if (rows == before[0]).all() and (columns == before[1]).all():
            break
    return rows, columns


def _nearest(shares: Floats, rows: Ints, columns: Ints, n_clusters: int) -> Ints:
    """Each row in the cluster whose distribution over column clusters is nearest, by the divergence."""
    by_column = shares @ np.eye(n_clusters)[columns]
    by_both = np.eye(n_clusters)[rows].T @ by_column
    total = by_both.sum(axis=1, keepdims=True)
    share = np.divide(by_both, total, out=np.zeros_like(by_both), where=total > 0)
    return np.asarray(np.argmin(-by_column @ np.log(np.maximum(share, 1e-12)).T, axis=1), dtype=np.int64)
