"""KernelKMeans beside the cost of its kernel matrix, beside tslearn's without links, and by features on 100,000 rows.

The work that cannot be avoided is the kernel matrix, or the features: each is timed alone in the same process.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import ONE_THREAD, run_apart

TIME_LIMIT = 300
N_CLUSTERS, N_FEATURES, GAMMA = 10, 16, 1 / 400


def main() -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=130)
    table = Table(title="16 columns, 10 clusters, one thread; links one for 20 rows", title_justify="left")
    table.add_column("what")
    for heading in ("rows", "seconds", "times the kernel", "passes", "ARI", "MB above the data"):
        table.add_column(heading, justify="right")
    for n_rows, names in (
        (2_000, ("kernel matrix", "KernelKMeans, no links, 1 run", "tslearn KernelKMeans, 1 run", "KernelKMeans")),
        (8_000, ("kernel matrix", "KernelKMeans", "KernelKMeans, passes only")),
        (100_000, ("features", "KernelKMeans")),
    ):
        add_rows(table, n_rows, names)
    console.print(table)


def add_rows(table: Any, n_rows: int, names: tuple[str, ...]) -> None:
    """Measure some fits of one table, the first of which is what the others cannot avoid."""
    with tempfile.TemporaryDirectory() as folder:
        path = make_data(Path(folder), n_rows)
        unit = None
        for name in names:
            figures = measure_apart(name, path)
            if "failed" in figures:
                table.add_row(name, f"{n_rows:,}", f"failed: {figures['failed'][:60]}")
                continue
            unit = unit or figures["seconds"]
            table.add_row(
                name,
                f"{n_rows:,}",
                f"{figures['seconds']:.3f}",
                f"{figures['seconds'] / unit:.2f}",
                f"{figures['n_iter']}" if figures["n_iter"] else "",
                f"{figures['ari']:.3f}" if figures["ari"] is not None else "",
                f"{figures['megabytes']:.0f}",
            )


def make_data(folder: Path, n_rows: int) -> Path:
    """Write a table of overlapping clusters and links drawn from the truth."""
    from sklearn.datasets import make_blobs

    from mustlink import Constraints

    X, y = make_blobs(n_rows, N_FEATURES, centers=N_CLUSTERS, cluster_std=4.0, center_box=(-6, 6), random_state=0)
    links = Constraints.sample(y, n_pairs=n_rows // 20, random_state=0)
    path = folder / "data.npz"
    np.savez(path, X=X, y=y, must_link=links.must_link, cannot_link=links.cannot_link)
    return path


def measure_apart(name: str, path: Path) -> dict[str, Any]:
    """Measure in a process of its own, on one thread; return the figures, or what went wrong."""
    environment = "tslearn" if name.startswith("tslearn") else "ours"
    return run_apart(environment, "kernelkmeans", name, str(path), time_limit=TIME_LIMIT, variables=ONE_THREAD)


# ---- inside such a process: nothing of mustlink may be imported for the peer


def measure(name: str, path: Path) -> dict[str, Any]:
    """Do one thing on a few rows first, to leave compiling out, then on all and measure it."""
    from benchmarks._memory import forget_peak, megabytes_now

    data = dict(np.load(path))
    few = {"X": data["X"][:300], "must_link": np.array([[0, 1], [1, 2]]), "cannot_link": np.array([[3, 4], [5, 6]])}
    # The few rows that come first must meet the code that the many will meet.
    approximation = "exact" if len(data["X"]) <= 8_000 else "nystroem"
    task(name, few, approximation)()
    work = task(name, data, approximation)
    before = forget_peak()
    start = time.perf_counter()
    labels, n_iter = work()
    seconds = time.perf_counter() - start
    megabytes = megabytes_now("VmHWM") - before
    ari = None
    if labels is not None:
        from sklearn.metrics import adjusted_rand_score

        ari = float(adjusted_rand_score(data["y"], labels))
    return {"seconds": seconds, "n_iter": n_iter, "ari": ari, "megabytes": megabytes}


def task(name: str, data: dict[str, Any], approximation: str) -> Callable[[], tuple[Any, int]]:
    """Return a piece of work that gives labels, or None, and the number of passes, 0 if it does not tell."""
    X = data["X"]
    if name.startswith("tslearn"):
        from tslearn.clustering import KernelKMeans as Peer

        peer = Peer(N_CLUSTERS, kernel="rbf", kernel_params={"gamma": GAMMA}, max_iter=300, random_state=0)
        return lambda: (peer.fit(X[:, :, None]).labels_, peer.n_iter_)
    from sklearn.kernel_approximation import Nystroem
    from sklearn.metrics.pairwise import rbf_kernel

    from mustlink import Constraints, KernelKMeans

    if name == "kernel matrix":
        return lambda: (_nothing(rbf_kernel(X, gamma=GAMMA)), 0)
    if name == "features":
        return lambda: (_nothing(Nystroem(gamma=GAMMA, n_components=300, random_state=0).fit_transform(X)), 0)
    links = None if "no links" in name else Constraints(data["must_link"], data["cannot_link"])
    model = KernelKMeans(
        N_CLUSTERS,
        gamma=GAMMA,
        n_init=1 if "1 run" in name else "auto",
        local_search="passes only" not in name,
        approximation=approximation,
        random_state=0,
    )
    return lambda: (model.fit(X, constraints=links).labels_, model.n_iter_)


def _nothing(made: Any) -> None:
    """Let go of what was made."""


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
