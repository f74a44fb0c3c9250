"""Results of chapter 2 made by hand: as its statements say, or the opposite."""

from __future__ import annotations

import numpy as np

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.ch02 import (
    CROSSED,
    LINKS,
    N_COMPARED,
    N_CONSTRAINTS,
    N_LABELS,
    NEWS,
    PAPER,
    PARAMETERS,
    SPLIT_METHODS,
    SUPERVISED,
    SYNTHETIC,
    TOP_SHARES,
    WEIGHTS,
)

NUMBERS = np.arange(N_CONSTRAINTS + 1)


def ch02_results(good: bool) -> Results:
    """Purity rises to ten constraints and falls after twenty, or it falls and then rises."""
    rising = 0.5 + 0.03 * np.minimum(NUMBERS, 10) - 0.02 * np.maximum(NUMBERS - 20, 0)
    curve = (rising if good else 1.2 - rising).tolist()
    records = []
    for method in PARAMETERS:
        overlap = {
            f"overlap_{number}": [min(1.0, (0.3 if good else 0.0) + number / 100 * share) for share in TOP_SHARES]
            for number in (N_COMPARED, N_CONSTRAINTS)
        }
        records.append(Record(Run(PAPER, NEWS, method, N_CONSTRAINTS, 0), {"purity": curve, **overlap}))
    learned = [0.4 + 0.4 * labels / N_LABELS[-1] for labels in N_LABELS]
    warped = learned if good else [value + 0.1 for value in learned]
    facts = {"labels": list(N_LABELS), "train": learned, "test": learned, "test_warped": warped}
    records.append(Record(Run(PAPER, NEWS, SUPERVISED, N_CONSTRAINTS, 0), facts))
    for dataset in (*SYNTHETIC, *CROSSED):
        for method in SPLIT_METHODS:
            end = {WEIGHTS: 0.82, LINKS: 0.64}.get(method, 0.9) if good else {WEIGHTS: 0.6, LINKS: 0.9}.get(method, 0.5)
            start = 0.52 if good else 0.75
            split = np.where(NUMBERS < 5, start, end).tolist()
            records.append(Record(Run(PAPER, dataset, method, N_CONSTRAINTS, 0), {"purity": split}))
    return Results(records)
