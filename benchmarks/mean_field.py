"""MeanFieldMixture: an iteration beside one of scikit-learn's GaussianMixture, and a grid of sites by mean field.

The fits alternate in one process, after a small fit that excludes compilation. Matrix products have one thread.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from benchmarks._measure import clock, measure, shortest
from benchmarks._show import new_table, show

N_ROWS, N_FEATURES, N_COMPONENTS, N_LINKS, N_TURNS = 100_000, 10, 10, 5_000, 3
SHORT, LONG = 1, 6
N_SITES, PENALTY = 101, 1.0


def main() -> None:
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        compare_iterations()
        time_grid()


def compare_iterations() -> None:
    """Measure the time of an iteration with links, as a ratio to scikit-learn's without."""
    from sklearn.datasets import make_blobs

    from mustlink import Constraints

    X, classes = make_blobs(N_ROWS, N_FEATURES, centers=N_COMPONENTS, cluster_std=3.0, random_state=0)
    links = Constraints.sample(classes, n_pairs=N_LINKS, random_state=0)
    fits = {"scikit-learn": fit_scikit_learn, "MeanFieldMixture": fit_mean_field}
    for fit in fits.values():
        fit(X[:300], Constraints.sample(classes[:300], n_pairs=30, random_state=0), SHORT)
    seconds: dict[str, list[list[float]]] = {name: [] for name in fits}
    for _ in range(N_TURNS):
        for name, fit in fits.items():
            seconds[name].append([clock(partial(fit, X, links, n_iter))[0] for n_iter in (SHORT, LONG)])
    table = new_table(
        f"{N_ROWS:,} x {N_FEATURES}, {N_COMPONENTS} components, {N_LINKS:,} links; target: at most 2 times",
        "mixture",
        "ms per iteration",
        "times scikit-learn",
        "MB above the data",
    )
    times = {name: per_iteration(found) for name, found in seconds.items()}
    for name, fit in fits.items():
        megabytes = measure(partial(fit, X, links, SHORT))[1]
        ratio = times[name] / times["scikit-learn"]
        table.add_row(name, f"{1e3 * times[name]:.0f}", f"{ratio:.2f}", f"{megabytes:.0f}")
    show(table)


def per_iteration(seconds: list[list[float]]) -> float:
    """The time of an iteration, from the shortest of the short and of the long fits."""
    short, long = (min(found) for found in zip(*seconds, strict=True))
    return (long - short) / (LONG - SHORT)


def fit_scikit_learn(X: Any, links: Any, n_iter: int) -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(N_COMPONENTS, max_iter=n_iter, **SHARED).fit(X)


def fit_mean_field(X: Any, links: Any, n_iter: int) -> Any:
    from mustlink import MeanFieldMixture

    # With a choice of the penalty, which is the default, many mixtures would be fitted.
    given = {"eta": 1.0, "penalty": 1_000.0, "n_init": 1}
    return MeanFieldMixture(N_COMPONENTS, max_iter=n_iter, **given, **SHARED).fit(X, constraints=links)


def time_grid() -> None:
    """Fit the sites of an image whose neighbors are linked, with the default number of starts and with one."""
    from mustlink import MeanFieldMixture
    from mustlink.mixture import grid_links
    from mustlink.reproduce.papers._ch05_data import mondrian_sites

    X, _ = mondrian_sites()
    links = grid_links((N_SITES, N_SITES))
    table = new_table(
        f"{N_SITES} x {N_SITES} sites, 24 features, 5 components, neighbors linked; target: under 5 s",
        "starts",
        "seconds",
        "iterations of the kept run",
    )
    for n_init in (1, 3):
        model = MeanFieldMixture(
            5, penalty=PENALTY, inference="mean_field", reg_covar=1e-3, n_init=n_init, random_state=0
        )
        seconds, fitted = shortest(partial(model.fit, X, constraints=links))
        table.add_row(str(n_init), f"{seconds:.1f}", str(fitted.n_iter_))
    show(table)


SHARED: dict[str, Any] = {"tol": 0.0, "init_params": "random_from_data", "random_state": 0}


if __name__ == "__main__":
    main()
