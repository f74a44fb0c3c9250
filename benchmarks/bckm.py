"""BoostedConstrainedKMeans beside the times of its paper and the scores of a trial, and its growth with the rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale

from benchmarks._measure import clock, shortest
from mustlink import Constraints
from mustlink.boosting import BoostedConstrainedKMeans, DistBoost
from mustlink.datasets import load
from mustlink.errors import DataNotFoundError
from mustlink.kmeans import PriorityCOPKMeans
from mustlink.metrics import normalized_mutual_info

# Seconds at 500 pairs: set, constrained k-means, boosted, DistBoost.
PUBLISHED = (("iris", 0.05, 3.10, 17.29), ("glass", 0.06, 5.56, 14.96), ("wdbc", 0.18, 18.13, 131.34))
ASKED_SECONDS = 0.5
ASKED_SLOPE = 1.1

# What a trial reached at 300 and at 500 random pairs, mean of five sets of links; the lower end where it gave a range.
TRIAL = {
    "iris": (0.97, 1.00),
    "wine": (0.57, 0.70),
    "wine, standardized": (1.00, 1.00),
    "parkinsons": (0.46, 0.66),
    "sonar": (0.70, 0.93),
    "segment210": (0.52, 0.61),
    "glass": (0.41, 0.51),
    "ionosphere": (0.52, 0.61),
    "wdbc": (0.61, 0.76),
    "balance": (0.37, 0.44),
}
ALLOWED_BELOW = 0.03
# The trial had five; with so few, chance alone moves some means by more than what is allowed.
LINK_SETS = 20
# The minimum number of rows outside the links for a score.
MIN_FREE_ROWS = 10

METHODS: dict[str, Callable[[int, int], Any]] = {
    "BCKM": lambda k, seed: BoostedConstrainedKMeans(k, random_state=seed),
    "x 2": lambda k, seed: BoostedConstrainedKMeans(k, n_rounds=200, random_state=seed),
    "RCKM": lambda k, seed: BoostedConstrainedKMeans(k, priorities="random", random_state=seed),
    "CKM": lambda k, seed: PriorityCOPKMeans(k, init="random", random_state=seed),
}


def main() -> None:
    beside_the_paper()
    growth_with_the_rows()
    beside_the_trial()


def load_set(name: str) -> tuple[Any, Any] | None:
    """Load a set with its own scales, or standardized if its name ends so; None, with a message, if it is missing."""
    plain = name.removesuffix(", standardized")
    try:
        X, y = load(plain, return_X_y=True, source="folder")
    except DataNotFoundError as reason:
        print(f"{name:20s} skipped: {reason}")
        return None
    return (X if plain == name else scale(X)), y


def beside_the_paper() -> None:
    """Print the times of 100 rounds beside those of Table II, on whatever machine this is."""
    print(f"100 rounds, 500 random pairs, in seconds; asked: under {ASKED_SECONDS} for the boosted k-means")
    print(f"{'':38s}{'ours':>9s}{'paper':>9s}{'ratio':>9s}{'rounds':>8s}")
    for name, *published in PUBLISHED:
        loaded = load_set(name)
        if loaded is None:
            continue
        X, y = loaded
        k = len(np.unique(y))
        links, wrong = (Constraints.sample(y, 500, balanced=False, noise=noise, random_state=0) for noise in (0, 0.1))
        # Some of these end early with a round that breaks no link; wrong links see to it that all rounds are made.
        models = (
            ("CKM", PriorityCOPKMeans(k, random_state=0), links, published[0]),
            ("BCKM", BoostedConstrainedKMeans(k, random_state=0), links, published[1]),
            ("BCKM, 10% of the links wrong", BoostedConstrainedKMeans(k, random_state=0), wrong, published[1]),
            ("DistBoost", DistBoost(k, random_state=0), links, published[2]),
        )
        for method, model, given, theirs in models:
            fit = partial(model.fit, X, constraints=given)
            fit()  # takes compiling out of the figures
            ours, _ = shortest(fit, 1 if method == "DistBoost" else 3)
            verdict = "" if not method.startswith("BCKM") else "  met" if ours < ASKED_SECONDS else "  NOT met"
            rounds = "" if method == "CKM" else f"{model.n_iter_}"
            print(f"{name:8s}{method:<30s}{ours:9.4f}{theirs:9.2f}{theirs / ours:8.0f}x{rounds:>8s}{verdict}")


def growth_with_the_rows() -> None:
    """Print the time of 100 rounds for more and more rows, and the slope of its logarithm."""
    print("\n100 rounds, 16 features, 10 clusters, 500 pairs among 60 rows, a fifth of them wrong")
    sizes, times = (1_000, 3_000, 10_000, 30_000, 100_000), []
    print(f"{'rows':>10s}{'seconds':>10s}{'assignments':>13s}{'ns a row and assignment':>25s}")
    for n in sizes:
        X, y = make_blobs(n, n_features=16, centers=10, cluster_std=6.0, random_state=0)
        # Contradictory links among few rows, because a round that breaks no link would end the boosting.
        links = Constraints.sample(y[:60], 500, balanced=False, noise=0.2, random_state=0)
        model = BoostedConstrainedKMeans(10, random_state=0)
        model.set_params(n_rounds=1).fit(X, constraints=links)
        model.set_params(n_rounds=100)
        times.append(clock(partial(model.fit, X, constraints=links))[0])
        n_assignments = sum(entry["n_iter"] for entry in model.history_)
        print(f"{n:10,d}{times[-1]:10.2f}{n_assignments:13,.0f}{times[-1] / n / n_assignments * 1e9:25.1f}")
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    last = float(np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2]))
    verdict = "met" if slope <= ASKED_SLOPE else "NOT met"
    print(f"log-log slope {slope:.2f} ({last:.2f} over the last step); asked: at most {ASKED_SLOPE}: {verdict}")


def beside_the_trial() -> None:
    """Print NMI on all rows, with its standard error, and on rows in no link, beside the trial's."""
    print(f"\nNMI and its standard error, and NMI on the rows in no link; raw features, {LINK_SETS} sets of links")
    print(f"BCKM to be at most {ALLOWED_BELOW} below the trial; x 2 is BCKM with 200 rounds")
    print(f"{'':20s}{'pairs':>6s}{'trial':>6s}" + "".join(f"{method:>7s}{'+-':>5s}{'free':>6s}" for method in METHODS))
    means: dict[tuple[int, str], list[float]] = {}
    for name, trial in TRIAL.items():
        loaded = load_set(name)
        if loaded is None:
            continue
        for n_pairs, expected in zip((300, 500), trial, strict=True):
            line, verdict = "", ""
            for method in METHODS:
                mean, error, free = scores(method, *loaded, n_pairs)
                line += f"{mean:7.2f}{error:5.2f}{free:6.2f}"
                if method == "BCKM" and mean < expected - ALLOWED_BELOW:
                    verdict = "  below"
                if not name.endswith("standardized"):
                    means.setdefault((n_pairs, method), []).append(mean)
            print(f"{name:20s}{n_pairs:6d}{expected:6.2f}{line}{verdict}")
    for (n_pairs, method), values in means.items():
        print(f"mean of {len(values)} raw sets, {n_pairs} pairs, {method:5s}{np.mean(values):6.3f}")


def scores(method: str, X: Any, y: Any, n_pairs: int) -> tuple[float, float, float]:
    """Return the mean NMI on all rows, its standard error, and the mean on rows in no link, NaN where they are few."""
    on_all, on_free = [], []
    for seed in range(LINK_SETS):
        links = Constraints.sample(y, n_pairs, balanced=False, random_state=seed)
        labels = METHODS[method](len(np.unique(y)), seed).fit(X, constraints=links).labels_
        on_all.append(normalized_mutual_info(y, labels))
        if len(y) - len(links.constrained_rows()) >= MIN_FREE_ROWS:
            on_free.append(normalized_mutual_info(y, labels, constraints=links))
    error = float(np.std(on_all, ddof=1) / np.sqrt(LINK_SETS))
    return float(np.mean(on_all)), error, float(np.mean(on_free)) if on_free else float("nan")


if __name__ == "__main__":
    main()
