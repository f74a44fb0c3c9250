"""ConstrainedHDBSCAN beside scikit-learn's HDBSCAN, which makes the same hierarchy and knows no links.

The fits alternate on the same data in one process, after a small fit that excludes compilation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._memory import forget_peak, megabytes_now

N_ROWS, N_FEATURES, N_LINKS, N_TURNS = 10_000, 8, 500, 3
MIN_CLUSTER_SIZE = 20


def main() -> None:
    from rich.console import Console
    from rich.table import Table
    from sklearn.datasets import make_blobs

    from mustlink import Constraints
    from mustlink.metrics import adjusted_rand

    X, classes = make_blobs(N_ROWS, N_FEATURES, centers=30, cluster_std=1.2, center_box=(-6, 6), random_state=0)
    links = Constraints.sample(classes, n_pairs=N_LINKS, random_state=0)
    small = Constraints.sample(classes[:200], n_pairs=20, random_state=0)
    table = Table(
        title=f"{N_ROWS:,} x {N_FEATURES}, {N_LINKS} links, best of {N_TURNS} turns; target: little more than HDBSCAN",
        title_justify="left",
    )
    table.add_column("clusterer")
    for heading in ("seconds", "times HDBSCAN", "clusters", "noise", "ARI", "violations", "MB above the data"):
        table.add_column(heading, justify="right")
    seconds: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    rows: dict[str, list[str]] = {}
    for fit in CONTENDERS.values():
        fit(X[:200], small)
    for _ in range(N_TURNS):
        for name, fit in CONTENDERS.items():
            before, started = forget_peak(), time.perf_counter()
            labels = fit(X, links)
            seconds[name].append(time.perf_counter() - started)
            rows[name] = [
                str(labels.max() + 1),
                f"{(labels == -1).mean():.0%}",
                f"{adjusted_rand(classes, labels):.3f}",
                f"{links.violation_rate(labels):.1%}",
                f"{megabytes_now('VmHWM') - before:.0f}",
            ]
    least = min(seconds["scikit-learn HDBSCAN"])
    for name, figures in rows.items():
        table.add_row(name, f"{min(seconds[name]):.2f}", f"{min(seconds[name]) / least:.2f}", *figures)
    Console(width=130).print(table)


def fit_plain(X: Any, links: Any) -> Any:
    from sklearn.cluster import HDBSCAN

    return np.asarray(HDBSCAN(min_cluster_size=MIN_CLUSTER_SIZE, copy=True).fit(X).labels_)


def fit_ours(kind: str) -> Callable[[Any, Any], Any]:
    def fit(X: Any, links: Any) -> Any:
        from mustlink import ConstrainedHDBSCAN

        return ConstrainedHDBSCAN(MIN_CLUSTER_SIZE, enforce=kind).fit(X, constraints=links).labels_

    return fit


CONTENDERS: dict[str, Callable[[Any, Any], Any]] = {
    "scikit-learn HDBSCAN": fit_plain,
    "ConstrainedHDBSCAN, hard": fit_ours("hard"),
    "ConstrainedHDBSCAN, soft": fit_ours("soft"),
}


if __name__ == "__main__":
    main()
