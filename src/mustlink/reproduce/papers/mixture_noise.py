"""Gaussian mixtures with hard and with soft links on five sets, with up to 30% wrong links: our own experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from mustlink._types import Ints
from mustlink.boosting import RobustBoostCluster
from mustlink.constraints import Constraints
from mustlink.kmeans import COPKMeans, PCKMeans
from mustlink.mixture import (
    ConstrainedGaussianMixture,
    MeanFieldMixture,
    PenalizedGaussianMixture,
    flip_rate_penalty,
)
from mustlink.reproduce.engine._claims import NO_RESULTS, TIE, Claim, Verdict, join_words, missing_methods
from mustlink.reproduce.engine._figures import Figure, Line, LineStyle, draw_panels
from mustlink.reproduce.engine._methods import Labeling, Method
from mustlink.reproduce.engine._problem import DataSet, Problem, standardize
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run, nan_mean
from mustlink.reproduce.engine._tables import Table, number_text, pair_text

PAPER = "mixture_noise"
SETS = (
    DataSet("iris", "iris", standardize),
    DataSet("wine", "wine", standardize),
    DataSet("wdbc", "wdbc", standardize),
    DataSet("vowel", "vowel", standardize),
    DataSet("pendigits3689", "pendigits 3689", standardize),
)
TITLES = {data.name: data.title for data in SETS}
MAX_ROWS = 600
# Links per row: as many ends of links as rows, such that about a third of the rows is in no link.
AMOUNT = 0.5
NOISES = (0.0, 0.1, 0.2, 0.3)
WRONG = NOISES[1:]
N_STARTS = 5
REG_COVAR = 1e-3
# The certainty of a link that is assumed where the fraction of wrong links is taken to be unknown.
CERTAINTY = 0.95

PLAIN = "mixture without links"
HARD = "ConstrainedGaussianMixture"
SOFT = "PenalizedGaussianMixture, rate known"
FIXED = f"PenalizedGaussianMixture, {CERTAINTY:.0%} certain"
MEAN_FIELD = "MeanFieldMixture"
MEAN_FIELD_STRICT = "MeanFieldMixture, penalty 1000"
MEAN_FIELD_SOFT = "MeanFieldMixture, rate known"
ROBUST, PCK, COP = "RobustBoostCluster", "PCKMeans", "COPKMeans"
STYLES = {
    PLAIN: LineStyle(6, ":"),
    HARD: LineStyle(1, "--"),
    SOFT: LineStyle(0),
    FIXED: LineStyle(0, ":"),
    MEAN_FIELD: LineStyle(2, "--"),
    MEAN_FIELD_STRICT: LineStyle(2, ":"),
    MEAN_FIELD_SOFT: LineStyle(2),
    ROBUST: LineStyle(3),
    PCK: LineStyle(4, "-."),
    COP: LineStyle(5, "--"),
}
EVERYWHERE, UNLINKED = "nmi", "nmi_unconstrained"
WHERE = {EVERYWHERE: "all rows", UNLINKED: "rows without links"}


def draw_links(y: Ints, run: Run) -> Constraints:
    """Draw links in proportion to the rows, half of them must-links, and flip a fraction of them."""
    n_pairs = round(run.amount * len(y))
    return Constraints.sample(y, n_pairs=n_pairs, noise=run.noise, random_state=run.problem_seed)


# ---- the methods


def known_rate(problem: Problem) -> float:
    """Return the fraction of the links that is wrong, which the chapter assumes to be known."""
    return problem.links.violation_rate(problem.y)


def fit_mixture(mixture: type[Any], problem: Problem, **parameters: Any) -> Labeling:
    """Fit a mixture of full covariances to the rows and the links."""
    model = mixture(
        problem.n_clusters, reg_covar=REG_COVAR, n_init=N_STARTS, random_state=problem.shared_seed, **parameters
    )
    return broken(problem, model.fit(problem.X, constraints=problem.links).labels_)


def fit_plain(problem: Problem) -> Labeling:
    """Fit the same mixture without links, which is scikit-learn's GaussianMixture."""
    found = fit_mixture(ConstrainedGaussianMixture, replace(problem, links=Constraints()))
    return broken(problem, found.labels)


def fit_soft(mixture: type[Any], problem: Problem) -> Labeling:
    """Fit a mixture with penalties from the fraction of wrong links; without wrong links they are hard."""
    return fit_mixture(mixture, problem, penalty=flip_rate_penalty(known_rate(problem)))


