"""ExistentialKMeans beside scikit-learn's KMeans, and micro-clusters on many rows.

All fits of a table are on the same rows and from the same first centers, one after the other in one process, after a
small fit that excludes compilation. Iterations differ, so seconds per iteration are given too.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import measure
from benchmarks._show import new_table, show

N_FEATURES, N_CLUSTERS = 8, 20
SIZES = (10_000, 100_000)
# Rows, and how many runs are made, of which the best is kept.
MICRO_SIZES = {100_000: 10, 300_000: 5, 1_000_000: 5}
PIVOT_SHARE = 0.3
# The minimum as a share of what equal numbers of pivots would be.
MINIMA = {"loose": 0.2, "tight": 0.8}
RADIUS = 2.5


def main() -> None:
    plain = new_table(
        f"{N_FEATURES} features, {N_CLUSTERS} clusters, {PIVOT_SHARE:.0%} of the rows are pivots",
        "rows",
        "pivots per cluster",
        "method",
        "seconds",
        "times KMeans",
        "per iteration",
        "dispersion / KMeans",
        "MB above the data",
        n_names=3,
    )
    X, pivots = make_table(2_000)
    for fit in (fit_kmeans, *(partial(fit_ours, options, 5) for options in METHODS.values())):
        fit(X, pivots, X[:N_CLUSTERS])
    for n_rows in SIZES:
        compare(plain, n_rows)
    show(plain)
    micro = new_table(
        f"Micro-clusters of radius {RADIUS:g}; goal: dispersion within 5 % of that without",
        "rows",
        "method",
        "runs",
        "micro-clusters",
        "seconds",
        "seconds without",
        "dispersion / without",
        "MB above the data",
        n_names=2,
    )
    for n_rows, n_runs in MICRO_SIZES.items():
        compress(micro, n_rows, n_runs)
    show(micro)


METHODS: dict[str, dict[str, Any]] = {
    "flow": {},
    "pivot, random": {"method": "pivot"},
    "pivot, look-ahead": {"method": "pivot", "heuristic": "lookahead"},
}


def make_table(n_rows: int) -> tuple[Any, Any]:
    """Blobs of unequal sizes; pivots are drawn from all, most from the first."""
    from sklearn.datasets import make_blobs

    rng = np.random.default_rng(0)
    X, blob = make_blobs(n_rows, N_FEATURES, centers=2 * N_CLUSTERS, cluster_std=1.0, random_state=0)
    share = np.where(blob < N_CLUSTERS, 1.5, 0.5) * PIVOT_SHARE
    return X, rng.random(n_rows) < share


def compare(table: Any, n_rows: int) -> None:
    """Add the rows of one size: scikit-learn's KMeans, then all methods with loose and tight minima."""
    X, pivots = make_table(n_rows)
    start = X[np.random.default_rng(1).choice(n_rows, N_CLUSTERS, replace=False)]
    seconds, megabytes, plain = measure(partial(fit_kmeans, X, pivots, start))
    cells = ("1.0", f"{seconds / plain.n_iter_:.3f}", "1.000", f"{megabytes:.0f}")
    table.add_row(f"{n_rows:,}", "none", "KMeans", f"{seconds:.2f}", *cells)
    for name, share in MINIMA.items():
        minimum = int(share * pivots.sum() / N_CLUSTERS)
        for method, options in METHODS.items():
            taken, more, model = measure(partial(fit_ours, options, minimum, X, pivots, start))
            assert model.pivot_counts_.min() >= minimum
            table.add_row(
                f"{n_rows:,}",
                f"{name}, {minimum:,}",
                method,
                f"{taken:.2f}",
                f"{taken / seconds:.1f}",
                f"{taken / model.n_iter_:.3f}",
                f"{model.inertia_ / plain.inertia_:.3f}",
                f"{more:.0f}",
            )


def compress(table: Any, n_rows: int, n_runs: int) -> None:
    """Add the rows of one size: both methods on micro-clusters and on the rows themselves, with a tight minimum."""
    X, pivots = make_table(n_rows)
    minimum = int(MINIMA["tight"] * pivots.sum() / N_CLUSTERS)
    for method in ("flow", "pivot, random"):
        options = {**METHODS[method], "n_init": n_runs}
        without, _, plain = measure(partial(fit_ours, options, minimum, X, pivots, "k-means++"))
        options["micro_radius"] = RADIUS
        taken, more, model = measure(partial(fit_ours, options, minimum, X, pivots, "k-means++"))
        assert model.pivot_counts_.min() >= minimum
        table.add_row(
            f"{n_rows:,}",
            method,
            str(n_runs),
            f"{model.n_micro_clusters_:,}",
            f"{taken:.2f}",
            f"{without:.2f}",
            f"{model.inertia_ / plain.inertia_:.3f}",
            f"{more:.0f}",
        )


def fit_kmeans(X: Any, pivots: Any, start: Any) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(N_CLUSTERS, init=start, n_init=1).fit(X)


def fit_ours(options: dict[str, Any], minimum: int, X: Any, pivots: Any, start: Any) -> Any:
    from mustlink import ExistentialKMeans

    settings = {"pivot_min": minimum, "init": start, "random_state": 0, **options}
    return ExistentialKMeans(N_CLUSTERS, **settings).fit(X, pivots=pivots)


if __name__ == "__main__":
    main()
