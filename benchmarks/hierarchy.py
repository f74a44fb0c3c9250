"""ConstrainedLinkage beside scipy's linkage and the peer, and the update time of SeededSingleLink.

Every time is the minimum of a few fits in this process, after a small fit that excludes compilation; the peer runs in
its own environment.
"""

from __future__ import annotations

import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import run_apart
from benchmarks._measure import clock, run_main, shortest
from benchmarks._problems import overlapping_blobs, save_problem
from benchmarks._show import new_table, show

TIME_LIMIT = 600

LINKAGES = ("single", "complete", "average", "ward")
N_ROWS, N_FEATURES, N_CLUSTERS, N_PAIRS = 5_000, 8, 10, 500
PEER_ROWS, PEER_PAIRS = 1_000, 100
TREE_TABLES = ((100_000, 2), (100_000, 4), (100_000, 8))
N_ANSWERS = (1, 100, 1_000)


def main() -> None:
    for compare in (beside_scipy, beside_peer, answers):
        show(compare())


def beside_scipy() -> Any:
    """Compare with scipy's linkage, which knows of no links: at most twice its time."""
    from scipy.cluster.hierarchy import linkage

    from mustlink import ConstrainedLinkage

    table = new_table(
        f"{N_ROWS:,} x {N_FEATURES}, {N_PAIRS} links; target: at most twice the time of scipy",
        *("linkage", "scipy, s", "no links, s", "ratio", "links, s", "ratio", "clusters", "violations"),
    )
    X, _, links = overlapping_blobs(N_ROWS, N_PAIRS, n_features=N_FEATURES, spread=2.0)
    for method in LINKAGES:
        ConstrainedLinkage(3, linkage=method).fit(X[:200])
        model = ConstrainedLinkage(N_CLUSTERS, linkage=method)
        plain, _ = shortest(partial(linkage, X, method))
        free, _ = shortest(partial(model.fit, X))
        bound, _ = shortest(partial(model.fit, X, constraints=links))
        figures = (f"{plain:.2f}", f"{free:.2f}", f"{free / plain:.2f}", f"{bound:.2f}", f"{bound / plain:.2f}")
        table.add_row(method, *figures, str(model.n_clusters_), str(len(model.violations_)))
    return table


def beside_peer() -> Any:
    """Compare with the package constrained-linkage, in which links are penalties."""
    from mustlink import ConstrainedLinkage
    from mustlink.metrics import adjusted_rand

    table = new_table(
        f"{PEER_ROWS:,} x {N_FEATURES}, {PEER_PAIRS} links, cut at {N_CLUSTERS} clusters",
        *("linkage", "peer, s", "ours, s", "times faster", "peer broke", "we broke", "peer ARI", "our ARI"),
    )
    X, y, links = overlapping_blobs(PEER_ROWS, PEER_PAIRS, n_features=N_FEATURES, spread=2.0)
    for method in LINKAGES:
        bound, model = shortest(partial(ConstrainedLinkage(N_CLUSTERS, linkage=method).fit, X, constraints=links))
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
        "table",
        "tree, s",
        *(f"{n:,} {what}, ms" for what in ("links", "labels") for n in N_ANSWERS),
    )
    for n_rows, n_features in TREE_TABLES:
        X, y, _ = overlapping_blobs(n_rows, 1, n_features=n_features, spread=2.0)
        SeededSingleLink(N_CLUSTERS).fit(X[:200], np.where(np.arange(200) < 20, y[:200], -1))
        seconds, model = clock(partial(SeededSingleLink(N_CLUSTERS).fit, X))
        cells = [f"{seconds:.1f}"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for n in N_ANSWERS:
                links = Constraints.sample(y, n_pairs=n, random_state=0)
                seconds, _ = shortest(partial(model.update, constraints=links))
                cells.append(f"{1000 * seconds:.0f}")
            for n in N_ANSWERS:
                seeds = np.where(np.random.default_rng(n).permutation(n_rows) < n, y, -1)
                seconds, _ = shortest(partial(model.update, seeds=seeds))
                cells.append(f"{1000 * seconds:.0f}")
        table.add_row(f"{n_rows:,} x {n_features}", *cells)
    return table


def fit_peer(X: Any, links: Any, method: str) -> dict[str, Any]:
    """Run the peer in its own environment; return its time and labels, or why it failed."""
    from scipy.cluster.hierarchy import fcluster

    with tempfile.TemporaryDirectory() as folder:
        path = save_problem(Path(folder) / "case.npz", X, links)
        figures = run_apart("peers", "hierarchy", str(path), method, time_limit=TIME_LIMIT)
        if "failed" in figures:
            return figures
        matrix = np.load(Path(folder) / "linkage.npy")
    return figures | {"labels": fcluster(matrix, N_CLUSTERS, "maxclust").tolist()}


def run_peer(path: str, method: str) -> dict[str, Any]:
    """Time the peer on a case; this part runs where only numpy and the peer are installed."""
    from constrained_linkage import constrained_linkage

    case = np.load(path)
    X = case["X"]
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    penalty = np.zeros_like(distances)
    # Larger than any distance, for the maximum effect of links.
    for pairs, sign in ((case["must_link"], -1.0), (case["cannot_link"], 1.0)):
        a, b = pairs.T
        penalty[a, b] = penalty[b, a] = sign * 2 * distances.max()
    seconds, matrix = clock(lambda: constrained_linkage(distances, method=method, constraint_matrix=penalty))
    np.save(Path(path).with_name("linkage.npy"), matrix)
    return {"seconds": seconds}


if __name__ == "__main__":
    run_main(main, run_peer)
