"""BBC: its messages beside scikit-learn's, its rounds beside the runs of the base, its clusters beside the paper's.

The paper gives the number of clusters that the components find (K-hat) for shares of labeled rows from 3 to 20 %. Its
F curves are pictures; ours are for the rows without a label, as in the paper.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AffinityPropagation, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import scale

from benchmarks._measure import clock
from benchmarks._show import new_table, show
from mustlink import Constraints
from mustlink.boosting import BoostBaseClustering
from mustlink.boosting._bbc._affinity_propagation import propagate_affinity, without_diagonal
from mustlink.boosting._bbc._spectral_consensus import spectral_consensus
from mustlink.datasets import load
from mustlink.errors import DataNotFoundError, UnmetConstraintsWarning
from mustlink.kmeans import COPKMeans
from mustlink.metrics import pairwise_f1

SHARES = (0.03, 0.05, 0.07, 0.10, 0.15, 0.20)
Points = tuple[NDArray[Any], NDArray[np.int64]]


@dataclass(frozen=True)
class Trial:
    """One data set of the paper: how it is made, the published K-hat, and how often to repeat."""

    title: str
    make: Callable[[], Points]
    published: tuple[int, ...]
    published_plain: int
    n_repeats: int
    shares: tuple[float, ...] = SHARES
    step: float = 0.1


def wine() -> Points:
    X, y = load("wine", return_X_y=True)
    return scale(X), y


def digit_images(per_class: int) -> Points:
    X, y = load("mnist2000", return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == digit)[:per_class] for digit in range(10)])
    return PCA(100, svd_solver="full").fit_transform(X[rows] / 255).astype(np.float32), y[rows]


def faces() -> Points:
    """Ten subjects: mean removed, unit length, 100 principal components, each divided by the root of its deviation."""
    bunch = load("yaleb32")
    subjects = [str(number) for number in range(1, 11)]
    rows = np.flatnonzero(np.isin(bunch.target_names[bunch.target], subjects))
    X = bunch.data[rows] - bunch.data[rows].mean(axis=0)
    X = PCA(100, svd_solver="full").fit_transform(X / np.linalg.norm(X, axis=1, keepdims=True))
    return X / np.sqrt(X.std(axis=0)), bunch.target[rows]


TRIALS = (
    Trial("wine, standardized", wine, (12, 10, 9, 7, 5, 4), 15, 10),
    Trial("mnist, 50 of each digit", lambda: digit_images(50), (46, 40, 34, 27, 24, 21), 52, 3),
    Trial("mnist, 200 of each digit", lambda: digit_images(200), (46, 40, 34, 27, 24, 21), 52, 1, (0.03, 0.10, 0.20)),
    Trial("yaleb10, half-whitened", faces, (31, 25, 20, 16, 12, 11), 48, 2),
    Trial("yaleb10, half-whitened, step 0.3", faces, (31, 25, 20, 16, 12, 11), 48, 2, SHARES, 0.3),
)


def main() -> None:
    show(messages_beside_peer())
    show(rounds_beside_base_runs())
    for trial in TRIALS:
        try:
            points = trial.make()
        except DataNotFoundError as missing:
            show(f"{trial.title}: {missing}")
            continue
        show(clusters_beside_paper(trial, *points))


def messages_beside_peer() -> Any:
    """Time affinity propagation beside scikit-learn's, with the same preference, damping and noise."""
    headings = ("rows", "scikit-learn, s", "ours, s", "times faster", "same labels")
    table = new_table("affinity propagation beside scikit-learn's", *headings)
    for n_rows in (500, 1_000, 2_000):
        X, _ = make_blobs(n_rows, n_features=10, centers=20, cluster_std=4.0, random_state=0)
        S = -euclidean_distances(X, squared=True)
        preference = float(np.median(without_diagonal(S)))
        propagate_affinity(S[:20, :20].copy(), preference, np.random.RandomState(0))
        random_state = np.random.RandomState(0)
        ours, found = clock(partial(propagate_affinity, S, preference, random_state, convergence_iter=15))
        peer = AffinityPropagation(
            damping=0.75, max_iter=300, affinity="precomputed", preference=preference, random_state=0
        )
        theirs, _ = clock(partial(peer.fit, S))
        same = bool(np.array_equal(found.labels, peer.labels_))
        table.add_row(f"{n_rows:,}", f"{theirs:.2f}", f"{ours:.2f}", f"{theirs / ours:.1f}", str(same))
    return table


