"""The sets and methods of the experiments with RobustBoostCluster, and means of their results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture

from mustlink._types import Array, Ints
from mustlink.active import NPU, MinMax, NoisyOracle, Strategy, ask
from mustlink.boosting import BoostCluster, RobustBoostCluster
from mustlink.metrics import adjusted_rand
from mustlink.reproduce.engine._methods import Labeling, fit_links, score_labels
from mustlink.reproduce.engine._problem import DataSet, Problem, principal_components, standardize
from mustlink.reproduce.engine._results import Results
from mustlink.spectral import ConstraintPropagation

PAPER = "robust"
NAMES = ("iris", "wine", "balance", "wdbc", "vowel", "pendigits3689", "segment", "usps", "ionosphere", "sonar", "glass",
         "ecoli")  # fmt: skip
TITLES = {name: name.replace("pendigits3689", "pendigits 3689") for name in NAMES}
AMOUNTS = (100, 400, 800)
NOISES = (0.0, 0.2, 0.3)
# Of the sets at most so many rows are drawn: in the parts kmeans and bases, in the part fixed, and in the others.
ROWS, FIXED_ROWS, FEWER_ROWS = 800, 1_000, 400
KMEANS, OTHER_BASES = "k-means", ("spectral", "average", "mixture")
PLAIN, RIDGED, DIFFERENCE, PROPAGATION = "plain", "ridged", "difference", "E2CP"
ROBUST = "RobustBoostCluster"
ROBUST_KMEANS = f"{ROBUST} + {KMEANS}"
METHODS_OF_KMEANS = (PLAIN, RIDGED, ROBUST_KMEANS, ROBUST)
METHODS_OF = {base: (base, f"{ROBUST} + {base}") for base in OTHER_BASES}
MINMAX_ANSWERS, NPU_ANSWERS = "MinMax answers", "NPU answers"
# How many columns of noise are added for each column.
WIDENINGS = (0, 3, 20)
# A made table in which few columns tell the classes apart.
WIDE = "wide"
WIDE_ROWS, WIDE_COLUMNS, WIDE_INFORMATIVE, WIDE_DISTANCE = 300, 2_000, 5, 3.0
# A cell counts as below the base alone if its score is lower by more than this.
BELOW = 0.01

Cell = tuple[str, float]  # data set and number of links

BASES: dict[str, Callable[[Problem], Any]] = {
    KMEANS: lambda problem: KMeans(problem.n_clusters, n_init=3, random_state=problem.seed),
    "spectral": lambda problem: SpectralClustering(
        problem.n_clusters, affinity="nearest_neighbors", n_neighbors=10, random_state=problem.seed
    ),
    "average": lambda problem: AgglomerativeClustering(problem.n_clusters, linkage="average"),
    "mixture": lambda problem: GaussianMixture(problem.n_clusters, reg_covar=1e-3, random_state=problem.seed),
}


def make_wide() -> tuple[Array, Ints]:
    """Make two classes that differ in a few of many columns."""
    rng = np.random.RandomState(0)
    y = np.arange(WIDE_ROWS) % 2
    X = rng.standard_normal((WIDE_ROWS, WIDE_COLUMNS))
    X[:, :WIDE_INFORMATIVE] += WIDE_DISTANCE * y[:, np.newaxis]
    return standardize(X), y


SETS = (
    *(DataSet(name, TITLES[name], principal_components if name == "usps" else standardize) for name in NAMES),
    DataSet(WIDE, f"{WIDE_COLUMNS:,} columns", make=make_wide),
)


def widened_name(method: str, times: int) -> str:
    """Return the name of a method on a table with columns of noise."""
    return f"{method}, + {times}x" if times else method


def fit_widened(fit: Callable[[Problem], Labeling], times: int, problem: Problem) -> Labeling:
    """Add columns of standard normal noise, the same for all methods of a trial, before a method is fitted."""
    n_rows, n_columns = problem.X.shape
    noise = np.random.RandomState(problem.shared_seed).standard_normal((n_rows, times * n_columns))
    return fit(replace(problem, X=np.hstack([problem.X, noise])))


def fit_base(base: str, problem: Problem) -> Labeling:
    """The base clusterer alone."""
    labels = BASES[base](problem).fit_predict(problem.X)
    return Labeling(labels, {"ari": adjusted_rand(problem.y, labels)})


def fit_fixed(representation: str, problem: Problem) -> Labeling:
    """BoostCluster of k-means in a fixed representation, on features that are scaled already."""
    model = BoostCluster(BASES[KMEANS](problem), representation=representation, scale=False, random_state=problem.seed)
    return Labeling(model.fit(problem.X, constraints=problem.links).labels_)


def fit_robust(base: str | None, problem: Problem) -> Labeling:
    """RobustBoostCluster on features that are scaled already, and how many of its suspects are wrong links.

    Without a base it is the default, which mixes several.
    """
    model = RobustBoostCluster(
        "auto" if base is None else BASES[base](problem),
        problem.n_clusters,
        scale=False,
        random_state=problem.seed,
    )
    model.fit(problem.X, constraints=problem.links)
    found = [(problem.y[pair.a] == problem.y[pair.b]) != (pair.link == "must") for pair in model.suspects_]
    facts = {
        "ari": adjusted_rand(problem.y, model.labels_),
        "n_links": len(problem.links),
        "n_suspects": len(found),
        "n_found": int(np.sum(found)),
        "n_wrong": int((~problem.links.satisfied(problem.y)).sum()),
        "error_rate": model.error_rate_,
    }
    return Labeling(model.labels_, facts)


def fit_answers(make_strategy: Callable[..., Strategy], problem: Problem) -> Labeling:
    """RobustBoostCluster with the answers to the questions of a strategy, a fraction of them wrong."""
    oracle = NoisyOracle(problem.y, problem.noise, random_state=problem.shared_seed)
    strategy = make_strategy(problem.X, problem.n_clusters, random_state=problem.shared_seed)
    asked = replace(problem, links=ask(strategy, oracle, int(problem.amount)))
    labeling = fit_robust(None, asked)
    return Labeling(labeling.labels, score_labels(asked, labeling.labels) | dict(labeling.facts))


METHODS = {
    PLAIN: partial(fit_base, KMEANS),
    RIDGED: partial(fit_fixed, "ridged"),
    ROBUST: partial(fit_robust, None),
    **{base: partial(fit_base, base) for base in BASES},
    **{f"{ROBUST} + {base}": partial(fit_robust, base) for base in BASES},
    **{
        widened_name(method, times): partial(fit_widened, fit, times)
        for method, fit in ((PLAIN, partial(fit_base, KMEANS)), (ROBUST, partial(fit_robust, None)))
        for times in WIDENINGS[1:]
    },
    DIFFERENCE: partial(fit_fixed, DIFFERENCE),
    PROPAGATION: partial(fit_links, ConstraintPropagation),
    MINMAX_ANSWERS: partial(fit_answers, MinMax),
    NPU_ANSWERS: partial(fit_answers, NPU),
}


def noise_text(noise: float) -> str:
    """Write how many links are wrong."""
    return f"{noise:.0%} wrong" if noise else "all right"


def cell_means(results: Results, score: str, method: str, noise: float, rows: int = ROWS) -> dict[Cell, float]:
    """Return the mean over the trials for every set and number of links."""
    return results.select(method=method, noise=noise, rows=rows).means(score, "dataset", "amount")


def set_means(results: Results, score: str, method: str, amount: float, noise: float = 0.0) -> dict[str, float]:
    """Return the mean over the trials for every set, in the parts with fewer rows."""
    chosen = results.select(method=method, amount=amount, noise=noise, rows=FEWER_ROWS)
    return {name: value for name, value in chosen.means(score, "dataset").items() if not math.isnan(value)}


def sets_below(plain: dict[str, float], other: dict[str, float]) -> list[str]:
    """Return the names of the sets on which a method is clearly worse than the base alone, and by how much."""
    gaps = {name: value - plain.get(name, -math.inf) for name, value in other.items()}
    return [f"{TITLES[name]} ({gap:+.3f})" for name, gap in gaps.items() if gap < -BELOW]
