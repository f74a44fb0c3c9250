"""The experiments of BoostCluster."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from mustlink.boosting import BoostCluster, RobustBoostCluster
from mustlink.hierarchy import PartitionThenLink
from mustlink.kmeans import KernelKMeans, MPCKMeans
from mustlink.reproduce.engine._claims import NO_RESULTS, TIE, Claim, Verdict, join_words, missing_methods, score_text
from mustlink.reproduce.engine._figures import Figure, Line, LineStyle, curve_figures, draw_panels, round_lines
from mustlink.reproduce.engine._methods import Labeling, fit_links
from mustlink.reproduce.engine._problem import DataSet, Problem, draw_pairs, principal_components, standardize
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run, nan_mean
from mustlink.reproduce.engine._tables import Table, mean_table, score_table
from mustlink.spectral import NormalizedSpectralClustering, SpectralLearning

PAPER = "boostcluster"
SETS = (
    DataSet("wdbc", "wdbc", standardize, 5),
    DataSet("balance", "scale", standardize, 3),
    DataSet("vowel", "vowel", standardize, 5),
    DataSet("segment", "segmentation", standardize, 5),
    DataSet("usps4000", "handwrittendigit", principal_components, 10),
    DataSet("pendigits3689", "pendigit", standardize, 5),
)
TITLES = {data.name: data.title for data in SETS}
NOISY_SETS = ("balance", "vowel", "pendigits3689")
NOISE = 0.2
N_ROUNDS = 25
BASES = ("k-means", "SLINK", "SPEC")
ROBUST, PUBLISHED = "RobustBoostCluster", "BoostCluster"
# The logarithm of the objective is taken of this value at least: 0 has none.
MIN_OBJECTIVE = 1e-300
# The objective is flat if its last three rounds account for at most this fraction of the whole decrease.
FLAT = 0.05
NMI, F1 = {"nmi": "NMI"}, {"pairwise_f1": "Pairwise F1"}


def make_base(name: str, problem: Problem) -> Any:
    """Make one of the three base clusterers."""
    if name == "k-means":
        return KMeans(problem.n_clusters, n_init=3, random_state=problem.seed)
    if name == "SLINK":
        return PartitionThenLink(problem.n_clusters, random_state=problem.seed)
    return NormalizedSpectralClustering(problem.n_clusters, affinity="full", n_init=3, random_state=problem.seed)


def fit_base(base: str, problem: Problem) -> Labeling:
    """The base clusterer alone."""
    return Labeling(make_base(base, problem).fit(problem.X).labels_)


def fit_boosted(base: str, kind: str, problem: Problem) -> Labeling:
    """The paper's system, or the robust one; the features are scaled already."""
    settings: dict[str, Any] = {"estimator": make_base(base, problem), "random_state": problem.seed}
    if kind == PUBLISHED:
        model: Any = BoostCluster(representation="published", n_components=problem.n_components, **settings)
    else:
        model = RobustBoostCluster(scale=False, **settings)
    model.fit(problem.X, constraints=problem.links)
    facts = {"log_objective": log_objective(model), "n_counted": sum(entry["counted"] for entry in model.history_)}
    return Labeling(model.labels_, facts)


def log_objective(model: Any) -> list[float]:
    """Return log L before the first round and after every round."""
    if not model.history_:
        return []
    first = model.history_[0]
    skipped = getattr(model, "representation", None) == "published" and not first["counted"]
    alpha = 0.0 if skipped else first["alpha"]
    # A round divides the must-links it puts together, and multiplies the cannot-links it puts together, by exp(alpha).
    change = (first["must_apart"] + first["must_together"] * math.exp(-alpha)) * (
        first["cannot_apart"] + first["cannot_together"] * math.exp(alpha)
    )
    return [math.log(max(value, MIN_OBJECTIVE)) for value in (model.objective_[0] / change, *model.objective_)]


def fit_spectral_learning(base: str, problem: Problem) -> Labeling:
    """The base clusterer on the representation of spectral learning."""
    return fit_links(SpectralLearning, problem, estimator=make_base(base, problem))


