"""ConstrainedHDBSCAN beside scikit-learn's HDBSCAN, which makes the same hierarchy and knows no links.

The fits alternate on the same data in one process, after a small fit that excludes compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import measure
from benchmarks._show import new_table, show

N_ROWS, N_FEATURES, N_LINKS, N_TURNS = 10_000, 8, 500, 3
MIN_CLUSTER_SIZE = 20


def main() -> None:
    from sklearn.datasets import make_blobs

    from mustlink import Constraints
    from mustlink.metrics import adjusted_rand

    X, classes = make_blobs(N_ROWS, N_FEATURES, centers=30, cluster_std=1.2, center_box=(-6, 6), random_state=0)
    links = Constraints.sample(classes, n_pairs=N_LINKS, random_state=0)
    small = Constraints.sample(classes[:200], n_pairs=20, random_state=0)
    title = f"{N_ROWS:,} x {N_FEATURES}, {N_LINKS} links, best of {N_TURNS} turns; target: little more than HDBSCAN"
    figures = ("seconds", "times HDBSCAN", "clusters", "noise", "ARI", "violations", "MB above the data")
    table = new_table(title, "clusterer", *figures)
    seconds: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    rows: dict[str, list[str]] = {}
    for fit in CONTENDERS.values():
        fit(X[:200], small)
    for _ in range(N_TURNS):
        for name, fit in CONTENDERS.items():
            taken, megabytes, labels = measure(partial(fit, X, links))
            seconds[name].append(taken)
            rows[name] = [
                str(labels.max() + 1),
                f"{(labels == -1).mean():.0%}",
                f"{adjusted_rand(classes, labels):.3f}",
                f"{links.violation_rate(labels):.1%}",
                f"{megabytes:.0f}",
            ]
    least = min(seconds["scikit-learn HDBSCAN"])
    for name, cells in rows.items():
        table.add_row(name, f"{min(seconds[name]):.2f}", f"{min(seconds[name]) / least:.2f}", *cells)
    show(table)


def fit_plain(X: Any, links: Any) -> Any:
    from sklearn.cluster import HDBSCAN

    return np.asarray(HDBSCAN(min_cluster_size=MIN_CLUSTER_SIZE, copy=True).fit(X).labels_)


def fit_ours(kind: str, X: Any, links: Any) -> Any:
    from mustlink import ConstrainedHDBSCAN

    return ConstrainedHDBSCAN(MIN_CLUSTER_SIZE, enforce=kind).fit(X, constraints=links).labels_


CONTENDERS: dict[str, Callable[[Any, Any], Any]] = {
    "scikit-learn HDBSCAN": fit_plain,
    "ConstrainedHDBSCAN, hard": partial(fit_ours, "hard"),
    "ConstrainedHDBSCAN, soft": partial(fit_ours, "soft"),
}


if __name__ == "__main__":
    main()
