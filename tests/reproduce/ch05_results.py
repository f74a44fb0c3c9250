"""Results of chapter 5, made by hand."""

from __future__ import annotations

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers._ch05_data import N_SITES
from mustlink.reproduce.papers.ch05 import (
    CLOUD_AMOUNTS,
    CLOUDS,
    FLIPPED,
    IMAGE,
    IMAGE_AMOUNTS,
    MPCK,
    NEWS,
    NEWS_AMOUNTS,
    OURS,
    PAPER,
    PCK,
    PPC,
    PRINTED,
    SHENTAL,
)

METHODS = (OURS, PRINTED, SHENTAL, PCK, MPCK, PPC)


def cloud_records(good: bool) -> list[Record]:
    records = []
    for dataset in CLOUDS[:2]:
        for amount in CLOUD_AMOUNTS:
            for method in METHODS:
                rival = 1.0 if amount == CLOUD_AMOUNTS[-1] else 0.55
                f = (0.998 if method == OURS else rival) if good else (0.9 if amount < 0.3 else 0.95)
                scores = {"f": f, "n_telling": 1, "seconds": 1.0}
                records.append(Record(Run(PAPER, dataset, method, amount, trial=0), scores))
        # A draw that says nothing counts only in the table of all draws.
        blind = {"f": 0.5, "n_telling": 0, "seconds": 1.0}
        records.append(Record(Run(PAPER, dataset, OURS, CLOUD_AMOUNTS[0], trial=1), blind))
        for method in METHODS:
            f = (0.996 if method == OURS else 0.83) if good else 0.9
            run = Run(PAPER, dataset, method, CLOUD_AMOUNTS[-1], trial=0, noise=FLIPPED)
            records.append(Record(run, {"f": f, "n_telling": 9, "seconds": 1.0}))
    return records


def image_records(good: bool) -> list[Record]:
    records = []
    for place, amount in enumerate(IMAGE_AMOUNTS):
        for method in METHODS:
            f = (0.77, 0.83, 0.97, 0.98)[place] if good else 0.8 + 0.01 * place
            seconds = 90.0 if good and method == SHENTAL else 2.0
            scores = {"f": f, "seconds": seconds}
            if method == OURS:
                scores["segments"] = [number % 5 for number in range(N_SITES**2)]
            records.append(Record(Run(PAPER, IMAGE, method, amount, trial=0), scores))
    return records


def ch05_results(good: bool) -> Results:
    """Return results as the chapter has them, or the opposite."""
    news = [
        Record(Run(PAPER, dataset, method, amount, trial=0), {"f": 0.6, "seconds": 1.0})
        for dataset in NEWS
        for amount in NEWS_AMOUNTS
        for method in METHODS
    ]
    return Results([*cloud_records(good), *news, *image_records(good)])
