"""Results with sizes and links together, made by hand."""

from __future__ import annotations

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.linked_sizes import BOTH, LINKS, PAPER, SETS, SIZES


def linked_results(ari: dict[str, float], n_broken: int = 0) -> Results:
    """Return results with the same agreement with the classes on all sets."""
    facts = {"n_broken": n_broken, "n_outside": 0, "ari_unconstrained": 0.5}
    return Results(
        Record(Run(PAPER, data.name, method, 50, trial), {**facts, "ari": value})
        for data in SETS
        for method, value in ari.items()
        for trial in range(2)
    )


def results_of_claims(good: bool) -> Results:
    """Return results with which all claims hold, or none does."""
    return linked_results({BOTH: 0.8 if good else 0.5, LINKS: 0.7, SIZES: 0.6}, n_broken=0 if good else 1)