METHODS = {
    **{base: partial(fit_base, base) for base in BASES},
    **{f"{kind} + {base}": partial(fit_boosted, base, kind) for kind in (ROBUST, PUBLISHED) for base in BASES},
    **{f"SpectralLearn + {base}": partial(fit_spectral_learning, base) for base in BASES},
    "MPCKmeans": partial(fit_links, MPCKMeans),
    "SSKK": partial(fit_links, KernelKMeans),
}
STYLES = {
    **{base: LineStyle(place, ":") for place, base in enumerate(BASES)},
    **{f"{ROBUST} + {base}": LineStyle(place, "-", begins_as=base) for place, base in enumerate(BASES)},
    **{f"{PUBLISHED} + {base}": LineStyle(place, "--", begins_as=base) for place, base in enumerate(BASES)},
    **{f"SpectralLearn + {base}": LineStyle(place, "-.") for place, base in enumerate(BASES)},
    "MPCKmeans": LineStyle(3),
    "SSKK": LineStyle(4),
}


def curve_runs(noise: float, plan: RunPlan) -> Iterator[Run]:
    """Figures 5 to 7: all methods at all amounts; without links, only the bases."""
    datasets = NOISY_SETS if noise else None
    yield from plan.runs(PAPER, BASES, datasets=datasets, amounts=(0,), noises=(noise,))
    yield from plan.runs(PAPER, METHODS, datasets=datasets, noises=(noise,))


def round_runs(plan: RunPlan) -> Iterator[Run]:
    """Figure 3: the largest number of links, k-means as base."""
    methods = [f"{kind} + k-means" for kind in (ROBUST, PUBLISHED)]
    return plan.runs(PAPER, methods, amounts=(max(plan.amounts),))


def tables(noise: float, scores: Mapping[str, str], results: Results) -> Iterator[Table]:
    """The curves as numbers."""
    chosen, wrong = results.select(noise=noise), f", {noise:.0%} of the links wrong" if noise else ""
    n_sets = len(chosen.unique("dataset"))
    for score, label in scores.items():
        name = score.split("_")[-1] + ("-noise" if noise else "")
        title = f"{label}{wrong}: all points (unlinked points)"
        yield score_table(chosen, name, title, score, datasets=TITLES, methods=METHODS)
        yield mean_table(chosen, f"{name}-means", f"Mean {label} over {n_sets} sets{wrong}", score, METHODS)


def figures(number: int, noise: float, scores: Mapping[str, str], results: Results) -> Iterator[Figure]:
    """One figure for all points and one for the unlinked points, for each score."""
    chosen, wrong = results.select(noise=noise), f", {noise:.0%} of the links wrong" if noise else ""
    for score, label in scores.items():
        name = f"figure{number}" + (f"-{score.split('_')[-1]}" if len(scores) > 1 else "")
        caption = f"Figure {number}: {label} on {{where}} against the number of links{wrong}."
        yield from curve_figures(chosen, name, caption, score, label, TITLES, STYLES)


def objective_figures(results: Results) -> Iterator[Figure]:
    """Figure 3, for every data set."""
    clean = results.select(noise=0.0)
    most = max(clean.amounts(), default=0)
    styles = {f"{PUBLISHED} + k-means": LineStyle(1, "--"), f"{ROBUST} + k-means": LineStyle(0)}
    panels: dict[str, list[Line]] = {}
    for dataset, title in TITLES.items():
        for method, style in styles.items():
            values = clean.values("log_objective", dataset=dataset, method=method, amount=most)
            if found := [run for run in values if run]:
                panels.setdefault(title, []).extend(round_lines(found, style, method))
    yield Figure(
        "figure3",
        f"Figure 3: the logarithm of the objective against the rounds, {most:g} links; one thin line per trial, and "
        "their mean. A run ends early when the same weights give the same clusters again. After a third of "
        f"the rounds {ROBUST} estimates its trust in the links again, and restarts with it.",
        partial(draw_panels, panels, axis_titles=("rounds", "log of the objective")),
    )


def ends(results: Results) -> tuple[float, float]:
    """Return the smallest and the largest number of links."""
    amounts = results.amounts()
    return amounts[0], amounts[-1]


