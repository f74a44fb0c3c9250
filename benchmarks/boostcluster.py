"""RobustBoostCluster and BoostCluster beside the runs of the base that they make: time, memory, trials on a sample.

Every fit runs in its own process, to measure its peak memory; the base is timed inside that process. A fit of a small
table first keeps compilation out of the figures.
"""

from __future__ import annotations

import resource
import sys
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs

from benchmarks._apart import run_apart
from benchmarks._measure import clock, run_main
from benchmarks._show import new_table, show
from mustlink import Constraints
from mustlink.boosting import BoostCluster, RobustBoostCluster
from mustlink.metrics import normalized_mutual_info

N_FEATURES, N_CLUSTERS, N_PAIRS = 16, 10, 400
SIZES = (10_000, 100_000, 1_000_000)
MAX_RATIO = {10_000: 1.10, 100_000: 1.05, 1_000_000: 1.05}
BASES = {"3 starts": {"n_init": 3}, "1 start, 20 steps": {"n_init": 1, "max_iter": 20}}
MAX_CHEAP_RATIO = 1.08
LINKED_ROWS, LINKS, MAX_LINKS_RATIO = 100_000, (1_000, 100_000), 1.5
MAX_MIX_RATIO = 3.0
MIN_ROWS_OF_ROBUST_LIMIT, MAX_ROBUST_RATIO = 20_000, 1.3
MAX_BYTES = 1e9
TEXT = {"n_rows": 20_000, "n_terms": 100_000, "terms_per_row": 100, "n_pairs": 500, "n_topics": 10}
MAX_SECONDS_PER_ROUND = 1.0
TIME_LIMIT = 3_600
SPENT: list[tuple[int, float]] = []


def main(sizes: tuple[int, ...] = SIZES) -> None:
    show(beside_the_base(sizes))
    show(many_links())
    show(mix_of_bases())
    show(sample_beside_all_rows())
    show(sparse_text())


# ---- the tables


def beside_the_base(sizes: tuple[int, ...]) -> Any:
    """Compare the time of a fit with that of the base runs in it."""
    title = f"float32 rows x {N_FEATURES}, {N_CLUSTERS} clusters, {N_PAIRS} links, 25 rounds"
    ratios = ("ratio", "limit", "/ full rounds", "limit")
    table = new_table(
        title, "rows", "KMeans", "representation", "runs", "seconds", "in the base", *ratios, "peak MB", "NMI"
    )
    for n_rows in sizes:
        for base, kind in product(BASES, ("difference", "ridged", "robust")):
            row = apart(base, n_rows, kind)
            of_robust = kind == "robust" and n_rows > MIN_ROWS_OF_ROBUST_LIMIT
            table.add_row(
                f"{n_rows:,}",
                base,
                kind,
                str(row["n_runs"]),
                f"{row['total']:.2f}",
                f"{row['base']:.2f}",
                f"{row['total'] / row['base']:.3f}",
                f"{MAX_RATIO.get(n_rows, 1.05) if base == '3 starts' else MAX_CHEAP_RATIO:.2f}",
                f"{row['total'] / row['full']:.3f}",
                f"{MAX_ROBUST_RATIO:.2f}" if of_robust else "",
                f"{row['peak'] / 1e6:,.0f}" + (f" of {MAX_BYTES / 1e6:,.0f}" if n_rows >= 1_000_000 else ""),
                f"{row['nmi']:.3f}",
            )
    return table


def many_links() -> Any:
    """Compare a fit with many links to one with few."""
    table = new_table(
        f"robust on {LINKED_ROWS:,} rows, few and many links, KMeans with 3 starts",
        *("links", "seconds", "in the base", "/ few links", "limit", "peak MB", "NMI"),
    )
    few, *_ = rows = [apart("links", n_pairs, "robust") for n_pairs in LINKS]
    for n_pairs, row in zip(LINKS, rows, strict=True):
        table.add_row(f"{n_pairs:,}", f"{row['total']:.2f}", f"{row['base']:.2f}", f"{row['total'] / few['total']:.2f}",
                      f"{MAX_LINKS_RATIO:.1f}" if row is not few else "", f"{row['peak'] / 1e6:,.0f}",
                      f"{row['nmi']:.3f}")  # fmt: skip
    return table


