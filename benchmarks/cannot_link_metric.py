"""CannotLinkMetric beside the same steps in plain numpy, a one-class machine of scikit-learn, and metric-learn.

Records have a few words of their person and a few that all use; people are dealt to names, and every pair is of two
names. All learn from the same pairs. The score is the adjusted Rand index of average linkage among the records of each
name. Solvers of the same problem are compared by its objective too. Every fit runs in its own process, after a small
one.
"""

from __future__ import annotations

import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import ONE_THREAD, run_apart
from benchmarks._measure import clock, run_main
from benchmarks._show import new_table, show

TIME_LIMIT, TARGET = 300, 10
N_PEOPLE, N_NAMES, N_RECORDS, OWN_WORDS = 20, 4, 400, 4
SIZES = {"1,000 pairs": (1_000, 100), "10,000 pairs": (10_000, 100), "10,000 pairs, 2,000 words": (10_000, 2_000)}
# What each is run on: the machines need the inner products of all pairs, and metric-learn goes through all columns.
CONTENDERS = {
    "ours": tuple(SIZES),
    "ours, dense rows": ("1,000 pairs", "10,000 pairs"),
    "plain numpy": ("1,000 pairs", "10,000 pairs"),
    "OneClassSVM": ("1,000 pairs",),
    "ITML": ("1,000 pairs", "10,000 pairs", "10,000 pairs, 2,000 words"),
    "metric-learn ITML": ("1,000 pairs", "10,000 pairs"),
    "Euclidean": tuple(SIZES),
}
SAME_PROBLEM = ("ours", "ours, dense rows", "plain numpy", "OneClassSVM")
C = 1.0


def main() -> None:
    title = f"A metric from cannot-links; target: 10,000 pairs in 100 columns in {TARGET} s"
    table = new_table(title, "metric", *(f"{what}, {size}" for size in SIZES for what in ("s", "objective", "score")))
    with tempfile.TemporaryDirectory() as folder:
        paths = {
            name: make_data(Path(folder) / f"{place}.npz", *size, needs_nu=name in CONTENDERS["OneClassSVM"])
            for place, (name, size) in enumerate(SIZES.items())
        }
        for name, sizes in CONTENDERS.items():
            cells = [cell for size in SIZES for cell in figures_of(name, paths[size] if size in sizes else None)]
            table.add_row(name, *cells)
    show(table)


def figures_of(name: str, path: Path | None) -> list[str]:
    """Return the time, the objective and the score of one fit, or why there are none."""
    if path is None:
        return ["", "", ""]
    environment = "metric-learn" if name.startswith("metric-learn") else "ours"
    found = run_apart(
        environment, "cannot_link_metric", name, str(path), time_limit=TIME_LIMIT, variables=dict(ONE_THREAD)
    )
    if "failed" in found:
        return [found["failed"][:40], "", ""]
    same_problem = f"{found['objective']:.5g}" if name in SAME_PROBLEM else ""
    return [f"{found['seconds']:.3f}", same_problem, f"{found['score']:.2f}"]


def make_data(path: Path, n_pairs: int, n_columns: int, *, needs_nu: bool) -> Path:
    """Write records, their people and names, pairs of records with different names, and the nu that C implies."""
    from mustlink import CannotLinkMetric, Constraints

    rng = np.random.default_rng(0)
    person = np.arange(N_RECORDS) % N_PEOPLE
    n_common = n_columns - N_PEOPLE * OWN_WORDS
    X = np.zeros((N_RECORDS, n_columns))
    for row, one in enumerate(person):
        X[row, n_common + OWN_WORDS * one + rng.permutation(OWN_WORDS)[: rng.integers(2, 4)]] = 1
        X[row, rng.permutation(n_common)[: rng.integers(1, 7)]] = 1
    links = Constraints.from_groups(person % N_NAMES, "across", n_pairs=n_pairs, random_state=0)
    nu = np.nan
    if needs_nu:
        metric = CannotLinkMetric(C).fit(X, constraints=links)
        nu = metric.alpha_.sum() / (metric.C_ * len(metric.pairs_))
    np.savez(path, X=X, person=person, pairs=links.cannot_link, nu=nu)
    return path


# ---- inside a process: nothing of mustlink may be imported for a peer


def fit_one(name: str, path: str) -> dict[str, Any]:
    """Fit a few pairs, then all of them, and measure the second time."""
    data = dict(np.load(path))
    warnings.simplefilter("ignore")
    fit = partial(fit_one_class, nu=float(data["nu"])) if name == "OneClassSVM" else FITS[name]
    fit(data["X"], data["pairs"][:20])
    seconds, A = clock(lambda: fit(data["X"], data["pairs"]))
    return {"seconds": seconds, "objective": objective(A, data), "score": score(A, data)}


