"""Questions that the studio needs, beside COBRAS: answers drive its engine, and the groups that it shows are scored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mustlink._spelling import count
from mustlink._types import Array
from mustlink.active import COBRAS, MinMax, TruthOracle
from mustlink.metrics import adjusted_rand
from mustlink.reproduce.engine._claims import NO_RESULTS, Claim, Verdict, join_words
from mustlink.reproduce.engine._methods import Labeling, Method, score_labels
from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.engine._protocol import Part, RunPlan
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.studio import Answer, Engine, fit_method

# All sets for classification that ship with scikit-learn, and one with small classes.
SETS = {"iris": "iris", "wine": "wine", "wdbc": "breast cancer", "digits": "digits", "ecoli": "E. coli"}
QUICK_SETS = ("iris", "wine")
TARGET = 0.95
MAX_ROWS, MAX_QUESTIONS = 500, 300
# The background fits after every so many questions, and after every so many beyond the first hundred.
EVERY, EVERY_LATER = 5, 10
STUDIO, RIVAL = "studio", "COBRAS"
# Which groups are scored: those that the page shows when the background is done, those that it shows at once, and
# those of COBRAS.
SHOWN, INSTANT, OWN = "shown", "instant", "own"
COLUMNS = ((RIVAL, OWN, "COBRAS"), (STUDIO, SHOWN, "studio"), (STUDIO, INSTANT, "studio, instant groups"))
N_TRIALS = 5


def ask_studio(problem: Problem) -> Labeling:
    """Answer the studio's questions until the groups that it shows reach the target, or the questions are used up.

    After each portion of answers the background has fitted all links, as it has when a person waits for it.
    """
    oracle, k, seed = TruthOracle(problem.y), problem.n_clusters, problem.shared_seed
    strategy = MinMax(problem.X, k, random_state=seed)
    shown = Engine(problem.X, n_clusters=k, random_state=seed)
    instant = Engine(problem.X, n_clusters=k, method="instant", random_state=seed)
    needed: dict[str, int | None] = {SHOWN: None, INSTANT: None}
    last = {SHOWN: math.nan, INSTANT: math.nan}
    labels: Array = shown.labels
    for n_asked in range(1, round(problem.amount) + 1):
        question = strategy.question
        if question is None or None not in needed.values():
            break
        together = oracle(*question)
        strategy.answer(together)
        for engine in (shown, instant):
            engine.apply(Answer(question.a, question.b, together))
        if needed[SHOWN] is None and n_asked % (EVERY if n_asked <= 100 else EVERY_LATER) == 0:
            fit = fit_method("auto", problem.X, shown.constraints, k, seed, revision=shown.revision)
            # As in the page, groups of a fit that fails are not shown; those of before stay.
            if fit.labels is not None:
                shown.offer(fit.labels, fit.revision, method=fit.method, confidence=fit.confidence)
            labels, last[SHOWN] = shown.labels, adjusted_rand(problem.y, shown.labels)
        last[INSTANT] = adjusted_rand(problem.y, instant.labels)
        for name in needed:
            if needed[name] is None and last[name] >= TARGET:
                needed[name] = n_asked
    found = score_labels(replace(problem, links=shown.constraints), labels)
    return Labeling(labels, found | needed | {f"{name}_ari": score for name, score in last.items()})


def ask_cobras(problem: Problem) -> Labeling:
    """Answer the questions of COBRAS until its clusters reach the target, or the questions are used up."""
    oracle = TruthOracle(problem.y)
    strategy = COBRAS(problem.X, problem.n_clusters, random_state=problem.shared_seed)
    needed, score = None, 0.0
    while needed is None and strategy.n_asked < problem.amount and strategy.question is not None:
        strategy.answer(oracle(*strategy.question))
        score = adjusted_rand(problem.y, strategy.labels_)
        if score >= TARGET:
            needed = strategy.n_asked
    labels = strategy.labels_
    found = score_labels(replace(problem, links=strategy.constraints), labels)
    return Labeling(labels, found | {OWN: needed, f"{OWN}_ari": score})


METHODS: dict[str, Method] = {STUDIO: ask_studio, RIVAL: ask_cobras}


def runs(paper: str, plan: RunPlan) -> Iterator[Run]:
    """Both on every set; a quick run has two small sets and one trial."""
    is_full = plan.trials >= N_TRIALS * 2
    yield from plan.runs(
        paper,
        METHODS,
        datasets=SETS if is_full else QUICK_SETS,
        amounts=[MAX_QUESTIONS],
        trials=N_TRIALS if is_full else 1,
        rows=MAX_ROWS,
    )


def questions_needed(results: Results, dataset: str, method: str, fact: str) -> tuple[float, int, int]:
    """Return the mean number of questions, with the maximum where the target was not reached, and how many runs did."""
    found = [record.scores.get(fact) for record in results.select(dataset=dataset, method=method)]
    reached = [n_asked for n_asked in found if n_asked is not None]
    counts = [*reached, *[MAX_QUESTIONS] * (len(found) - len(reached))]
    return (float(np.mean(counts)) if counts else math.nan), len(reached), len(found)


def needed_text(needed: tuple[float, int, int]) -> str:
    """Write a number of questions."""
    mean, n_reached, n_runs = needed
    if not n_runs:
        return ""
    if not n_reached:
        return f"not within {MAX_QUESTIONS}"
    return f"{mean:.0f}" if n_reached == n_runs else f"over {mean:.0f} ({n_reached} of {n_runs} runs)"


def tables(results: Results) -> Iterator[Table]:
    """The questions that each needs on each set, and the scores at the end."""
    rows, last = [], []
    for dataset, title in SETS.items():
        needed = [questions_needed(results, dataset, method, fact) for method, fact, _ in COLUMNS]
        if any(n_runs for _, _, n_runs in needed):
            rows.append((title, *map(needed_text, needed)))
            scores = (results.mean(f"{fact}_ari", dataset=dataset, method=method) for method, fact, _ in COLUMNS)
            last.append((title, *map(number_text, scores)))
    note = (
        f"The first question after which the index is at least {TARGET}, even if it falls below again later. "
        f"Mean over the runs; in the mean of those marked 'over', a run that did not reach {TARGET} counts as "
        f"{MAX_QUESTIONS} questions. The studio's background fits after every {EVERY} questions, after the first "
        f"hundred after every {EVERY_LATER}, hence its numbers are rounded up; the others are scored at every question."
    )
    header = ("set", *(title for _, _, title in COLUMNS))
    yield Table("questions", f"Questions until the adjusted Rand index is {TARGET}", header, tuple(rows), note)
    note = f"A run ends when it reaches {TARGET}, after {MAX_QUESTIONS} questions, or when no question is left."
    yield Table("questions-end", "Adjusted Rand index at the end of the questions", header, tuple(last), note)


def judge_fewer(fact: str, results: Results) -> Verdict:
    """The studio needs no more questions than COBRAS on any set that at least half of the runs of one get right."""
    fewer, parts, undecided = 0, [], []
    for dataset, title in SETS.items():
        ours, rival = (questions_needed(results, dataset, *which) for which in ((STUDIO, fact), (RIVAL, OWN)))
        if not ours[2] or not rival[2]:
            continue
        if all(2 * n_reached < n_runs for _, n_reached, n_runs in (ours, rival)):
            reached = [reached_text(results, dataset, *which) for which in ((STUDIO, fact), (RIVAL, OWN))]
            undecided.append(f"{title} ({'; '.join(filter(None, reached)) or 'no run'})")
            continue
        # That one reaches the target more often counts before the mean.
        fewer += (-ours[1] / ours[2], ours[0]) <= (-rival[1] / rival[2], rival[0])
        parts.append(f"{title} {needed_text(ours)} against {needed_text(rival)}")
    if not parts:
        return NO_RESULTS
    sentence = f"No more on {fewer} of {count(len(parts), 'set')}: {join_words(parts)}."
    if undecided:
        sentence += f" Undecided within {MAX_QUESTIONS} questions: {join_words(undecided)}."
    return Verdict(fewer == len(parts), sentence)


def reached_text(results: Results, dataset: str, method: str, fact: str) -> str:
    """Write how many runs reached the target at which questions; empty if none did."""
    found = [record.scores.get(fact) for record in results.select(dataset=dataset, method=method)]
    reached = sorted(n_asked for n_asked in found if n_asked is not None)
    if not reached:
        return ""
    return f"{method}: {len(reached)} of {count(len(found), 'run')} at question {join_words(map(str, reached))}"


CLAIMS = (
    Claim(
        "Q1",
        f"(Ours.) The groups that it shows need no more questions to ARI {TARGET} than COBRAS, where half of the runs "
        "of one get there.",
        lambda results: judge_fewer(SHOWN, results),
    ),
    Claim(
        "Q2",
        f"(Ours.) Its instant groups need no more questions to ARI {TARGET} than COBRAS, where half of the runs "
        "of one get there.",
        lambda results: judge_fewer(INSTANT, results),
    ),
)


def make_part(paper: str) -> Part:
    """Make the part of a protocol."""
    return Part("questions", lambda plan: runs(paper, plan), tables, claims=CLAIMS)
