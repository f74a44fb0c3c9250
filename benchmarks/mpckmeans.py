"""MPCKMeans beside the peer for the same task on digits, and beside scikit-learn's KMeans on 100,000 rows.

The peer (active-semi-supervised-clustering, one diagonal metric) is run once, in its own environment, on the same
pairs; it takes a minute or two. KMeans and ours run one after the other in this process, on one thread unless
OMP_NUM_THREADS says otherwise, with a fit before the clock starts so that compiling stays out of the figures.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks._apart import run_apart

TIME_LIMIT = 600
N_CLUSTERS, N_ROWS, N_FEATURES, N_PAIRS, N_ITER = 10, 100_000, 16, 5_000, 12
VARIANTS: dict[str, dict[str, Any]] = {
    "one diagonal metric (default)": {},
    "a diagonal metric for each cluster": {"shared_metric": False},
    "one full metric": {"metric": "full"},
    "a full metric for each cluster": {"metric": "full", "shared_metric": False},
}


def main() -> None:
    from rich.console import Console

    console = Console(width=130)
    console.print(beside_peer())
    console.print(beside_k_means())


def beside_peer() -> Any:
    """Compare with the peer on digits and 200 pairs."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import adjusted_rand_score

    from mustlink import Constraints, MPCKMeans

    X, y = load_digits(return_X_y=True)
    links = Constraints.sample(y, n_pairs=200, random_state=0)
    table = new_table("digits, 200 pairs; asked: 200 times faster, ARI no worse", "times faster", "ARI")
    peer = fit_peer(X, links)
    if "failed" in peer:
        table.add_row("peer", peer["failed"][:60])
    else:
        peer_ari = adjusted_rand_score(y, peer["labels"])
        table.add_row("peer, one run", f"{peer['seconds']:.1f}", "1", f"{peer_ari:.3f}", "?")
    for name, settings in VARIANTS.items():

        def fit(seed: int, settings: dict[str, Any] = settings) -> Any:
            return MPCKMeans(N_CLUSTERS, random_state=seed, **settings).fit(X, constraints=links)

        fit(9)
        timed = [clock(lambda seed=seed: fit(seed)) for seed in range(5)]
        seconds = float(np.mean([took for took, _ in timed]))
        ari = float(np.mean([adjusted_rand_score(y, model.labels_) for _, model in timed]))
        ratio = f"{peer['seconds'] / seconds:,.0f}" if "seconds" in peer else "?"
        n_iter = float(np.mean([model.n_iter_ for _, model in timed]))
        table.add_row(f"MPCKMeans, {name}, mean of 5 seeds", f"{seconds:.3f}", ratio, f"{ari:.3f}", f"{n_iter:.0f}")
    return table


def beside_k_means() -> Any:
    """Compare with KMeans: as many iterations from the same centres, then as both come, to the end."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs

    from mustlink import Constraints, MPCKMeans

    X, y = make_blobs(N_ROWS, N_FEATURES, centers=N_CLUSTERS, cluster_std=4.0, center_box=(-6, 6), random_state=0)
    links = Constraints.sample(y, n_pairs=N_PAIRS, random_state=0)
    init = X[np.random.RandomState(0).permutation(N_ROWS)[:N_CLUSTERS]]
    same = {"init": init, "n_init": 1, "max_iter": N_ITER, "tol": 0.0}
    table = new_table(
        f"100,000 x 16, 10 clusters, 5,000 pairs; {N_ITER} iterations from the same centres, one start each; "
        "asked: at most 10 times the time",
        "times KMeans",
        "seconds of one iteration",
    )
    plain, model = best_of(lambda: KMeans(N_CLUSTERS, **same).fit(X))
    table.add_row("KMeans", f"{plain:.3f}", "1", f"{plain / model.n_iter_:.4f}", str(model.n_iter_))
    for name, settings in VARIANTS.items():

        def fit(settings: dict[str, Any] = settings) -> Any:
            # One first metric, so that there is one run.
            return MPCKMeans(N_CLUSTERS, init_metric="variance", **same, **settings).fit(X, constraints=links)

        seconds, model = best_of(fit)
        add_ratio(table, f"MPCKMeans, {name}", seconds, plain, model.n_iter_)
    plain, model = best_of(lambda: KMeans(N_CLUSTERS, random_state=0).fit(X))
    table.add_row(
        "KMeans, defaults, to the end", f"{plain:.3f}", "1", f"{plain / model.n_iter_:.4f}", str(model.n_iter_)
    )
    seconds, model = best_of(lambda: MPCKMeans(N_CLUSTERS, random_state=0).fit(X, constraints=links))
    add_ratio(table, "MPCKMeans, defaults, two runs to the end", seconds, plain, model.n_iter_)
    return table


def add_ratio(table: Any, name: str, seconds: float, plain: float, n_iter: int) -> None:
    table.add_row(name, f"{seconds:.3f}", f"{seconds / plain:.1f}", f"{seconds / n_iter:.4f}", str(n_iter))


def new_table(title: str, ratio: str, figure: str) -> Any:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("clusterer")
    for heading in ("seconds", ratio, figure, "iterations"):
        table.add_column(heading, justify="right")
    return table


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long some work takes, and what comes of it."""
    start = time.perf_counter()
    outcome = work()
    return time.perf_counter() - start, outcome


def best_of(work: Callable[[], Any], n_times: int = 3) -> tuple[float, Any]:
    """Return the shortest of some times, after one run that is not counted."""
    work()
    timed = [clock(work) for _ in range(n_times)]
    return min(took for took, _ in timed), timed[0][1]


def fit_peer(X: Any, links: Any) -> dict[str, Any]:
    """Run the peer in its own environment; return its time and labels, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.npz"
        np.savez(path, X=X, must_link=links.must_link, cannot_link=links.cannot_link)
        return run_apart("peers", "mpckmeans", str(path), time_limit=TIME_LIMIT)


def run_peer(path: str) -> dict[str, Any]:
    """Fit the peer; runs where mustlink is not installed."""
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans as Peer

    data = np.load(path)
    np.random.seed(0)  # noqa: NPY002  (the only generator that the peer knows)
    peer = Peer(n_clusters=N_CLUSTERS)
    seconds, _ = clock(lambda: peer.fit(data["X"], ml=data["must_link"].tolist(), cl=data["cannot_link"].tolist()))
    return {"seconds": seconds, "labels": [int(label) for label in peer.labels_]}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run_peer(sys.argv[1])))
    else:
        main()
