"""Results of the chapter on connected clusters, made by hand: such that all claims hold, or that none does."""

from __future__ import annotations

from typing import Any

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.ch12 import (
    BEST_K_MEANS,
    CORA,
    GRAPHS,
    K_MEANS,
    KINDS,
    OF_GRAPHS,
    OF_TOPICS,
    ROUNDS,
    WARD,
)


def record(dataset: str, method: str, amount: float, **scores: Any) -> Record:
    return Record(Run("ch12", dataset, method, amount, trial=0), {"nmi": 0.5, "seconds": 0.1, **scores})


def ch12_results(good: bool) -> Results:
    """NetScan ahead of its rivals and within its bounds; or the opposite."""
    records = []
    for method in OF_TOPICS:
        accuracy = 55.0 if (method in (K_MEANS, BEST_K_MEANS, WARD)) == good else 70.0
        records.append(record(CORA, method, 0, accuracy=accuracy, correct=[10] * 7, n_kept=100))
    for kind in KINDS:
        for method in OF_GRAPHS:
            ratio = 1.9 if (method == ROUNDS) == good else 1.3
            ratio = ratio if good or method == ROUNDS else 20.0
            records.append(record(GRAPHS, method, kind, radius=ratio, ratio=ratio, n_iter=5))
    return Results(records)
