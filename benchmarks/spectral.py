"""The spectral clusterers on 20,000 rows, beside scikit-learn's spectral clustering on the same neighbors.

Every fit runs in its own process, on the same data and links. An array of n x n numbers would take
3,200 MB.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import run_apart
from benchmarks._measure import measure, run_main
from benchmarks._problems import overlapping_blobs, save_problem
from benchmarks._show import new_table, show

TIME_LIMIT = 120
N_ROWS, N_PAIRS = 20_000, 2_000
PEER = "scikit-learn SpectralClustering"
FITS = (PEER, "NormalizedSpectralClustering", "SpectralLearning", "ConstraintPropagation", "ConstrainedSpectral")
TABLES = {"moons": 2, "blobs": 10}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for kind in TABLES:
            show(compare(make_data(Path(folder), kind), kind))


def compare(path: Path, kind: str) -> Any:
    """Fit all on one table, and set their time in relation to that of scikit-learn."""
    title = f"{kind}: {N_ROWS:,} rows, {TABLES[kind]} clusters, {N_PAIRS:,} links, 10 neighbors"
    scores = ("ARI", "ARI, rows in no link", "violations")
    table = new_table(title, "clusterer", "seconds", "times the peer's", *scores, "MB above the data")
    peer: float | None = None
    for name in FITS:
        figures = run_apart("ours", "spectral", name, str(path), time_limit=TIME_LIMIT)
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
    from sklearn.datasets import make_moons

    from mustlink import Constraints

    if kind == "moons":
        X, y = make_moons(N_ROWS, noise=0.15, random_state=0)
        links = Constraints.sample(y, n_pairs=N_PAIRS, random_state=0)
    else:
        X, y, links = overlapping_blobs(N_ROWS, N_PAIRS)
    return save_problem(folder / f"{kind}.npz", X, links, y=y, n_clusters=TABLES[kind])


# ---- inside such a process


def fit_one(name: str, path: str) -> dict[str, Any]:
    """Fit one clusterer and measure it, without import and compilation."""
    data = dict(np.load(path))
    rows = np.arange(200)
    fit(name, data["X"][rows], {"n_clusters": data["n_clusters"], "must_link": [(0, 1)], "cannot_link": []})
    seconds, megabytes, labels = measure(lambda: fit(name, data["X"], data))
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
    run_main(main, fit_one)