def judge_gain(kind: str, results: Results) -> Verdict:
    """On most sets, every base is improved by the largest number of links, by either score."""
    clean = results.select(noise=0.0)
    if missing := missing_methods(clean, [f"{kind} + {base}" for base in BASES]):
        return missing
    most, datasets = max(clean.amounts()), clean.unique("dataset")

    def before_and_after(score: str, base: str) -> list[list[float]]:
        means = clean.select(amount=most).means(score, "dataset", "method")
        return [[means.get((name, method), math.nan) for name in datasets] for method in (base, f"{kind} + {base}")]

    parts, held = [], True
    for base in BASES:
        counts = []
        for score in ("nmi", "pairwise_f1"):
            before, after = before_and_after(score, base)
            counts.append(int(np.sum(np.array(after) > np.array(before) + TIE)))
        held = held and min(counts) > len(datasets) / 2
        plain, boosted = (score_text(nan_mean(values)) for values in before_and_after("nmi", base))
        unlinked = [score_text(nan_mean(values)) for values in before_and_after("nmi_unconstrained", base)]
        parts.append(
            f"{base} on {counts[0]} (NMI) and {counts[1]} (F1) of {len(datasets)} sets, mean NMI {plain} to {boosted}, "
            f"on unlinked points {unlinked[0]} to {unlinked[1]}"
        )
    return Verdict(held, f"With {most:g} links it improves {'; '.join(parts)}.")


def judge_spectral_learning(results: Results) -> Verdict:
    """Spectral learning with the most links is below spectral learning with the fewest, on two sets."""
    clean = results.select(noise=0.0)
    if missing := missing_methods(clean, [f"SpectralLearn + {base}" for base in BASES]):
        return missing
    worse, parts = 0, []
    for dataset in ("wdbc", "usps4000"):
        for base in BASES:
            runs = clean.select(dataset=dataset, method=f"SpectralLearn + {base}")
            first, last = (runs.mean("nmi", amount=amount) for amount in ends(runs))
            worse += last < first
            parts.append(f"{TITLES[dataset]} with {base} {score_text(first)} to {score_text(last)}")
    return Verdict(worse > len(parts) / 2, f"Worse in {worse} of {len(parts)} cases: {join_words(parts)}.")


def judge_bases(kind: str, results: Results) -> Verdict:
    """Which base is better depends on the set."""
    clean, methods = results.select(noise=0.0), [f"{kind} + k-means", f"{kind} + SPEC"]
    found = {}
    for dataset in ("vowel", "pendigits3689"):
        if missing := missing_methods(clean, methods, dataset=dataset):
            return missing
        found[dataset] = [clean.mean("nmi", dataset=dataset, method=method) for method in methods]
    held = found["vowel"][0] < found["vowel"][1] - TIE and found["pendigits3689"][0] > found["pendigits3689"][1] + TIE
    parts = [f"{TITLES[name]} {' and '.join(map(score_text, scores))}" for name, scores in found.items()]
    return Verdict(held, f"Mean NMI with k-means and with SPEC as base: {join_words(parts)}.")


def judge_noise(kind: str, results: Results) -> Verdict:
    """In most cases, more links that are partly wrong are not worse, and better than the base alone."""
    noisy = results.select(noise=NOISE)
    if missing := missing_methods(noisy, [f"{kind} + {base}" for base in BASES]):
        return missing
    rising = above = total = 0
    parts = []
    for base in BASES:
        found = []
        for dataset in noisy.unique("dataset"):
            runs = noisy.select(dataset=dataset, method=f"{kind} + {base}")
            few, many = ends(runs)
            first, last = runs.mean("nmi", amount=few), runs.mean("nmi", amount=many)
            total += 1
            rising += last >= first - TIE
            above += last > noisy.mean("nmi", dataset=dataset, method=base, amount=many)
            found.append((first, last, runs.mean("nmi_unconstrained", amount=many)))
        first, last, unlinked = map(nan_mean, zip(*found, strict=True))
        parts.append(f"{base} {score_text(first)} to {score_text(last)} ({score_text(unlinked)} on unlinked points)")
    sentence = (
        f"From the fewest links to the most, mean NMI goes {join_words(parts)}; not worse in {rising} of {total} "
        f"cases, above the base alone in {above}."
    )
    return Verdict(rising > total / 2 and above > total / 2, sentence)


def judge_noisy_rival(method: str, rises: bool, results: Results) -> Verdict:
    """A compared method gets better, or worse, with more links that are partly wrong."""
    noisy = results.select(noise=NOISE, method=method)
    if missing := missing_methods(noisy, [method]):
        return missing
    parts, as_claimed = [], 0
    for dataset in noisy.unique("dataset"):
        runs = noisy.select(dataset=dataset)
        first, last = (runs.mean("nmi", amount=amount) for amount in ends(runs))
        as_claimed += (last > first) == rises
        parts.append(f"{TITLES[dataset]} {score_text(first)} to {score_text(last)}")
    return Verdict(as_claimed > len(parts) / 2, f"NMI from the fewest links to the most: {join_words(parts)}.")