def fit_kmeans(clusterer: type[Any], problem: Problem, **parameters: Any) -> Labeling:
    """Fit k-means with links."""
    model = clusterer(problem.n_clusters, n_init=N_STARTS, random_state=problem.shared_seed, **parameters)
    return broken(problem, model.fit(problem.X, constraints=problem.links).labels_)


def fit_robust(problem: Problem) -> Labeling:
    """Fit the default method of the library, as it is."""
    model = RobustBoostCluster(n_clusters=problem.n_clusters, random_state=problem.shared_seed)
    return broken(problem, model.fit(problem.X, constraints=problem.links).labels_)


def broken(problem: Problem, labels: Ints) -> Labeling:
    """Return labels with the fractions of the right and of the wrong links that they break."""
    satisfied, right = problem.links.satisfied(labels), problem.links.satisfied(problem.y)
    facts = {"broken_right": float((~satisfied[right]).mean()) if right.any() else math.nan}
    if not right.all():
        facts["broken_wrong"] = float((~satisfied[~right]).mean())
    return Labeling(labels, facts)


METHODS: dict[str, Method] = {
    PLAIN: fit_plain,
    HARD: partial(fit_mixture, ConstrainedGaussianMixture, on_infeasible="relax"),
    SOFT: partial(fit_soft, PenalizedGaussianMixture),
    FIXED: partial(fit_mixture, PenalizedGaussianMixture, penalty=flip_rate_penalty(1 - CERTAINTY)),
    MEAN_FIELD: partial(fit_mixture, MeanFieldMixture),
    MEAN_FIELD_STRICT: partial(fit_mixture, MeanFieldMixture, penalty=1_000.0),
    MEAN_FIELD_SOFT: partial(fit_soft, MeanFieldMixture),
    ROBUST: fit_robust,
    PCK: partial(fit_kmeans, PCKMeans),
    COP: partial(fit_kmeans, COPKMeans, on_infeasible="relax"),
}


def noise_runs(plan: RunPlan) -> Iterator[Run]:
    """All methods on all sets with all fractions of wrong links."""
    yield from plan.runs(PAPER, METHODS, noises=NOISES)


# ---- tables and the figure


def cell(results: Results, dataset: str, method: str, noise: float, score: str = EVERYWHERE) -> float:
    """Return the mean score of a method on one set."""
    return results.mean(score, dataset=dataset, method=method, noise=noise)


def mean_of(results: Results, method: str, noise: float, score: str = EVERYWHERE) -> float:
    """Return the mean over the sets of the score of a method."""
    return nan_mean(cell(results, dataset, method, noise, score) for dataset in TITLES)


def noise_tables(results: Results) -> Iterator[Table]:
    """The means over the sets, every set, and which links are broken."""
    header = ("method", *(f"{noise:.0%} wrong" for noise in NOISES))
    yield Table("means", "NMI, mean over the sets", header, tuple(score_rows(results, mean_of)))
    rows: list[tuple[str, ...]] = []
    for dataset, title in TITLES.items():
        found = score_rows(results, lambda results, *more, dataset=dataset: cell(results, dataset, *more))
        rows += [(title, *row) for row in found]
    yield Table("scores", "NMI by set", ("set", *header), tuple(rows))
    yield broken_table(results)


def score_rows(results: Results, value: Any) -> Iterator[tuple[str, ...]]:
    """Write a row per method: the score on all rows, and in brackets on rows without links."""
    for method in METHODS:
        pairs = [[value(results, method, noise, score) for score in WHERE] for noise in NOISES]
        if not all(math.isnan(everywhere) for everywhere, _ in pairs):
            yield (method, *("" if math.isnan(pair[0]) else pair_text(*pair) for pair in pairs))


def broken_table(results: Results) -> Table:
    """Lay out the fractions of right and of wrong links that the results break."""
    rows = []
    for method in (name for name in METHODS if len(results.select(method=name))):
        cells = []
        for noise in NOISES:
            right, wrong = (results.mean(f"broken_{kind}", method=method, noise=noise) for kind in ("right", "wrong"))
            cells.append(number_text(right, 2) if noise == 0 else f"{number_text(right, 2)} / {number_text(wrong, 2)}")
        rows.append((method, *cells))
    header = ("method", *(f"{noise:.0%} wrong" for noise in NOISES))
    note = "A method that tells them apart keeps the right links and breaks the wrong ones."
    return Table("broken", "Fraction of the right / of the wrong links that are broken", header, tuple(rows), note)


