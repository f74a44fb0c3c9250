"""ResidualClustering, CondEns and CCIB beside a plain version of the formulas of CCIB, and beside plain k-means.

On texts, on points with two splits, and on tables of scikit-learn with their classes known. Asked: CCIB on 20,000 texts
of 5,000 terms, about 100 terms each, in under 60 s. ``python -m benchmarks.alternative --quick`` runs a small case of
each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks._measure import measure, shortest
from benchmarks._show import new_table, show

MAX_SECONDS = 60
N_TERMS, N_WORDS = 5_000, 140
SHARES = (0.25, 0.15)
K_KNOWN, K_TARGET = 4, 5


def make_texts(n_texts: int, seed: int) -> tuple[Any, Any, Any]:
    """Draw texts with two topics each, on a background of frequent words; return words, known and target."""
    rng = np.random.default_rng(seed)
    background = 1 / np.arange(1, N_TERMS + 1)
    background /= background.sum()
    topics = [[rng.permutation(background) for _ in range(k)] for k in (K_KNOWN, K_TARGET)]
    known, target = rng.integers(K_KNOWN, size=n_texts), rng.integers(K_TARGET, size=n_texts)
    rows, columns = [], []
    for a in range(K_KNOWN):
        for b in range(K_TARGET):
            texts = np.flatnonzero((known == a) & (target == b))
            share = (1 - sum(SHARES)) * background + SHARES[0] * topics[0][a] + SHARES[1] * topics[1][b]
            rows.append(np.repeat(texts, rng.poisson(N_WORDS, size=len(texts)) + 5))
            columns.append(rng.choice(N_TERMS, size=len(rows[-1]), p=share))
    row, column = np.concatenate(rows), np.concatenate(columns)
    return sparse.coo_matrix((np.ones(len(row)), (row, column)), (n_texts, N_TERMS)).tocsr(), known, target


def make_points(n_rows: int, seed: int) -> tuple[Any, Any, Any]:
    """Draw points with two splits; the known one is stronger, and its classes have different shapes."""
    rng = np.random.default_rng(seed)
    known, target = rng.integers(3, size=(2, n_rows))
    X = rng.normal(size=(n_rows, 12))
    X[:, :8] += rng.normal(scale=3, size=(3, 8))[known]
    X[:, 6:] += rng.normal(scale=2, size=(3, 6))[target]
    return X * np.array([1.0, 1.5, 0.7])[known][:, None], known, target


def k_means(X: Any, known: Any, k: int, seed: int) -> Any:
    """Plain k-means; of texts on their shares of words."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=5, random_state=seed).fit(_shares(X)).labels_


def of_residuals(X: Any, known: Any, k: int, seed: int) -> Any:
    """ResidualClustering, which a table of texts must be made dense for."""
    rows = _shares(X)
    return fit("ResidualClustering", {}, rows.toarray() if sparse.issparse(rows) else rows, known, k, seed)


def _shares(X: Any) -> Any:
    """Return texts as shares of words, points as they are."""
    from sklearn.preprocessing import normalize

    return normalize(X, "l1") if sparse.issparse(X) else X


def fit(estimator: str, options: dict[str, Any], X: Any, known: Any, k: int, seed: int) -> Any:
    """Fit one of ours."""
    import mustlink

    return getattr(mustlink, estimator)(k, random_state=seed, **options).fit(X, known=known).labels_


OF_TEXTS: dict[str, Callable[..., Any]] = {
    "CCIB": partial(fit, "CCIB", {}),
    "CCIB, one start": partial(fit, "CCIB", {"n_init": 1}),
    "CCIB, sequential, one start": partial(fit, "CCIB", {"n_init": 1, "method": "sequential"}),
    "CondEns, multinomial": partial(fit, "CondEns", {"estimator": "multinomial"}),
    "ResidualClustering": of_residuals,
    "k-means": k_means,
}
OF_POINTS: dict[str, Callable[..., Any]] = {
    "CCIB": partial(fit, "CCIB", {}),
    "CCIB, GLM": partial(fit, "CCIB", {"model": "glm"}),
    "CondEns, k-means": partial(fit, "CondEns", {}),
    "CondEns, mixture": partial(fit, "CondEns", {"estimator": "mixture"}),
    "ResidualClustering": of_residuals,
    "k-means": k_means,
}


def compare(title: str, make: Callable[[int, int], Any], n_rows: int, k: int, contenders: Any, n_turns: int) -> None:
    """Print time, memory and scores of all contenders on the same tables."""
    from mustlink.metrics import homogeneity, purity

    headings = ("seconds", "MB above the data", "purity of the target", "NMI with the known")
    table = new_table(title, "clusterer", *headings)
    warm, known, _ = make(200, 99)
    for name, work in contenders.items():
        work(warm, known, k, 0)
        figures = []
        for turn in range(n_turns):
            X, known_classes, target = make(n_rows, turn)
            seconds, megabytes, labels = measure(partial(work, X, known_classes, k, turn))
            figures.append((seconds, megabytes, purity(target, labels), homogeneity(known_classes, labels)))
        seconds, megabytes, right, told = np.mean(figures, axis=0)
        table.add_row(name, f"{seconds:.2f}", f"{megabytes:.0f}", f"{right:.3f}", f"{told:.3f}")
    show(table)


