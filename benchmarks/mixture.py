"""An iteration of the mixtures with links beside one of scikit-learn's GaussianMixture, with and without links.

All start from the same rows and make the same number of iterations; the time of one is the difference of a long and a
short fit. The fits alternate in one process, after a small fit that excludes compilation. Matrix products have one
thread: scikit-learn's take several times as long with more threads than free cores, and ours never take more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks._measure import clock, measure
from benchmarks._show import new_table, show

N_ROWS, N_FEATURES, N_COMPONENTS, N_LINKS, N_TURNS = 100_000, 10, 10, 5_000, 3
SHORT, LONG = 1, 6
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


def main() -> None:
    from sklearn.datasets import make_blobs
    from threadpoolctl import threadpool_limits

    from mustlink import Constraints

    X, classes = make_blobs(N_ROWS, N_FEATURES, centers=N_COMPONENTS, cluster_std=3.0, random_state=0)
    links = Constraints.sample(classes, n_pairs=N_LINKS, random_state=0)
    # Fits that are cut off after a few iterations warn.
    warnings.simplefilter("ignore")
    for fit in CONTENDERS.values():
        fit(X[:300], Constraints.sample(classes[:300], n_pairs=30, random_state=0), "full", SHORT)
    title = (
        f"{N_ROWS:,} x {N_FEATURES}, {N_COMPONENTS} components, {N_LINKS:,} links, best of {N_TURNS} turns; target: at "
        "most 1.2 times scikit-learn, 2 times with links"
    )
    table = new_table(title, "covariances", "mixture", "ms per iteration", "times scikit-learn", "MB above the data")
    for covariance_type in COVARIANCE_TYPES:
        seconds: dict[str, list[list[float]]] = {name: [] for name in CONTENDERS}
        with threadpool_limits(1):
            for _ in range(N_TURNS):
                for name, fit in CONTENDERS.items():
                    work = [partial(fit, X, links, covariance_type, n_iter) for n_iter in (SHORT, LONG)]
                    seconds[name].append([clock(one)[0] for one in work])
        times = {name: per_iteration(found) for name, found in seconds.items()}
        for name, fit in CONTENDERS.items():
            megabytes = measure(partial(fit, X, links, covariance_type, SHORT))[1]
            ratio = times[name] / times["scikit-learn"]
            table.add_row(covariance_type, name, f"{1e3 * times[name]:.0f}", f"{ratio:.2f}", f"{megabytes:.0f}")
    show(table)


def per_iteration(seconds: list[list[float]]) -> float:
    """The time of an iteration, from the shortest of the short and of the long fits."""
    short, long = (min(found) for found in zip(*seconds, strict=True))
    return (long - short) / (LONG - SHORT)


def fit_scikit_learn(X: Any, links: Any, covariance_type: str, n_iter: int) -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(N_COMPONENTS, covariance_type=covariance_type, max_iter=n_iter, **SHARED).fit(X)


def fit_ours(X: Any, links: Any, covariance_type: str, n_iter: int, *, use_links: bool, soft: bool = False) -> Any:
    from mustlink import ConstrainedGaussianMixture, PenalizedGaussianMixture

    mixture = PenalizedGaussianMixture if soft else ConstrainedGaussianMixture
    clusterer = mixture(N_COMPONENTS, covariance_type=covariance_type, max_iter=n_iter, **SHARED)
    return clusterer.fit(X, constraints=links if use_links else None)


SHARED: dict[str, Any] = {"tol": 0.0, "init_params": "random_from_data", "random_state": 0}
CONTENDERS: dict[str, Callable[..., Any]] = {
    "scikit-learn": fit_scikit_learn,
    "ours": partial(fit_ours, use_links=False),
    "ours, with hard links": partial(fit_ours, use_links=True),
    "ours, with soft links": partial(fit_ours, use_links=True, soft=True),
}


if __name__ == "__main__":
    main()