def noise_figures(results: Results) -> Iterator[Figure]:
    """NMI against the fraction of wrong links: the mean and every set, on all rows and on rows without links."""
    panels: dict[str, list[Line]] = {}
    for score, where in WHERE.items():
        for title, dataset in {"mean": None, **{title: name for name, title in TITLES.items()}}.items():
            lines = set_lines(results, dataset, score)
            if lines:
                panels[f"{title}, {where}"] = lines
    if panels:
        caption = "NMI against the percentage of wrong links, on all rows and on rows without links."
        yield Figure("noise", caption, partial(draw_panels, panels, axis_titles=("wrong links, %", "NMI")))


def set_lines(results: Results, dataset: str | None, score: str) -> list[Line]:
    """Return a line per method for one set, or for the mean over the sets."""
    lines = []
    for method, style in STYLES.items():
        means = [
            mean_of(results, method, noise, score) if dataset is None else cell(results, dataset, method, noise, score)
            for noise in NOISES
        ]
        if not all(map(math.isnan, means)):
            lines.append(style.line([100 * noise for noise in NOISES], means, method))
    return lines


# ---- the claims


def gaps(results: Results, method: str, rival: str, noises: tuple[float, ...], score: str) -> dict[str, float]:
    """Return how far a method is above another, by set and fraction of wrong links."""
    found = {
        f"{TITLES[dataset]} {noise:.0%}": cell(results, dataset, method, noise, score)
        - cell(results, dataset, rival, noise, score)
        for dataset in TITLES
        for noise in noises
    }
    return {key: gap for key, gap in found.items() if not math.isnan(gap)}


def judge_ahead(
    method: str, rivals: tuple[str, ...], noises: tuple[float, ...], score: str, results: Results
) -> Verdict:
    """A method is above each rival on average, and clearly below it in no cell."""
    parts, held = [], True
    for rival in rivals:
        found = gaps(results, method, rival, noises, score)
        if not found:
            return missing_methods(results, (method, rival)) or NO_RESULTS
        below = [f"{key} {gap:+.2f}" for key, gap in found.items() if gap < -TIE]
        mean = nan_mean(found.values())
        held = held and mean > 0 and not below
        parts.append(f"{mean:+.3f} to {rival} over {len(found)} cells, below in {len(below)} ({join_words(below)})")
    return Verdict(held, f"Mean difference of {method} {'; '.join(parts)}.")


def judge_hard_harms(results: Results) -> Verdict:
    """With wrong links the hard mixture is clearly below the mixture without links somewhere."""
    found = gaps(results, HARD, PLAIN, WRONG, EVERYWHERE)
    if not found:
        return NO_RESULTS
    below = [f"{key} {gap:+.2f}" for key, gap in found.items() if gap < -TIE]
    return Verdict(bool(below), f"In {len(below)} of {len(found)} cells: {join_words(below)}.")


def judge_falls(results: Results) -> Verdict:
    """From right links to 20% wrong ones, mean field as published loses at most half of what the hard mixture does."""
    shown = (MEAN_FIELD_STRICT, HARD, MEAN_FIELD, MEAN_FIELD_SOFT)
    means = {method: [mean_of(results, method, noise) for noise in (0.0, 0.2)] for method in shown}
    if any(math.isnan(value) for pair in means.values() for value in pair):
        return NO_RESULTS
    ours, theirs = (means[method][0] - means[method][1] for method in shown[:2])
    words = [f"{name} from {before:.3f} to {after:.3f}" for name, (before, after) in means.items()]
    sentence = f"Mean NMI of {join_words(words[:2])}; not judged, {join_words(words[2:])}."
    return Verdict(ours <= max(theirs, 0) / 2 and theirs > 0, sentence)


def judge_clean(results: Results) -> Verdict:
    """With right links no method is ahead of the hard mixture on average."""
    means = {method: value for method in METHODS if not math.isnan(value := mean_of(results, method, 0.0))}
    if HARD not in means:
        return NO_RESULTS
    best = max(means, key=lambda method: means[method])
    held = means[HARD] >= means[best] - TIE
    return Verdict(held, f"{HARD} {means[HARD]:.3f}; the best is {best} with {means[best]:.3f}.")


