"""CDKMeans beside a plain implementation of the same formulas and scikit-learn's SpectralCoclustering.

Planted tables have as many ones as tables of people and items do; spect and news_w100 are measured where the folder
MUSTLINK_DATA has them. The last table is the limit: 10,000 x 1,000 cells with 5% ones. With ``--quick``, tables are
smaller.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import measure
from benchmarks._show import new_table, show

N_STARTS, MAX_ITER, MAX_SECONDS = 10, 100, 60.0


def planted(n_rows: int, n_columns: int, density: float, n_clusters: int, noise: float, seed: int = 0) -> Any:
    """Return a sparse 0/1 matrix with blocks of ones, a fraction of the ones outside, and the blocks of each side."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(n_clusters, size=n_rows), rng.integers(n_clusters, size=n_columns)
    inside = density * n_clusters * (1 - noise)
    outside = density * n_clusters * noise / (n_clusters - 1)
    chance = np.where(rows[:, None] == columns, inside, outside).astype(np.float32)
    X = sparse.csr_array(rng.random(chance.shape, dtype=np.float32) < chance)
    kept = np.asarray(X.sum(axis=1)).ravel() > 0
    return X[kept], rows[kept], columns


def main() -> None:
    quick = "--quick" in sys.argv
    warnings.filterwarnings("ignore", category=UserWarning)
    fit_ours(planted(60, 20, 0.3, 2, 0.1)[0], 2, 2, 2)
    figures = ("bi-sets", "seconds", "times CDKMeans", "MB above the data", "ARI of rows", "ARI of columns")
    table = new_table("Co-clustering, one turn each", "table", "method", *figures, n_names=2)
    sizes = ((60, 30), (120, 40)) if quick else ((120, 40), (300, 60))
    for n_rows, n_columns in sizes:
        X, rows, columns = planted(n_rows, n_columns, 0.15, 3, 0.15)
        compare(table, f"{n_rows} x {n_columns}, 15% ones", X, 3, (2, 2), rows, columns, plain=True)
    if os.environ.get("MUSTLINK_DATA"):
        for name, n_clusters, least in (("spect", 2, (5, 3)), ("news_w100", 4, (30, 2))):
            X, rows = load_ones(name)
            compare(table, name, X, n_clusters, least, rows, None, plain=False)
    n_rows, n_columns = (1000, 200) if quick else (10_000, 1_000)
    X, rows, columns = planted(n_rows, n_columns, 0.05, 5, 0.3)
    least = (6, 2) if quick else (50, 2)
    seconds = compare(table, f"{n_rows:,} x {n_columns:,}, 5% ones", X, 5, least, rows, columns, plain=False)
    show(
        table, f"The limit for the last table is {MAX_SECONDS:.0f} s: {'kept' if seconds < MAX_SECONDS else 'missed'}."
    )


def compare(
    table: Any, title: str, X: Any, n_clusters: int, least: tuple[int, int], rows: Any, columns: Any, *, plain: bool
) -> float:
    """Add a row for each method, and return the seconds of ours."""
    from sklearn.metrics import adjusted_rand_score

    # The plain one selects its start by cost.
    by_cost = {"CDKMeans by cost": partial(fit_ours, select="cost"), "plain by cost": fit_plain} if plain else {}
    fits = {"CDKMeans": fit_ours, **by_cost, "SpectralCoclustering": fit_spectral}
    first = 0.0
    for name, fit in fits.items():
        seconds, megabytes, (n_bisets, row_labels, column_labels) = measure(lambda fit=fit: fit(X, n_clusters, *least))
        first = first or seconds
        scores = [
            "" if truth is None else f"{adjusted_rand_score(truth, labels):.3f}"
            for truth, labels in ((rows, row_labels), (columns, column_labels))
        ]
        table.add_row(title, name, n_bisets, f"{seconds:.2f}", f"{seconds / first:.2f}", f"{megabytes:.0f}", *scores)
    return first


def fit_ours(X: Any, n_clusters: int, min_rows: int, min_columns: int, select: str = "tau") -> Any:
    from mustlink import CDKMeans

    options: dict[str, Any] = {"min_rows": min_rows, "min_columns": min_columns, "n_init": N_STARTS, "select": select}
    model = CDKMeans(n_clusters, **options, max_iter=MAX_ITER, random_state=0).fit(X)
    return f"{model.bisets_.n_bisets:,}", model.row_labels_, model.column_labels_


def fit_spectral(X: Any, n_clusters: int, min_rows: int, min_columns: int) -> Any:
    from sklearn.cluster import SpectralCoclustering

    model = SpectralCoclustering(n_clusters, random_state=0).fit(X.astype(np.float64))
    return "", model.row_labels_, model.column_labels_


def fit_plain(X: Any, n_clusters: int, min_rows: int, min_columns: int) -> Any:
    """CDK-Means as it is written down: concepts from intersections of rows, and dense matrix products."""
    ones = X.toarray().astype(np.float64)
    rows, columns = plain_concepts(ones, min_rows, min_columns)
    rng, best = np.random.default_rng(0), (np.inf, np.zeros(0), np.zeros(0))
    for _ in range(N_STARTS):
        chosen = rng.choice(len(rows), n_clusters, replace=False)
        tau, gamma = rows[chosen], columns[chosen]
        labels = np.full(len(rows), -1)
        for _ in range(MAX_ITER):
            distance = (plain_distance(rows, tau) + plain_distance(columns, gamma)) / 2
            found = distance.argmin(axis=1)
            if (found == labels).all():
                break
            labels = found
            # An empty cluster keeps its centroid.
            for cluster in np.unique(labels):
                tau[cluster], gamma[cluster] = rows[labels == cluster].mean(0), columns[labels == cluster].mean(0)
        cost = distance[np.arange(len(rows)), labels].sum()
        best = min(best, (cost, tau.argmax(axis=0), gamma.argmax(axis=0)), key=lambda found: found[0])
    return f"{len(rows):,}", best[1], best[2]


def plain_concepts(ones: Any, min_rows: int, min_columns: int) -> tuple[Any, Any]:
    """Return all formal concepts of the least sizes."""
    intents = {frozenset(range(ones.shape[1]))}
    for row in ones:
        own = frozenset(np.flatnonzero(row).tolist())
        intents |= {own & intent for intent in intents}
    rows, columns = [], []
    for intent in intents:
        extent = ones[:, sorted(intent)].all(axis=1)
        if len(intent) >= min_columns and extent.sum() >= min_rows:
            rows.append(extent.astype(float))
            columns.append(np.isin(np.arange(ones.shape[1]), sorted(intent)).astype(float))
    return np.array(rows), np.array(columns)


def plain_distance(sets: Any, centroids: Any) -> Any:
    common = 0.5 * (sets @ (centroids > 0).T + sets @ centroids.T)
    union = 0.5 * (sets.sum(axis=1)[:, None] + centroids.sum(axis=1))
    return 1 - common / union


def load_ones(name: str) -> Any:
    """Return a 0/1 data set without empty rows and columns, and the classes of its rows."""
    from scipy import sparse

    from mustlink.datasets import load

    data = load(name)
    X = sparse.csr_array(np.asarray(data.data, dtype=np.uint8))
    kept = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() > 0)
    return X[kept][:, np.asarray(X.sum(axis=0)).ravel() > 0], np.asarray(data.target)[kept]


if __name__ == "__main__":
    main()
