"""Part error: the estimated fraction of wrong links, with random pairs and with the answers to good questions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from mustlink.reproduce.engine._claims import NO_RESULTS, Claim, Verdict, join_words
from mustlink.reproduce.engine._figures import Figure, Line, LineStyle, draw_panels
from mustlink.reproduce.engine._protocol import RunPlan
from mustlink.reproduce.engine._results import Results, Run, nan_mean
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.reproduce.papers._robust_methods import (
    FEWER_ROWS,
    MINMAX_ANSWERS,
    NPU_ANSWERS,
    PAPER,
    ROBUST,
    TITLES,
    set_means,
)

ERROR_LINKS = 200
ERROR_NOISES = (0.0, 0.1, 0.2, 0.3)
SOURCES = {ROBUST: "random pairs", MINMAX_ANSWERS: MINMAX_ANSWERS, NPU_ANSWERS: NPU_ANSWERS}
# NPU is slow: it asks about a few sets only.
NPU_SETS = ("iris", "wine", "glass", "ecoli")
TOLERANCE = 0.05
# With all answers to NPU right, every fit on iris must find the classes.
ALL_RIGHT, ALL_RIGHT_TRIALS = "iris", 20


def error_runs(plan: RunPlan) -> Iterator[Run]:
    """Random pairs and answers, with four fractions of wrong ones; and iris with right answers to NPU."""
    for method, datasets in ((ROBUST, None), (MINMAX_ANSWERS, None), (NPU_ANSWERS, NPU_SETS)):
        trials = plan.special_trials.get(NPU_ANSWERS if datasets else "error", plan.trials)
        yield from plan.runs(
            PAPER,
            (method,),
            datasets=datasets,
            amounts=(ERROR_LINKS,),
            noises=ERROR_NOISES,
            trials=trials,
            rows=FEWER_ROWS,
        )
    for trial in range(ALL_RIGHT_TRIALS):
        yield Run(PAPER, ALL_RIGHT, NPU_ANSWERS, ERROR_LINKS, trial, rows=FEWER_ROWS)


def error_rates(results: Results, method: str, noise: float) -> dict[str, tuple[float, float]]:
    """Return the estimated and the true fraction of wrong links for every set."""
    estimated, wrong, count = (
        set_means(results, score, method, ERROR_LINKS, noise) for score in ("error_rate", "n_wrong", "n_links")
    )
    return {name: (value, wrong[name] / count[name]) for name, value in estimated.items()}


def mean_rates(results: Results, method: str, noise: float) -> tuple[float, float]:
    """Return the estimated and the true fraction of wrong links, in the mean over the sets."""
    rates = list(error_rates(results, method, noise).values())
    return nan_mean(estimate for estimate, _ in rates), nan_mean(truth for _, truth in rates)


def error_tables(results: Results) -> Iterator[Table]:
    """The means, and every set."""
    rows = []
    for method, source in SOURCES.items():
        for noise in ERROR_NOISES:
            rates = error_rates(results, method, noise)
            if rates:
                estimate, truth = mean_rates(results, method, noise)
                apart = nan_mean(abs(ours - true) for ours, true in rates.values())
                figures = [number_text(value) for value in (truth, estimate)]
                figures += [number_text(estimate - truth, sign="+"), number_text(apart)]
                rows.append((source, f"{noise:.0%}", *figures, f"{len(rates)}"))
    header = ("links", "wrong answers", "truth", "estimate", "difference", "mean absolute difference", "sets")
    note = (
        f"{ERROR_LINKS} random pairs or questions, at most {FEWER_ROWS} rows. Truth: the fraction of wrong links, "
        "among answers and what follows from the number of clusters."
    )
    yield Table("error-means", "Estimated fraction of wrong links, means over the sets", header, tuple(rows), note)
    for method, source in SOURCES.items():
        yield error_cells(results, method, source)
    yield all_right_table(results)


def error_cells(results: Results, method: str, source: str) -> Table:
    """Lay out every set: the estimate, and the truth."""
    rates = [error_rates(results, method, noise) for noise in ERROR_NOISES]
    rows = []
    for dataset in (name for name in TITLES if any(name in found for found in rates)):
        pairs = (found.get(dataset, (math.nan, math.nan)) for found in rates)
        rows.append((TITLES[dataset], *(" / ".join(map(number_text, pair)) for pair in pairs)))
    name = f"error-{source.split()[0].lower()}"
    header = ("set", *(f"{noise:.0%} wrong" for noise in ERROR_NOISES))
    return Table(name, f"Estimated / true fraction of wrong links, {source}", header, tuple(rows))


def all_right(results: Results) -> Results:
    """Return the results on iris with right answers to NPU."""
    return results.select(dataset=ALL_RIGHT, method=NPU_ANSWERS, amount=ERROR_LINKS, noise=0.0)


def all_right_table(results: Results) -> Table:
    """Lay out every trial on iris with right answers to NPU."""
    rows = [
        (f"{record.run.trial}", f"{record.scores['n_links']}", number_text(record.scores["ari"]),
         number_text(record.scores["violation_rate"]), number_text(record.scores["error_rate"]))
        for record in sorted(all_right(results), key=lambda record: record.run.trial)
    ]  # fmt: skip
    header = ("trial", "links", "adjusted Rand index", "violated", "estimated wrong")
    return Table("error-iris", f"iris, {ERROR_LINKS} right answers to NPU", header, tuple(rows))


def error_figures(results: Results) -> Iterator[Figure]:
    """The estimated fraction of wrong links against the true one, a panel per kind of links."""
    panels: dict[str, list[Line]] = {}
    thin = {"marker": "", "linestyle": "-", "linewidth": 0.5, "alpha": 0.5}
    for method, source in SOURCES.items():
        rates = [error_rates(results, method, noise) for noise in ERROR_NOISES]
        lines = []
        for dataset in (name for name in TITLES if any(name in found for found in rates)):
            points = [found[dataset] for found in rates if dataset in found]
            lines.append(LineStyle(0).line([t for _, t in points], [e for e, _ in points], None, **thin))
        if lines:
            estimates, truths = zip(*(mean_rates(results, method, noise) for noise in ERROR_NOISES), strict=True)
            lines.append(LineStyle(0).line(truths, estimates, "mean over the sets"))
            lines.append(LineStyle(6, ":").line(ERROR_NOISES, ERROR_NOISES, "truth", marker=""))
            panels[source] = lines
    titles = ("fraction of wrong links", "estimate")
    caption = "Estimated against true fraction of wrong links; thin lines: the sets."
    yield Figure("error", caption, partial(draw_panels, panels, axis_titles=titles))


def judge_error(method: str, results: Results) -> Verdict:
    """The estimate is near the truth in the mean over the sets, for every fraction of wrong links."""
    parts, held = [], True
    for noise in ERROR_NOISES:
        estimate, truth = mean_rates(results, method, noise)
        if not math.isnan(estimate):
            held = held and abs(estimate - truth) <= TOLERANCE
            parts.append(f"{estimate:.3f} for {truth:.3f}")
    return Verdict(held, f"Estimated {join_words(parts)}.") if parts else NO_RESULTS


def judge_all_right(results: Results) -> Verdict:
    """Every fit on iris with right answers finds the classes."""
    found = all_right(results).values("ari")
    if not found:
        return NO_RESULTS
    n_found = sum(math.isclose(value, 1) for value in found)
    return Verdict(n_found == len(found), f"1.00 in {n_found} of {len(found)} fits; lowest {min(found):.2f}.")


ERROR_CLAIMS = (
    Claim("E1", f"Random pairs: the estimate is within {TOLERANCE} of the truth.", partial(judge_error, ROBUST)),
    Claim(
        "E2", f"MinMax answers: the estimate is within {TOLERANCE} of the truth.", partial(judge_error, MINMAX_ANSWERS)
    ),
    Claim("E3", f"NPU answers: the estimate is within {TOLERANCE} of the truth.", partial(judge_error, NPU_ANSWERS)),
    Claim("E4", f"iris, {ERROR_LINKS} right answers to NPU: adjusted Rand index 1.00 in every fit.", judge_all_right),
)
