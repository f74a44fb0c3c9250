"""Results of the chapter on co-clustering, made by hand: such that all claims hold, or that none does."""

from __future__ import annotations

from typing import Any

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.ch06 import (
    BOTH_ENDS,
    CDK,
    CO,
    CYCLIC,
    DRAWN,
    FIRST,
    LINKED,
    MAX_GAPS,
    ORDERED,
    PAPER,
    RANDS,
    SEXES,
)


def record(dataset: str, method: str, amount: float = 0, **scores: Any) -> Record:
    squares = {f"{name}_squared": value**2 for name, value in scores.items()}
    return Record(
        Run(PAPER, dataset, method, amount, trial=0), {"nmi": 0.5, "seconds": 0.1, "n_starts": 25, **scores, **squares}
    )


def ch06_results(good: bool) -> Results:
    """Scores in the order of the chapter, or in the opposite order."""
    sign = 1 if good else -1
    records = []
    for step, method in enumerate((CO, CDK, FIRST, BOTH_ENDS)):
        value = 0.5 + 0.1 * sign * step
        records.append(record(CYCLIC, method, tau=value, bits=0.9, loss=0.1, **dict.fromkeys(RANDS, value)))
    for amount in LINKED:
        for case in DRAWN:
            value = 0.5 + 0.2 * sign
            records.append(record(CYCLIC, case, amount, tau=0.3, bits=0.9, rand_t=value, rand_g=value))
    for dataset in ORDERED:
        for step, gap in enumerate(MAX_GAPS):
            figures = {"jumps": 5.0 + sign * (step - 4), "cc": 500.0 + sign * 100 * (step - 4), "n_bisets": 100.0}
            records.append(record(dataset, f"max-gap {gap}", tau=0.4, rand=0.7, **figures))
        records.append(record(dataset, CDK, tau=0.4, rand=0.6, jumps=5.0, cc=500.0, n_bisets=100.0))
        low = {"tau": 0.4 + 0.1 * sign, "rand": 0.6 - 0.1 * sign, "jumps": 5.0 + sign}
        records.append(record(dataset, CO, **low))
    for step, method in enumerate((CO, CDK, "max-gap 5")):
        value = 0.5 + 0.1 * sign * step
        records.append(record(SEXES, method, tau=0.5, rand=value, jumps=5.0 - sign * step, n_bisets=100.0))
    records.append(record(SEXES, "min-gap 2", tau=0.5 - 0.1 * sign, rand=0.5, jumps=5.0 + sign * 3, n_bisets=100.0))
    return Results(records)