def judge_convergence(kind: str, results: Results) -> Verdict:
    """The objective hardly decreases in the last three rounds."""
    clean = results.select(noise=0.0, method=f"{kind} + k-means")
    shares = []
    for run in clean.values("log_objective", amount=max(clean.amounts(), default=0)):
        if run and run[0] > run[-1]:
            # A run that ended early keeps its last value.
            padded = [*run, *[run[-1]] * (1 + N_ROUNDS - len(run))]
            shares.append((padded[-4] - padded[-1]) / (padded[0] - padded[-1]))
    if not shares:
        return NO_RESULTS
    flat = sum(share <= FLAT for share in shares)
    sentence = (
        f"The last three rounds bring {np.mean(shares):.1%} of the whole decrease of log L on average; at most "
        f"{FLAT:.0%} in {flat} of {len(shares)} runs."
    )
    return Verdict(flat > len(shares) / 2, sentence)


def claims(name: str, text: str, judge: Any) -> tuple[Claim, ...]:
    """A claim about BoostCluster, tested with the paper's system and with the robust one."""
    return tuple(Claim(f"{name}, {kind}", text, partial(judge, kind)) for kind in (PUBLISHED, ROBUST))


CURVE_CLAIMS = (
    *claims("C1", "BoostCluster improves all three bases on most sets.", judge_gain),
    Claim(
        "C2",
        "SpectralLearn does not always improve the base: on wdbc and handwrittendigit it gets worse with more links.",
        judge_spectral_learning,
    ),
    *claims(
        "C3", "On vowel, k-means as base is well below spectral clustering; on pendigit, the reverse.", judge_bases
    ),
)
NOISE_CLAIMS = (
    *claims(
        "C4", "With 20% of the links wrong, BoostCluster still improves all three bases with more links.", judge_noise
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
ROUND_CLAIMS = claims("C5", "The objective has converged within 25 rounds.", judge_convergence)

PROTOCOL = Protocol(
    name=PAPER,
    title="BoostCluster: boosting clustering by pairwise constraints",
    source="Y. Liu, R. Jin and A. K. Jain, BoostCluster: Boosting Clustering by Pairwise Constraints, KDD 2007.",
    intro=(
        "Half of the links are must-links, half cannot-links; 25 rounds. Each base clusterer (k-means; SLINK: k-means "
        "into sqrt(n) parts, then single link between their centers; SPEC: Ng, Jordan and Weiss with local scales) is "
        "run alone, boosted by BoostCluster as the paper describes it, with the paper's number of directions, and "
        "boosted by RobustBoostCluster with its default parameters. Features are standardized; handwrittendigit is 400 "
        "images of each digit of usps in 50 principal components; pendigit is digits 3, 6, 8 and 9."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=draw_pairs,
    parts=(
        Part("3", round_runs, figures=objective_figures, claims=ROUND_CLAIMS),
        Part("5", partial(curve_runs, 0.0), partial(tables, 0.0, NMI), partial(figures, 5, 0.0, NMI), CURVE_CLAIMS),
        Part("6", partial(curve_runs, 0.0), partial(tables, 0.0, F1), partial(figures, 6, 0.0, F1), CURVE_CLAIMS),
        Part(
            "7",
            partial(curve_runs, NOISE),
            partial(tables, NOISE, NMI | F1),
            partial(figures, 7, NOISE, NMI | F1),
            NOISE_CLAIMS,
        ),
    ),
    quick=RunPlan(
        datasets=tuple(TITLES),
        amounts=(100, 200, 400, 800),
        trials=3,
        rows=800,
        note="Quick run: 3 trials; of the sets with more than 800 rows (all but wdbc and scale), 800 drawn at random.",
    ),
    full=RunPlan(tuple(TITLES), tuple(range(100, 801, 100)), trials=5, note="5 trials on all rows, as in the paper."),
    seed_names={f"{ROBUST} + {base}": f"BoostCluster + {base}" for base in BASES}
    | {f"{PUBLISHED} + {base}": f"as published + {base}" for base in BASES},
)
