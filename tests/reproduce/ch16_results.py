"""Results of the chapter on existential constraints, made by hand: such that all claims hold, or that none does."""

from __future__ import annotations

from typing import Any

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.ch16 import (
    ADULT,
    BLOBS,
    BOTH,
    CYCLE,
    FLOW,
    FLOW_TRIAL,
    GRAPH,
    GROUP_SIZES,
    GROUPS,
    PHASE_A,
    ROAD,
    ROAD_METHOD,
    THRESHOLDS,
    TRIAL,
)


def record(dataset: str, method: str, amount: float, **scores: Any) -> Record:
    return Record(Run("ch16", dataset, method, amount, trial=0), {"nmi": 0.5, "seconds": 0.1, **scores})


def ch16_results(good: bool) -> Results:
    """Valid results that fall, the flow lowest; or the opposite."""
    records = [
        record(ROAD, ROAD_METHOD, 2, sizes=[2, 2, 2, 2] if good else [1, 3, 2, 2], n_nearest=0 if good else 1),
        record(
            ROAD,
            GRAPH,
            2,
            after_o3=[51, 51, 51, 50, 60],
            after_o8=[52, 50, 51, 50, 60] if good else [52, 49, 52, 50, 60],
            after_o12=[52, 50, 50, 51, 60],
            after_o3_o8=[51, 50, 52, 50, 60],
        ),
        record(ROAD, CYCLE, 2, moved=4 if good else 2, steps_a=0, steps=1),
    ]
    lower, higher = (100.0, 150.0) if good else (150.0, 100.0)
    dispersions = dict.fromkeys(TRIAL, lower) | {PHASE_A: higher, BOTH: (lower + higher) / 2}
    dispersions[FLOW_TRIAL] = lower if good else 200.0
    for t in THRESHOLDS:
        moved = 0 if t == 20 and good else 9
        records += [
            record(BLOBS, method, t, dispersion=value, first=300.0, moved_a=moved, moved_b=3, is_valid=good, falls=True)
            for method, value in dispersions.items()
        ]
    for k in GROUP_SIZES:
        for method in GROUPS:
            loss = 0.1 + (0.1 if (method == FLOW) != good else 0.0)
            records.append(record(ADULT, method, k, loss=loss, smallest=k if good else k - 1, k=k))
    return Results(records)
