"""LCVQE beside scikit-learn's KMeans on 100,000 rows with 5,000 links, and beside the peer on a table it can hold.

Every fit runs in a process of its own, on the same table and the same links. A fit of a small table first takes
compiling out of the figures.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import ONE_THREAD, run_apart
from benchmarks._measure import run_main, shortest
from benchmarks._problems import is_broken, linked_rows, overlapping_blobs, save_problem, starting_centers
from benchmarks._show import new_table, show

TIME_LIMIT = 300
N_CLUSTERS = 10
HEADINGS = ("clusterer", "seconds", "times the first", "iterations", "ARI", "links broken")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        show(beside_k_means(Path(folder)))
        show(beside_the_peer(Path(folder)))


def beside_k_means(folder: Path) -> Any:
    """Compare with KMeans from the same centers and for as many iterations; then as a user would call them."""
    title = "100,000 x 16, 10 clusters, 5,000 links, one in ten wrong; from the same centers, 12 iterations"
    table = new_table(title, *HEADINGS)
    path = make_data(folder, n_rows=100_000, n_pairs=5_000, max_iter=12)
    plain = fit_apart("ours", "KMeans", path)
    add_row(table, "scikit-learn KMeans, lloyd", plain, plain)
    for name in ("LCVQE", "LCVQE, penalty 1", "PCKMeans"):
        add_row(table, name, fit_apart("ours", name, path), plain)
    return table


def beside_the_peer(folder: Path) -> Any:
    """Compare with clustlib, whose links are an n x n matrix, on 500 rows."""
    title = "500 x 16, 10 clusters, 250 links, none wrong; from the same centers, at most 100 iterations"
    table = new_table(title, *HEADINGS)
    path = make_data(folder, n_rows=500, n_pairs=250, max_iter=100, noise=0.0)
    ours = fit_apart("ours", "LCVQE", path)
    add_row(table, "LCVQE", ours, ours)
    add_row(table, "LCVQE, penalty 1", fit_apart("ours", "LCVQE, penalty 1", path), ours)
    add_row(table, "clustlib LCVQE", fit_apart("clustlib", "clustlib", path), ours)
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
    """Write a table of overlapping clusters, links drawn from the truth, and centers to start from."""
    X, y, links = overlapping_blobs(n_rows, n_pairs, noise=noise)
    return save_problem(folder / f"{n_rows}.npz", X, links, y=y, init=starting_centers(X), max_iter=max_iter)


def fit_apart(environment: str, name: str, path: Path) -> dict[str, Any]:
    """Fit in a process of its own, on one thread, since the peer knows no other way; return what came of it."""
    return run_apart(environment, "lcvqe", name, str(path), time_limit=TIME_LIMIT, variables=ONE_THREAD)


# ---- inside such a process: nothing of mustlink may be imported for the peer


def fit_one(name: str, path: str) -> dict[str, Any]:
    """Fit one clusterer and measure it: the least time of three."""
    from sklearn.metrics import adjusted_rand_score

    data = dict(np.load(path))
    fit(name, linked_rows(data) | {"max_iter": np.array(2)})
    seconds, (labels, n_iter) = shortest(lambda: fit(name, data), 1 if name == "clustlib" else 3)
    ari, broken = float(adjusted_rand_score(data["y"], labels)), float(is_broken(data, labels).mean())
    return {"seconds": seconds, "n_iter": n_iter, "ari": ari, "broken": broken}


def fit(name: str, data: dict[str, Any]) -> tuple[Any, int]:
    """Fit the clusterer of that name; return the labels and the number of iterations, 0 if it is not known."""
    X, init, max_iter = data["X"], data["init"], int(data["max_iter"])
    if name == "clustlib":
        matrix = np.eye(len(X))
        for kind, value in (("must_link", 1.0), ("cannot_link", -1.0)):
            a, b = data[kind].T
            matrix[a, b] = matrix[b, a] = value
        model = importlib.import_module("clustlib.fuzzy.lcvqe").LCVQE(
            constraints=matrix, n_clusters=N_CLUSTERS, init=init.copy(), max_iter=max_iter
        )
        model.fit(X)
        # The labels it keeps are the start's; its result are the centers.
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
    run_main(main, fit_one)
