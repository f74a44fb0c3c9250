"""Results of the chapter on non-redundant clustering, made by hand: such that all claims hold, or that none does."""

from __future__ import annotations

from typing import Any

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.ch11 import (
    AGAIN,
    AGAIN_CONDENS,
    ALPHAS,
    ANNEALED,
    EM,
    FACES,
    GLM,
    IB,
    K_MEANS,
    N_CLUSTERS,
    NEWS,
    ORTHOGONAL,
    PAPER,
    PLAIN,
    PRODUCT,
    SEQUENTIAL,
    SUCCESSIVE,
    TEXT_CCIB,
    TEXT_EM,
    TEXT_K_MEANS,
)


def record(dataset: str, method: str, amount: float, **scores: Any) -> Record:
    filled = {"nmi": 0.5, "seconds": 0.1, "best": 0.9, "worst": 0.4, "spread": 0.1, "start_seconds": 0.1}
    return Record(Run(PAPER, dataset, method, amount, trial=0), {**filled, **scores})


def ch11_results(good: bool) -> Results:
    """Purities, times and spreads in the order of the chapter; or in the opposite one."""
    records = []
    known = 0.1 if good else 0.99
    for k in N_CLUSTERS:
        # daCCIB is ahead of CondEns-EM for three clusters only, and then by much, or never where the others are.
        ahead = {ANNEALED: 0.6, EM: 0.7} if k != 3 else {ANNEALED: 0.95, EM: 0.7}
        behind = {ANNEALED: 0.6, EM: 0.55} if k != 3 else {ANNEALED: 0.3, EM: 0.55}
        purities = (ahead if good else behind) | {SEQUENTIAL: 0.5 if good else 0.96}
        purities |= {IB: 0.4 if good else 0.8, K_MEANS: 0.3 if good else 0.7}
        times = {SEQUENTIAL: 3.0, ANNEALED: 2.0, IB: 2.0, EM: 1.0, K_MEANS: 0.5}
        for method, value in purities.items():
            seconds = times[method] if good else 1 / times[method]
            spread = (0.4 if method == SEQUENTIAL else 0.1) if good else (0.1 if method == SEQUENTIAL else 0.4)
            facts = {"purity": value, "purity_known": known, "spread": spread, "start_seconds": seconds}
            records.append(record(ORTHOGONAL, method, k, **facts))
        for dataset in list(ALPHAS)[1:]:
            for method, value in {ANNEALED: 0.5, EM: 0.7 if good else 0.3}.items():
                records.append(record(dataset, method, k, purity=value))
    for method, (value, seconds) in {PRODUCT: (0.93, 0.4), GLM: (0.73, 60.0)}.items():
        records.append(
            record(
                SUCCESSIVE,
                method,
                3,
                purity=value if good else 1 - value,
                start_seconds=seconds if good else 1 / seconds,
            )
        )
    for method, value in {PLAIN: 0.51, AGAIN: 0.78, AGAIN_CONDENS: 0.7}.items():
        records.append(record(FACES, method, 2, purity=value if good else 1 - value, told_known=0.1))
    for method, value in {TEXT_CCIB: 0.6, TEXT_EM: 0.7 if good else 0.5, TEXT_K_MEANS: 0.3}.items():
        seconds = (5.0 if method == TEXT_CCIB else 1.0) if good else (1.0 if method == TEXT_CCIB else 5.0)
        for amount in (0, 1):
            facts = {"told": value, "told_known": known, "start_seconds": seconds}
            records.append(record(NEWS, method, amount, **facts))
    return Results(records)
