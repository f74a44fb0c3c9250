"""LCVQE beside scikit-learn's KMeans on 100,000 rows with 5,000 links, and beside the peer on a table it can hold.

Every fit runs in a process of its own, on the same table and the same links. A fit of a small table first takes
compiling out of the figures.
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

from benchmarks._apart import ONE_THREAD, run_apart

TIME_LIMIT = 300
N_CLUSTERS, N_FEATURES = 10, 16


def main() -> None:
    from rich.console import Console

    console = Console(width=130)
    with tempfile.TemporaryDirectory() as folder:
        console.print(beside_k_means(Path(folder)))
        console.print(beside_the_peer(Path(folder)))


def beside_k_means(folder: Path) -> Any:
    """Compare with KMeans from the same centres and for as many iterations; then as a user would call them."""
    table = new_table("100,000 x 16, 10 clusters, 5,000 links, one in ten wrong; from the same centres, 12 iterations")
    path = make_data(folder, n_rows=100_000, n_pairs=5_000, max_iter=12)
    plain = fit_apart("ours", "KMeans", path)
    add_row(table, "scikit-learn KMeans, lloyd", plain, plain)
    for name in ("LCVQE", "LCVQE, penalty 1", "PCKMeans"):
        add_row(table, name, fit_apart("ours", name, path), plain)
    return table


def beside_the_peer(folder: Path) -> Any:
    """Compare with clustlib, whose links are an n x n matrix, on 500 rows."""
    table = new_table("500 x 16, 10 clusters, 250 links, none wrong; from the same centres, at most 100 iterations")
    path = make_data(folder, n_rows=500, n_pairs=250, max_iter=100, noise=0.0)
    ours = fit_apart("ours", "LCVQE", path)
    add_row(table, "LCVQE", ours, ours)
    add_row(table, "LCVQE, penalty 1", fit_apart("ours", "LCVQE, penalty 1", path), ours)
    add_row(table, "clustlib LCVQE", fit_apart("clustlib", "clustlib", path), ours)
    return table


def new_table(title: str) -> Any:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("clusterer")
    for heading in ("seconds", "times the first", "iterations", "ARI", "links broken"):
        table.add_column(heading, justify="right")
    return table


def add_row(table: Any, name: str, figures: dict[str, Any], first: dict[str, Any]) -> None:
    """Add the figures of a fit, or why it failed."""
    if "failed" in figures:
        table.add_row(name, f"failed: {figures['failed'][:70]}")
        return
    n_iter = f"{figures['n_iter']}" if figures["n_iter"] else "?"
    ratio = figures["seconds"] / first["seconds"]
    broken = f"{figures['broken']:.1%}"
    table.add_row(name, f"{figures['seconds']:.4f}", f"{ratio:,.2f}", n_iter, f"{figures['ari']:.3f}", broken)


def make_data(folder: Path, *, n_rows: int, n_pairs: int, max_iter: int, noise: float = 0.1) -> Path:
    """Write a table of overlapping clusters, links drawn from the truth, and centres to start from."""
    from sklearn.datasets import make_blobs

    from mustlink import Constraints

    X, y = make_blobs(n_rows, N_FEATURES, centers=N_CLUSTERS, cluster_std=4.0, center_box=(-6, 6), random_state=0)
    links = Constraints.sample(y, n_pairs=n_pairs, noise=noise, random_state=0)
    init = X[np.random.RandomState(0).permutation(n_rows)[:N_CLUSTERS]]
    path = folder / f"{n_rows}.npz"
    np.savez(path, X=X, y=y, must_link=links.must_link, cannot_link=links.cannot_link, init=init, max_iter=max_iter)
    return path


def fit_apart(environment: str, name: str, path: Path) -> dict[str, Any]:
    """Fit in a process of its own, on one thread, since the peer knows no other way; return what came of it."""
    return run_apart(environment, "lcvqe", name, str(path), time_limit=TIME_LIMIT, variables=ONE_THREAD)


# ---- inside such a process: nothing of mustlink may be imported for the peer


def fit_one(name: str, path: Path) -> dict[str, Any]:
    """Fit one clusterer and measure it: the least time of three."""
    data = dict(np.load(path))
    linked = np.unique(np.concatenate([data["must_link"], data["cannot_link"]]))
    small = data | {kind: np.searchsorted(linked, data[kind]) for kind in ("must_link", "cannot_link")}
    fit(name, small | {"X": data["X"][linked], "max_iter": np.array(2)})
    seconds = []
    for _ in range(1 if name == "clustlib" else 3):
        start = time.perf_counter()
        labels, n_iter = fit(name, data)
        seconds.append(time.perf_counter() - start)
    must, cannot = labels[data["must_link"]], labels[data["cannot_link"]]
    broken = np.concatenate([must[:, 0] != must[:, 1], cannot[:, 0] == cannot[:, 1]])
    from sklearn.metrics import adjusted_rand_score

    ari = float(adjusted_rand_score(data["y"], labels))
    return {"seconds": min(seconds), "n_iter": n_iter, "ari": ari, "broken": float(broken.mean())}


def fit(name: str, data: dict[str, Any]) -> tuple[Any, int]:
    """Fit the clusterer of that name; return the labels and the number of iterations, 0 if it does not tell."""
    X, init, max_iter = data["X"], data["init"], int(data["max_iter"])
    if name == "clustlib":
        matrix = np.eye(len(X))
        for kind, value in (("must_link", 1.0), ("cannot_link", -1.0)):
            a, b = data[kind].T
            matrix[a, b] = matrix[b, a] = value
        model = importlib.import_module("clustlib.fuzzy.lcvqe").LCVQE(
            constraints=matrix,
            n_clusters=N_CLUSTERS,
            init=init.copy(),
            max_iter=max_iter,
        )
        model.fit(X)
        # The labels it keeps are the start's; its result are the centres.
        return np.asarray(model.predict(X)), 0
    if name == "KMeans":
        from sklearn.cluster import KMeans

        plain = KMeans(N_CLUSTERS, init=init, n_init=1, tol=0, max_iter=max_iter, algorithm="lloyd").fit(X)
        return plain.labels_, plain.n_iter_
    from mustlink import LCVQE, Constraints, PCKMeans

    links = Constraints(data["must_link"], data["cannot_link"])
    parameters: dict[str, Any] = {"init": init, "max_iter": max_iter, "tol": 0.0}
    if name.endswith("penalty 1"):
        parameters["penalty"] = 1.0
    clusterer = PCKMeans if name == "PCKMeans" else LCVQE
    fitted = clusterer(N_CLUSTERS, **parameters).fit(X, constraints=links)
    return fitted.labels_, fitted.n_iter_


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit_one(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
