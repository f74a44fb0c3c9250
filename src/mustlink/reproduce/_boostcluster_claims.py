"""What the paper on BoostCluster claims, asked of the results."""

from __future__ import annotations

from functools import partial

import numpy as np

from mustlink.reproduce._claims import LEVEL, counted, listed, needs, text_of
from mustlink.reproduce._protocol import Claim, Verdict
from mustlink.reproduce._results import Results, mean_known

__all__ = [
    "BASES",
    "DEFAULT",
    "NOISE",
    "NOISY_SETS",
    "PUBLISHED",
    "TITLES",
    "curve_claims",
    "noise_claims",
    "round_claims",
]

BASES = ("k-means", "SLINK", "SPEC")
DEFAULT, PUBLISHED = "BoostCluster", "as published"
TITLES = {
    "wdbc": "wdbc",
    "balance": "scale",
    "vowel": "vowel",
    "segment": "segmentation",
    "usps4000": "handwrittendigit",
    "pendigits3689": "pendigit",
}
NOISY_SETS = ("balance", "vowel", "pendigits3689")
NOISE = 0.2
ROUNDS = 25
FLAT = 0.05
"""The objective is flat if its last three rounds bring less than this share of the whole fall."""


def curve_claims() -> tuple[Claim, ...]:
    """The claims about figures 5 and 6."""
    return (
        *(
            Claim(f"C1, {kind}", "BoostCluster improves all three bases on most sets.", partial(judge_gain, kind))
            for kind in (PUBLISHED, DEFAULT)
        ),
        Claim(
            "C2",
            "SpectralLearn does not always improve the base: on wdbc and handwrittendigit it gets worse with more "
            "links.",
            judge_spectral_learning,
        ),
        *(
            Claim(
                f"C3, {kind}",
                "On vowel, k-means as base is well below spectral clustering; on pendigit, the reverse.",
                partial(judge_bases, kind),
            )
            for kind in (PUBLISHED, DEFAULT)
        ),
    )


def noise_claims() -> tuple[Claim, ...]:
    """The claims about figure 7."""
    return (
        *(
            Claim(
                f"C4, {kind}",
                "With 20% of the links wrong, BoostCluster still improves all three bases with more links.",
                partial(judge_noise, kind),
            )
            for kind in (PUBLISHED, DEFAULT)
        ),
        Claim(
            "C4, MPCKmeans",
            "With 20% of the links wrong, MPCKmeans gets worse with more links.",
            partial(judge_noisy_rival, "MPCKmeans", False),
        ),
        Claim(
            "C4, SSKK",
            "With 20% of the links wrong, SSKK still gets better with more links.",
            partial(judge_noisy_rival, "SSKK", True),
        ),
    )


def round_claims() -> tuple[Claim, ...]:
    """The claims about figure 3."""
    return tuple(
        Claim(f"C5, {kind}", "The objective has converged within 25 rounds.", partial(judge_convergence, kind))
        for kind in (PUBLISHED, DEFAULT)
    )


def judge_gain(kind: str, results: Results) -> Verdict:
    """On most sets, every base is improved by the most links, by either score."""
    clean = results.select(noise=0.0)
    missing = needs(clean, [f"{kind} + {base}" for base in BASES])
    if missing:
        return missing
    most, datasets = max(clean.amounts()), clean.unique("dataset")
    parts, held = [], True
    for base in BASES:
        counts = []
        for score in ("nmi", "pairwise_f1"):
            before, after = _before_and_after(clean, score, base, kind, most)
            counts.append(int(np.sum(np.array(after) > np.array(before) + LEVEL)))
        held = held and min(counts) > len(datasets) / 2
        plain, boosted = map(mean_known, _before_and_after(clean, "nmi", base, kind, most))
        free = [mean_known(values) for values in _before_and_after(clean, "nmi_unconstrained", base, kind, most)]
        parts.append(
            f"{base} on {counts[0]} (NMI) and {counts[1]} (F1) of {len(datasets)} sets, mean NMI {text_of(plain)} to "
            f"{text_of(boosted)}, on points in no link {text_of(free[0])} to {text_of(free[1])}"
        )
    return Verdict(held, f"With {most:g} links it improves {'; '.join(parts)}.")


def _before_and_after(
    results: Results, score: str, base: str, kind: str, amount: float
) -> tuple[list[float], list[float]]:
    """Return a score of the base alone and boosted, for every data set, on the same points."""
    datasets = results.unique("dataset")
    before = [results.mean(score, dataset=name, method=base, amount=amount) for name in datasets]
    after = [results.mean(score, dataset=name, method=f"{kind} + {base}", amount=amount) for name in datasets]
    return before, after


