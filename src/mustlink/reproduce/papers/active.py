"""The number of questions that each strategy needs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mustlink._types import Array
from mustlink.active import TruthOracle, ask
from mustlink.constraints import Constraints
from mustlink.kmeans import MPCKMeans, PCKMeans
from mustlink.metrics import adjusted_rand
from mustlink.reproduce.engine._claims import Claim, Verdict, join_words, missing_methods, score_text
from mustlink.reproduce.engine._figures import Figure, Line, LineStyle, draw_panels
from mustlink.reproduce.engine._methods import MIN_UNLINKED, Labeling, score_labels
from mustlink.reproduce.engine._problem import DataSet, Problem, standardize
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.engine._tables import Table, pair_text
from mustlink.reproduce.papers import _active_default as default_part
from mustlink.reproduce.papers._active_strategies import (
    CONSOLIDATE,
    MINMAX,
    RANDOM,
    STYLES,
    UNCERTAIN,
    make_strategy,
)

PAPER = "active"
TARGET = 0.9
# The rows are clustered after so many equal portions of the questions.
N_STEPS = 30
QUESTIONS = {"iris": 150, "wine": 150, "digits": 1500}
STRATEGIES = tuple(STYLES)
SETS = tuple(dict.fromkeys((*QUESTIONS, *default_part.TABLES)))
CLUSTERERS: dict[str, type[Any]] = {"PCKMeans": PCKMeans, "MPCKMeans": MPCKMeans}


def ask_and_cluster(strategy_name: str, problem: Problem) -> Labeling:
    """Ask and cluster, a portion of the questions at a time, and score each clustering."""
    strategy, oracle = make_strategy(strategy_name, problem), TruthOracle(problem.y)
    stops = sorted({round(problem.amount * step / N_STEPS) for step in range(N_STEPS + 1)})
    curves: dict[str, list[float]] = {f"{name}_{score}": [] for name in CLUSTERERS for score in ("ari", "unlinked")}
    labels: dict[str, Array] = {}
    for stop in stops:
        links = ask(strategy, oracle, max(0, stop - strategy.n_asked))
        n_unlinked = len(problem.y) - len(links.constrained_rows())
        for name, clusterer in CLUSTERERS.items():
            model = clusterer(n_clusters=problem.n_clusters, random_state=problem.shared_seed)
            labels[name] = model.fit(problem.X, constraints=links).labels_
            enough = n_unlinked >= MIN_UNLINKED
            unlinked = adjusted_rand(problem.y, labels[name], constraints=links) if enough else math.nan
            curves[f"{name}_ari"].append(adjusted_rand(problem.y, labels[name]))
            curves[f"{name}_unlinked"].append(unlinked)
    needed_by = {
        f"{name}_{fact}": find(stops, curves[f"{name}_ari"])
        for name in CLUSTERERS
        for fact, find in (("first", first_above), ("stays", stays_above))
    }
    facts = score_labels(replace(problem, links=links), labels["PCKMeans"])
    return Labeling(labels["PCKMeans"], facts | {"asked": stops} | curves | needed_by)


def first_above(stops: list[int], scores: list[float]) -> int | None:
    """Return the number of questions after which the target is first reached."""
    return next((stop for stop, score in zip(stops, scores, strict=True) if score >= TARGET), None)


def stays_above(stops: list[int], scores: list[float]) -> int | None:
    """Return the number of questions after which the score is never again below the target."""
    below = [place for place, score in enumerate(scores) if score < TARGET]
    after = below[-1] + 1 if below else 0
    return stops[after] if after < len(stops) else None


def runs(plan: RunPlan) -> Iterator[Run]:
    """One run of all questions per set, strategy and trial."""
    for dataset in QUESTIONS:
        yield from plan.runs(PAPER, STRATEGIES, datasets=[dataset], amounts=(QUESTIONS[dataset],))


def needed(results: Results, dataset: str, strategy: str, fact: str = "PCKMeans_stays") -> float:
    """Return the median over the trials of the questions needed; infinite if most trials never reach the target."""
    chosen = [record.scores for record in results.select(dataset=dataset, method=strategy) if fact in record.scores]
    found = [math.inf if scores[fact] is None else scores[fact] for scores in chosen]
    return float(np.median(found)) if found else math.nan


def mean_curve(results: Results, dataset: str, strategy: str, fact: str) -> list[float]:
    """Return the mean over the trials after each portion of the questions; NaN if most trials have no score."""
    means = []
    for column in zip(*results.values(fact, dataset=dataset, method=strategy), strict=True):
        known = [value for value in column if value is not None]
        means.append(sum(known) / len(known) if 2 * len(known) > len(column) else math.nan)
    return means


def tables(clusterer: str, results: Results) -> Iterator[Table]:
    """The questions needed, and the curves as numbers."""
    rows = []
    for dataset in QUESTIONS:
        for strategy in STRATEGIES:
            counts = [needed(results, dataset, strategy, f"{clusterer}_{fact}") for fact in ("first", "stays")]
            if not math.isnan(counts[0]):
                rows.append((dataset, strategy, *(count_text(count, dataset) for count in counts)))
    yield Table(
        f"{clusterer.lower()}-questions",
        f"Questions until the adjusted Rand index of {clusterer} is {TARGET}",
        ("set", "strategy", "first reached after", "never below from"),
        tuple(rows),
        f"Median over the trials; the rows are clustered after each of {N_STEPS} equal portions of the questions.",
    )
    for dataset in QUESTIONS:
        yield curve_table(clusterer, results, dataset)


def count_text(count: float, dataset: str) -> str:
    """Write a number of questions."""
    return f"not within {QUESTIONS[dataset]}" if math.isinf(count) else f"{count:g}"


def curve_table(clusterer: str, results: Results, dataset: str) -> Table:
    """Lay out the scores on one set after some numbers of questions."""
    places = range(0, N_STEPS + 1, N_STEPS // 6)
    rows = []
    for strategy in STRATEGIES:
        names = (f"{clusterer}_{score}" for score in ("ari", "unlinked"))
        ari, unlinked = (mean_curve(results, dataset, strategy, name) for name in names)
        if ari:
            rows.append((strategy, *(pair_text(ari[place], unlinked[place]) for place in places)))
    header = ("questions", *(f"{QUESTIONS[dataset] * place // N_STEPS}" for place in places))
    title = f"Adjusted Rand index of {clusterer} on {dataset} (on unlinked points)"
    return Table(f"{clusterer.lower()}-{dataset}", title, header, tuple(rows))


def figures(clusterer: str, results: Results) -> Iterator[Figure]:
    """The score against the number of questions, on all points and on the unlinked points."""
    for score, suffix, where in (("ari", "", "all points"), ("unlinked", "-unlinked", "unlinked points")):
        panels: dict[str, list[Line]] = {}
        for dataset, most in QUESTIONS.items():
            stops = [most * step / N_STEPS for step in range(N_STEPS + 1)]
            for strategy, style in STYLES.items():
                if curve := mean_curve(results, dataset, strategy, f"{clusterer}_{score}"):
                    line = style.line(stops, curve, strategy, markevery=N_STEPS // 6)
                    panels.setdefault(dataset, [LineStyle(6, "--").level(TARGET)]).append(line)
        if panels:
            axis_titles = ("number of questions", f"adjusted Rand index, {where}")
            caption = f"Adjusted Rand index of {clusterer} on {where} against the number of questions"
            draw = partial(draw_panels, panels, axis_titles=axis_titles)
            yield Figure(f"{clusterer.lower()}-questions{suffix}", f"{caption}; mean over the trials.", draw)


def judge_fewer(ours: str, other: str, results: Results) -> Verdict:
    """One strategy reaches the target with fewer questions than another, on every set where either does."""
    if missing := missing_methods(results, (ours, other)):
        return missing
    fewer, parts = 0, []
    for dataset in QUESTIONS:
        counts = [needed(results, dataset, method) for method in (ours, other)]
        if min(counts) < math.inf:
            fewer += counts[0] < counts[1]
            parts.append(f"{dataset} {' against '.join(count_text(count, dataset) for count in counts)}")
    if not parts:
        return Verdict(None, f"Not tested: neither stays at {TARGET} on any set.")
    return Verdict(fewer == len(parts), f"Fewer on {fewer} of {len(parts)} sets; questions: {join_words(parts)}.")


def judge_unlinked(results: Results) -> Verdict:
    """Links between some points improve the clustering of the others."""
    if missing := missing_methods(results, (CONSOLIDATE,)):
        return missing
    better, parts = 0, []
    for dataset in [dataset for dataset in QUESTIONS if dataset in results.unique("dataset")]:
        curve = mean_curve(results, dataset, CONSOLIDATE, "PCKMeans_unlinked")
        known = [score for score in curve if not math.isnan(score)]
        better += known[-1] > known[0]
        parts.append(f"{dataset} {score_text(known[0])} to {score_text(known[-1])}")
    sentence = f"Better on {better} of {len(parts)} sets; on unlinked points, {join_words(parts)}."
    return Verdict(better == len(parts), sentence)


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
        "Q3", "NPU needs fewer questions than MinMax (Xiong, Azimi and Fern).", partial(judge_fewer, UNCERTAIN, MINMAX)
    ),
    Claim("Q4", "Points that were not asked about are clustered better too (all three).", judge_unlinked),
)

PROTOCOL = Protocol(
    name=PAPER,
    title="Questions needed, by strategy",
    source=(
        "S. Basu, A. Banerjee and R. J. Mooney, Active Semi-Supervision for Pairwise Constrained Clustering, SDM 2004; "
        "P. K. Mallapragada, R. Jin and A. K. Jain, Active Query Selection for Semi-Supervised Clustering, ICPR 2008; "
        "S. Xiong, J. Azimi and X. Z. Fern, Active Learning of Constraints for Semi-Supervised Clustering, TKDE 2014; "
        "T. Van Craenendonck, S. Dumancic, E. Van Wolputte and H. Blockeel, COBRAS: Interactive Clustering with "
        "Pairwise Queries, IDA 2018."
    ),
    intro=(
        "Three data sets of scikit-learn, standardized. Each strategy asks about pairs, the true classes answer, and "
        "after every portion of the questions PCKMeans and MPCKMeans are fitted with the links so far: the answers, "
        "and what follows from the number of groups. All strategies of a trial share their seed. NPU clusters by "
        "PCKMeans and fits a new forest of 50 trees when the assigned rows have grown by a quarter, or by 24. The "
        "claims Q1 to Q4 are tested with PCKMeans, by the number of questions after which the score is never again "
        "below 0.9. A further part, of up to 500 rows of five sets, compares the default, RobustBoostCluster, with "
        "PCKMeans on the same links after 50, 100 and 200 questions, and with the clusters that COBRAS makes by "
        "itself; one of its strategies is NPU with the default as its clusterer."
    ),
    datasets=tuple(DataSet(name, name, standardize) for name in SETS),
    methods={strategy: partial(ask_and_cluster, strategy) for strategy in STRATEGIES} | default_part.METHODS,
    draw=lambda y, run: Constraints(),  # the links are the answers
    parts=(
        *(
            Part(
                clusterer.lower(),
                runs,
                partial(tables, clusterer),
                partial(figures, clusterer),
                CLAIMS if clusterer == "PCKMeans" else (),
            )
            for clusterer in CLUSTERERS
        ),
        default_part.make_part(PAPER),
    ),
    quick=RunPlan(
        SETS, (), 10, special_trials={"digits": 3}, note="Quick run: 10 trials, 3 on digits; 5 with the default."
    ),
    full=RunPlan(SETS, (), 50, note="50 trials; 25 with the default."),
)
