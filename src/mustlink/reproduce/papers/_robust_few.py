"""Part few: a few links."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from mustlink.reproduce.engine._claims import NO_RESULTS, Claim, Verdict, join_words
from mustlink.reproduce.engine._protocol import RunPlan
from mustlink.reproduce.engine._results import Results, Run, nan_mean
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.reproduce.papers._robust_methods import (
    BELOW,
    FEWER_ROWS,
    PAPER,
    PLAIN,
    PROPAGATION,
    ROBUST,
    TITLES,
    set_means,
    sets_below,
)

N_LINKS = 50
METHODS_OF_FEW = (PLAIN, PROPAGATION, ROBUST)


def few_runs(plan: RunPlan) -> Iterator[Run]:
    """The default beside plain k-means and constraint propagation."""
    trials = plan.special_trials.get("few", plan.trials)
    return plan.runs(PAPER, METHODS_OF_FEW, amounts=(N_LINKS,), trials=trials, rows=FEWER_ROWS)


def few_means(results: Results, method: str) -> dict[str, float]:
    """Return NMI on the unlinked points for every set."""
    return set_means(results, "nmi_unconstrained", method, N_LINKS)


def few_tables(results: Results) -> Iterator[Table]:
    """Every set, and the mean."""
    means = [few_means(results, method) for method in METHODS_OF_FEW]
    rows = [
        (TITLES[dataset], *(number_text(found.get(dataset, math.nan)) for found in means))
        for dataset in TITLES
        if dataset in means[-1]
    ]
    if rows:
        rows.append(("mean", *(number_text(nan_mean(found.values())) for found in means)))
    note = f"{PROPAGATION}: ConstraintPropagation. At most {FEWER_ROWS} rows."
    yield Table("few", f"NMI on unlinked points, {N_LINKS} right links", ("set", *METHODS_OF_FEW), tuple(rows), note)


def judge_few(other: str, results: Results) -> Verdict:
    """The default is at least as good as another method in the mean."""
    ours, theirs = (nan_mean(few_means(results, method).values()) for method in (ROBUST, other))
    if math.isnan(ours) or math.isnan(theirs):
        return NO_RESULTS
    return Verdict(ours >= theirs, f"{ROBUST} {ours:.3f}, {other} {theirs:.3f}.")


def judge_few_below(results: Results) -> Verdict:
    """No set is below plain k-means."""
    ours = few_means(results, ROBUST)
    if not ours:
        return NO_RESULTS
    below = sets_below(few_means(results, PLAIN), ours)
    return Verdict(not below, f"{len(below)} of {len(ours)} sets: {join_words(below)}.")


CLAIMS_OF_FEW = (
    Claim("F1", f"{N_LINKS} links: at least plain k-means in the mean.", partial(judge_few, PLAIN)),
    Claim("F2", f"{N_LINKS} links: at least {PROPAGATION} in the mean.", partial(judge_few, PROPAGATION)),
    Claim("F3", f"{N_LINKS} links: no set is more than {BELOW} below plain k-means.", judge_few_below),
)
