"""SizeConstrainedKMeans beside the package k-means-constrained, and beside scikit-learn's KMeans.

Every fit runs in a process of its own, from the same centers, on clusters of very different sizes, so that the bounds
matter. A fit of a small table first takes importing and compiling out of the figures; the time of tables of up to 5,000
rows is the shortest of four. The tables are also written into docs/benchmarks.
"""

from __future__ import annotations

import csv
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import run_apart
from benchmarks._environments import ROOT
from benchmarks._measure import measure, run_main, shortest
from benchmarks._show import new_table, show

TIME_LIMIT = 900
SEEDS = (0, 1, 2)
MAX_SECONDS_REPEATED = 10.0
PEER, OURS, PLAIN = "k-means-constrained", "SizeConstrainedKMeans", "scikit-learn KMeans"


def main(*names: str) -> None:
    """Make the tables, or those of the given names."""
    with tempfile.TemporaryDirectory() as folder:
        for name, compare in {"peer": beside_the_peer, "hours": of_hours, "kmeans": beside_k_means}.items():
            if not names or name in names:
                headings, rows, title = compare(Path(folder))
                table = new_table(title, *headings, n_names=2)
                for row in rows:
                    table.add_row(*row)
                show(table)
                with (ROOT / "docs" / "benchmarks" / f"sizes-{name}.csv").open("w", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([headings, *rows])


# ---- the tables


def beside_the_peer(folder: Path) -> tuple[list[str], list[list[str]], str]:
    """Compare with the peer: at least ten times faster at 20,000 rows, and never a higher inertia."""
    headings = ["rows", "clusterer", "seconds", "times faster", "iterations", "sum of squares", "higher than the peer"]
    rows = []
    for n_rows in (1_000, 5_000, 20_000):
        paths = [make_data(folder, n_rows, 16, 10, seed) for seed in SEEDS]
        options = {"size_min": 0.8 * n_rows / 10, "tol": 1e-4, "max_iter": 300}
        theirs = [fit_apart("peers", PEER, path, **options) for path in paths]
        for name, more in ((PEER, None), (OURS, {}), (f"{OURS}(polish=True)", {"polish": 1})):
            found = theirs if more is None else [fit_apart("ours", OURS, path, **options, **more) for path in paths]
            rows.append([f"{n_rows:,}", name, *words(found, theirs), n_higher(found, theirs)])
    return headings, rows, "n x 16, 10 clusters, minimum .8 n/k, sums over 3 tables from the same centers"


def of_hours(folder: Path) -> tuple[list[str], list[list[str]], str]:
    """Cluster 132,000 rows into equal clusters, which takes the peer hours: asked are five minutes."""
    headings = ["rows", "clusterer", "seconds", "iterations", "sizes", "MB above the data"]
    path = make_data(folder, 132_000, 50, 50, 0)
    found = fit_apart("ours", OURS, path, size_min=2_640, size_max=2_640, tol=1e-4, max_iter=300)
    if "failed" in found:
        return headings, [["132,000", OURS, found["failed"]]], ""
    sizes = f"{found['smallest']:,} to {found['largest']:,}"
    row = ["132,000", OURS, f"{found['seconds']:.0f}", str(found["n_iter"]), sizes, f"{found['megabytes']:.0f}"]
    return headings, [row], "132,000 x 50, 50 clusters of equal sizes, from given centers to convergence"


def beside_k_means(folder: Path) -> tuple[list[str], list[list[str]], str]:
    """Compare with KMeans for as many iterations: up to 5 times as long with few bounds that bind, 20 with all."""
    headings = ["rows", "clusterer", "bounds that bind", "seconds", "times as long", "MB above the data"]
    rows = []
    for n_rows in (100_000, 1_000_000):
        path = make_data(folder, n_rows, 16, 20, 0)
        shared = {"tol": 0.0, "max_iter": 12}
        plain = fit_apart("ours", PLAIN, path, **shared)
        few = {"size_min": 0.6 * n_rows / 20}
        equal = {"size_min": n_rows / 20, "size_max": n_rows / 20}
        rows.append([f"{n_rows:,}", PLAIN, "", *cost(plain, plain)])
        for name, bounds in (("no bound", {}), ("minimum .6 n/k", few), ("equal sizes", equal)):
            found = fit_apart("ours", OURS, path, **shared, **bounds)
            rows.append([f"{n_rows:,}", f"{OURS}, {name}", f"{found.get('n_binding', '?')} of 20", *cost(found, plain)])
    return headings, rows, "n x 16, 20 clusters, 12 iterations from the same centers"


def words(found: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> list[str]:
    """Sum up the fits of several tables: seconds, ratio to the peer, iterations, inertia."""
    failed = [figures["failed"] for figures in found if "failed" in figures]
    if failed:
        return [f"failed {len(failed)} of {len(found)}: {failed[0][:60]}", "", "", ""]
    seconds = sum(figures["seconds"] for figures in found)
    ratio = "?" if any("failed" in one for one in theirs) else f"{sum(one['seconds'] for one in theirs) / seconds:.1f}"
    n_iter = "/".join(str(figures["n_iter"]) for figures in found)
    return [f"{seconds:.3f}", ratio, n_iter, f"{sum(figures['inertia'] for figures in found):,.0f}"]


def n_higher(found: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    """Count the tables on which the inertia is higher than that of the peer."""
    pairs = [
        (a["inertia"], b["inertia"]) for a, b in zip(found, theirs, strict=True) if "inertia" in a and "inertia" in b
    ]
    return f"{sum(a > b * (1 + 1e-9) for a, b in pairs)} of {len(pairs)}"


def cost(found: dict[str, Any], plain: dict[str, Any]) -> list[str]:
    """Word the time, its ratio to plain k-means and the memory of one fit."""
    if "failed" in found:
        return [found["failed"][:60], "", ""]
    ratio = f"{found['seconds'] / plain['seconds']:.1f}" if "seconds" in plain else "?"
    return [f"{found['seconds']:.2f}", ratio, f"{found['megabytes']:.0f}"]


# ---- data, processes


def make_data(folder: Path, n_rows: int, n_features: int, n_clusters: int, seed: int) -> Path:
    """Write overlapping clusters, the largest four times as large as the smallest, and rows to start from."""
    rng = np.random.RandomState(seed)
    share = np.linspace(1, 4, n_clusters)
    y = rng.choice(n_clusters, size=n_rows, p=share / share.sum())
    X = rng.uniform(-6, 6, size=(n_clusters, n_features))[y] + rng.normal(scale=4.0, size=(n_rows, n_features))
    path = folder / f"{n_rows}-{n_features}-{n_clusters}-{seed}.npz"
    np.savez(path, X=X, init=X[rng.permutation(n_rows)[:n_clusters]])
    return path


def fit_apart(environment: str, name: str, path: Path, **options: float) -> dict[str, Any]:
    """Fit in a process of its own and return its figures, or what went wrong."""
    given = [f"{key}={value}" for key, value in options.items()]
    return run_apart(environment, "sizes", name, str(path), *given, time_limit=TIME_LIMIT)


# ---- inside such a process: nothing of mustlink may be imported for a peer


def fit_one(name: str, path: str, *given: str) -> dict[str, Any]:
    """Fit one clusterer and measure it, after a fit of few rows."""
    data = dict(np.load(path))
    options = {key: float(value) for key, value in (word.split("=") for word in given)}
    fit(name, data["X"][:500], data["init"], {key: value for key, value in options.items() if "size" not in key})
    fit(name, data["X"][:500], data["init"], options | {"size_min": 8.0, "size_max": 500.0})
    seconds, megabytes, model = measure(lambda: fit(name, data["X"], data["init"], options))
    if seconds <= MAX_SECONDS_REPEATED:
        # A busy machine, and what is read from the cache of compiled code, only add to a short time.
        seconds = min(seconds, shortest(lambda: fit(name, data["X"], data["init"], options))[0])
    sizes = np.bincount(model.labels_)
    return {
        "seconds": seconds,
        "megabytes": megabytes,
        "n_iter": int(model.n_iter_),
        "inertia": inertia_of(data["X"], model.labels_),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "n_binding": int(np.count_nonzero(getattr(model, "prices_", 0))),
    }


def inertia_of(X: Any, labels: Any) -> float:
    """Return the sum of squared distances to the means of the clusters, which not every package reports."""
    return float(sum(np.square(X[labels == c] - X[labels == c].mean(axis=0)).sum() for c in np.unique(labels)))


def fit(name: str, X: Any, init: Any, options: dict[str, float]) -> Any:
    """Fit the clusterer of that name from given centers."""
    sizes: dict[str, Any] = {key: int(value) for key, value in options.items() if key.startswith("size")}
    shared: dict[str, Any] = {"init": init, "n_init": 1, "max_iter": int(options["max_iter"]), "tol": options["tol"]}
    if name == PLAIN:
        from sklearn.cluster import KMeans

        return KMeans(len(init), algorithm="lloyd", **shared).fit(X)
    if name == PEER:
        peer = importlib.import_module("k_means_constrained").KMeansConstrained
        return peer(len(init), **sizes, **shared).fit(X)
    from mustlink.sizes import SizeConstrainedKMeans

    return SizeConstrainedKMeans(len(init), polish=bool(options.get("polish")), **sizes, **shared).fit(X)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in ("peer", "hours", "kmeans"):
        main(*sys.argv[1:])
    else:
        run_main(main, fit_one)