def mix_of_bases() -> Any:
    """Compare the mix of bases, the default, with k-means alone."""
    table = new_table(
        "robust on 10,000 rows x 20, 200 links, the mix of bases beside k-means alone",
        *("base", "seconds", "/ k-means", "limit", "peak MB", "NMI"),
    )
    alone, *_ = rows = [apart("mix", 10_000, base) for base in ("k-means", "auto")]
    for base, row in zip(("k-means", "auto"), rows, strict=True):
        table.add_row(base, f"{row['total']:.2f}", f"{row['total'] / alone['total']:.2f}",
                      f"{MAX_MIX_RATIO:.1f}" if row is not alone else "", f"{row['peak'] / 1e6:,.0f}",
                      f"{row['nmi']:.3f}")  # fmt: skip
    return table


def sample_beside_all_rows() -> Any:
    """Compare trials on a sample with trials on all rows."""
    table = new_table(
        "robust on 50,000 rows, trials on a sample beside trials on all rows, mean of 3 sets of links",
        *("links", "wrong", "sample, NMI", "all rows, NMI", "sample, s", "all rows, s"),
    )
    for n_pairs, noise in ((100, 0.0), (400, 0.0), (400, 0.2)):
        row = apart("sample", n_pairs, str(noise))
        table.add_row(str(n_pairs), f"{noise:.0%}", *(f"{row[key]:.3f}" for key in ("sample", "all")),
                      *(f"{row[key]:.1f}" for key in ("sample_seconds", "all_seconds")))  # fmt: skip
    return table


def sparse_text() -> Any:
    """Time what is not the base, on sparse text."""
    table = new_table(
        "{n_rows:,} documents x {n_terms:,} terms, {terms_per_row} a document, {n_pairs} links, MiniBatchKMeans".format(
            **TEXT
        ),
        *("representation", "rounds", "own seconds", "own seconds a round", "limit", "peak MB", "NMI"),
    )
    for kind in ("projection", "difference", "robust"):
        row = apart("text", 0, kind)
        table.add_row(
            kind,
            str(row["n_runs"]),
            f"{row['total'] - row['base']:.1f}",
            f"{(row['total'] - row['base']) / row['n_runs']:.3f}",
            f"{MAX_SECONDS_PER_ROUND:.1f}",
            f"{row['peak'] / 1e6:,.0f}",
            f"{row['nmi']:.3f}",
        )
    return table


# ---- one case in a process of its own


def apart(case: str, size: int, setting: str) -> dict[str, float]:
    """Run a case in a new process and read its figures."""
    figures = run_apart("ours", "boostcluster", case, str(size), setting, time_limit=TIME_LIMIT)
    if "failed" in figures:
        raise RuntimeError(f"{case} {size} {setting}: {figures['failed']}")
    return figures


