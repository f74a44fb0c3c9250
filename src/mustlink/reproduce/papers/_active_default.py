"""The default clusterer beside PCKMeans with the answers to 200 questions, and COBRAS with its own clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mustlink._spelling import count
from mustlink._types import Array
from mustlink.active import COBRAS, TruthOracle, ask
from mustlink.boosting import RobustBoostCluster
from mustlink.kmeans import PCKMeans
from mustlink.metrics import adjusted_rand
from mustlink.reproduce.engine._claims import NO_RESULTS, TIE, Claim, Verdict, join_words, score_text
from mustlink.reproduce.engine._figures import Figure, Line, LineStyle, draw_panels
from mustlink.reproduce.engine._methods import Labeling, score_labels
from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.engine._protocol import Part, RunPlan
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.engine._tables import Table, number_text, pair_text
from mustlink.reproduce.papers._active_strategies import COARSE_TO_FINE, MINMAX, UNCERTAIN_BY_DEFAULT, make_strategy
from mustlink.reproduce.papers._active_strategies import STYLES as STRATEGY_STYLES

TABLES = ("iris", "wine", "ecoli", "segment", "digits")
MAX_ROWS = 500
STOPS = (50, 100, 200)
N_WORST = 5
MODELS: dict[str, type[Any]] = {"PCKMeans": PCKMeans, "RobustBoostCluster": RobustBoostCluster}
PLAIN, DEFAULT = MODELS
OWN = "COBRAS, its own clusters"
# The prefix tells these runs, of up to 500 rows and 200 questions, from those of the other parts.
PREFIX = "200 questions, "
STYLES = STRATEGY_STYLES | {UNCERTAIN_BY_DEFAULT: LineStyle(4)}


def ask_and_compare(name: str, problem: Problem) -> Labeling:
    """Ask, and fit both models to the same links after some numbers of questions."""
    strategy, oracle = make_strategy(name, problem), TruthOracle(problem.y)
    n_questions = round(problem.amount)
    curves: dict[str, list[float]] = {}
    labels: dict[str, Array] = {}
    for stop in [*(stop for stop in STOPS if stop < n_questions), n_questions]:
        links = ask(strategy, oracle, stop - strategy.n_asked if stop > strategy.n_asked else 0)
        for model_name, model in MODELS.items():
            fitted = model(n_clusters=problem.n_clusters, random_state=problem.shared_seed)
            labels[model_name] = fitted.fit(problem.X, constraints=links).labels_
        if isinstance(strategy, COBRAS):
            labels[OWN] = strategy.labels_
        for model_name, found in labels.items():
            curves.setdefault(f"{model_name}_ari", []).append(adjusted_rand(problem.y, found))
    return Labeling(labels[DEFAULT], score_labels(replace(problem, links=links), labels[DEFAULT]) | curves)


def runs(paper: str, plan: RunPlan) -> Iterator[Run]:
    """One run of 200 questions per set, strategy and trial, with half of the trials of the plan."""
    methods, trials = [PREFIX + name for name in STYLES], max(1, plan.trials // 2)
    return plan.runs(paper, methods, datasets=TABLES, amounts=(STOPS[-1],), trials=trials, rows=MAX_ROWS)


def curve(results: Results, dataset: str, strategy: str, model: str) -> list[float]:
    """Return the mean over the trials at every number of questions; empty if there are no results."""
    found = results.values(f"{model}_ari", dataset=dataset, method=PREFIX + strategy)
    return np.mean(found, axis=0).tolist() if found else []


def tables(results: Results) -> Iterator[Table]:
    """The means over the sets, and the scores on each set."""
    header = tuple(f"{stop} questions" for stop in STOPS)
    rows, means = [], []
    for strategy in STYLES:
        known = [dataset for dataset in TABLES if curve(results, dataset, strategy, DEFAULT)]
        pairs = {dataset: [curve(results, dataset, strategy, model) for model in (DEFAULT, PLAIN)] for dataset in known}
        rows += [(dataset, strategy, *map(pair_text, *pairs[dataset])) for dataset in known]
        if known:
            means.append((strategy, *map(pair_text, *np.mean(list(pairs.values()), axis=0).tolist())))
    own = {dataset: found for dataset in TABLES if (found := curve(results, dataset, COARSE_TO_FINE, OWN))}
    rows += [(dataset, OWN, *map(number_text, found)) for dataset, found in own.items()]
    if own:
        means.append((OWN, *map(number_text, np.mean(list(own.values()), axis=0).tolist())))
    title = f"Adjusted Rand index of {DEFAULT} ({PLAIN})"
    yield Table("default-means", f"{title}, mean over the sets", ("strategy", *header), tuple(means))
    rows.sort(key=lambda row: TABLES.index(row[0]))
    yield Table("default-sets", title, ("set", "strategy", *header), tuple(rows))


def figures(results: Results) -> Iterator[Figure]:
    """The score of the default, and by how much it is above PCKMeans, against the number of questions."""
    scores: dict[str, list[Line]] = {}
    gains: dict[str, list[Line]] = {}
    for dataset in TABLES:
        for strategy, style in STYLES.items():
            ours, plain = (curve(results, dataset, strategy, model) for model in (DEFAULT, PLAIN))
            if ours:
                scores.setdefault(dataset, []).append(style.line(STOPS, ours, strategy))
                gain = np.subtract(ours, plain).tolist()
                gains.setdefault(dataset, [LineStyle(6, "--").level(-TIE)]).append(style.line(STOPS, gain, strategy))
        if own := curve(results, dataset, COARSE_TO_FINE, OWN):
            scores[dataset].append(replace(STYLES[COARSE_TO_FINE], dashes="--").line(STOPS, own, OWN))
    if scores:
        label = "adjusted Rand index"
        draw = partial(draw_panels, scores, axis_titles=("number of questions", label))
        caption = f"Adjusted Rand index of {DEFAULT}, and of the clusters of COBRAS itself; mean over the trials."
        yield Figure("default-questions", caption, draw)
        draw = partial(draw_panels, gains, axis_titles=("number of questions", f"{label}, less {PLAIN}"))
        caption = f"{DEFAULT} less {PLAIN}, with the same links; the line across is -{TIE}."
        yield Figure("default-gain", caption, draw)


def judge_default(results: Results) -> Verdict:
    """The default is level with PCKMeans, or ahead, in every cell."""
    cells = []
    for dataset in TABLES:
        for strategy in STYLES:
            pairs = zip(*(curve(results, dataset, strategy, model) for model in (DEFAULT, PLAIN)), strict=True)
            for stop, (ours, plain) in zip(STOPS, pairs, strict=False):
                cells.append(
                    (ours - plain, f"{dataset}, {strategy}, {stop}: {score_text(ours)} to {score_text(plain)}")
                )
    if not cells:
        return NO_RESULTS
    below = sorted(cell for cell in cells if cell[0] < -TIE)
    sentence = f"Below it in {len(below)} of {count(len(cells), 'cell')}"
    if below:
        sentence += f"; the worst, by set, strategy and questions: {'; '.join(text for _, text in below[:N_WORST])}"
    return Verdict(not below, f"{sentence}.")


def judge_rival(results: Results) -> Verdict:
    """MinMax with the default is ahead of the clusters of COBRAS in the mean over the sets."""
    pairs = [
        [curve(results, dataset, *which) for which in ((MINMAX, DEFAULT), (COARSE_TO_FINE, OWN))] for dataset in TABLES
    ]
    known = [pair for pair in pairs if all(pair)]
    if not known:
        return NO_RESULTS
    ours, own = np.mean(known, axis=0)
    parts = [f"{stop}: {score_text(a)} against {score_text(b)}" for stop, a, b in zip(STOPS, ours, own, strict=True)]
    sentence = f"Mean of {count(len(known), 'set')} after so many questions, {join_words(parts)}."
    return Verdict(bool((ours >= own).all()) and not math.isnan(ours.sum()), sentence)


CLAIMS = (
    Claim(
        "Q5",
        f"With every strategy and number of questions, {DEFAULT} is at least {PLAIN} - {TIE} on every set (ours).",
        judge_default,
    ),
    Claim(
        "Q6",
        f"MinMax with {DEFAULT} is ahead of COBRAS at every number of questions in the mean over the sets (ours).",
        judge_rival,
    ),
)
METHODS = {PREFIX + name: partial(ask_and_compare, name) for name in STYLES}


def make_part(paper: str) -> Part:
    """Make the part of a protocol."""
    return Part("default", partial(runs, paper), tables, figures, CLAIMS)
