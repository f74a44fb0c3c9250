"""Part columns: tables with columns of noise."""

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
    BELOW,
    FEWER_ROWS,
    NOISES,
    PAPER,
    PLAIN,
    ROBUST,
    TITLES,
    WIDE,
    WIDENINGS,
    noise_text,
    set_means,
    sets_below,
    widened_name,
)

COLUMN_LINKS, COLUMN_NOISES = 150, NOISES[:2]
WIDE_LINKS, WIDE_TRIALS = 60, 5
# How much of the way from plain k-means to the score on the table without noise.
WAY = 0.8
WIDE_ARI = 0.9
# Sets that may be below plain k-means, by the fraction of wrong links.
MAX_BELOW = {0.0: 0, 0.2: 1}
STYLES = {ROBUST: LineStyle(0), PLAIN: LineStyle(6, ":")}


def column_runs(plan: RunPlan) -> Iterator[Run]:
    """The sets as they are and with columns of noise, and the made table."""
    methods = [widened_name(method, times) for times in WIDENINGS for method in (PLAIN, ROBUST)]
    trials = plan.special_trials.get("columns", plan.trials)
    yield from plan.runs(PAPER, methods, amounts=(COLUMN_LINKS,), noises=COLUMN_NOISES, trials=trials, rows=FEWER_ROWS)
    for trial in range(WIDE_TRIALS):
        for method in (PLAIN, ROBUST):
            yield Run(PAPER, WIDE, method, WIDE_LINKS, trial)


def unlinked_means(results: Results, method: str, times: int, noise: float) -> dict[str, float]:
    """Return NMI on the unlinked points for every set, with some number of columns of noise."""
    return set_means(results, "nmi_unconstrained", widened_name(method, times), COLUMN_LINKS, noise)


def way_covered(results: Results, times: int, noise: float) -> float:
    """Return how much of the way from plain k-means to the score without columns of noise is covered, in the mean."""
    plain, ours = (nan_mean(unlinked_means(results, method, times, noise).values()) for method in (PLAIN, ROBUST))
    clean = nan_mean(unlinked_means(results, ROBUST, 0, noise).values())
    return (ours - plain) / (clean - plain) if clean != plain else math.nan


def column_tables(results: Results) -> Iterator[Table]:
    """The means, every set, and the made table."""
    rows = []
    for noise in COLUMN_NOISES:
        for times in WIDENINGS:
            plain, ours = (unlinked_means(results, method, times, noise) for method in (PLAIN, ROBUST))
            if ours:
                below, way = sets_below(plain, ours), way_covered(results, times, noise)
                means = (number_text(nan_mean(found.values())) for found in (plain, ours))
                covered = f"{way:.0%}" if times and not math.isnan(way) else ""
                row = (noise_text(noise), f"{times}x", *means, covered, f"{len(below)} of {len(ours)}")
                rows.append((*row, ", ".join(below)))
    header = ("links", "columns of noise", PLAIN, ROBUST, "of the way", "below plain", "which")
    note = (
        f"{COLUMN_LINKS} links, at most {FEWER_ROWS} rows. Of the way: from plain k-means to {ROBUST} without columns "
        f"of noise. Below plain: sets more than {BELOW} below plain k-means."
    )
    yield Table(
        "columns-means", "NMI on unlinked points with columns of noise, means over the sets", header, tuple(rows), note
    )
    yield from (column_cells(results, noise) for noise in COLUMN_NOISES)
    yield wide_table(results)


def column_cells(results: Results, noise: float) -> Table:
    """Lay out every set for one fraction of wrong links."""
    means = {
        (times, method): unlinked_means(results, method, times, noise)
        for times in WIDENINGS
        for method in (PLAIN, ROBUST)
    }
    rows = []
    for dataset in (name for name in TITLES if name in means[0, ROBUST]):
        values = [number_text(found.get(dataset, math.nan)) for found in means.values()]
        rows.append((TITLES[dataset], *values))
    header = ("set", *(f"{method}, {times}x" for times, method in means))
    title = f"NMI on unlinked points with columns of noise, links {noise_text(noise)}"
    return Table(f"columns-{100 * noise:.0f}", title, header, tuple(rows))