def judge_spectral_learning(results: Results) -> Verdict:
    """Spectral learning with the most links is below spectral learning with the fewest, on two sets."""
    clean = results.select(noise=0.0)
    missing = needs(clean, [f"SpectralLearn + {base}" for base in BASES])
    if missing:
        return missing
    worse, parts = 0, []
    for dataset in ("wdbc", "usps4000"):
        for base in BASES:
            runs = clean.select(dataset=dataset, method=f"SpectralLearn + {base}")
            first, last = (runs.mean("nmi", amount=amount) for amount in _ends(runs))
            worse += last < first
            parts.append(f"{TITLES[dataset]} with {base} {text_of(first)} to {text_of(last)}")
    return Verdict(worse > len(parts) / 2, f"Worse in {counted(worse, len(parts), 'cases')}: {listed(parts)}.")


def judge_bases(kind: str, results: Results) -> Verdict:
    """Which base is better depends on the set."""
    clean = results.select(noise=0.0)
    methods = [f"{kind} + k-means", f"{kind} + SPEC"]
    for dataset in ("vowel", "pendigits3689"):
        if missing := needs(clean, methods, dataset=dataset):
            return missing
    found = {name: [clean.mean("nmi", dataset=name, method=m) for m in methods] for name in ("vowel", "pendigits3689")}
    held = (
        found["vowel"][0] < found["vowel"][1] - LEVEL and found["pendigits3689"][0] > found["pendigits3689"][1] + LEVEL
    )
    parts = [f"{TITLES[name]} {text_of(k_means)} and {text_of(spec)}" for name, (k_means, spec) in found.items()]
    return Verdict(held, f"Mean NMI with k-means and with SPEC as base: {listed(parts)}.")


def judge_noise(kind: str, results: Results) -> Verdict:
    """In most cases, more links that are partly wrong do not hurt, and the base alone is worse."""
    noisy = results.select(noise=NOISE)
    missing = needs(noisy, [f"{kind} + {base}" for base in BASES])
    if missing:
        return missing
    rising = above = total = 0
    parts = []
    for base in BASES:
        ends = []
        for dataset in noisy.unique("dataset"):
            runs = noisy.select(dataset=dataset, method=f"{kind} + {base}")
            few, many = _ends(runs)
            first, last = runs.mean("nmi", amount=few), runs.mean("nmi", amount=many)
            total += 1
            rising += last >= first - LEVEL
            above += last > noisy.mean("nmi", dataset=dataset, method=base, amount=many)
            ends.append((first, last, runs.mean("nmi_unconstrained", amount=many)))
        first, last, free = map(mean_known, zip(*ends, strict=True))
        parts.append(f"{base} {text_of(first)} to {text_of(last)} ({text_of(free)} on points in no link)")
    sentence = (
        f"From the fewest links to the most, mean NMI goes {listed(parts)}; not worse in "
        f"{counted(rising, total, 'cases')}, above the base alone in {above}."
    )
    return Verdict(rising > total / 2 and above > total / 2, sentence)


def judge_noisy_rival(method: str, rises: bool, results: Results) -> Verdict:
    """A rival gets better, or worse, with more links that are partly wrong."""
    noisy = results.select(noise=NOISE)
    missing = needs(noisy, [method])
    if missing:
        return missing
    parts, as_said = [], 0
    for dataset in noisy.unique("dataset"):
        runs = noisy.select(dataset=dataset, method=method)
        first, last = (runs.mean("nmi", amount=amount) for amount in _ends(runs))
        as_said += (last > first) == rises
        parts.append(f"{TITLES[dataset]} {text_of(first)} to {text_of(last)}")
    return Verdict(as_said > len(parts) / 2, f"NMI from the fewest links to the most: {listed(parts)}.")


def judge_convergence(kind: str, results: Results) -> Verdict:
    """The last three rounds bring next to nothing."""
    clean = results.select(noise=0.0, method=f"{kind} + k-means")
    runs = clean.values("log_objective", amount=max(clean.amounts(), default=0))
    shares = [share for share in map(_last_share, runs) if share is not None]
    if not shares:
        return Verdict(None, "Not tested: there are no results.")
    flat = sum(share <= FLAT for share in shares)
    sentence = (
        f"The last three rounds bring {np.mean(shares):.1%} of the whole fall of log L on average; at most {FLAT:.0%} "
        f"in {counted(flat, len(shares), 'runs')}."
    )
    return Verdict(flat > len(shares) / 2, sentence)


def _last_share(log_objective: list[float]) -> float | None:
    """Return the share of the fall that the last three rounds bring; a run that ended early brings no more."""
    if not log_objective or log_objective[0] <= log_objective[-1]:
        return None
    held = [*log_objective, *[log_objective[-1]] * (1 + ROUNDS - len(log_objective))]
    return (held[-4] - held[-1]) / (held[0] - held[-1])


def _ends(results: Results) -> tuple[float, float]:
    """Return the smallest and the largest number of links."""
    amounts = results.amounts()
    return amounts[0], amounts[-1]
