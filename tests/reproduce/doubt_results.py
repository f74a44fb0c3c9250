"""Results of boosting with doubt, made by hand."""

from __future__ import annotations

from mustlink.reproduce import Cell, Record, Results
from mustlink.reproduce._doubt_reference import ASKED, AUTO, FIXED, RECALL, TITLES
from mustlink.reproduce._doubt_tables import AMOUNTS, CASES, FIXED_ROWS, NOISES, OTHER_BASES


def doubt_results(good: bool) -> Results:
    """Return results above the reference, or below it, with suspects to match."""
    shift = 0.02 if good else -0.05
    records = []
    for dataset in TITLES:
        for noise in NOISES:
            for place, amount in enumerate(AMOUNTS):
                known = AUTO[dataset].get(noise, AUTO[dataset][0.2])[place]
                wrong = noise * amount
                found = round((RECALL[amount] + shift) * wrong)
                facts = {"n_wrong": wrong, "n_found": found, "n_suspects": found / (0.75 + shift), "error_rate": noise}
                free = known - ASKED[min(noise, 0.2)].nmi + ASKED[min(noise, 0.2)].nmi_unconstrained
                for method, value, unlinked in (
                    ("plain", 0.0 if shift > 0 else known, 0.0),
                    ("auto", known + shift, free + shift),
                ):
                    cell = Cell("doubt", dataset, method, amount, 0, noise, 800)
                    records.append(Record(cell, {"nmi": value, "nmi_unconstrained": unlinked, **facts}))
                for base in OTHER_BASES:
                    for method, value in ((base, 0.5), (f"auto + {base}", 0.5 + shift)):
                        cell = Cell("doubt", dataset, method, amount, 0, noise, 800)
                        records.append(Record(cell, {"nmi": value, "nmi_unconstrained": value}))
    for dataset, row in FIXED.items():
        for (method, amount, noise), known in zip(CASES, row, strict=True):
            records.append(Record(Cell("doubt", dataset, method, amount, 0, noise, FIXED_ROWS), {"nmi": known + shift}))
    return Results(records)
