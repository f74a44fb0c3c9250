"""The spectral clusterers on 20,000 rows, beside scikit-learn's spectral clustering on the same neighbors.

Every fit runs in its own process, on the same data and links. An array of n x n numbers would take
3,200 MB.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import run_apart
from benchmarks._memory import forget_peak, megabytes_now

TIME_LIMIT = 120
N_ROWS, N_PAIRS = 20_000, 2_000
PEER = "scikit-learn SpectralClustering"
FITS = (PEER, "NormalizedSpectralClustering", "SpectralLearning", "ConstrainedSpectral")
TABLES = {"moons": 2, "blobs": 10}


def main() -> None:
    from rich.console import Console

    console = Console(width=130)
    with tempfile.TemporaryDirectory() as folder:
        for kind in TABLES:
            console.print(compare(make_data(Path(folder), kind), kind))


def compare(path: Path, kind: str) -> Any:
    """Fit all on one table, and set their time in relation to that of scikit-learn."""
    from rich.table import Table

    title = f"{kind}: {N_ROWS:,} rows, {TABLES[kind]} clusters, {N_PAIRS:,} links, 10 neighbors"
    table = Table(title=title, title_justify="left")
    table.add_column("clusterer")
    for heading in ("seconds", "times the peer's", "ARI", "ARI, rows in no link", "violations", "MB above the data"):
        table.add_column(heading, justify="right")
    peer: float | None = None
    for name in FITS:
        figures = fit_apart(name, path)
        if "failed" in figures:
            table.add_row(name, f"failed: {figures['failed'][:60]}")
            continue
        peer = figures["seconds"] if name == PEER else peer
        table.add_row(
            name,
            f"{figures['seconds']:.2f}",
            "?" if peer is None else f"{figures['seconds'] / peer:.2f}",
            f"{figures['ari']:.3f}",
            f"{figures['ari_unlinked']:.3f}",
            f"{figures['n_broken']}",
            f"{figures['megabytes']:.0f}",
        )
    return table


def make_data(folder: Path, kind: str) -> Path:
    """Write a table and links drawn from the truth."""
    from sklearn.datasets import make_blobs, make_moons

    from mustlink import Constraints

    if kind == "moons":
        X, y = make_moons(N_ROWS, noise=0.15, random_state=0)
    else:
        X, y = make_blobs(N_ROWS, 16, centers=10, cluster_std=4.0, center_box=(-6, 6), random_state=0)
    links = Constraints.sample(y, n_pairs=N_PAIRS, random_state=0)
    path = folder / f"{kind}.npz"
    np.savez(path, X=X, y=y, must_link=links.must_link, cannot_link=links.cannot_link, n_clusters=TABLES[kind])
    return path


def fit_apart(name: str, path: Path) -> dict[str, Any]:
    """Fit in a process of its own and return its figures, or what went wrong."""
    return run_apart("ours", "spectral", name, str(path), time_limit=TIME_LIMIT)


# ---- inside such a process


def fit_one(name: str, path: Path) -> dict[str, float]:
    """Fit one clusterer and measure it, without import and compilation."""
    data = dict(np.load(path))
    rows = np.arange(200)
    fit(name, data["X"][rows], {"n_clusters": data["n_clusters"], "must_link": [(0, 1)], "cannot_link": []})
    before = forget_peak()
    start = time.perf_counter()
    labels = fit(name, data["X"], data)
    seconds = time.perf_counter() - start
    megabytes = megabytes_now("VmHWM") - before
    from mustlink import Constraints
    from mustlink.metrics import adjusted_rand

    links = Constraints(data["must_link"], data["cannot_link"])
    return {
        "seconds": seconds,
        "megabytes": megabytes,
        "ari": adjusted_rand(data["y"], labels),
        "ari_unlinked": adjusted_rand(data["y"], labels, constraints=links),
        "n_broken": len(links.violations(labels)),
    }


def fit(name: str, X: Any, data: dict[str, Any]) -> Any:
    """Fit the clusterer of that name and return its labels."""
    n_clusters = int(data["n_clusters"])
    if name == PEER:
        from sklearn.cluster import SpectralClustering

        peer = SpectralClustering(n_clusters, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
        return peer.fit(X).labels_
    from mustlink import Constraints, spectral

    model = getattr(spectral, name)(n_clusters, random_state=0)
    if name == "NormalizedSpectralClustering":
        return model.fit(X).labels_
    return model.fit(X, constraints=Constraints(data["must_link"], data["cannot_link"])).labels_


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit_one(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
