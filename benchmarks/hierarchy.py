"""ConstrainedLinkage beside scipy's linkage and the peer, and the update time of SeededSingleLink.

Every time is the minimum of a few fits in this process, after a small fit that excludes compilation; the peer runs in
its own environment.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import run_apart

TIME_LIMIT = 600

LINKAGES = ("single", "complete", "average", "ward")
N_ROWS, N_FEATURES, N_CLUSTERS, N_PAIRS = 5_000, 8, 10, 500
PEER_ROWS, PEER_PAIRS = 1_000, 100
TREE_TABLES = ((100_000, 2), (100_000, 4), (100_000, 8))
N_ANSWERS = (1, 100, 1_000)
N_REPEATS = 3


def main() -> None:
    from rich.console import Console

    console = Console(width=130)
    console.print(beside_scipy())
    console.print(beside_peer())
    console.print(answers())


def beside_scipy() -> Any:
    """Compare with scipy's linkage, which knows of no links: at most twice its time."""
    from scipy.cluster.hierarchy import linkage

    from mustlink import ConstrainedLinkage

    table = new_table(
        f"{N_ROWS:,} x {N_FEATURES}, {N_PAIRS} links; target: at most twice the time of scipy",
        ("linkage", "scipy, s", "no links, s", "ratio", "links, s", "ratio", "clusters", "violations"),
    )
    X, _, links = make_data(N_ROWS, N_PAIRS)
    for method in LINKAGES:
        ConstrainedLinkage(3, linkage=method).fit(X[:200])
        plain, _ = shortest(lambda method=method: linkage(X, method))
        free, _ = shortest(lambda method=method: ConstrainedLinkage(N_CLUSTERS, linkage=method).fit(X))
        bound, model = shortest(
            lambda method=method: ConstrainedLinkage(N_CLUSTERS, linkage=method).fit(X, constraints=links)
        )
        figures = (f"{plain:.2f}", f"{free:.2f}", f"{free / plain:.2f}", f"{bound:.2f}", f"{bound / plain:.2f}")
        table.add_row(method, *figures, str(model.n_clusters_), str(len(model.violations_)))
    return table


def beside_peer() -> Any:
    """Compare with the package constrained-linkage, in which links are penalties."""
    from mustlink import ConstrainedLinkage
    from mustlink.metrics import adjusted_rand

    table = new_table(
        f"{PEER_ROWS:,} x {N_FEATURES}, {PEER_PAIRS} links, cut at {N_CLUSTERS} clusters",
        ("linkage", "peer, s", "ours, s", "times faster", "peer broke", "we broke", "peer ARI", "our ARI"),
    )
    X, y, links = make_data(PEER_ROWS, PEER_PAIRS)
    for method in LINKAGES:
        bound, model = shortest(
            lambda method=method: ConstrainedLinkage(N_CLUSTERS, linkage=method).fit(X, constraints=links)
        )
        ours, our_ari = str(len(model.violations_)), f"{adjusted_rand(y, model.labels_):.3f}"
        theirs = fit_peer(X, links, method)
        if "failed" in theirs:
            table.add_row(method, theirs["failed"][:60], f"{bound:.3f}", "?", "?", ours, "?", our_ari)
            continue
        labels = np.array(theirs["labels"])
        violated, ari = str(len(links.violations(labels))), f"{adjusted_rand(y, labels):.3f}"
        ratio = f"{theirs['seconds'] / bound:,.0f}"
        table.add_row(method, f"{theirs['seconds']:.2f}", f"{bound:.3f}", ratio, violated, ours, ari, our_ari)
    return table


def answers() -> Any:
    """Time the spanning tree, and each re-labeling: under 100 ms for 100,000 rows."""
    from mustlink import Constraints, SeededSingleLink

    table = new_table(
        "SeededSingleLink, 10 clusters; target: an update in less than 100 ms",
        ("table", "tree, s", *(f"{n:,} links, ms" for n in N_ANSWERS), *(f"{n:,} labels, ms" for n in N_ANSWERS)),
    )
    for n_rows, n_features in TREE_TABLES:
        X, y, _ = make_data(n_rows, 1, n_features)
        SeededSingleLink(N_CLUSTERS).fit(X[:200], np.where(np.arange(200) < 20, y[:200], -1))
        begin = time.perf_counter()
        model = SeededSingleLink(N_CLUSTERS).fit(X)
        cells = [f"{time.perf_counter() - begin:.1f}"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for n in N_ANSWERS:
                links = Constraints.sample(y, n_pairs=n, random_state=0)
                seconds, _ = shortest(lambda links=links, model=model: model.update(constraints=links))
                cells.append(f"{1000 * seconds:.0f}")
            for n in N_ANSWERS:
                seeds = np.where(np.random.default_rng(n).permutation(n_rows) < n, y, -1)
                seconds, _ = shortest(lambda seeds=seeds, model=model: model.update(seeds=seeds))
                cells.append(f"{1000 * seconds:.0f}")
        table.add_row(f"{n_rows:,} x {n_features}", *cells)
    return table


def new_table(title: str, heads: tuple[str, ...]) -> Any:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left")
    return table


def make_data(n_rows: int, n_pairs: int, n_features: int = N_FEATURES) -> tuple[Any, Any, Any]:
    """Make a table of overlapping clusters, and links drawn from the truth."""
    from sklearn.datasets import make_blobs

    from mustlink import Constraints

    X, y = make_blobs(n_rows, n_features, centers=N_CLUSTERS, cluster_std=2.0, center_box=(-6, 6), random_state=0)
    return X, y, Constraints.sample(y, n_pairs=n_pairs, random_state=0)


def shortest(work: Callable[[], Any]) -> tuple[float, Any]:
    """Do some work a few times; return the shortest time, since a busy machine only ever adds to it."""
    seconds = np.inf
    for _ in range(N_REPEATS):
        begin = time.perf_counter()
        result = work()
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, result


def fit_peer(X: Any, links: Any, method: str) -> dict[str, Any]:
    """Run the peer in its own environment; return its time and labels, or why it failed."""
    from scipy.cluster.hierarchy import fcluster

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.npz"
        np.savez(path, X=X, must=links.must_link, cannot=links.cannot_link)
        figures = run_apart("peers", "hierarchy", str(path), method, time_limit=TIME_LIMIT)
        if "failed" in figures:
            return figures
        matrix = np.load(Path(folder) / "linkage.npy")
    return figures | {"labels": fcluster(matrix, N_CLUSTERS, "maxclust").tolist()}


def run_peer(path: Path, method: str) -> None:
    """Time the peer on a case; this part runs where only numpy and the peer are installed."""
    from constrained_linkage import constrained_linkage

    case = np.load(path)
    X = case["X"]
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    penalty = np.zeros_like(distances)
    # Larger than any distance, for the maximum effect of links.
    for pairs, sign in ((case["must"], -1.0), (case["cannot"], 1.0)):
        a, b = pairs.T
        penalty[a, b] = penalty[b, a] = sign * 2 * distances.max()
    begin = time.perf_counter()
    matrix = constrained_linkage(distances, method=method, constraint_matrix=penalty)
    seconds = time.perf_counter() - begin
    np.save(path.parent / "linkage.npy", matrix)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run_peer(Path(sys.argv[1]), sys.argv[2])
    else:
        main()