class Timed:
    """A clusterer that records how long each fit took, and on how many rows."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        seconds, _ = clock(partial(super().fit, X, y, sample_weight))
        SPENT.append((X.shape[0], seconds))
        return self


class TimedKMeans(Timed, KMeans):
    pass


class TimedMiniBatchKMeans(Timed, MiniBatchKMeans):
    pass


def timed_fit(model: BoostCluster | RobustBoostCluster, X: Any, links: Constraints, classes: Any) -> dict[str, float]:
    """Fit, and return the time of the whole, of the base, and of the base on all rows, and the peak memory."""
    SPENT.clear()
    total, _ = clock(partial(model.fit, X, constraints=links))
    return {
        "total": total,
        "base": sum(seconds for _, seconds in SPENT),
        "full": sum(seconds for rows, seconds in SPENT[-model.n_rounds :] if rows == X.shape[0]),
        "n_runs": len(SPENT),
        # Linux counts in kilobytes, macOS in bytes.
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "nmi": normalized_mutual_info(classes, model.labels_),
    }


def make_model(kind: str, base: Any, n_clusters: int, **settings: Any) -> BoostCluster | RobustBoostCluster:
    """Make a RobustBoostCluster ("robust"), or a BoostCluster of some representation."""
    if kind == "robust":
        return RobustBoostCluster(base, n_clusters, random_state=0, **settings)
    return BoostCluster(base, n_clusters, representation=kind, random_state=0, **settings)


def blobs(n_rows: int, kind: str, base: Any, n_pairs: int = N_PAIRS, n_features: int = N_FEATURES) -> dict[str, float]:
    """Fit blobs that overlap."""
    X, classes = overlapping(500, n_features)
    warm = make_model(kind, base, N_CLUSTERS)
    warm.fit(X, constraints=Constraints.sample(classes, 100, random_state=0))
    X, classes = overlapping(n_rows, n_features)
    model = make_model(kind, base, N_CLUSTERS)
    return timed_fit(model, X, Constraints.sample(classes, n_pairs, random_state=0), classes)


def overlapping(n_rows: int, n_features: int = N_FEATURES) -> tuple[Any, Any]:
    """Return blobs as float32, made in blocks to keep peak memory low."""
    centers = np.random.RandomState(0).uniform(-10, 10, (N_CLUSTERS, n_features))
    X = np.empty((n_rows, n_features), dtype=np.float32)
    classes = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, 50_000):
        stop = min(start + 50_000, n_rows)
        X[start:stop], classes[start:stop] = make_blobs(
            stop - start, centers=centers, cluster_std=6.0, random_state=1 + start
        )
    return X, classes


def sample_or_all(n_pairs: int, noise: float) -> dict[str, float]:
    """Fit with trials on a sample and with trials on all rows."""
    from mustlink.boosting._robust import _trials

    X, classes = overlapping(50_000)
    figures: dict[str, list[float]] = {"sample": [], "all": [], "sample_seconds": [], "all_seconds": []}
    usual = _trials.MAX_ROWS_TRIED
    for seed in range(3):
        links = Constraints.sample(classes, n_pairs, noise=noise, random_state=seed)
        for name, most in (("sample", usual), ("all", len(X))):
            _trials.MAX_ROWS_TRIED = most
            model = RobustBoostCluster(n_clusters=N_CLUSTERS, random_state=seed)
            seconds, _ = clock(partial(model.fit, X, constraints=links))
            figures[f"{name}_seconds"].append(seconds)
            figures[name].append(normalized_mutual_info(classes, model.labels_))
    return {name: float(np.mean(values)) for name, values in figures.items()}


def text(kind: str) -> dict[str, float]:
    """Fit documents whose terms partly come from their topic, weighted by tf-idf and of length one."""
    rng = np.random.RandomState(0)
    n_rows, n_terms, width = TEXT["n_rows"], TEXT["n_terms"], TEXT["terms_per_row"]
    topic = rng.randint(0, TEXT["n_topics"], n_rows)
    ranks = np.minimum(rng.zipf(1.3, (n_rows, width)) - 1, n_terms // 2 - 1)
    own = rng.uniform(size=(n_rows, width)) < 0.15
    columns = np.where(own, n_terms // 2 + topic[:, None] * 2_000 + rng.randint(0, 2_000, (n_rows, width)), ranks)
    X = csr_array((np.ones(n_rows * width), columns.ravel(), np.arange(0, n_rows * width + 1, width)),
                  shape=(n_rows, n_terms))  # fmt: skip
    X.sum_duplicates()
    share = np.maximum(np.bincount(X.indices, minlength=n_terms), 1) / n_rows
    X.data = (1 + np.log(X.data)) * -np.log(share[X.indices])
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    links = Constraints.sample(topic, TEXT["n_pairs"], random_state=0)
    model = make_model(kind, TimedMiniBatchKMeans(n_init=1), TEXT["n_topics"], scale=False)
    return timed_fit(model, X, links, topic)


def run_case(case: str, size: str, setting: str) -> dict[str, float]:
    if case in BASES:
        return blobs(int(size), setting, TimedKMeans(**BASES[case]))
    if case == "links":
        return blobs(LINKED_ROWS, setting, TimedKMeans(n_init=3), n_pairs=int(size))
    if case == "mix":
        return blobs(int(size), "robust", "auto" if setting == "auto" else None, n_pairs=200, n_features=20)
    if case == "sample":
        return sample_or_all(int(size), float(setting))
    return text(setting)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdecimal():
        main(tuple(int(size) for size in sys.argv[1:]))
    else:
        run_main(main, run_case)
