"""KernelKMeans beside the cost of its kernel matrix, beside tslearn's without links, and by features on 100,000 rows.

The work that cannot be avoided is the kernel matrix, or the features: each is timed alone in the same process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import ONE_THREAD, run_apart
from benchmarks._measure import measure, run_main
from benchmarks._problems import overlapping_blobs, save_problem
from benchmarks._show import new_table, show

TIME_LIMIT = 300
N_CLUSTERS, GAMMA = 10, 1 / 400


def main() -> None:
    headings = ("what", "rows", "seconds", "times the kernel", "passes", "ARI", "MB above the data")
    table = new_table("16 columns, 10 clusters, one thread; links one for 20 rows", *headings)
    for n_rows, names in (
        (2_000, ("kernel matrix", "KernelKMeans, no links, 1 run", "tslearn KernelKMeans, 1 run", "KernelKMeans")),
        (8_000, ("kernel matrix", "KernelKMeans", "KernelKMeans, passes only")),
        (100_000, ("features", "KernelKMeans")),
    ):
        add_rows(table, n_rows, names)
    show(table)


def add_rows(table: Any, n_rows: int, names: tuple[str, ...]) -> None:
    """Measure some fits of one table, the first of which is what the others cannot avoid."""
    with tempfile.TemporaryDirectory() as folder:
        X, y, links = overlapping_blobs(n_rows, n_rows // 20)
        path = save_problem(Path(folder) / "data.npz", X, links, y=y)
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


def measure_apart(name: str, path: Path) -> dict[str, Any]:
    """Measure in a process of its own, on one thread; return the figures, or what went wrong."""
    environment = "tslearn" if name.startswith("tslearn") else "ours"
    return run_apart(environment, "kernelkmeans", name, str(path), time_limit=TIME_LIMIT, variables=ONE_THREAD)


# ---- inside such a process: nothing of mustlink may be imported for the peer


def measure_one(name: str, path: str) -> dict[str, Any]:
    """Do one thing on a few rows first, to leave compiling out, then on all and measure it."""
    data = dict(np.load(path))
    few = {"X": data["X"][:300], "must_link": np.array([[0, 1], [1, 2]]), "cannot_link": np.array([[3, 4], [5, 6]])}
    # The few rows that come first must meet the code that the many will meet.
    approximation = "exact" if len(data["X"]) <= 8_000 else "nystroem"
    task(name, few, approximation)()
    seconds, megabytes, (labels, n_iter) = measure(task(name, data, approximation))
    ari = None
    if labels is not None:
        from sklearn.metrics import adjusted_rand_score

        ari = float(adjusted_rand_score(data["y"], labels))
    return {"seconds": seconds, "n_iter": n_iter, "ari": ari, "megabytes": megabytes}


def task(name: str, data: dict[str, Any], approximation: str) -> Callable[[], tuple[Any, int]]:
    """Return a piece of work that gives labels, or None, and the number of passes, 0 if they are not counted."""
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
    run_main(main, measure_one)
