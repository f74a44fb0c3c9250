"""MPCKMeans beside the peer for the same task on digits, and beside scikit-learn's KMeans on 100,000 rows.

The peer (active-semi-supervised-clustering, one diagonal metric) is run once, in its own environment, on the same
pairs; it takes a minute or two. KMeans and ours run one after the other in this process, on one thread unless
OMP_NUM_THREADS says otherwise, with a fit before the clock starts so that compiling stays out of the figures.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks._apart import run_apart
from benchmarks._measure import clock, run_main, shortest
from benchmarks._problems import overlapping_blobs, save_problem, starting_centers
from benchmarks._show import new_table, show

TIME_LIMIT = 600
N_CLUSTERS, N_ROWS, N_PAIRS, N_ITER = 10, 100_000, 5_000, 12
VARIANTS: dict[str, dict[str, Any]] = {
    "one diagonal metric (default)": {},
    "a diagonal metric for each cluster": {"shared_metric": False},
    "one full metric": {"metric": "full"},
    "a full metric for each cluster": {"metric": "full", "shared_metric": False},
}


def main() -> None:
    show(beside_peer())
    show(beside_k_means())


def beside_peer() -> Any:
    """Compare with the peer on digits and 200 pairs."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import adjusted_rand_score

    from mustlink import Constraints, MPCKMeans

    X, y = load_digits(return_X_y=True)
    links = Constraints.sample(y, n_pairs=200, random_state=0)
    title = "digits, 200 pairs; asked: 200 times faster, ARI no worse"
    table = new_table(title, "clusterer", "seconds", "times faster", "ARI", "iterations")
    with tempfile.TemporaryDirectory() as folder:
        path = save_problem(Path(folder) / "digits.npz", X, links)
        peer = run_apart("peers", "mpckmeans", str(path), time_limit=TIME_LIMIT)
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
    """Compare with KMeans: as many iterations from the same centers, then as both come, to the end."""
    from sklearn.cluster import KMeans

    from mustlink import MPCKMeans

    X, _, links = overlapping_blobs(N_ROWS, N_PAIRS)
    same = {"init": starting_centers(X), "n_init": 1, "max_iter": N_ITER, "tol": 0.0}
    title = (
        f"100,000 x 16, 10 clusters, 5,000 pairs; {N_ITER} iterations from the same centers, one start each; "
        "asked: at most 10 times the time"
    )
    table = new_table(title, "clusterer", "seconds", "times KMeans", "seconds of one iteration", "iterations")

    def add_row(name: str, work: Callable[[], Any], plain: float | None = None) -> float:
        work()  # takes compiling out of the figures
        seconds, model = shortest(work)
        ratio = "1" if plain is None else f"{seconds / plain:.1f}"
        table.add_row(name, f"{seconds:.3f}", ratio, f"{seconds / model.n_iter_:.4f}", str(model.n_iter_))
        return seconds

    plain = add_row("KMeans", lambda: KMeans(N_CLUSTERS, **same).fit(X))
    for name, settings in VARIANTS.items():

        def fit(settings: dict[str, Any] = settings) -> Any:
            # One first metric, so that there is one run.
            return MPCKMeans(N_CLUSTERS, init_metric="variance", **same, **settings).fit(X, constraints=links)

        add_row(f"MPCKMeans, {name}", fit, plain)
    plain = add_row("KMeans, defaults, to the end", lambda: KMeans(N_CLUSTERS, random_state=0).fit(X))
    ours = MPCKMeans(N_CLUSTERS, random_state=0)
    add_row("MPCKMeans, defaults, two runs to the end", lambda: ours.fit(X, constraints=links), plain)
    return table


def run_peer(path: str) -> dict[str, Any]:
    """Fit the peer; runs where mustlink is not installed."""
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans as Peer

    data = np.load(path)
    np.random.seed(0)  # noqa: NPY002  (the only generator that the peer knows)
    peer = Peer(n_clusters=N_CLUSTERS)
    seconds, _ = clock(lambda: peer.fit(data["X"], ml=data["must_link"].tolist(), cl=data["cannot_link"].tolist()))
    return {"seconds": seconds, "labels": [int(label) for label in peer.labels_]}


if __name__ == "__main__":
    run_main(main, run_peer)
