"""Results of mixtures with wrong links, made by hand."""

from __future__ import annotations

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.mixture_noise import (
    AMOUNT,
    COP,
    FIXED,
    HARD,
    MAX_ROWS,
    MEAN_FIELD,
    MEAN_FIELD_SOFT,
    MEAN_FIELD_STRICT,
    NOISES,
    PAPER,
    PCK,
    PLAIN,
    ROBUST,
    SOFT,
    TITLES,
)

# NMI with right links, and how much 10% wrong links lower it.
GOOD = {
    PLAIN: (0.60, 0.0),
    HARD: (0.90, 0.15),
    SOFT: (0.90, 0.05),
    FIXED: (0.90, 0.06),
    MEAN_FIELD: (0.90, 0.05),
    MEAN_FIELD_STRICT: (0.90, 0.05),
    MEAN_FIELD_SOFT: (0.90, 0.05),
    ROBUST: (0.90, 0.04),
    PCK: (0.70, 0.08),
    COP: (0.80, 0.20),
}
BAD = {
    PLAIN: (0.60, 0.0),
    HARD: (0.80, 0.02),
    SOFT: (0.70, 0.10),
    FIXED: (0.70, 0.10),
    MEAN_FIELD: (0.80, 0.10),
    MEAN_FIELD_STRICT: (0.80, 0.10),
    MEAN_FIELD_SOFT: (0.80, 0.10),
    ROBUST: (0.60, 0.10),
    PCK: (0.90, 0.0),
    COP: (0.80, 0.0),
}


def mixture_noise_results(good: bool) -> Results:
    """Return results as the chapters claim, or the opposite."""
    return noise_results(GOOD if good else BAD)


def noise_results(levels: dict[str, tuple[float, float]]) -> Results:
    """Return a result for every set, method and fraction of wrong links."""
    return Results(
        Record(Run(PAPER, dataset, method, AMOUNT, 0, noise, MAX_ROWS), scores_of(start - 10 * noise * fall, noise))
        for dataset in TITLES
        for method, (start, fall) in levels.items()
        for noise in NOISES
    )


def scores_of(value: float, noise: float) -> dict[str, float]:
    """Return the scores of one run."""
    found = {"nmi": value, "nmi_unconstrained": value - 0.1, "broken_right": 0.1}
    return found | ({"broken_wrong": 0.6} if noise else {})