def on_real_tables() -> None:
    """Print what clusters tell of the known classes of scikit-learn's tables, and explain within them."""
    from sklearn.datasets import load_breast_cancer, load_iris, load_wine
    from sklearn.preprocessing import scale

    from mustlink.metrics import homogeneity

    headings = ("k", "NMI with the known", "explained within classes")
    table = new_table("classes of scikit-learn's tables known", "table and clusterer", *headings)
    for title, load in (("wine", load_wine), ("iris", load_iris), ("breast cancer", load_breast_cancer)):
        X, known = load(return_X_y=True)
        X = scale(X)
        for k in (2, 3):
            for name in ("ResidualClustering", "CondEns, k-means", "CCIB", "k-means"):
                labels = OF_POINTS[name](X, known, k, 0)
                told, within = homogeneity(known, labels), explained_within(X, known, labels)
                table.add_row(f"{title}, {name}", str(k), f"{told:.1%}", f"{within:.3f}")
    show(table)


def explained_within(X: Any, known: Any, labels: Any) -> float:
    """Return how much of the variance the clusters explain within the known classes."""

    def scatter(groups: Any) -> float:
        return sum(float(np.square(X[groups == name] - X[groups == name].mean(axis=0)).sum()) for name in set(groups))

    return (scatter(known) - scatter(known * (labels.max() + 1) + labels)) / X.size


def plain_iteration(X: Any, memberships: Any, known: Any, lam: float, beta: float) -> Any:
    """One iteration from the formulas, row by row, on a dense table."""
    rows = np.asarray(X / X.sum(axis=1, keepdims=True))
    n_rows, k = memberships.shape
    joint = np.zeros((k, rows.shape[1], known.max() + 1))
    for x, p, z in zip(rows, memberships, known, strict=True):
        joint[:, :, z] += np.outer(p, x) / n_rows
    share = joint.sum(axis=(1, 2))
    overall = np.log(joint.sum(axis=2) / share[:, None] + 1e-12)
    within = np.log(joint / joint.sum(axis=1, keepdims=True) + 1e-12)
    found = np.zeros_like(memberships)
    for i, (x, z) in enumerate(zip(rows, known, strict=True)):
        exponents = np.log(share) + beta * (lam * overall @ x + within[:, :, z] @ x)
        found[i] = np.exp(exponents - exponents.max())
        found[i] /= found[i].sum()
    return found


def beside_plain(n_texts: int) -> None:
    """Print the time of one iteration, ours and from the formulas, which agree."""
    from mustlink.alternative._annealing import membership_step
    from mustlink.alternative._ccib import build_family

    X, known, _ = make_texts(n_texts, 0)
    order = np.argsort(known, kind="stable")
    X, known = X[order], known[order]
    memberships = np.random.default_rng(0).dirichlet(np.ones(K_TARGET), size=n_texts)
    family = build_family("multinomial", sparse.csr_array(_shares(X)), known, 0.3)
    ours, (found, _) = shortest(lambda: membership_step(family, memberships, 5.0))
    dense = X.toarray()
    plain, expected = shortest(lambda: plain_iteration(dense, memberships, known, 0.3, 5.0), 2)
    table = new_table(f"one iteration on {n_texts:,} texts of {N_TERMS:,} terms", "version", "seconds", "times ours")
    table.add_row("CCIB", f"{ours:.4f}", "1")
    table.add_row("formulas, row by row", f"{plain:.3f}", f"{plain / ours:.0f}")
    show(table, f"largest difference of a membership: {np.abs(found - expected).max():.1e}")


def main() -> None:
    """Run all, or small cases."""
    quick = "--quick" in sys.argv[1:]
    n_texts, n_rows, n_turns = (1_000, 500, 1) if quick else (20_000, 2_000, 5)
    beside_plain(500 if quick else 4_000)
    title = f"{n_texts:,} texts x {N_TERMS:,} terms, {K_KNOWN} known classes, k={K_TARGET}"
    # Residuals are dense, of 800 MB and as much again.
    of_texts = {name: work for name, work in OF_TEXTS.items() if quick or work is not of_residuals}
    compare(f"{title}; asked: CCIB under {MAX_SECONDS} s", make_texts, n_texts, K_TARGET, of_texts, 1)
    on_real_tables()
    compare(
        f"{n_rows:,} points x 12, 3 known classes, k=3, mean of {n_turns}", make_points, n_rows, 3, OF_POINTS, n_turns
    )


if __name__ == "__main__":
    main()
