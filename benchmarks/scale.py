"""Tables larger than memory, and on several processes: each engine beside one process in memory, on the same rows.

Every fit runs in a process of its own. The files, up to 1.3 GB, are made in a temporary folder, or kept in the folder
that the environment variable MUSTLINK_SCALE names. The tables and figures of docs/benchmarks/scale.rst are written by
``python -m benchmarks scale``; with ``--quick`` the tables have a tenth of the rows, and nothing is written. With names
after ``--only=`` (memory, engines, growth, bytes) the other parts are left out.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._environments import ROOT
from benchmarks._measure import clock, forget_peak, megabytes_now
from benchmarks._scale_rows import N_CLASSES, CountedRows, draw_links, make_rows
from benchmarks._show import new_table, show

N_COLUMNS, N_LINKS = 16, 1_000
CHUNK = 250_000
# Dask advises chunks of 100 MB and more; these have 32 MB.
DASK_CHUNK = 500_000
METHODS = ("pck", "boost, k-means")
PARTS = ("memory", "engines", "growth", "bytes")
MAX_MEGABYTES, MAX_OVER_MEMORY, MAX_OVER_NO_ENGINE = 2_000, 1.3, 1.5


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    only = next((word.split("=")[1].split(",") for word in sys.argv[1:] if word.startswith("--only=")), PARTS)
    million = 100_000 if quick else 1_000_000
    with scale_folder() as folder:
        for part in only:
            title, headings, rows = PART_OF[part](folder, million)
            table = new_table(title, *headings, n_names=2)
            for row in rows:
                table.add_row(*row)
            show(table)
            if not quick:
                with (ROOT / "docs" / "benchmarks" / f"scale-{part}.csv").open("w", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([headings, *rows])
        if not quick and "growth" in only:
            draw_growth()


@contextmanager
def scale_folder() -> Iterator[Path]:
    """Return where the files of rows are: a folder that is kept, or a temporary one."""
    kept = os.environ.get("MUSTLINK_SCALE")
    if kept:
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


Part = tuple[str, list[str], list[list[str]]]


# ---- the parts


def of_memory(folder: Path, million: int) -> Part:
    """Measure fits of a file beside fits of an array in memory of a tenth of the rows."""
    rows = []
    # The default takes half an hour.
    for method in (*METHODS, "boost"):
        small = fit(folder, method=method, engine="memory", n_rows=2 * million)
        same = fit(folder, method=method, engine="file", n_rows=2 * million)
        large = fit(folder, method=method, engine="file", n_rows=20 * million)
        for engine, found in (("memory", small), ("file", same), ("file", large)):
            ratio = found["seconds"] / found["n_rows"] / (small["seconds"] / small["n_rows"])
            rows.append([method, engine, *describe(found), f"{ratio:.2f}", is_same(found, small)])
    headings = ["method", "rows in", "rows", "seconds", "MB", "time per row over memory", "same labels as in memory"]
    return f"A file beside memory, {N_COLUMNS} columns of float32", headings, rows


def of_engines(folder: Path, million: int) -> Part:
    """Measure one iteration of k-means on two million rows by every engine."""
    plain = iteration(folder, engine="memory", n_rows=2 * million)
    rows = []
    for engine in ("memory", "file", "dask", "spark", "mllib"):
        found = plain if engine == "memory" else iteration(folder, engine=engine, n_rows=2 * million)
        if "missing" in found:
            rows.append([engine, found["missing"], "", "", ""])
            continue
        ratio = found["seconds"] / plain["seconds"]
        same = is_same(found, plain) if found["digest"] else ""
        rows.append([engine, f"{found['n_rows']:,}", f"{found['seconds']:.3f}", f"{ratio:.2f}", same])
    headings = ["engine", "rows", "seconds per iteration", "over one process in memory", "same labels as in memory"]
    return "One iteration of k-means, two processes or threads", headings, rows


def of_growth(folder: Path, million: int) -> Part:
    """Measure how the time of a fit grows with rows, columns, links, clusters and rounds."""
    base = {"method": "pck", "engine": "file", "n_rows": million, "n_clusters": N_CLASSES, "n_links": N_LINKS}
    boost = {"method": METHODS[1], "n_rows": million // 5}
    changes: list[tuple[str, str, dict[str, Any]]] = []
    for n_rows in (1, 2, 4, 8, 16):
        changes.append(("pck, file", "rows", {"n_rows": n_rows * million}))
        changes.append(("pck, dask", "rows", {"engine": "dask", "n_rows": n_rows * million}))
    changes += [("pck, file", "columns", {"n_columns": n}) for n in (8, 16, 32, 64)]
    changes += [("pck, file", "links", {"n_links": n}) for n in (100, 1_000, 10_000, 100_000)]
    changes += [("pck, file", "clusters", {"n_clusters": n}) for n in (5, 10, 20, 40)]
    changes += [("boost, file", "rounds", {**boost, "n_rounds": n}) for n in (12, 25, 50)]
    rows = []
    for name, what, change in changes:
        found = fit(folder, **(base | change))
        if "missing" in found:
            rows.append([name, what, found["missing"], "", ""])
            continue
        size = change[f"n_{what}"]
        rows.append([name, what, f"{size:,}", f"{found['seconds']:.1f}", f"{found['megabytes']:.0f}"])
    headings = ["fit", "what grows", "to", "seconds", "MB"]
    return "Growth; otherwise 1,000,000 x 16, boost 200,000 x 16, 1,000 links, 10 clusters", headings, rows


def of_bytes(folder: Path, million: int) -> Part:
    """Count the bytes that passes over blocks move, for the arithmetic of larger tables."""
    rows = []
    for method, millions in zip(METHODS, ((1, 4, 16), (1, 2)), strict=True):
        for n_rows in (number * million for number in millions):
            found = run_case("count", folder=str(folder), method=method, n_rows=n_rows)
            numbers = (found[key] for key in ("n_blocks", "n_passes", "sent", "received", "largest", "codes"))
            rows.append([method, f"{n_rows:,}", *(f"{number:,}" for number in numbers)])
    headings = ["method", "rows", "blocks", "passes", "bytes sent", "received", "largest result", "of codes per row"]
    return "Passes over blocks, and the bytes that they move", headings, rows


PART_OF = dict(zip(PARTS, (of_memory, of_engines, of_growth, of_bytes), strict=True))


def describe(found: dict[str, Any]) -> list[str]:
    """Return rows, seconds and megabytes of a fit for a table."""
    return [f"{found['n_rows']:,}", f"{found['seconds']:.1f}", f"{found['megabytes']:.0f}"]


def is_same(found: dict[str, Any], other: dict[str, Any]) -> str:
    """Return whether two fits of the same rows gave the same labels."""
    if found["n_rows"] != other["n_rows"]:
        return ""
    return "yes" if found["digest"] == other["digest"] else "no"


def draw_growth() -> None:
    """Draw the table of growth: seconds against what grows, both on logarithmic axes."""
    import matplotlib.pyplot as plt

    with (ROOT / "docs" / "benchmarks" / "scale-growth.csv").open() as file:
        rows = [row for row in list(csv.reader(file))[1:] if row[3]]
    kinds = list(dict.fromkeys(row[1] for row in rows))
    figure, grid = plt.subplots(2, 3, figsize=(9, 5.6), sharey=True, layout="constrained")
    axes = grid.ravel()
    for spare in axes[len(kinds) :]:
        spare.remove()
    markers = {"pck, file": "o", "boost, file": "s", "pck, dask": "^"}
    colors = {"pck, file": "#0072B2", "boost, file": "#D55E00", "pck, dask": "#009E73"}
    explained: set[str] = set()
    for axis, kind in zip(axes, kinds, strict=False):
        names = dict.fromkeys(row[0] for row in rows if row[1] == kind)
        for name in names:
            points = [(float(row[2].replace(",", "")), float(row[3])) for row in rows if row[:2] == [name, kind]]
            axis.loglog(*zip(*points, strict=True), marker=markers[name], color=colors[name], label=name)
        sizes = sorted({float(row[2].replace(",", "")) for row in rows if row[1] == kind})
        axis.set_xticks(sizes, [f"{size:g}".replace("e+0", "e") for size in sizes])
        axis.minorticks_off()
        axis.set_xlabel(kind)
        axis.grid(alpha=0.3)
        if not names.keys() <= explained:
            axis.legend(fontsize="small")
            explained |= names.keys()
    for axis in grid[:, 0]:
        axis.set_ylabel("seconds")
    figure.savefig(ROOT / "docs" / "benchmarks" / "scale-growth.png", dpi=110)
    plt.close(figure)


# ---- one fit in a process of its own


def fit(folder: Path, **case: Any) -> dict[str, Any]:
    """Fit in another process."""
    return run_case("fit", folder=str(folder), **case)


def iteration(folder: Path, **case: Any) -> dict[str, Any]:
    """Measure an iteration of k-means in another process."""
    return run_case("iteration", folder=str(folder), **case)


def run_case(name: str, **case: Any) -> dict[str, Any]:
    """Run a function of this module in another process, and return what it prints."""
    command = [sys.executable, "-m", "benchmarks.scale", name, json.dumps(case)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{name} of {case} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def fit_here(
    folder: str,
    method: str,
    engine: str,
    n_rows: int,
    n_columns: int = N_COLUMNS,
    n_links: int = N_LINKS,
    n_clusters: int = N_CLASSES,
    n_rounds: int = 25,
) -> dict[str, Any]:
    """Fit once, after a short fit that compiles what there is to compile."""
    path = make_rows(Path(folder), n_rows, n_columns)
    links = draw_links(n_rows, n_links)
    with engine_rows(engine, path) as X:
        if isinstance(X, str):
            return {"missing": X}
        new_model(method, n_clusters, n_rounds).fit(np.load(path, mmap_mode="r")[:5_000].copy())
        before = forget_peak()
        seconds, model = clock(lambda: new_model(method, n_clusters, n_rounds).fit(X, constraints=links))
        peak = megabytes_now("VmHWM")
        labels = np.asarray(model.labels_).astype(np.int32)
    return {
        "n_rows": n_rows,
        "seconds": seconds,
        "megabytes": peak,
        "before": before,
        "digest": hashlib.sha256(labels.tobytes()).hexdigest(),
    }


def iterate_here(folder: str, engine: str, n_rows: int) -> dict[str, Any]:
    """Return the seconds of an iteration: those of ten more than two, the shortest of five times."""
    from mustlink import PCKMeans

    path = make_rows(Path(folder), n_rows)
    start = np.load(path, mmap_mode="r")[:N_CLASSES].astype(np.float64)

    def seconds_of(X: Any, max_iter: int) -> tuple[float, Any]:
        if engine == "mllib":
            return clock(lambda: fit_mllib(X, max_iter))
        model = PCKMeans(N_CLASSES, init=start, tol=0, max_iter=max_iter)
        return clock(lambda: model.fit(X))

    with engine_rows(engine, path) as X:
        if isinstance(X, str):
            return {"missing": X}
        seconds_of(X, 1)
        times = []
        for _ in range(5):
            few, _ = seconds_of(X, 2)
            many, model = seconds_of(X, 12)
            times.append((many - few) / 10)
        # Rows of Spark are in another order.
        digest = ""
        if engine in ("memory", "file", "dask"):
            digest = hashlib.sha256(np.asarray(model.labels_).astype(np.int32).tobytes()).hexdigest()
    return {"n_rows": n_rows, "seconds": min(times), "digest": digest}


def count_here(folder: str, method: str, n_rows: int) -> dict[str, Any]:
    """Count the passes of a fit, and the bytes that they move."""
    from mustlink.blocks import FileRows

    path = make_rows(Path(folder), n_rows)
    rows = CountedRows(FileRows(np.load(path, mmap_mode="r"), block_rows=CHUNK))
    new_model(method, N_CLASSES, 25).fit(rows, constraints=draw_links(n_rows, N_LINKS))
    codes = getattr(rows, "derived", None)
    counted = {
        name: getattr(rows, name) + (getattr(codes, name) if codes is not None else 0)
        for name in ("n_passes", "sent", "received")
    }
    largest = max(rows.largest, 0 if codes is None else codes.largest)
    width = 0 if codes is None else codes.n_features * codes.dtype.itemsize
    return counted | {"n_blocks": rows.n_blocks, "largest": largest, "codes": width}


def new_model(method: str, n_clusters: int, n_rounds: int) -> Any:
    """Return a clusterer with its defaults, or boosting of k-means alone."""
    from mustlink import PCKMeans, RobustBoostCluster

    if method == "pck":
        return PCKMeans(n_clusters, random_state=0)
    # The default mixes k-means with bases that label most rows by the nearest of a sample, at a fixed cost per row.
    base = "auto" if method == "boost" else None
    return RobustBoostCluster(base, n_clusters=n_clusters, n_rounds=n_rounds, random_state=0)


# ---- the engines


@contextmanager
def engine_rows(engine: str, path: Path) -> Iterator[Any]:
    """Return the rows of a file as an engine has them, or why it is missing."""
    if engine == "memory":
        yield np.load(path)
    elif engine == "file":
        from mustlink.blocks import open_rows

        yield open_rows(path)
    elif engine == "dask":
        yield from dask_rows(path)
    else:
        yield from spark_rows(path, packed=engine == "spark")


def dask_rows(path: Path) -> Iterator[Any]:
    """Return a Dask array on a local cluster of two processes."""
    try:
        import dask.array as da
        from dask import delayed
        from distributed import Client, LocalCluster
    except ImportError:
        yield "dask is not installed"
        return
    shape = np.load(path, mmap_mode="r").shape
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        parts = [
            da.from_delayed(
                delayed(read_part)(str(path), start, start + DASK_CHUNK),
                (min(DASK_CHUNK, shape[0] - start), shape[1]),
                dtype=np.float32,
            )
            for start in range(0, shape[0], DASK_CHUNK)
        ]
        yield da.concatenate(parts).persist()


def read_part(path: str, start: int, stop: int) -> Any:
    """Read some rows of a file."""
    return np.load(path, mmap_mode="r")[start:stop].copy()


def spark_rows(path: Path, *, packed: bool) -> Iterator[Any]:
    """Return the rows of a Spark session with two threads: as blocks, or a DataFrame as MLlib takes it."""
    try:
        import pandas as pd
        from pyspark.sql import SparkSession

        from mustlink.spark import SparkRows

        # Otherwise the workers take the first Python of the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
    except (ImportError, RuntimeError) as error:
        yield f"not available: {error}"
        return
    array = np.load(path)
    frame = pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])
    frame.insert(0, "id", np.arange(len(frame)))
    parquet = path.with_suffix(".parquet")
    frame.to_parquet(parquet)
    try:
        frame = session.read.parquet(str(parquet))
        yield SparkRows(frame, id="id") if packed else as_vectors(frame)
    finally:
        session.stop()
        parquet.unlink()


def as_vectors(frame: Any) -> Any:
    """Return a DataFrame with the columns of numbers as one vector, in memory."""
    from pyspark.ml.feature import VectorAssembler

    columns = [name for name in frame.columns if name != "id"]
    vectors = VectorAssembler(inputCols=columns, outputCol="features").transform(frame).select("features").cache()
    vectors.count()
    return vectors


def fit_mllib(vectors: Any, max_iter: int) -> Any:
    """Fit the k-means of MLlib, from random rows."""
    from pyspark.ml.clustering import KMeans

    return KMeans(k=N_CLASSES, initMode="random", maxIter=max_iter, tol=0.0, seed=0).fit(vectors)


CASES = {"fit": fit_here, "iteration": iterate_here, "count": count_here}

if __name__ == "__main__":
    name, case = sys.argv[1:3]
    print(json.dumps(CASES[name](**json.loads(case))))
