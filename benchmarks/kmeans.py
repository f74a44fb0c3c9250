"""COPKMeans and PCKMeans beside the peer for the same task, and beside scikit-learn's KMeans.

Every fit runs in a process of its own, on the same table and the same links. A fit of a small table first takes
compiling out of the figures; what that costs is measured apart, with an empty cache.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import run_apart
from benchmarks._memory import forget_peak, megabytes_now

PEER_MODULE = "active_semi_clustering.semi_supervised.pairwise_constraints"
TIME_LIMIT = 900

SMALL = {"n_rows": 5_000, "n_pairs": 250, "seeds": (0, 1, 2), "max_iter": 100, "spread": 4.0}
LARGE = {"n_rows": 1_000_000, "n_pairs": 250, "seeds": (0,), "max_iter": 12, "spread": 4.0}
N_FEATURES, N_CLUSTERS = 16, 10


def main() -> None:
    from rich.console import Console

    console = Console(width=130)
    with tempfile.TemporaryDirectory() as folder:
        console.print(compile_times(Path(folder)))
        console.print(beside_peers(Path(folder)))
        console.print(beside_k_means(Path(folder)))


# ---- the tables


def beside_peers(folder: Path) -> Any:
    """Compare with active-semi-supervised-clustering on 5,000 rows: at least 50 times faster, and as good."""
    table = new_table(
        "5,000 x 16, 10 clusters, 250 links, mean of 3 tables; asked: 50 times faster, no worse",
        "times faster",
    )
    paths = [make_data(folder, seed, **SMALL) for seed in SMALL["seeds"]]
    for ours, peer in (("COPKMeans", "peer COPKMeans"), ("PCKMeans", "peer PCKMeans"), ("PCKMeans, penalty 1", None)):
        figures = [fit_apart("ours", ours, path) for path in paths]
        if peer is not None:
            theirs = [fit_apart("peers", peer, path) for path in paths]
            add_row(table, peer, theirs, "1")
        add_row(table, ours, figures, ratio_text(theirs, figures))
    return table


def beside_k_means(folder: Path) -> Any:
    """Compare with KMeans on a million rows, from the same centres and for as many iterations."""
    table = new_table(
        "1,000,000 x 16, 10 clusters, 250 links, 12 iterations from the same centres; asked: at most 3 times the time",
        "times slower",
    )
    path = make_data(folder, 0, **LARGE)
    plain = [fit_apart("ours", "KMeans", path)]
    add_row(table, "scikit-learn KMeans, lloyd", plain, "1")
    for ours in ("COPKMeans from centres", "PCKMeans from centres"):
        figures = [fit_apart("ours", ours, path)]
        add_row(table, ours, figures, ratio_text(figures, plain))
    return table


def compile_times(folder: Path) -> Any:
    """Time the first fit of a small table with an empty cache, as on a machine that has never seen mustlink."""
    from rich.table import Table

    table = Table(title="compiling, once per machine", title_justify="left")
    table.add_column("clusterer")
    table.add_column("first fit, s", justify="right")
    table.add_column("second fit, s", justify="right")
    path = make_data(folder, 9, **(SMALL | {"n_rows": 500, "n_pairs": 50}))
    for name in ("COPKMeans", "PCKMeans"):
        with tempfile.TemporaryDirectory() as cache:
            figures = fit_apart("ours", name, path, warm_up=False, NUMBA_CACHE_DIR=cache)
        table.add_row(name, f"{figures['seconds']:.1f}", f"{figures['again']:.4f}")
    return table


def new_table(title: str, ratio: str) -> Any:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("clusterer")
    for heading in ("seconds", ratio, "iterations", "ARI", "links broken", "MB above the data"):
        table.add_column(heading, justify="right")
    return table


def add_row(table: Any, name: str, figures: list[dict[str, Any]], ratio: str) -> None:
    """Add the means of several fits, or why one failed."""
    failed = [figure["failed"] for figure in figures if "failed" in figure]
    if failed:
        table.add_row(name, f"failed {len(failed)} of {len(figures)}: {failed[0][:60]}")
    done = [figure for figure in figures if "failed" not in figure]
    if done:
        mean = {key: float(np.mean([figure[key] for figure in done])) for key in done[0]}
        table.add_row(
            name,
            f"{mean['seconds']:.4f}",
            ratio,
            f"{mean['n_iter']:.0f}" if mean["n_iter"] > 0 else "?",
            f"{mean['ari']:.3f}",
            f"{mean['n_broken']:.1f}",
            f"{mean['megabytes']:.0f}",
        )


def ratio_text(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> str:
    """Return how many times as long the fits of the first list took, over the tables where both succeeded."""
    pairs = [
        (a["seconds"], b["seconds"]) for a, b in zip(one, other, strict=True) if "failed" not in a and "failed" not in b
    ]
    if not pairs:
        return "?"
    ratio = sum(a for a, _ in pairs) / sum(b for _, b in pairs)
    return f"{ratio:,.0f}" if ratio > 20 else f"{ratio:.2f}"


# ---- data, processes


def make_data(folder: Path, seed: int, *, n_rows: int, n_pairs: int, max_iter: int, spread: float, seeds: Any) -> Path:
    """Write a table of overlapping clusters, links drawn from the truth, and centres to start from."""
    from sklearn.datasets import make_blobs

    from mustlink import Constraints

    X, y = make_blobs(n_rows, N_FEATURES, centers=N_CLUSTERS, cluster_std=spread, center_box=(-6, 6), random_state=seed)
    links = Constraints.sample(y, n_pairs=n_pairs, random_state=seed)
    start = np.random.RandomState(seed).permutation(n_rows)[:N_CLUSTERS]
    path = folder / f"{n_rows}-{seed}"
    path.mkdir()
    np.save(path / "X.npy", X)
    np.savez(
        path / "rest.npz",
        y=y,
        must_link=links.must_link,
        cannot_link=links.cannot_link,
        init=X[start],
        max_iter=max_iter,
        seed=seed,
    )
    return path


def fit_apart(environment: str, name: str, path: Path, *, warm_up: bool = True, **variables: str) -> dict[str, Any]:
    """Fit in a process of its own and return its figures, or what went wrong."""
    arguments = (name, str(path), str(int(warm_up)))
    return run_apart(environment, "kmeans", *arguments, time_limit=TIME_LIMIT, variables=variables)


# ---- inside such a process: nothing of mustlink may be imported for a peer


def fit_one(name: str, path: Path, warm_up: bool) -> dict[str, float]:
    """Fit one clusterer and measure it."""
    X, rest = np.load(path / "X.npy"), dict(np.load(path / "rest.npz"))
    if name.startswith("peer"):
        # Nothing to compile, but importing is no part of fitting either.
        importlib.import_module(PEER_MODULE)
    elif warm_up:
        fit(name, *small_part(X, rest))
    before = forget_peak()
    start = time.perf_counter()
    labels, n_iter = fit(name, X, rest)
    seconds = time.perf_counter() - start
    megabytes = megabytes_now("VmHWM") - before
    again = time.perf_counter()
    if not warm_up:
        fit(name, X, rest)
    again = time.perf_counter() - again
    from sklearn.metrics import adjusted_rand_score

    must, cannot = labels[rest["must_link"]], labels[rest["cannot_link"]]
    return {
        "seconds": seconds,
        "again": again,
        "megabytes": megabytes,
        "n_iter": n_iter,
        "ari": float(adjusted_rand_score(rest["y"], labels)),
        "n_broken": int((must[:, 0] != must[:, 1]).sum() + (cannot[:, 0] == cannot[:, 1]).sum()),
    }


def fit(name: str, X: Any, rest: dict[str, Any]) -> tuple[Any, int]:
    """Fit the clusterer of that name; return the labels and the number of iterations, 0 if it does not tell."""
    max_iter, seed = int(rest["max_iter"]), int(rest["seed"])
    if name.startswith("peer"):
        np.random.seed(seed)  # noqa: NPY002  (the only generator that the peer knows)
        peer = getattr(importlib.import_module(PEER_MODULE), name.removeprefix("peer "))(
            n_clusters=N_CLUSTERS, max_iter=max_iter
        )
        peer.fit(X, ml=rest["must_link"].tolist(), cl=rest["cannot_link"].tolist())
        return peer.labels_, 0
    if name == "KMeans":
        from sklearn.cluster import KMeans

        model = KMeans(N_CLUSTERS, init=rest["init"], n_init=1, tol=0, max_iter=max_iter, algorithm="lloyd").fit(X)
        return model.labels_, model.n_iter_
    from mustlink import Constraints, kmeans

    parameters: dict[str, Any] = {"max_iter": max_iter, "tol": 0.0, "random_state": seed}
    if name.endswith("from centres"):
        parameters["init"] = rest["init"]
    if name.endswith("penalty 1"):
        parameters["penalty"] = 1.0
    model = getattr(kmeans, name.replace(",", "").split()[0])(N_CLUSTERS, **parameters)
    model.fit(X, constraints=Constraints(rest["must_link"], rest["cannot_link"]))
    return model.labels_, model.n_iter_


def small_part(X: Any, rest: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the rows that have links and a hundred more, so that every kernel is met."""
    linked = np.unique(np.concatenate([rest["must_link"], rest["cannot_link"]]))
    rows = np.union1d(linked, np.arange(100))
    pairs = {kind: np.searchsorted(rows, rest[kind]) for kind in ("must_link", "cannot_link")}
    return X[rows], rest | pairs


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit_one(sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "1")))
    else:
        main()
