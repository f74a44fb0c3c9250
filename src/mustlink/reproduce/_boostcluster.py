"""The experiments of BoostCluster."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from mustlink.constraints import Constraints
from mustlink.hierarchy import PartitionThenLink
from mustlink.reproduce._boostcluster_claims import (
    BASES,
    DEFAULT,
    NOISE,
    NOISY_SETS,
    PUBLISHED,
    TITLES,
    curve_claims,
    noise_claims,
    round_claims,
)
from mustlink.reproduce._cell import Cell
from mustlink.reproduce._methods import Method, Outcome, build
from mustlink.reproduce._pictures import Look, curve_panels, round_panels
from mustlink.reproduce._problem import DataSet, Problem, leading_directions, standardised
from mustlink.reproduce._protocol import Part, Picture, Protocol, Sizes
from mustlink.reproduce._results import Results
from mustlink.reproduce._tables import Table, mean_table, score_table
from mustlink.spectral import NormalizedSpectralClustering

__all__ = ["PROTOCOL"]

PAPER = "boostcluster"
HOME = "mustlink.boosting:RobustBoostCluster"
PUBLISHED_HOME = "mustlink.boosting:BoostCluster"
LEAST_OBJECTIVE = 1e-300
"""Nothing is left to learn below this, and 0 has no logarithm."""

SETS = (
    DataSet("wdbc", TITLES["wdbc"], standardised, 5),
    DataSet("balance", TITLES["balance"], standardised, 3),
    DataSet("vowel", TITLES["vowel"], standardised, 5),
    DataSet("segment", TITLES["segment"], standardised, 5),
    DataSet("usps4000", TITLES["usps4000"], leading_directions, 10),
    DataSet("pendigits3689", TITLES["pendigits3689"], standardised, 5),
)


def make_base(name: str, problem: Problem) -> Any:
    """Make one of the three base clusterers."""
    if name == "k-means":
        return KMeans(problem.n_clusters, n_init=3, random_state=problem.seed)
    if name == "SLINK":
        return PartitionThenLink(problem.n_clusters, random_state=problem.seed)
    return NormalizedSpectralClustering(problem.n_clusters, affinity="full", n_init=3, random_state=problem.seed)


def _plain(base: str, problem: Problem) -> Outcome:
    """The base alone."""
    return Outcome(make_base(base, problem).fit(problem.X).labels_)


def _boosted(base: str, published: bool, problem: Problem) -> Outcome:
    """RobustBoostCluster, or BoostCluster as the paper has it; the features are scaled already."""
    settings: dict[str, Any] = {"scale": False}
    if published:
        settings = {"representation": "published", "n_components": problem.n_components}
    home = PUBLISHED_HOME if published else HOME
    model = build(home, estimator=make_base(base, problem), random_state=problem.seed, **settings)
    model.fit(problem.X, constraints=problem.links)
    facts = {"log_objective": log_objective(model), "n_counted": sum(entry["counted"] for entry in model.history_)}
    return Outcome(model.labels_, facts)


def log_objective(model: Any) -> list[float]:
    """Return log L before the first round and after every round."""
    if not model.history_:
        return []
    first = model.history_[0]
    skipped = getattr(model, "representation", None) == "published" and not first["counted"]
    alpha = 0.0 if skipped else first["alpha"]
    # A round divides the must-links it puts together, and multiplies the cannot-links it puts together, by exp(alpha).
    change = (first["must_apart"] + first["must_together"] * math.exp(-alpha)) * (
        first["cannot_apart"] + first["cannot_together"] * math.exp(alpha)
    )
    values = [model.objective_[0] / change, *model.objective_]
    return [math.log(max(value, LEAST_OBJECTIVE)) for value in values]


def _spectrally_learned(base: str, problem: Problem) -> Outcome:
    """The base on the representation of spectral learning."""
    model = build(
        "mustlink.spectral:SpectralLearning",
        n_clusters=problem.n_clusters,
        estimator=make_base(base, problem),
        random_state=problem.seed,
    )
    return Outcome(model.fit(problem.X, constraints=problem.links).labels_)


def _rival(home: str, problem: Problem) -> Outcome:
    """A clusterer of its own."""
    model = build(home, n_clusters=problem.n_clusters, random_state=problem.seed)
    return Outcome(model.fit(problem.X, constraints=problem.links).labels_)


METHODS = (
    *(Method(base, partial(_plain, base)) for base in BASES),
    *(Method(f"{DEFAULT} + {base}", partial(_boosted, base, False), HOME) for base in BASES),
    *(Method(f"{PUBLISHED} + {base}", partial(_boosted, base, True), PUBLISHED_HOME) for base in BASES),
    *(
        Method(f"SpectralLearn + {base}", partial(_spectrally_learned, base), "mustlink.spectral:SpectralLearning")
        for base in BASES
    ),
    Method("MPCKmeans", partial(_rival, "mustlink.kmeans:MPCKMeans"), "mustlink.kmeans:MPCKMeans"),
    Method("SSKK", partial(_rival, "mustlink.kmeans:KernelKMeans"), "mustlink.kmeans:KernelKMeans"),
)
LOOKS = {
    **{base: Look(place, ":") for place, base in enumerate(BASES)},
    **{f"{DEFAULT} + {base}": Look(place, "-", begins_as=base) for place, base in enumerate(BASES)},
    **{f"{PUBLISHED} + {base}": Look(place, "--", begins_as=base) for place, base in enumerate(BASES)},
    **{f"SpectralLearn + {base}": Look(place, "-.") for place, base in enumerate(BASES)},
    "MPCKmeans": Look(3),
    "SSKK": Look(4),
}


def draw_links(y: NDArray[np.int64], cell: Cell) -> Constraints:
    """Draw as many must-links as cannot-links, and turn a share of them into the other kind."""
    if cell.amount == 0:
        return Constraints()
    return Constraints.sample(y, n_pairs=int(cell.amount), noise=cell.noise, random_state=cell.problem_seed)


def _cells(sizes: Sizes, datasets: tuple[str, ...], noise: float) -> Iterator[Cell]:
    """All methods at all amounts; without links, only the bases."""
    for dataset in datasets:
        if dataset not in sizes.datasets:
            continue
        for trial in range(sizes.trials_on(dataset)):
            for method in METHODS:
                amounts = (0, *sizes.amounts) if method.name in BASES else sizes.amounts
                for amount in amounts:
                    yield Cell(PAPER, dataset, method.name, amount, trial, noise, sizes.rows)


def clean_cells(sizes: Sizes) -> Iterator[Cell]:
    """Figures 5 and 6."""
    return _cells(sizes, tuple(TITLES), 0.0)


def noisy_cells(sizes: Sizes) -> Iterator[Cell]:
    """Figure 7."""
    return _cells(sizes, NOISY_SETS, NOISE)


def round_cells(sizes: Sizes) -> Iterator[Cell]:
    """Figure 3: the most links, k-means as base."""
    wanted = {f"{kind} + k-means" for kind in (DEFAULT, PUBLISHED)}
    for cell in clean_cells(sizes):
        if cell.method in wanted and cell.amount == max(sizes.amounts):
            yield cell


def tables(noise: float, scores: dict[str, str], results: Results) -> Iterator[Table]:
    """The curves in figures."""
    chosen = results.select(noise=noise)
    missing = [method.name for method in METHODS if not method.is_here]
    methods = [method.name for method in METHODS]
    for score, name in scores.items():
        turned = f", {noise:.0%} of the links wrong" if noise else ""
        title = f"{name}{turned}: all points (points in no link)"
        yield score_table(chosen, title, score, datasets=TITLES, methods=methods, missing=missing)
        n_sets = len(chosen.unique("dataset"))
        yield mean_table(chosen, f"Mean {name} over {n_sets} sets{turned}", score, methods)


def pictures(number: int, noise: float, scores: dict[str, str], results: Results) -> Iterator[Picture]:
    """One figure for all points and one for the points in no link, for each score."""
    chosen = results.select(noise=noise)
    turned = f", {noise:.0%} of the links wrong" if noise else ""
    for score, name in scores.items():
        for ending, where in (("", "all points"), ("_unconstrained", "points in no link")):
            file = f"figure{number}" + (f"-{score.split('_')[-1]}" if len(scores) > 1 else "")
            yield Picture(
                file + ("-unlinked" if ending else ""),
                f"Figure {number}: {name} on {where} against the number of links{turned}.",
                partial(
                    curve_panels,
                    chosen,
                    score + ending,
                    TITLES,
                    LOOKS,
                    axis_titles=("number of links", f"{name}, {where}"),
                ),
            )


def objective_pictures(results: Results) -> Iterator[Picture]:
    """Figure 3, for every data set."""
    clean = results.select(noise=0.0)
    most = max(clean.amounts(), default=0)
    looks = {f"{PUBLISHED} + k-means": Look(1, "--"), f"{DEFAULT} + k-means": Look(0)}
    panels: dict[str, dict[str, list[list[float]]]] = {}
    for dataset, title in TITLES.items():
        runs = {
            method: [run for run in clean.values("log_objective", dataset=dataset, method=method, amount=most) if run]
            for method in looks
        }
        if any(runs.values()):
            panels[title] = {method: found for method, found in runs.items() if found}
    yield Picture(
        "figure3",
        f"Figure 3: the logarithm of the objective against the rounds, {most:g} links; one thin line per trial, and "
        "their mean. A run ends early when the same weights give the same clusters again. After a third of "
        "the rounds BoostCluster looks at the links again, and begins anew with another trust in them.",
        partial(round_panels, panels, looks, axis_titles=("rounds", "log of the objective")),
    )


NMI, F1 = {"nmi": "NMI"}, {"pairwise_f1": "Pairwise F1"}
PROTOCOL = Protocol(
    name=PAPER,
    title="BoostCluster: boosting clustering by pairwise constraints",
    source="Y. Liu, R. Jin and A. K. Jain, BoostCluster: Boosting Clustering by Pairwise Constraints, KDD 2007.",
    intro=(
        "Half of the links are must-links, half cannot-links, 25 rounds. Each base (k-means; SLINK: k-means into "
        "sqrt(n) parts, then single link between their centres; SPEC: Ng, Jordan and Weiss with local scales) is run "
        "alone, boosted as this library does by default, and boosted as the paper writes it ('as published', with the "
        "paper's number of directions). Features are standardised; handwrittendigit is 400 images of each digit of "
        "usps in 50 principal directions; pendigit is digits 3, 6, 8 and 9."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=draw_links,
    parts=(
        Part("3", "Figure 3", round_cells, pictures=objective_pictures, claims=round_claims()),
        Part("5", "Figure 5", clean_cells, partial(tables, 0.0, NMI), partial(pictures, 5, 0.0, NMI), curve_claims()),
        Part("6", "Figure 6", clean_cells, partial(tables, 0.0, F1), partial(pictures, 6, 0.0, F1), curve_claims()),
        Part(
            "7",
            "Figure 7",
            noisy_cells,
            partial(tables, NOISE, NMI | F1),
            partial(pictures, 7, NOISE, NMI | F1),
            noise_claims(),
        ),
    ),
    quick=Sizes(
        datasets=tuple(TITLES),
        amounts=(100, 200, 400, 800),
        trials=3,
        rows=800,
        note="Quick run: 3 trials; of the sets with more than 800 rows (all but wdbc and scale), 800 drawn at random.",
    ),
    full=Sizes(
        datasets=tuple(TITLES),
        amounts=(100, 200, 300, 400, 500, 600, 700, 800),
        trials=5,
        note="5 trials on all rows, as in the paper.",
    ),
)
