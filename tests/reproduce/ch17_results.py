"""Results of the chapter on classifiers from pairs, made by hand: such that all claims hold, or that none does."""

from __future__ import annotations

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers import ch17

# From the smallest error to the largest, as the chapter has it.
ORDER = (
    ch17.NPKLR, ch17.CPKLR, ch17.FARTHEST, ch17.CPSVM, ch17.MUST_ONLY, ch17.ACTIVE, ch17.TEMPORAL, ch17.SCALED,
    ch17.SCALED_STATES, ch17.AMBIGUOUS, ch17.RCA_KLR, ch17.VOTE,
)  # fmt: skip


def record(dataset: str, method: str, amount: float, error: float) -> Record:
    return Record(Run("ch17", dataset, method, amount, trial=0), {"nmi": 0.5, "seconds": 0.1, "error": error})


def ch17_results(good: bool) -> Results:
    """Errors that fall with links, in the order of the chapter; or rise, in the opposite order."""
    records = []
    for dataset in ch17.SETS:
        for place, method in enumerate(ORDER if good else ORDER[::-1]):
            records.append(record(dataset, method, 0, 0.4 if good else 0.01))
            records.append(record(dataset, method, 20, 0.1 + 0.02 * place))
        ways = (ch17.TRUE_ONLY, ch17.WEIGHTED, ch17.PROBABLE, ch17.NOISY)
        for method, error in zip(ways if good else ways[::-1], (0.10, 0.11, 0.12, 0.16), strict=True):
            records.append(record(dataset, method, 0, 0.4 if good else 0.01))
            records.append(record(dataset, method, 140, error))
    errors = (0.2, 0.17, 0.07, 0.03) if good else (0.1, 0.2, 0.3, 0.4)
    for method, error in zip(ch17.OF_SPIRALS, errors, strict=True):
        records.append(record(ch17.SPIRAL, method, 4, error))
    return Results(records)
