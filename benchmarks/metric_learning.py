"""ITML and MMC beside metric-learn: the same data, the same pairs, the same problem.

Both get wdbc, standardized, and 500 pairs linked by class. Results are compared by the same objective: for ITML the
LogDet divergence plus the penalties of violated links, under the same bounds; for MMC the sum over the must-links,
scaled to a sum over the cannot-links of one. Every fit runs in its own process, after a fit that excludes loading time.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import run_apart
from benchmarks._measure import clock, run_main
from benchmarks._problems import save_problem
from benchmarks._show import new_table, show

TIME_LIMIT = 300
N_PAIRS, SEEDS, TARGET = 500, (0, 1, 2), 10
METHODS = ("ITML", "MMC", "MMC, diagonal")


def main() -> None:
    title = f"wdbc, {N_PAIRS} pairs, mean of {len(SEEDS)} draws; target: {TARGET} times faster, objective not higher"
    table = new_table(title, "metric", "seconds", "times faster", "objective", "steps")
    with tempfile.TemporaryDirectory() as folder:
        paths = [make_data(Path(folder), seed) for seed in SEEDS]
        for name in METHODS:
            ours = [fit_apart("ours", name, path) for path in paths]
            peer = [fit_apart("metric-learn", f"peer {name}", path) for path in paths]
            add_row(table, f"metric-learn {name}", peer, "1")
            add_row(table, name, ours, ratio_text(peer, ours))
    show(table)


def add_row(table: Any, name: str, figures: list[dict[str, Any]], ratio: str) -> None:
    """Add the means of several fits, or why one failed."""
    failed = [figure["failed"] for figure in figures if "failed" in figure]
    if failed:
        table.add_row(name, f"failed {len(failed)} of {len(figures)}: {failed[0][:80]}")
        return
    mean = {key: float(np.mean([figure[key] for figure in figures])) for key in figures[0]}
    steps = "?" if np.isnan(mean["n_iter"]) else f"{mean['n_iter']:.0f}"
    table.add_row(name, f"{mean['seconds']:.4f}", ratio, f"{mean['objective']:.6g}", steps)


def ratio_text(peer: list[dict[str, Any]], ours: list[dict[str, Any]]) -> str:
    """Return how many times as long the peer took, over all draws."""
    if any("failed" in figure for figure in (*peer, *ours)):
        return "?"
    return f"{sum(figure['seconds'] for figure in peer) / sum(figure['seconds'] for figure in ours):,.0f}"


def make_data(folder: Path, seed: int) -> Path:
    """Write the data, the pairs and the bounds for both."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    from mustlink import Constraints
    from mustlink.metric_learning import ITML

    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    links = Constraints.sample(y, n_pairs=N_PAIRS, balanced=False, random_state=seed)
    return save_problem(folder / f"{seed}.npz", X, links, bounds=ITML(random_state=seed).fit(X).bounds_)


def fit_apart(environment: str, name: str, path: Path) -> dict[str, Any]:
    """Fit in a process of its own and return its figures, or what went wrong."""
    return run_apart(environment, "metric_learning", name, str(path), time_limit=TIME_LIMIT)


# ---- inside such a process: nothing of mustlink may be imported for a peer


def fit_one(name: str, path: str) -> dict[str, Any]:
    """Fit twice, and measure the second time."""
    data = dict(np.load(path))
    fit = fit_peer if name.startswith("peer") else fit_ours
    fit(name, data)
    seconds, (A, n_iter) = clock(lambda: fit(name, data))
    objective = logdet_objective(A, data) if "ITML" in name else normalized_sum(A, data)
    return {"seconds": seconds, "objective": objective, "n_iter": n_iter}


def fit_ours(name: str, data: dict[str, Any]) -> tuple[Any, float]:
    """Fit the metric of that name."""
    from mustlink import Constraints
    from mustlink.metric_learning import ITML, MMC

    metric = ITML(bounds=tuple(data["bounds"])) if name == "ITML" else MMC("diagonal" in name, shrinkage=0.0)
    metric.fit(data["X"], constraints=Constraints(data["must_link"], data["cannot_link"]))
    return metric.metric_matrix_, metric.n_iter_


def fit_peer(name: str, data: dict[str, Any]) -> tuple[Any, float]:
    """Fit metric-learn's of that name, as it comes."""
    from metric_learn import ITML, MMC

    pairs = data["X"][np.concatenate([data["must_link"], data["cannot_link"]])]
    kinds = np.repeat([1, -1], [len(data["must_link"]), len(data["cannot_link"])])
    # It warns about what it uses of older releases of scikit-learn.
    warnings.simplefilter("ignore")
    if "ITML" in name:
        metric = ITML().fit(pairs, kinds, bounds=data["bounds"])
    else:
        metric = MMC(diagonal="diagonal" in name).fit(pairs, kinds)
    return metric.get_mahalanobis_matrix(), getattr(metric, "n_iter_", float("nan"))


def logdet_objective(A: Any, data: dict[str, Any]) -> float:
    """Return the LogDet divergence of A from the identity and the penalties of all links that it misses."""
    total = float(np.trace(A) - np.linalg.slogdet(A)[1] - len(A))
    for kind, bound, sign in zip(("must_link", "cannot_link"), data["bounds"], (1, -1), strict=True):
        ratio = squares(A, data, kind) / bound
        missed = ratio[sign * (ratio - 1) > 0]
        total += float((missed - np.log(missed) - 1).sum())
    return total


def normalized_sum(A: Any, data: dict[str, Any]) -> float:
    """Return the sum over the must-links, with A scaled to a sum over the cannot-links of one."""
    return float(squares(A, data, "must_link").sum() / np.sqrt(squares(A, data, "cannot_link")).sum() ** 2)


def squares(A: Any, data: dict[str, Any], kind: str) -> Any:
    """Return the squared distances of linked pairs under A."""
    difference = data["X"][data[kind][:, 0]] - data["X"][data[kind][:, 1]]
    return np.einsum("ij,ij->i", difference @ A, difference)


if __name__ == "__main__":
    run_main(main, fit_one)
