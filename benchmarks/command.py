"""A whole job, from a CSV file to the file of clusters, beside reading by pandas and the bare fit, in one run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints, PCKMeans
from mustlink.workflow import Job, run_job

N_ROWS, N_COLUMNS = 300_000, 20
N_CLUSTERS = 5
N_LINKS = 2_000
N_ROUNDS = 3
MAX_RATIO = 3.0


def write_files(table: Path, links: Path) -> None:
    X, y = make_blobs(N_ROWS, N_COLUMNS, centers=N_CLUSTERS, cluster_std=16.0, random_state=0)
    pd.DataFrame(X.round(4), columns=[f"x{place}" for place in range(N_COLUMNS)]).to_csv(table, index=False)
    Constraints.sample(y, N_LINKS, random_state=0).write(links)


def fit_only(table: Path, links: Path) -> None:
    """Do what cannot be avoided: read both files by pandas, standardize, and fit."""
    frame = pd.read_csv(table)
    known = Constraints.from_frame(pd.read_csv(links))
    X = StandardScaler().fit_transform(frame.to_numpy())
    PCKMeans(N_CLUSTERS, n_init=10, random_state=0).fit(X, constraints=known)


def seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table, links = Path(folder, "table.csv"), Path(folder, "links.csv")
        write_files(table, links)
        job = Job(table, links, n_clusters=N_CLUSTERS, method="pck", output=Path(folder, "clusters.csv"))
        whole_table = replace(job, keep_columns=True)
        steps: dict[str, Callable[[], object]] = {
            "pandas and the fit": lambda: fit_only(table, links),
            "the job": lambda: run_job(job),
            "with keep_columns": lambda: run_job(whole_table),
        }
        for step in steps.values():
            step()  # compiles
        times: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(N_ROUNDS):
            for name, step in steps.items():
                times[name].append(seconds(step))
    print(f"{N_ROWS:,} rows x {N_COLUMNS} columns, {N_LINKS:,} links, PCKMeans with {N_CLUSTERS} clusters, 10 starts")
    least = np.array(times["pandas and the fit"])
    for name, taken in times.items():
        print(f"{name:<24}{np.median(taken):8.2f} s{np.median(np.array(taken) / least):8.2f}")
    print(f"asked: a ratio of at most {MAX_RATIO}")


if __name__ == "__main__":
    main()
