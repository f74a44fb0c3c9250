"""Results of RobustBoostCluster, made by hand."""

from __future__ import annotations

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.robust import (
    AMOUNTS,
    CASES,
    FIXED,
    FIXED_ROWS,
    METHODS_OF,
    NAMES,
    NOISES,
    PAPER,
    PLAIN,
    RECALL,
    REFERENCE,
    REQUIRED,
    ROBUST,
)


def robust_results(good: bool) -> Results:
    """Return results above the reference, or below it, with suspects to match."""
    shift = 0.02 if good else -0.05
    records = []
    for dataset in NAMES:
        for noise in NOISES:
            for place, amount in enumerate(AMOUNTS):
                known = REFERENCE[dataset].get(noise, REFERENCE[dataset][0.2])[place]
                wrong = noise * amount
                found = round((RECALL[amount] + shift) * wrong)
                facts = {"n_wrong": wrong, "n_found": found, "n_suspects": found / (0.75 + shift), "error_rate": noise}
                required = REQUIRED[min(noise, 0.2)]
                unlinked = known - required.nmi + required.nmi_unconstrained
                for method, value, other in (
                    (PLAIN, 0.0 if shift > 0 else known, 0.0),
                    (ROBUST, known + shift, unlinked + shift),
                ):
                    run = Run(PAPER, dataset, method, amount, 0, noise, 800)
                    records.append(Record(run, {"nmi": value, "nmi_unconstrained": other, **facts}))
                for methods in METHODS_OF.values():
                    for method, value in zip(methods, (0.5, 0.5 + shift), strict=True):
                        run = Run(PAPER, dataset, method, amount, 0, noise, 800)
                        records.append(Record(run, {"nmi": value, "nmi_unconstrained": value}))
    for dataset, row in FIXED.items():
        for (method, amount, noise), known in zip(CASES, row, strict=True):
            records.append(Record(Run(PAPER, dataset, method, amount, 0, noise, FIXED_ROWS), {"nmi": known + shift}))
    return Results(records)