def judge_default(results: Results) -> Verdict:
    """With 20% and 30% wrong links, the default method is at least as good as each mixture, on average."""
    mixtures = (HARD, SOFT, FIXED, MEAN_FIELD, MEAN_FIELD_STRICT, MEAN_FIELD_SOFT)
    parts, held = [], True
    for noise in (0.2, 0.3):
        ours, theirs = mean_of(results, ROBUST, noise), [mean_of(results, method, noise) for method in mixtures]
        if math.isnan(ours) or any(map(math.isnan, theirs)):
            return NO_RESULTS
        held = held and ours >= max(theirs) - TIE
        best = mixtures[theirs.index(max(theirs))]
        parts.append(f"{ours:.3f} with {noise:.0%} wrong, {best} {max(theirs):.3f}")
    return Verdict(held, f"{ROBUST} {join_words(parts)}.")


CLAIMS = (
    Claim(
        "N1",
        "Chapter 4: with wrong links, soft links of the known rate are ahead of hard links and of no links on every "
        "set.",
        partial(judge_ahead, SOFT, (HARD, PLAIN), WRONG, EVERYWHERE),
    ),
    Claim("N1u", "The same on the rows without links.", partial(judge_ahead, SOFT, (HARD, PLAIN), WRONG, UNLINKED)),
    Claim(
        "N3",
        "Chapter 4: soft links in a mixture are ahead of links in k-means on every set.",
        partial(judge_ahead, SOFT, (PCK, COP), WRONG, EVERYWHERE),
    ),
    Claim("N4", "Chapter 4: with wrong links, hard links can be worse than none.", judge_hard_harms),
    Claim("T2", "Chapter 5: mean field is robust: it loses at most half of what hard links lose.", judge_falls),
    Claim(
        "M1",
        "Ours: soft links of a fixed certainty are ahead of hard links with wrong links, the rate not being known.",
        partial(judge_ahead, FIXED, (HARD,), WRONG, EVERYWHERE),
    ),
    Claim("M2", "Ours: with right links nothing is clearly ahead of the mixture with hard links.", judge_clean),
    Claim("M3", "Ours: with 20% and 30% wrong links RobustBoostCluster is as good as any mixture.", judge_default),
)

PROTOCOL = Protocol(
    name=PAPER,
    title="Mixtures with wrong links",
    source=(
        "Our own experiment. The claims on soft links are of Z. Lu and T. K. Leen, Pairwise constraints as priors in "
        "probabilistic clustering, those on mean field of T. Lange, M. H. Law, A. K. Jain and J. M. Buhmann, "
        "Clustering with constraints: a mean-field approximation perspective, in: Constrained Clustering, 2009, "
        "chapters 4 and 5."
    ),
    intro=(
        "Half as many links as rows are drawn from the classes, half of them must-links, and a fraction of them is "
        f"flipped to the other kind. Columns are standardized; of larger sets {MAX_ROWS} rows are drawn for each "
        f"trial. All mixtures have full covariances with {REG_COVAR:g} added to the diagonals and {N_STARTS} starts, "
        "as have the k-means variants. Hard links contradict each other as soon as some are wrong: "
        "ConstrainedGaussianMixture and COPKMeans then keep the must-links and break as few cannot-links as they can "
        '(on_infeasible="relax"). PenalizedGaussianMixture takes its penalty from the true fraction of wrong links, '
        f"as in chapter 4, or assumes that {CERTAINTY:.0%} of the links are right, whatever the truth. "
        "MeanFieldMixture chooses its penalty on held-out links, or has that of chapter 5, 1,000, or one from the true "
        "fraction; its labels are those of the parameters alone, and linked rows have more weight. RobustBoostCluster "
        "has its default parameters. Mean field with the true fraction was added, and the quick run raised from three "
        "trials to five, after first scores had been looked at; so was the penalty that MeanFieldMixture chooses, "
        "which became its default later. T2 is judged with the penalty of the chapter. M3 is a matter of the tie of "
        f"{TIE:g} with 30% wrong links: on the first three trials it is not held. The other verdicts are the "
        "same there."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=draw_links,
    parts=(Part("noise", noise_runs, noise_tables, noise_figures, CLAIMS),),
    quick=RunPlan(tuple(TITLES), (AMOUNT,), 5, rows=MAX_ROWS, note="Quick run: 5 trials."),
    full=RunPlan(tuple(TITLES), (AMOUNT,), 20, rows=MAX_ROWS, note="20 trials."),
)
