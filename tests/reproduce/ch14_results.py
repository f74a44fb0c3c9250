"""Results of the chapter on interactive clustering, made by hand: such that all claims hold, or that none does."""

from __future__ import annotations

from typing import Any

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers._ch14_data import KINDS, N_ROWS, TITLES
from mustlink.reproduce.papers._ch14_questions import INSTANT, MAX_QUESTIONS, OWN, RIVAL, SETS, SHOWN, STUDIO
from mustlink.reproduce.papers.ch14 import APPROACHES, IVC, LAYOUT_FF, N_MOVES, PERFECT, first_at, method_name

# How early the approaches rise, and what edges add: without clustering, and with it.
LEVELS = dict(zip(APPROACHES, (0.05, 0.2, 0.5, 0.92, 0.95), strict=True))
GAINS = {
    LAYOUT_FF: dict(zip(KINDS, (-0.1, 0.0, 0.1), strict=True)),
    IVC: dict(zip(KINDS, (0.01, 0.0, -0.1), strict=True)),
}


def record(dataset: str, method: str, amount: float, rows: int | None = None, **scores: Any) -> Record:
    return Record(Run("ch14", dataset, method, amount, trial=0, rows=rows), {"nmi": 0.5, "seconds": 0.1, **scores})


def moved(dataset: str, approach: str, kind: str, level: float, amount: int = N_MOVES, last: float = 1.0) -> Record:
    """A run that is at a level from the second move to the last but one."""
    curve = [0.0, 0.0, *[level] * (amount - 2), last]
    scores = {"curve": curve, "accuracy": curve, "perfect": first_at(curve, PERFECT)}
    return record(dataset, method_name(approach, kind), amount, **scores)


def ch14_results(good: bool) -> Results:
    """IVC ahead of its rivals, edges as the chapter has them, and few questions; or the opposite."""
    records = []
    for dataset in TITLES:
        for approach, level in LEVELS.items():
            level = level if good else 0.5 - level / 2
            for kind in KINDS:
                gain = GAINS.get(approach, {}).get(kind, 0.0)
                last = 1.0 if good or approach != IVC else 0.5
                records.append(moved(dataset, approach, kind, level + (gain if good else -gain), last=last))
            records.append(moved(dataset, approach, KINDS[1], level, N_ROWS[dataset], last=1.0 if good else 0.9))
    for dataset in SETS:
        ours = 40 if good else None
        records.append(record(dataset, STUDIO, MAX_QUESTIONS, 500, **{SHOWN: ours, INSTANT: ours}))
        records.append(record(dataset, RIVAL, MAX_QUESTIONS, 500, **{OWN: 80}))
    return Results(records)
