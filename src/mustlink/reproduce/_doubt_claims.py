"""What boosting with doubt is asked to reach, put to the results."""

from __future__ import annotations

import math
from functools import partial

from mustlink.reproduce._claims import counted, listed
from mustlink.reproduce._doubt_reference import ASKED, PRECISION, RECALL, TITLES
from mustlink.reproduce._doubt_tables import (
    OTHER_BASES,
    cell_means,
    cells_below,
    differences,
    fixed_differences,
    named,
    suspect_rates,
)
from mustlink.reproduce._protocol import Claim, Verdict
from mustlink.reproduce._results import Results, mean_known

__all__ = ["BASES_CLAIMS", "FIXED_CLAIMS", "KMEANS_CLAIMS"]

ROUNDING = 0.0005
WITHIN = 0.03
"""A cell of five trials that is further below its reference is below by more than chance."""

NOT_TESTED = Verdict(None, "Not tested: there are no such results.")


def judge_mean(score: str, noise: float, results: Results) -> Verdict:
    """The mean over the cells reaches what is asked."""
    ours, plain = (cell_means(results, score, method, noise) for method in ("auto", "plain"))
    if not ours:
        return NOT_TESTED
    asked, mean = getattr(ASKED[noise], score), mean_known(ours.values())
    n_known = sum(not math.isnan(value) for value in ours.values())
    return Verdict(
        bool(mean >= asked - ROUNDING),
        f"auto {mean:.3f}, asked {asked:.3f}; plain {mean_known(plain.values()):.3f}, over {n_known} cells.",
    )


def judge_below(noise: float, results: Results) -> Verdict:
    """Few cells lie below the plain base."""
    total = len(cell_means(results, "nmi", "auto", noise))
    if not total:
        return NOT_TESTED
    below = cells_below(results, "plain", "auto", noise)
    most = ASKED[noise].most_below if noise in ASKED else 0
    return Verdict(len(below) <= most, f"{counted(len(below), total, 'cells')}: {listed(below)}; asked at most {most}.")


def judge_cells(noise: float, results: Results) -> Verdict:
    """No cell is further below its reference than chance."""
    found = differences(results, noise)
    if not found:
        return NOT_TESTED
    short = [f"{TITLES[name]} {amount:g} ({gap:+.2f})" for (name, amount), gap in found.items() if gap < -WITHIN]
    return Verdict(
        not short,
        f"{counted(len(found) - len(short), len(found), 'cells')} are; below by more: {listed(short)}. "
        f"Mean difference {mean_known(found.values()):+.3f}.",
    )


def judge_suspects(results: Results) -> Verdict:
    """Precision and recall of the suspects with 20% wrong links."""
    amounts = [amount for amount in RECALL if len(results.select(method="auto", noise=0.2, amount=amount))]
    if not amounts:
        return NOT_TESTED
    held, parts = True, []
    for amount in amounts:
        precision, recall = suspect_rates(results, 0.2, amount)
        held = held and precision >= PRECISION - WITHIN and recall >= RECALL[amount] - WITHIN
        parts.append(f"{amount} links {precision:.2f} and {recall:.2f}")
    return Verdict(held, f"Precision and recall with {listed(parts)}.")


def judge_bases(noise: float, results: Results) -> Verdict:
    """Boosting does not make any base worse."""
    total, below, parts = 0, [], []
    for base in OTHER_BASES:
        before, after = (cell_means(results, "nmi", method, noise) for method in (base, f"auto + {base}"))
        if after:
            total += len(after)
            below += [f"{base} on {cell}" for cell in cells_below(results, base, f"auto + {base}", noise)]
            parts.append(f"{base} from {mean_known(before.values()):.3f} to {mean_known(after.values()):.3f}")
    if not total:
        return NOT_TESTED
    return Verdict(
        not below,
        f"Mean NMI: {listed(parts)}. Below the base: {counted(len(below), total, 'cells')} ({listed(below)}).",
    )


def judge_fixed(results: Results) -> Verdict:
    """The difference form reaches its reference."""
    found = fixed_differences(results)
    if not found:
        return NOT_TESTED
    gaps = {f"{TITLES[dataset]}, {case}": here - known for (dataset, case), (here, known) in found.items()}
    short = [f"{cell} ({gap:+.2f})" for cell, gap in gaps.items() if gap < -WITHIN]
    return Verdict(
        not short,
        f"{counted(len(gaps) - len(short), len(gaps), 'cells')} are; below by more: {listed(short)}. "
        f"Mean difference {mean_known(gaps.values()):+.3f}.",
    )


def _asked(noise: float, first: int) -> tuple[Claim, ...]:
    """Return what is asked with some share of wrong links."""
    asked, wrong = ASKED[noise], named(noise)
    cells = "No cell is" if asked.most_below == 0 else f"At most {asked.most_below} cell is"
    texts = (
        f"Mean NMI with links {wrong} is at least {asked.nmi:.3f}.",
        f"On points in no link it is at least {asked.nmi_unconstrained:.3f}.",
        f"{cells} more than 0.01 below plain k-means, links {wrong}.",
        f"Every cell is at most {WITHIN} below its reference, links {wrong}.",
    )
    judges = (
        partial(judge_mean, "nmi", noise),
        partial(judge_mean, "nmi_unconstrained", noise),
        partial(judge_below, noise),
        partial(judge_cells, noise),
    )
    return tuple(
        Claim(f"D{number}", text, judge) for number, (text, judge) in enumerate(zip(texts, judges, strict=True), first)
    )


KMEANS_CLAIMS = (
    *_asked(0.0, 1),
    *_asked(0.2, 5),
    Claim("D9", "With 30% wrong links no cell is more than 0.01 below plain k-means.", partial(judge_below, 0.3)),
    Claim("D10", "Suspects with 20% wrong links: precision .70, recall .27, .50, .53 (within .03).", judge_suspects),
)
BASES_CLAIMS = (
    Claim("D11", "With right links no other base is made worse anywhere.", partial(judge_bases, 0.0)),
    Claim("D12", "With 20% wrong links no other base is made worse anywhere.", partial(judge_bases, 0.2)),
)
FIXED_CLAIMS = (Claim("D13", "Every cell of the difference form is at most 0.03 below its reference.", judge_fixed),)