def wide_table(results: Results) -> Table:
    """Lay out the scores on the made table."""
    rows = [
        (method, *(number_text(value) for value in (nan_mean(found), min(found), max(found))))
        for method in (PLAIN, ROBUST)
        if (found := results.values("ari", dataset=WIDE, method=method))
    ]
    title = f"Adjusted Rand index, 2,000 columns of which 5 tell the classes apart, {WIDE_LINKS} links"
    return Table("columns-wide", title, ("method", "mean", "lowest", "highest"), tuple(rows))


def column_figures(results: Results) -> Iterator[Figure]:
    """NMI on unlinked points against the number of columns of noise, one figure per fraction of wrong links."""
    titles = ("columns of noise for each column", "NMI, unlinked points")
    for noise in COLUMN_NOISES:
        panels: dict[str, list[Line]] = {}
        for dataset, title in TITLES.items():
            for method, style in STYLES.items():
                found = [unlinked_means(results, method, times, noise).get(dataset, math.nan) for times in WIDENINGS]
                if not all(map(math.isnan, found)):
                    panels.setdefault(title, []).append(style.line(WIDENINGS, found, method))
        caption = "NMI on unlinked points against the number of columns of noise"
        yield Figure(
            f"columns-{100 * noise:.0f}",
            f"{caption}, {COLUMN_LINKS} links, {noise_text(noise)}.",
            partial(draw_panels, panels, axis_titles=titles),
        )


def judge_way(times: int, noise: float, results: Results) -> Verdict:
    """Most of the way from plain k-means to the score without columns of noise is covered."""
    plain, ours = (unlinked_means(results, method, times, noise) for method in (PLAIN, ROBUST))
    clean, way = unlinked_means(results, ROBUST, 0, noise), way_covered(results, times, noise)
    if math.isnan(way):
        return NO_RESULTS
    means = [f"{nan_mean(found.values()):.3f}" for found in (plain, ours, clean)]
    sentence = f"{way:.0%}: plain {means[0]}, {ROBUST} {means[1]}, without columns of noise {means[2]}."
    return Verdict(way >= WAY, sentence)


def judge_columns_below(noise: float, results: Results) -> Verdict:
    """Few sets are below plain k-means, over all numbers of columns of noise."""
    below, total = [], 0
    for times in WIDENINGS:
        plain, ours = (unlinked_means(results, method, times, noise) for method in (PLAIN, ROBUST))
        total += len(ours)
        below += [f"{name} + {times}x" for name in sets_below(plain, ours)]
    if not total:
        return NO_RESULTS
    allowed = MAX_BELOW[noise]
    return Verdict(len(below) <= allowed, f"{len(below)} of {total} cells: {join_words(below)}; {allowed} allowed.")


def judge_wide(results: Results) -> Verdict:
    """The few columns that tell the classes apart are found."""
    found = results.values("ari", dataset=WIDE, method=ROBUST)
    if not found:
        return NO_RESULTS
    plain = nan_mean(results.values("ari", dataset=WIDE, method=PLAIN))
    sentence = f"{ROBUST} {nan_mean(found):.3f}, lowest {min(found):.3f}; plain {plain:.3f}."
    return Verdict(nan_mean(found) >= WIDE_ARI, sentence)


COLUMN_CLAIMS = (
    *(
        Claim(
            f"C{number}",
            f"+ {times}x columns of noise, links {noise_text(noise)}: at least {WAY:.0%} of the way.",
            partial(judge_way, times, noise),
        )
        for number, (noise, times) in enumerate(
            [(noise, times) for noise in COLUMN_NOISES for times in WIDENINGS[1:]], 1
        )
    ),
    Claim("C5", "Right links: no cell is more than 0.01 below plain k-means.", partial(judge_columns_below, 0.0)),
    Claim(
        "C6",
        "20% wrong links: at most 1 cell is more than 0.01 below plain k-means.",
        partial(judge_columns_below, 0.2),
    ),
    Claim("C7", f"2,000 columns, {WIDE_LINKS} links: mean adjusted Rand index at least {WIDE_ARI}.", judge_wide),
)