def rounds_beside_base_runs() -> Any:
    """Time BBC with a base on features beside the runs of the base that it makes."""
    table = new_table("KMeans(10) as base, 400 links, 5 rounds", "rows", "in the base, s", "in all, s", "ratio")
    for n_rows in (10_000, 100_000):
        X, y = make_blobs(n_rows, n_features=16, centers=10, cluster_std=6.0, random_state=0)
        links = Constraints.sample(y, n_pairs=400, random_state=0)
        in_base = []

        def base(points: NDArray[Any], spent: list[float] = in_base) -> NDArray[Any]:
            seconds, labels = clock(partial(KMeans(10, n_init=1, random_state=0).fit_predict, points))
            spent.append(seconds)
            return labels

        model = BoostBaseClustering(base, 10, n_rounds=5, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnmetConstraintsWarning)
            total, _ = clock(partial(model.fit, X, constraints=links))
        table.add_row(f"{n_rows:,}", f"{sum(in_base):.2f}", f"{total:.2f}", f"{total / sum(in_base):.2f}")
    return table


def clusters_beside_paper(trial: Trial, X: NDArray[Any], y: NDArray[np.int64]) -> Any:
    """Repeat the paper's protocol: a share of the rows is labeled, and the others are scored."""
    n_clusters = len(np.unique(y))
    plain = BoostBaseClustering(random_state=0).fit(X)
    search = BoostBaseClustering(n_clusters=n_clusters, random_state=0).fit(X)
    title = (
        f"{trial.title}, repeats: {trial.n_repeats}. Plain affinity propagation: {plain.n_clusters_} clusters (paper "
        f"{trial.published_plain}), F {pairwise_f1(y, plain.labels_):.3f}, between / within "
        f"{spread_ratio(X, y, plain.metric_):.2f}. With search: {search.n_clusters_} clusters, F "
        f"{pairwise_f1(y, search.labels_):.3f}"
    )
    scores = ("F components", "F rotation", "F k-means", "F COP-KMeans", "between / within")
    table = new_table(title, "labeled", "K-hat, paper", "K-hat", *scores, "counted", "s a fit")
    for share in trial.shares:
        figures = np.mean([one_repeat(trial.step, X, y, share, seed) for seed in range(trial.n_repeats)], axis=0)
        digits = (1, 3, 3, 3, 3, 2, 1, 1)
        cells = (f"{figure:.{places}f}" for figure, places in zip(figures, digits, strict=True))
        table.add_row(f"{share:.0%}", str(trial.published[SHARES.index(share)]), *cells)
    return table


def one_repeat(step: float, X: NDArray[Any], y: NDArray[np.int64], share: float, seed: int) -> list[float]:
    """Label a share of the rows and cluster; return the figures of one line of the table."""
    labeled = np.random.RandomState(seed).permutation(len(y))[: round(share * len(y))]
    known = np.full(len(y), -1)
    known[labeled] = y[labeled]
    hidden = known == -1
    n_clusters = len(np.unique(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmetConstraintsWarning)
        seconds, model = clock(partial(BoostBaseClustering(step=step, random_state=seed).fit, X, known))
    cut = [spectral_consensus(model.coassociation_, n_clusters, assign, seed) for assign in ("rotation", "kmeans")]
    rival = COPKMeans(n_clusters, n_init=10, random_state=seed).fit(X, known).labels_
    scores = [pairwise_f1(y[hidden], labels[hidden]) for labels in (model.labels_, *cut, rival)]
    ratio = spread_ratio(X, y, model.metric_)
    return [model.n_clusters_, *scores, ratio, len(model.alphas_), seconds]


def spread_ratio(X: NDArray[Any], y: NDArray[np.int64], metric: NDArray[np.float64]) -> float:
    """Return the mean learned distance between classes over the mean within, as the paper's text does."""
    values, vectors = np.linalg.eigh(metric)
    distance = euclidean_distances(X @ (vectors * np.sqrt(np.maximum(values, 0))), squared=True)
    same = y[:, None] == y
    within = distance[same].sum() / (same.sum() - len(y))
    return float(distance[~same].mean() / within)


if __name__ == "__main__":
    main()
