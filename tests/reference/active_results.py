"""Results of asking as they might be, for the claims and tables that are made of them."""

from __future__ import annotations

import numpy as np

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers._active_default import DEFAULT, OWN, PLAIN, PREFIX, STOPS, TABLES
from mustlink.reproduce.papers._active_default import STYLES as COMPARED
from mustlink.reproduce.papers._active_strategies import COARSE_TO_FINE
from mustlink.reproduce.papers.active import N_STEPS, QUESTIONS, STRATEGIES, first_above, stays_above


def asking_run(dataset, strategy, trial, share, unlinked=(0.5, 0.8)):
    """A run that jumps above the target after a share of the questions, or never if that is None."""
    stops = [QUESTIONS[dataset] * step // N_STEPS for step in range(N_STEPS + 1)]
    run = [0.5 if share is None or stop < share * stops[-1] else 0.95 for stop in stops]
    scores = {
        "asked": stops,
        "seconds": 1.0,
        "nmi": 0.5,
        "PCKMeans_ari": run,
        "PCKMeans_unlinked": [*np.linspace(*unlinked, N_STEPS).tolist(), None],
        "PCKMeans_first": first_above(stops, run),
        "PCKMeans_stays": stays_above(stops, run),
    }
    return Record(Run("active", dataset, strategy, QUESTIONS[dataset], trial), scores)


def compared_run(dataset, strategy, trial, good):
    """A run in which the default is ahead of PCKMeans and of COBRAS, or behind them."""
    better, worse = [0.7, 0.8, 0.9], [0.5, 0.6, 0.7]
    ours, others = (better, worse) if good else (worse, better)
    scores = {"nmi": 0.5, "seconds": 1.0, f"{DEFAULT}_ari": ours, f"{PLAIN}_ari": others}
    if strategy == COARSE_TO_FINE:
        scores[f"{OWN}_ari"] = others
    return Record(Run("active", dataset, PREFIX + strategy, STOPS[-1], trial, rows=500), scores)


def asking_results(good):
    """Results in which every claim holds, or none does."""
    shares = (None, 0.5, 0.3, 0.1, 0.2) if good else (0.1, 0.3, 0.5, None, 0.2)
    asked = [
        asking_run(dataset, strategy, trial, share, (0.5, 0.8) if good else (0.8, 0.5))
        for dataset in QUESTIONS
        for strategy, share in zip(STRATEGIES, shares, strict=True)
        for trial in range(3)
    ]
    compared = [
        compared_run(dataset, strategy, trial, good)
        for dataset in TABLES
        for strategy in COMPARED
        for trial in range(2)
    ]
    return Results([*asked, *compared])
