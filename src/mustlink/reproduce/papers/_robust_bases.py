"""Parts bases and fixed: other base clusterers, and the difference representation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from mustlink.reproduce.engine._claims import NO_RESULTS, Claim, Verdict, join_words
from mustlink.reproduce.engine._protocol import RunPlan
from mustlink.reproduce.engine._results import Results, Run, nan_mean
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.reproduce.papers._robust_kmeans import cells_below, judge_gaps, means_table
from mustlink.reproduce.papers._robust_methods import (
    DIFFERENCE,
    FIXED_ROWS,
    KMEANS,
    METHODS_OF,
    NOISES,
    PAPER,
    ROBUST,
    ROWS,
    TITLES,
    cell_means,
    noise_text,
)

# NMI of the difference representation in the cases below.
FIXED = {
    "iris": (0.659, 0.790, 0.790, 0.793, 0.794),
    "wine": (0.876, 0.878, 1.0, 1.0, 0.829),
    "balance": (0.113, 0.446, 0.457, 0.475, 0.461),
    "wdbc": (0.538, 0.670, 0.766, 0.764, 0.645),
    "vowel": (0.374, 0.436, 0.495, 0.511, 0.479),
    "pendigits3689": (0.696, 0.861, 0.920, 0.932, 0.838),
    "segment": (0.613, 0.625, 0.649, 0.636, 0.631),
    "usps": (0.615, 0.610, 0.616, 0.676, 0.564),
}
# Method, number of links, fraction of wrong links.
CASES = (
    (KMEANS, 0, 0.0),
    (DIFFERENCE, 100, 0.0),
    (DIFFERENCE, 400, 0.0),
    (DIFFERENCE, 800, 0.0),
    (DIFFERENCE, 800, 0.2),
)


def base_runs(plan: RunPlan) -> Iterator[Run]:
    """Other bases, alone and boosted; each has its own number of trials."""
    for base, methods in METHODS_OF.items():
        yield from plan.runs(PAPER, methods, noises=NOISES[:2], trials=plan.special_trials.get(base, plan.trials))


def fixed_runs(plan: RunPlan) -> Iterator[Run]:
    """The difference representation, on at most 1,000 rows."""
    for method, amount, noise in CASES:
        yield from plan.runs(PAPER, [method], datasets=FIXED, amounts=(amount,), noises=(noise,), rows=FIXED_ROWS)


def fixed_scores(results: Results) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the score of the difference representation and its reference, by set and case."""
    means = results.select(rows=FIXED_ROWS).means("nmi", "dataset", "method", "amount", "noise")
    return {
        (dataset, "plain" if method == KMEANS else f"{amount} links, {noise_text(noise)}"): (means[key], known)
        for dataset, row in FIXED.items()
        for (method, amount, noise), known in zip(CASES, row, strict=True)
        if (key := (dataset, method, amount, noise)) in means
    }


def base_tables(results: Results) -> Iterator[Table]:
    """The other bases, alone and boosted."""
    title = "Means over all sets and numbers of links, other bases"
    yield means_table(results, "bases-means", title, METHODS_OF, NOISES[:2])
    means = results.select(rows=ROWS).means("nmi", "dataset", "noise", "amount", "method")
    for base, methods in METHODS_OF.items():
        cells = [(noise, amount) for noise in NOISES[:2] for amount in results.amounts(method=methods[1], noise=noise)]
        rows = []
        for dataset in results.select(method=methods[1]).unique("dataset"):
            pairs = ([means.get((dataset, *cell, method), math.nan) for method in methods] for cell in cells)
            rows.append((TITLES[dataset], *(" / ".join(map(number_text, pair)) for pair in pairs)))
        header = ("set", *(f"{amount:g}, {noise_text(noise)}" for noise, amount in cells))
        yield Table(base, f"NMI, {base} as base: alone / {ROBUST}", header, tuple(rows))


def fixed_tables(results: Results) -> Iterator[Table]:
    """The difference representation beside its reference."""
    rows = tuple(
        (TITLES[dataset], case, number_text(here), number_text(known), number_text(here - known, sign="+"))
        for (dataset, case), (here, known) in fixed_scores(results).items()
    )
    title = "NMI of the difference representation, k-means as base, at most 1,000 rows"
    yield Table("difference", title, ("set", "case", "here", "reference", "difference"), rows)


def judge_fixed(results: Results) -> Verdict:
    """The difference representation reaches its reference in every cell."""
    found = fixed_scores(results).items()
    return judge_gaps({f"{TITLES[dataset]}, {case}": here - known for (dataset, case), (here, known) in found})


def judge_bases(noise: float, results: Results) -> Verdict:
    """Boosting makes no base worse."""
    total, below, parts = 0, [], []
    for base, methods in METHODS_OF.items():
        before, after = (cell_means(results, "nmi", method, noise) for method in methods)
        if after:
            total += len(after)
            below += [f"{base} on {cell}" for cell in cells_below(results, *methods, noise)]
            parts.append(f"{base} from {nan_mean(before.values()):.3f} to {nan_mean(after.values()):.3f}")
    if not total:
        return NO_RESULTS
    sentence = f"Mean NMI: {join_words(parts)}. Below the base: {len(below)} of {total} cells ({join_words(below)})."
    return Verdict(not below, sentence)


BASES_CLAIMS = (
    Claim("B1", "With right links no other base is made worse anywhere.", partial(judge_bases, 0.0)),
    Claim("B2", "With 20% wrong links no other base is made worse anywhere.", partial(judge_bases, 0.2)),
)
FIXED_CLAIMS = (
    Claim("D1", "Every cell of the difference representation is at most 0.03 below its reference.", judge_fixed),
)
