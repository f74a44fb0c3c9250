"""The tables of boosting with doubt, beside the reference figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from mustlink.reproduce._doubt_reference import ASKED, AUTO, FIXED, PRECISION, RECALL, TITLES
from mustlink.reproduce._results import Results, mean_known
from mustlink.reproduce._tables import Table, figure_text

__all__ = [
    "AMOUNTS",
    "BELOW",
    "CASES",
    "FIXED_FORM",
    "FIXED_PLAIN",
    "FIXED_ROWS",
    "METRICS",
    "NOISES",
    "OTHER_BASES",
    "base_tables",
    "cell_means",
    "cells_below",
    "differences",
    "fixed_differences",
    "fixed_tables",
    "kmeans_tables",
    "named",
    "suspect_rates",
]

METRICS = ("plain", "ridged", "auto")
OTHER_BASES = ("spectral", "average", "mixture")
AMOUNTS = (100, 400, 800)
NOISES = (0.0, 0.2, 0.3)
BELOW = 0.01
"""By how much a cell must lie under the plain base to count as below it."""

FIXED_ROWS = 1_000
FIXED_FORM, FIXED_PLAIN = "difference", "k-means"
# The columns of FIXED: method, number of links, share of wrong links.
CASES = ((FIXED_PLAIN, 0, 0.0), (FIXED_FORM, 100, 0.0), (FIXED_FORM, 400, 0.0), (FIXED_FORM, 800, 0.0),
         (FIXED_FORM, 800, 0.2))  # fmt: skip

Key = tuple[str, float]


def named(noise: float) -> str:
    """Say how many links are wrong."""
    return f"{noise:.0%} wrong" if noise else "all right"


def signed(value: float) -> str:
    """Write a difference with its sign, or a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:+.3f}"


def cell_means(results: Results, score: str, method: str, noise: float) -> dict[Key, float]:
    """Return the mean over the trials for every set and number of links."""
    chosen = results.select(method=method, noise=noise)
    return {
        (dataset, amount): chosen.mean(score, dataset=dataset, amount=amount)
        for dataset in TITLES
        for amount in chosen.amounts(dataset=dataset)
    }


def mean_with_error(results: Results, score: str, method: str, noise: float) -> str:
    """Write the mean over the cells, and its standard error from the spread of the trials within each cell."""
    mean = mean_known(cell_means(results, score, method, noise).values())
    chosen = results.select(method=method, noise=noise)
    variances = []
    for dataset in TITLES:
        for amount in chosen.amounts(dataset=dataset):
            cell = chosen.select(dataset=dataset, amount=amount)
            spread, n_trials = cell.spread(score), len(cell.values(score))
            if not math.isnan(spread):
                variances.append(spread**2 / n_trials)
    if not variances:
        return figure_text(mean)
    return f"{figure_text(mean)} ± {math.sqrt(sum(variances)) / len(variances):.3f}"


def cells_below(results: Results, plain: str, boosted: str, noise: float) -> list[str]:
    """Name the cells in which the boosted base is clearly worse than the base alone."""
    before, after = (cell_means(results, "nmi", method, noise) for method in (plain, boosted))
    return [
        f"{TITLES[dataset]} {amount:g}"
        for (dataset, amount), value in after.items()
        if value < before.get((dataset, amount), -math.inf) - BELOW
    ]


def reference(dataset: str, amount: float, noise: float) -> float:
    """Return what auto reached in the prototype."""
    row = AUTO[dataset].get(noise)
    return row[AMOUNTS.index(int(amount))] if row and amount in AMOUNTS else math.nan


def differences(results: Results, noise: float) -> dict[Key, float]:
    """Return by how much auto is above its reference."""
    return {key: value - reference(*key, noise) for key, value in cell_means(results, "nmi", "auto", noise).items()}


def suspect_rates(results: Results, noise: float, amount: float) -> tuple[float, float]:
    """Return precision and recall of the suspects, all sets and trials together."""
    chosen = results.select(method="auto", noise=noise, amount=amount)
    found, named_, wrong = (sum(chosen.values(name)) for name in ("n_found", "n_suspects", "n_wrong"))
    return (found / named_ if named_ else math.nan, found / wrong if wrong else math.nan)


def kmeans_tables(results: Results) -> Iterator[Table]:
    """Every cell beside the reference, the means, and the suspects."""
    yield _mean_rows(results, "Means over all sets and numbers of links, k-means as base", {"k-means": METRICS}, NOISES)
    yield _suspects(results)
    for noise in NOISES:
        yield _every_cell(results, noise)


