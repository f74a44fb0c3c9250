"""BalancedClustering and FrequencySensitiveKMeans beside scikit-learn's KMeans on the same rows.

All fits are one after the other in one process, after a small fit of each that excludes compilation. Ratios are to
KMeans with one random start in the same process.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import measure
from benchmarks._show import new_table, show

N_ROWS, N_FEATURES, N_CLUSTERS = 100_000, 16, 20
BALANCE = 0.9


def main(n_rows: int = N_ROWS) -> None:
    """Measure all methods, and print the table."""
    title = f"{n_rows:,} x {N_FEATURES}, {N_CLUSTERS} clusters; BalancedClustering with a balance of {BALANCE:g}"
    headings = ("seconds", "times KMeans", "MB above the data", "inertia / KMeans", "smallest size / mean")
    table = new_table(title, "method", *headings)
    X, small = make_rows(n_rows), make_rows(2_000)
    seconds, inertia = float("nan"), float("nan")
    for name, fit in methods().items():
        fit(small)
        taken, megabytes, model = measure(partial(fit, X))
        means = np.stack([X[model.labels_ == cluster].mean(axis=0) for cluster in range(N_CLUSTERS)])
        cost = float(np.square(X - means[model.labels_]).sum())
        if name == "KMeans":
            seconds, inertia = taken, cost
        smallest = np.bincount(model.labels_, minlength=N_CLUSTERS).min() * N_CLUSTERS / n_rows
        cells = (
            f"{taken:.2f}",
            f"{taken / seconds:.1f}",
            f"{megabytes:.0f}",
            f"{cost / inertia:.3f}",
            f"{smallest:.2f}",
        )
        table.add_row(name, *cells)
    show(table)


def make_rows(n_rows: int) -> Any:
    """Blobs of very different sizes, twice as many as clusters."""
    rng = np.random.default_rng(0)
    centers = 4.0 * rng.normal(size=(2 * N_CLUSTERS, N_FEATURES))
    blob = rng.choice(2 * N_CLUSTERS, size=n_rows, p=rng.dirichlet(np.ones(2 * N_CLUSTERS)))
    return centers[blob] + rng.normal(size=(n_rows, N_FEATURES))


def methods() -> dict[str, Any]:
    """Return what is measured, KMeans first."""
    from sklearn.cluster import KMeans

    from mustlink import BalancedClustering, FrequencySensitiveKMeans

    def balanced(refine: str | None, X: Any) -> Any:
        return BalancedClustering(N_CLUSTERS, balance=BALANCE, refine=refine, random_state=0).fit(X)  # type: ignore[arg-type]

    def sensitive(update: str, X: Any) -> Any:
        return FrequencySensitiveKMeans(N_CLUSTERS, update=update, random_state=0).fit(X)  # type: ignore[arg-type]

    found: dict[str, Any] = {"KMeans": lambda X: KMeans(N_CLUSTERS, n_init=1, random_state=0).fit(X)}
    for refine in ("exact", "moves", None):
        found[f"BalancedClustering, refine={refine}"] = partial(balanced, refine)
    for update in ("none", "batch", "counts", "online", "stream"):
        found[f"FrequencySensitiveKMeans, {update}"] = partial(sensitive, update)
    return found


if __name__ == "__main__":
    main()