def fit_ours(X: Any, pairs: Any, is_sparse: bool = True) -> Any:
    """CannotLinkMetric, on sparse or dense rows."""
    from scipy.sparse import csr_matrix

    from mustlink import CannotLinkMetric, Constraints

    rows = csr_matrix(X) if is_sparse else X
    return CannotLinkMetric(C).fit(rows, constraints=Constraints(cannot_link=pairs)).metric_matrix_


def fit_itml(X: Any, pairs: Any) -> Any:
    """Our ITML on the same cannot-links."""
    from mustlink import ITML, Constraints

    return ITML(random_state=0).fit(X, constraints=Constraints(cannot_link=pairs)).metric_matrix_


def fit_plain(X: Any, pairs: Any) -> Any:
    """The same steps, one pair after the other, until the same gap."""
    delta, penalty = scaled_differences(X, pairs)
    alpha, A = np.zeros(len(delta)), np.zeros((X.shape[1], X.shape[1]))
    norm = np.einsum("ij,ij->i", delta, delta) ** 2
    rng = np.random.default_rng(0)
    for _ in range(1000):
        for p in rng.permutation(len(delta)):
            v = delta[p]
            new = min(max(alpha[p] + (1.0 - v @ A @ v) / norm[p], 0.0), penalty)
            if new != alpha[p]:
                A += (new - alpha[p]) * np.outer(v, v)
                alpha[p] = new
        squared = np.einsum("ij,ij->i", delta @ A, delta)
        half = 0.5 * alpha @ squared
        primal = half + penalty * np.maximum(1.0 - squared, 0.0).sum()
        if primal - (alpha.sum() - half) <= 1e-4 * primal:
            break
    return A / scale_of(X, pairs)


def fit_one_class(X: Any, pairs: Any, nu: float) -> Any:
    """A one-class machine on the inner products, at the nu that our solution implies."""
    from sklearn.svm import OneClassSVM

    delta, _ = scaled_differences(X, pairs)
    gram = (delta @ delta.T) ** 2
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-4).fit(gram)
    alpha = np.zeros(len(delta))
    alpha[machine.support_] = machine.dual_coef_[0] / machine.offset_[0]
    return (delta.T * alpha) @ delta / scale_of(X, pairs)


def fit_peer(X: Any, pairs: Any) -> Any:
    """metric-learn's ITML, on cannot-links alone; its other learners need both kinds."""
    from metric_learn import ITML

    metric = ITML(random_state=0).fit(X[pairs], -np.ones(len(pairs), dtype=int))
    return metric.get_mahalanobis_matrix()


def scale_of(X: Any, pairs: Any) -> float:
    """Return the median squared distance of the pairs."""
    return float(np.median(np.square(X[pairs[:, 0]] - X[pairs[:, 1]]).sum(axis=1)))


def scaled_differences(X: Any, pairs: Any) -> tuple[Any, float]:
    """Return the differences scaled to a median squared length of one, without equal rows, and the penalty."""
    delta = (X[pairs[:, 0]] - X[pairs[:, 1]]) / np.sqrt(scale_of(X, pairs))
    return delta[delta.any(axis=1)], C


def objective(A: Any, data: dict[str, Any]) -> float:
    """Return half the squared norm and the penalties, of rows scaled to a median squared distance of one."""
    delta, penalty = scaled_differences(data["X"], data["pairs"])
    A = A * scale_of(data["X"], data["pairs"])
    squared = np.einsum("ij,ij->i", delta @ A, delta)
    return float(0.5 * np.sum(A * A) + penalty * np.maximum(1.0 - squared, 0.0).sum())


def score(A: Any, data: dict[str, Any]) -> float:
    """Return the mean adjusted Rand index among the records of each name."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import adjusted_rand_score

    values, vectors = np.linalg.eigh((A + A.T) / 2)
    Z = data["X"] @ (vectors * np.sqrt(np.clip(values, 0.0, None)))
    found = []
    for name in range(N_NAMES):
        chosen = data["person"] % N_NAMES == name
        labels = AgglomerativeClustering(N_PEOPLE // N_NAMES, linkage="average").fit_predict(Z[chosen])
        found.append(adjusted_rand_score(data["person"][chosen], labels))
    return float(np.mean(found))


FITS: dict[str, Any] = {
    "ours": fit_ours,
    "ours, dense rows": partial(fit_ours, is_sparse=False),
    "plain numpy": fit_plain,
    "ITML": fit_itml,
    "metric-learn ITML": fit_peer,
    "Euclidean": lambda X, pairs: np.eye(X.shape[1]),
}

if __name__ == "__main__":
    run_main(main, fit_one)