def _every_cell(results: Results, noise: float) -> Table:
    """Lay out the methods of one share of wrong links, a row per set and number of links."""
    means = {method: cell_means(results, "nmi", method, noise) for method in METRICS}
    free = {method: cell_means(results, "nmi_unconstrained", method, noise) for method in ("plain", "auto")}
    above = differences(results, noise)
    rows = []
    for dataset, amount in means["auto"]:
        key = (dataset, amount)
        ours = [figure_text(means[method].get(key, math.nan)) for method in METRICS]
        unlinked = [figure_text(free[method].get(key, math.nan)) for method in free]
        beside = [figure_text(reference(dataset, amount, noise), 2), signed(above[key])]
        rows.append((TITLES[dataset], f"{amount:g}", *ours, *beside, *unlinked))
    header = ("set", "links", *METRICS, "reference of auto", "difference", "plain, no link", "auto, no link")
    return Table(
        f"NMI, k-means as base, links {named(noise)}",
        header,
        tuple(rows),
        "The last two columns: on the points in no link.",
    )


def _mean_rows(
    results: Results, title: str, methods: Mapping[str, tuple[str, ...]], noises: tuple[float, ...]
) -> Table:
    """Lay out means over the cells; the first method of each base is the base alone."""
    rows = []
    for base, group in methods.items():
        for noise in noises:
            for method in group:
                found = cell_means(results, "nmi", method, noise)
                if not found:
                    continue
                below = cells_below(results, group[0], method, noise)
                asked = ASKED.get(noise) if method == "auto" else None
                rows.append(
                    (
                        base,
                        named(noise),
                        method,
                        mean_with_error(results, "nmi", method, noise),
                        f"{asked.nmi:.3f}" if asked else "",
                        mean_with_error(results, "nmi_unconstrained", method, noise),
                        f"{asked.nmi_unconstrained:.3f}" if asked else "",
                        f"{len(below)} of {len(found)}",
                        ", ".join(below),
                    )
                )
    header = ("base", "links", "method", "NMI", "asked", "NMI, no link", "asked", "below plain", "which")
    note = (
        f"Below plain: cells (set and number of links) more than {BELOW} under the base alone. After ±: the standard "
        "error of the mean, from the spread of the trials."
    )
    return Table(title, header, tuple(rows), note)


def _suspects(results: Results) -> Table:
    """Lay out how many of the suspects are wrong, how many of the wrong links they are, and the estimated rate."""
    rows = []
    for noise in NOISES:
        for amount in results.amounts(method="auto", noise=noise):
            precision, recall = suspect_rates(results, noise, amount)
            chosen = results.select(method="auto", noise=noise, amount=amount)
            known = noise == 0.2 and amount in RECALL
            rows.append(
                (
                    named(noise),
                    f"{amount:g}",
                    figure_text(mean_known(chosen.values("n_suspects")), 1),
                    figure_text(precision, 2),
                    f"{PRECISION:.2f}" if known else "",
                    figure_text(recall, 2),
                    f"{RECALL[int(amount)]:.2f}" if known else "",
                    figure_text(mean_known(chosen.values("error_rate")), 2),
                )
            )
    header = ("links", "number", "suspects", "precision", "reference", "recall", "reference", "estimated share wrong")
    return Table("Suspects of auto, k-means as base", header, tuple(rows), "Suspects: their mean number per run.")


def base_tables(results: Results) -> Iterator[Table]:
    """The other bases, alone and boosted."""
    methods = {base: (base, f"auto + {base}") for base in OTHER_BASES}
    yield _mean_rows(results, "Means over all sets and numbers of links, other bases", methods, NOISES[:2])
    for base, (plain, boosted) in methods.items():
        rows = []
        columns = [(noise, amount) for noise in NOISES[:2] for amount in results.amounts(method=boosted, noise=noise)]
        for dataset, title in TITLES.items():
            here = results.select(dataset=dataset)
            if not len(here.select(method=boosted)):
                continue
            entries = []
            for noise, amount in columns:
                at = here.select(noise=noise, amount=amount)
                entries.append(" / ".join(figure_text(at.mean("nmi", method=method)) for method in (plain, boosted)))
            rows.append((title, *entries))
        header = ("set", *(f"{amount:g}, {named(noise)}" for noise, amount in columns))
        yield Table(f"NMI, {base} as base: alone / auto", header, tuple(rows))


def fixed_differences(results: Results) -> dict[tuple[str, str], tuple[float, float]]:
    """Return here and reference of the difference form, by set and case."""
    chosen = results.select(rows=FIXED_ROWS)
    found = {}
    for dataset, row in FIXED.items():
        for (method, amount, noise), known in zip(CASES, row, strict=True):
            here = chosen.mean("nmi", dataset=dataset, method=method, amount=amount, noise=noise)
            case = "plain" if method == FIXED_PLAIN else f"{amount} links, {named(noise)}"
            if not math.isnan(here):
                found[dataset, case] = (here, known)
    return found


def fixed_tables(results: Results) -> Iterator[Table]:
    """The difference form beside its reference."""
    rows = tuple(
        (TITLES[dataset], case, figure_text(here), figure_text(known), signed(here - known))
        for (dataset, case), (here, known) in fixed_differences(results).items()
    )
    header = ("set", "case", "here", "reference", "difference")
    yield Table("NMI of the difference form, k-means as base, at most 1,000 rows", header, rows)
