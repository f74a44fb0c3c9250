"""The experiments of boosting with doubt: how far RobustBoostCluster is right to trust the links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture

from mustlink.constraints import Constraints
from mustlink.reproduce._cell import Cell
from mustlink.reproduce._doubt_claims import BASES_CLAIMS, FIXED_CLAIMS, KMEANS_CLAIMS
from mustlink.reproduce._doubt_reference import FIXED, TITLES
from mustlink.reproduce._doubt_tables import (
    CASES,
    FIXED_FORM,
    FIXED_PLAIN,
    FIXED_ROWS,
    METRICS,
    NOISES,
    OTHER_BASES,
    base_tables,
    fixed_tables,
    kmeans_tables,
)
from mustlink.reproduce._methods import Method, Outcome, build
from mustlink.reproduce._pictures import Look, curve_panels
from mustlink.reproduce._problem import DataSet, Problem, leading_directions, standardised
from mustlink.reproduce._protocol import Part, Picture, Protocol, Sizes
from mustlink.reproduce._results import Results

__all__ = ["PROTOCOL"]

PAPER = "doubt"
HOME = "mustlink.boosting:RobustBoostCluster"
FIXED_HOME = "mustlink.boosting:BoostCluster"
KMEANS = "k-means"
SETS = tuple(
    DataSet(name, title, leading_directions if name == "usps" else standardised) for name, title in TITLES.items()
)
LOOKS = {"auto": Look(0), "ridged": Look(1, "--"), "plain": Look(6, ":")}
BASES: dict[str, Callable[[Problem], Any]] = {
    KMEANS: lambda problem: KMeans(problem.n_clusters, n_init=3, random_state=problem.seed),
    "spectral": lambda problem: SpectralClustering(
        problem.n_clusters, affinity="nearest_neighbors", n_neighbors=10, random_state=problem.seed
    ),
    "average": lambda problem: AgglomerativeClustering(problem.n_clusters, linkage="average"),
    "mixture": lambda problem: GaussianMixture(problem.n_clusters, reg_covar=1e-3, random_state=problem.seed),
}


def _plain(base: str, problem: Problem) -> Outcome:
    """The base alone."""
    return Outcome(BASES[base](problem).fit_predict(problem.X))


def _boosted(base: str, metric: str, problem: Problem) -> Outcome:
    """RobustBoostCluster on features that are scaled already, and how well its suspects are chosen; or BoostCluster."""
    settings = {"estimator": BASES[base](problem), "scale": False, "random_state": problem.seed}
    if metric != "auto":
        model = build(FIXED_HOME, representation=metric, **settings)
        return Outcome(model.fit(problem.X, constraints=problem.links).labels_)
    model = build(HOME, **settings)
    model.fit(problem.X, constraints=problem.links)
    found = [(problem.y[pair.a] == problem.y[pair.b]) != (pair.link == "must") for pair in model.suspects_]
    facts = {
        "n_suspects": len(found),
        "n_found": int(np.sum(found)),
        "n_wrong": int((~problem.links.satisfied(problem.y)).sum()),
        "error_rate": model.error_rate_,
    }
    return Outcome(model.labels_, facts)


METHODS = (
    Method("plain", partial(_plain, KMEANS)),
    *(Method(metric, partial(_boosted, KMEANS, metric), HOME) for metric in METRICS if metric != "plain"),
    *(Method(base, partial(_plain, base)) for base in OTHER_BASES),
    *(Method(f"auto + {base}", partial(_boosted, base, "auto"), HOME) for base in OTHER_BASES),
    Method(FIXED_PLAIN, partial(_plain, KMEANS)),
    Method(FIXED_FORM, partial(_boosted, KMEANS, "difference"), HOME),
)


def draw_links(y: NDArray[np.int64], cell: Cell) -> Constraints:
    """Draw as many must-links as cannot-links, and turn a share of them into the other kind."""
    if cell.amount == 0:
        return Constraints()
    return Constraints.sample(y, n_pairs=int(cell.amount), noise=cell.noise, random_state=cell.problem_seed)


def kmeans_cells(sizes: Sizes) -> Iterator[Cell]:
    """The default, the best fixed form and k-means itself, on right links and with 20% and 30% wrong ones."""
    for dataset in sizes.datasets:
        for noise in NOISES:
            for trial in range(sizes.trials_on(KMEANS)):
                for amount in sizes.amounts:
                    for method in METRICS:
                        yield Cell(PAPER, dataset, method, amount, trial, noise, sizes.rows)


def base_cells(sizes: Sizes) -> Iterator[Cell]:
    """Other bases, alone and boosted; each has its own number of trials."""
    for base in OTHER_BASES:
        for dataset in sizes.datasets:
            for noise in NOISES[:2]:
                for trial in range(sizes.trials_on(base)):
                    for amount in sizes.amounts:
                        for method in (base, f"auto + {base}"):
                            yield Cell(PAPER, dataset, method, amount, trial, noise, sizes.rows)


def fixed_cells(sizes: Sizes) -> Iterator[Cell]:
    """The difference form, on at most 1,000 rows."""
    for dataset in FIXED:
        if dataset in sizes.datasets:
            for trial in range(sizes.trials):
                for method, amount, noise in CASES:
                    yield Cell(PAPER, dataset, method, amount, trial, noise, FIXED_ROWS)


def kmeans_pictures(results: Results) -> Iterator[Picture]:
    """NMI against the number of links, one figure per share of wrong links."""
    for noise in NOISES:
        chosen = Results(record for record in results.select(noise=noise) if record.cell.method in LOOKS)
        wrong = f"{noise:.0%} of the links wrong" if noise else "all links right"
        yield Picture(
            f"kmeans-{noise:.0%}".rstrip("%"),
            f"NMI on all points against the number of links, k-means as base, {wrong}.",
            partial(curve_panels, chosen, "nmi", TITLES, LOOKS, axis_titles=("number of links", "NMI, all points")),
        )


PROTOCOL = Protocol(
    name=PAPER,
    title="Boosting with doubt: RobustBoostCluster",
    source="Our own method; the reference figures are those of its prototype, on other draws of rows and links.",
    intro=(
        "Half of the links are must-links, half cannot-links; a share of all is turned into the other kind. Plain is "
        "the base alone, ridged the best fixed form, auto the default. Of every set at most 800 rows, drawn for each "
        "trial; features standardised, usps raw in 50 principal directions. Bases: k-means with three starts; spectral "
        "clustering of the graph of ten neighbours; average link; a Gaussian mixture of full covariances. The table of "
        "the difference form has at most 1,000 rows, as its reference has. None of these draws was used to choose "
        "anything in the method. The five further sets of the reference are not named there, and left out."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=draw_links,
    parts=(
        Part("kmeans", "k-means as base", kmeans_cells, kmeans_tables, kmeans_pictures, KMEANS_CLAIMS),
        Part("bases", "other bases", base_cells, base_tables, claims=BASES_CLAIMS),
        Part("fixed", "the difference form", fixed_cells, fixed_tables, claims=FIXED_CLAIMS),
    ),
    quick=Sizes(
        datasets=tuple(TITLES),
        amounts=(100, 400, 800),
        trials=5,
        rows=800,
        special_trials=dict.fromkeys(OTHER_BASES, 1),
        note="Quick run: 5 trials with k-means as base, 1 with the other bases.",
    ),
    full=Sizes(
        datasets=tuple(TITLES),
        amounts=(100, 400, 800),
        trials=5,
        rows=800,
        special_trials={KMEANS: 20},
        note="20 trials with k-means as base, 5 otherwise. The reference has 5.",
    ),
)
