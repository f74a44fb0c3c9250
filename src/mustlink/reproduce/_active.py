"""How many questions a strategy needs: the papers on asking, on scikit-learn's own data sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.active import NPU, Consolidate, MinMax, RandomPairs, Strategy, TruthOracle, ask
from mustlink.constraints import Constraints
from mustlink.metrics import adjusted_rand
from mustlink.reproduce._cell import Cell
from mustlink.reproduce._claims import counted, listed, needs, text_of
from mustlink.reproduce._methods import FEWEST_UNLINKED, Method, Outcome, agreement, build, find_class
from mustlink.reproduce._pictures import Look, run_panels
from mustlink.reproduce._problem import DataSet, Problem, standardised
from mustlink.reproduce._protocol import Claim, Part, Picture, Protocol, Sizes, Verdict
from mustlink.reproduce._results import Results
from mustlink.reproduce._tables import Table, figure_text

__all__ = ["PROTOCOL"]

PAPER = "active"
TARGET = 0.9
N_STEPS = 30
"""The rows are clustered after so many equal portions of the questions."""

SETS = (
    DataSet("iris", "iris", standardised),
    DataSet("wine", "wine", standardised),
    DataSet("digits", "digits", standardised),
)
TITLES = {data.name: data.title for data in SETS}
QUESTIONS = {"iris": 150, "wine": 150, "digits": 1500}
RANDOM, CONSOLIDATE, MINMAX, UNCERTAIN = "random pairs", "Explore + Consolidate", "Explore + MinMax", "NPU"
STRATEGIES = (RANDOM, CONSOLIDATE, MINMAX, UNCERTAIN)
CLUSTERERS = {"PCKMeans": "mustlink.kmeans:PCKMeans", "MPCKMeans": "mustlink.kmeans:MPCKMeans"}
LOOKS = {RANDOM: Look(6, ":"), CONSOLIDATE: Look(0), MINMAX: Look(1), UNCERTAIN: Look(3)}


def make_strategy(name: str, problem: Problem) -> Strategy:
    """Make a strategy by its name."""
    table = (problem.X, problem.n_clusters)
    if name == UNCERTAIN:
        # A forest after every row that found its place would take most of an hour.
        return NPU(*table, every=max(4, len(problem.y) // 75), random_state=problem.shared_seed)
    makers = {RANDOM: RandomPairs, CONSOLIDATE: Consolidate, MINMAX: MinMax}
    return makers[name](*table, random_state=problem.shared_seed)


def run(strategy_name: str, problem: Problem) -> Outcome:
    """Ask and cluster, a portion of the questions at a time, and score each clustering."""
    strategy, oracle = make_strategy(strategy_name, problem), TruthOracle(problem.y)
    stops = sorted({round(problem.amount * step / N_STEPS) for step in range(N_STEPS + 1)})
    here = {name: home for name, home in CLUSTERERS.items() if find_class(home) is not None}
    runs: dict[str, list[float]] = {f"{name}_{score}": [] for name in here for score in ("ari", "unlinked")}
    labels: dict[str, NDArray[Any]] = {}
    for stop in stops:
        links = ask(strategy, oracle, max(0, stop - strategy.n_asked))
        n_free = len(problem.y) - len(links.constrained_rows())
        for name, home in here.items():
            model = build(home, n_clusters=problem.n_clusters, random_state=problem.shared_seed)
            labels[name] = model.fit(problem.X, constraints=links).labels_
            free = adjusted_rand(problem.y, labels[name], constraints=links) if n_free >= FEWEST_UNLINKED else math.nan
            runs[f"{name}_ari"].append(adjusted_rand(problem.y, labels[name]))
            runs[f"{name}_unlinked"].append(free)
    needed_by = {
        f"{name}_{fact}": find(stops, runs[f"{name}_ari"])
        for name in here
        for fact, find in (("first", _first), ("stays", _from_then_on))
    }
    told = agreement(replace(problem, links=links), labels["PCKMeans"])
    return Outcome(labels["PCKMeans"], told | {"asked": stops} | runs | needed_by)


def _first(stops: list[int], scores: list[float]) -> int | None:
    """Return the number of questions after which the target is first reached."""
    return next((stop for stop, score in zip(stops, scores, strict=True) if score >= TARGET), None)


def _from_then_on(stops: list[int], scores: list[float]) -> int | None:
    """Return the number of questions from which on the score is never again below the target."""
    below = [place for place, score in enumerate(scores) if score < TARGET]
    after = below[-1] + 1 if below else 0
    return stops[after] if after < len(stops) else None


METHODS = tuple(Method(strategy, partial(run, strategy)) for strategy in STRATEGIES)


def draw_links(y: NDArray[np.int64], cell: Cell) -> Constraints:
    """Begin with no links: they come by asking."""
    return Constraints()


def cells_of(sizes: Sizes) -> Iterator[Cell]:
    """One run of all questions per set, strategy and trial."""
    for dataset in sizes.datasets:
        for trial in range(sizes.trials_on(dataset)):
            for strategy in STRATEGIES:
                yield Cell(PAPER, dataset, strategy, QUESTIONS[dataset], trial)


def needed(results: Results, dataset: str, strategy: str, fact: str = "PCKMeans_stays") -> float:
    """Return the median over the trials of the questions needed; infinite if most trials never got there."""
    chosen = [record.scores for record in results.select(dataset=dataset, method=strategy) if fact in record.scores]
    found = [math.inf if scores[fact] is None else scores[fact] for scores in chosen]
    return float(np.median(found)) if found else math.nan


def mean_run(results: Results, dataset: str, strategy: str, fact: str) -> list[float]:
    """Return the mean over the trials after each portion of the questions; NaN where no trial has a score."""
    runs = results.values(fact, dataset=dataset, method=strategy)
    means = []
    for column in zip(*runs, strict=True):
        known = [value for value in column if value is not None]
        # Where most trials have no score, the mean of the rest would tell of other problems.
        means.append(sum(known) / len(known) if 2 * len(known) > len(column) else math.nan)
    return means


def tables_of(clusterer: str, results: Results) -> Iterator[Table]:
    """The questions needed, and the curves in figures."""
    rows = []
    for dataset, title in TITLES.items():
        for strategy in STRATEGIES:
            facts = [needed(results, dataset, strategy, f"{clusterer}_{fact}") for fact in ("first", "stays")]
            if not math.isnan(facts[0]):
                counts = [_count_text(count, dataset) for count in facts]
                rows.append((title if strategy == STRATEGIES[0] else "", strategy, *counts))
    yield Table(
        f"Questions until the adjusted Rand index of {clusterer} is {TARGET}",
        ("set", "strategy", "first reached after", "never below from"),
        tuple(rows),
        f"Median over the trials; the rows are clustered after each of {N_STEPS} equal portions of the questions.",
    )
    for dataset, title in TITLES.items():
        yield _curve_table(clusterer, results, dataset, title)


def _count_text(count: float, dataset: str) -> str:
    """Write a number of questions."""
    return f"not within {QUESTIONS[dataset]}" if math.isinf(count) else f"{count:g}"


def _curve_table(clusterer: str, results: Results, dataset: str, title: str) -> Table:
    """Lay out the scores on one set after some numbers of questions."""
    places = range(0, N_STEPS + 1, N_STEPS // 6)
    rows = []
    for strategy in STRATEGIES:
        curves = [mean_run(results, dataset, strategy, f"{clusterer}_{score}") for score in ("ari", "unlinked")]
        if curves[0]:
            entries = (f"{figure_text(curves[0][place])} ({figure_text(curves[1][place])})" for place in places)
            rows.append((strategy, *entries))
    header = ("questions", *(f"{QUESTIONS[dataset] * place // N_STEPS}" for place in places))
    return Table(f"Adjusted Rand index of {clusterer} on {title} (on points in no link)", header, tuple(rows))


def pictures_of(clusterer: str, results: Results) -> Iterator[Picture]:
    """The score against the number of questions, on all points and on those in no link."""
    for score, name, where in (
        ("ari", "questions", "all points"),
        ("unlinked", "questions-unlinked", "points in no link"),
    ):
        panels = {}
        for dataset, title in TITLES.items():
            runs = {strategy: mean_run(results, dataset, strategy, f"{clusterer}_{score}") for strategy in STRATEGIES}
            stops = [QUESTIONS[dataset] * step / N_STEPS for step in range(N_STEPS + 1)]
            panels[title] = {strategy: (stops, values) for strategy, values in runs.items() if values}
        panels = {title: curves for title, curves in panels.items() if curves}
        if panels:
            axis_titles = ("number of questions", f"adjusted Rand index, {where}")
            yield Picture(
                f"{clusterer.lower()}-{name}",
                f"Adjusted Rand index of {clusterer} on {where} against the number of questions; mean over the trials.",
                partial(run_panels, panels, LOOKS, level=TARGET, axis_titles=axis_titles),
            )


def judge_fewer(ours: str, other: str, results: Results) -> Verdict:
    """One strategy gets to the target with fewer questions than another, on every set where either does."""
    missing = needs(results, (ours, other))
    if missing:
        return missing
    fewer, told = 0, []
    compared = [
        dataset
        for dataset in results.unique("dataset")
        if min(needed(results, dataset, ours), needed(results, dataset, other)) < math.inf
    ]
    for dataset in compared:
        counts = [needed(results, dataset, method) for method in (ours, other)]
        fewer += counts[0] < counts[1]
        told.append(f"{dataset} {' against '.join(_count_text(count, dataset) for count in counts)}")
    if not compared:
        return Verdict(None, f"Not tested: neither stays at {TARGET} on any set.")
    return Verdict(
        fewer == len(compared), f"Fewer on {counted(fewer, len(compared), 'sets')}; questions: {listed(told)}."
    )


def judge_free_points(results: Results) -> Verdict:
    """What is told of some points helps the others."""
    missing = needs(results, (CONSOLIDATE,))
    if missing:
        return missing
    better, told = 0, []
    for dataset in results.unique("dataset"):
        known = [
            score for score in mean_run(results, dataset, CONSOLIDATE, "PCKMeans_unlinked") if not math.isnan(score)
        ]
        better += known[-1] > known[0]
        told.append(f"{dataset} {text_of(known[0])} to {text_of(known[-1])}")
    total = len(results.unique("dataset"))
    return Verdict(
        better == total, f"Better on {counted(better, total, 'sets')}; on points in no link, {listed(told)}."
    )


CLAIMS = (
    Claim(
        "Q1",
        "Explore + Consolidate needs fewer questions than random pairs (Basu, Banerjee and Mooney).",
        partial(judge_fewer, CONSOLIDATE, RANDOM),
    ),
    Claim(
        "Q2",
        "MinMax needs fewer questions than Explore + Consolidate (Mallapragada, Jin and Jain).",
        partial(judge_fewer, MINMAX, CONSOLIDATE),
    ),
    Claim(
        "Q3",
        "NPU needs fewer questions than MinMax (Xiong, Azimi and Fern).",
        partial(judge_fewer, UNCERTAIN, MINMAX),
    ),
    Claim("Q4", "Points that nobody was asked about are clustered better too (all three).", judge_free_points),
)

PROTOCOL = Protocol(
    name=PAPER,
    title="Questions needed, by strategy",
    source=(
        "S. Basu, A. Banerjee and R. J. Mooney, Active Semi-Supervision for Pairwise Constrained Clustering, SDM 2004; "
        "P. K. Mallapragada, R. Jin and A. K. Jain, Active Query Selection for Semi-Supervised Clustering, ICPR 2008; "
        "S. Xiong, J. Azimi and X. Z. Fern, Active Learning of Constraints for Semi-Supervised Clustering, TKDE 2014."
    ),
    intro=(
        "Three data sets of scikit-learn, standardised. Each strategy asks about pairs, the true classes answer, and "
        "after every portion of the questions PCKMeans and MPCKMeans are run with the links so far: what was answered, "
        "and what follows from the number of groups. All strategies of a trial share their seed. NPU clusters by "
        "PCKMeans and grows a forest of 50 trees anew after every fourth row that found its place, on digits after "
        "every twenty-third. The claims are judged by PCKMeans, and by the questions after which the score is never "
        "again below 0.9."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=draw_links,
    parts=tuple(
        Part(
            clusterer.lower(),
            clusterer,
            cells_of,
            partial(tables_of, clusterer),
            partial(pictures_of, clusterer),
            CLAIMS if clusterer == "PCKMeans" else (),
        )
        for clusterer in CLUSTERERS
    ),
    quick=Sizes(
        datasets=tuple(TITLES),
        amounts=(),
        trials=10,
        special_trials={"digits": 3},
        note="Quick run: 10 trials, 3 on digits.",
    ),
    full=Sizes(datasets=tuple(TITLES), amounts=(), trials=50, note="50 trials."),
)
