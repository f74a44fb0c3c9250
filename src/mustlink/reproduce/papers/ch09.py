"""The experiments of chapter 9: k-means and k-medians with minimum sizes, beside those without."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from mustlink._rows import RowBlocks
from mustlink._types import Array, Floats, Ints
from mustlink.constraints import Constraints
from mustlink.reproduce.engine._claims import NO_RESULTS, Claim, Verdict, join_words, score_text
from mustlink.reproduce.engine._figures import Figure, Line, LineStyle, draw_panels
from mustlink.reproduce.engine._methods import Labeling, Method
from mustlink.reproduce.engine._problem import DataSet, Problem, standardize
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.sizes import SizeConstrainedKMeans

PAPER = "ch09"
IONOSPHERE, WDBC, NEWS = "ionosphere", "breast_w", "news_w100"
SETS = (
    DataSet(IONOSPHERE, "Ionosphere", standardize),
    DataSet(WDBC, "WDBC", standardize),
    DataSet(NEWS, "words"),
)
TITLES = {data.name: data.title for data in SETS}

# Figures 9.2 and 9.3: minimum sizes by number of clusters; the largest of the chapter is 50.
TAUS: dict[int, tuple[int, ...]] = {
    5: (1, 2, 5, 10, 20, 30, 40, 50),
    10: (1, 2, 5, 10, 15, 20, 25),
    20: (1, 2, 5, 8, 10, 12, 15),
    50: (1, 2, 3, 4, 5, 6),
}
MAX_DRAWS, MAX_REPEATS = 50, 10
# Empty clusters from centers drawn anywhere in the range of the data.
UNIFORM = "uniform centers"
UNIFORM_KS = (10, 20, 30, 40, 50)
PUBLISHED_EMPTY = {IONOSPHERE: 20, WDBC: 30}
# Table 9.1: as many rows, clusters and minimum sizes as there.
WEB_ROWS, WEB_K, WEB_TAUS, MAX_SMALL = 10_144, 20, (10, 20, 30), 5
WEB_METRICS = {"k-means": "sqeuclidean", "k-medians": "manhattan"}
# Published: mean and standard deviation without sizes, small clusters, mean and standard deviation with sizes.
PUBLISHED_WEB = {
    ("k-means", 10): (396037, 59297, 8.7, 574555, 13209),
    ("k-means", 20): (424178, 31575, 8.5, 661215, 6367),
    ("k-means", 30): (377261, 59321, 9.3, 710156, 8086),
    ("k-medians", 10): (37783, 539, 2.8, 38091, 1166),
    ("k-medians", 20): (37989, 709, 1.9, 38389, 1258),
    ("k-medians", 30): (38140, 748, 2.0, 38811, 878),
}
# A mean ratio this close to one is about one.
ABOUT = 0.005


# ---- the methods


def complete_rows(X: Array) -> Array:
    """Return which rows have no missing value."""
    return np.flatnonzero(~np.isnan(X).any(axis=1))


def fit(X: Array, init: Floats, tau: int = 0, metric: str = "sqeuclidean") -> SizeConstrainedKMeans:
    """Fit from given centers; without a minimum it is plain k-means, whose empty clusters keep their centers."""
    return SizeConstrainedKMeans(len(init), size_min=tau, metric=metric, init=init, tol=0).fit(X)


def draw_centers(X: Array, k: int, tau: int, rng: np.random.RandomState) -> Floats:
    """Draw rows as centers, again while a cluster of nearest rows is too small, up to fifty times."""
    rows, weight = RowBlocks(X), np.ones(len(X))
    for _ in range(MAX_DRAWS):
        init = X[rng.permutation(len(X))[:k]]
        if rows.assign(init, weight).counts.min() >= tau:
            break
    return init


def compare_after_redraws(k: int, problem: Problem) -> Labeling:
    """Run k-means until it keeps to the minimum, at most ten times, then k-means with sizes from the same centers."""
    rows, tau = complete_rows(problem.X), int(problem.amount)
    X, rng = problem.X[rows], np.random.RandomState(problem.shared_seed)
    for _ in range(MAX_REPEATS):
        init = draw_centers(X, k, tau, rng)
        plain = fit(X, init)
        if plain.sizes_.min() >= tau:
            break
    sized = fit(X, init, tau)
    facts = {
        "n_small": int(np.count_nonzero(plain.sizes_ < tau)),
        "ratio": sized.score(X) / plain.score(X),
        "n_bound": int(np.count_nonzero(sized.prices_)),
    }
    return labeling(problem, rows, sized, facts)


def count_empty(problem: Problem) -> Labeling:
    """Run k-means from centers drawn uniformly in the range of the data, and count its empty clusters."""
    rows = complete_rows(problem.X)
    X, k = problem.X[rows], int(problem.amount)
    rng = np.random.RandomState(problem.shared_seed)
    plain = fit(X, rng.uniform(X.min(axis=0), X.max(axis=0), size=(k, X.shape[1])))
    return labeling(problem, rows, plain, {"n_empty": int(np.count_nonzero(plain.sizes_ == 0))})


def compare_from_rows(metric: str, problem: Problem) -> Labeling:
    """Fit without and with a minimum from the same random rows, and time both."""
    rng = np.random.RandomState(problem.shared_seed)
    init = problem.X[rng.permutation(len(problem.X))[:WEB_K]]
    facts: dict[str, Any] = {}
    for name, tau in (("plain", 0), ("sized", int(problem.amount))):
        started = time.perf_counter()
        model = fit(problem.X, init, tau, metric)
        facts[f"{name}_seconds"] = time.perf_counter() - started
        facts[f"{name}_objective"] = float(model.inertia_)
        facts[f"{name}_small"] = int(np.count_nonzero(model.sizes_ <= MAX_SMALL))
    return labeling(problem, np.arange(len(problem.X)), model, facts)


def labeling(problem: Problem, rows: Array, model: SizeConstrainedKMeans, facts: dict[str, Any]) -> Labeling:
    """Return the labels of all rows, -1 for those that were left out."""
    labels = np.full(len(problem.X), -1, dtype=np.int64)
    labels[rows] = model.labels_
    return Labeling(labels, facts)


def method_of(k: int) -> str:
    """Name the method of a number of clusters."""
    return f"k = {k}"


METHODS: dict[str, Method] = {
    **{method_of(k): partial(compare_after_redraws, k) for k in TAUS},
    UNIFORM: count_empty,
    **{name: partial(compare_from_rows, metric) for name, metric in WEB_METRICS.items()},
}


# ---- the runs


def no_links(y: Ints, run: Run) -> Constraints:
    """Draw no links: the chapter has sizes only."""
    return Constraints()


def size_runs(plan: RunPlan) -> Iterator[Run]:
    """All minimum sizes of all numbers of clusters."""
    for k, taus in TAUS.items():
        yield from plan.runs(PAPER, [method_of(k)], datasets=(IONOSPHERE, WDBC), amounts=taus)


def uniform_runs(plan: RunPlan) -> Iterator[Run]:
    """All numbers of clusters from uniform centers; the amount is the number of clusters."""
    yield from plan.runs(PAPER, [UNIFORM], datasets=(IONOSPHERE, WDBC), amounts=UNIFORM_KS)


def web_runs(plan: RunPlan) -> Iterator[Run]:
    """Both metrics at the minimum sizes of the chapter, on as many rows."""
    yield from plan.runs(PAPER, WEB_METRICS, datasets=(NEWS,), amounts=WEB_TAUS, rows=WEB_ROWS)


# ---- tables and figures


def size_tables(results: Results) -> Iterator[Table]:
    """The numbers behind the two figures: small clusters of k-means, and the ratio."""
    for fact, name, title, digits in (
        ("n_small", "small", "Figure 9.2: clusters of plain k-means with fewer rows than the minimum", 1),
        ("ratio", "ratio", "Figure 9.3: objective at nearest centers, with sizes over without", 3),
    ):
        rows = []
        for dataset in (IONOSPHERE, WDBC):
            for k, taus in TAUS.items():
                means = [results.mean(fact, dataset=dataset, method=method_of(k), amount=tau) for tau in taus]
                if not all(map(math.isnan, means)):
                    cells = [f"{tau}: {number_text(mean, digits)}" for tau, mean in zip(taus, means, strict=True)]
                    rows.append((TITLES[dataset], str(k), ", ".join(cells)))
        yield Table(name, title, ("set", "k", "minimum size: mean over the trials"), tuple(rows))


def size_figures(results: Results) -> Iterator[Figure]:
    """Figures 9.2 and 9.3."""
    for fact, name, caption, axis in (
        ("n_small", "figure2", "Figure 9.2: mean number of clusters below the minimum, plain k-means.", "clusters"),
        ("ratio", "figure3", "Figure 9.3: mean ratio of the objective with sizes to that without.", "ratio"),
    ):
        panels: dict[str, list[Line]] = {}
        for dataset in (IONOSPHERE, WDBC):
            for place, (k, taus) in enumerate(TAUS.items()):
                means = [results.mean(fact, dataset=dataset, method=method_of(k), amount=tau) for tau in taus]
                if not all(map(math.isnan, means)):
                    line = LineStyle(place).line([float(tau) for tau in taus], means, method_of(k))
                    panels.setdefault(TITLES[dataset], []).append(line)
        if panels:
            draw = partial(draw_panels, panels, axis_titles=("minimum size", axis))
            yield Figure(name, caption, draw)


def uniform_tables(results: Results) -> Iterator[Table]:
    """The empty clusters from uniform centers."""
    rows = []
    for dataset in (name for name in (IONOSPHERE, WDBC) if name in results.unique("dataset")):
        means = [results.mean("n_empty", dataset=dataset, method=UNIFORM, amount=k) for k in UNIFORM_KS]
        if not all(map(math.isnan, means)):
            rows.append((TITLES[dataset], *(number_text(mean, 1) for mean in means)))
    title = "Empty clusters of plain k-means, centers drawn uniformly in the range of the data"
    yield Table("uniform", title, ("set", *(f"k = {k}" for k in UNIFORM_KS)), tuple(rows))


def web_row(results: Results, method: str, tau: int) -> tuple[float, ...]:
    """Return means and standard deviations without and with sizes, the small clusters, and the seconds."""
    chosen: dict[str, Any] = {"method": method, "amount": tau}
    plain, sized = (np.array(results.values(f"{name}_objective", **chosen)) for name in ("plain", "sized"))
    if len(plain) < 2:
        return (math.nan,) * 7
    seconds = [results.mean(f"{name}_seconds", **chosen) for name in ("plain", "sized")]
    small = results.mean("plain_small", **chosen)
    spread = [float(values.std(ddof=1)) for values in (plain, sized)]
    return (float(plain.mean()), spread[0], small, float(sized.mean()), spread[1], *seconds)


def web_tables(results: Results) -> Iterator[Table]:
    """Table 9.1, published and ours."""
    rows = []
    for (method, tau), published in PUBLISHED_WEB.items():
        found = web_row(results, method, tau)
        if not math.isnan(found[0]):
            for where, values, seconds in (("chapter", published, ("", "")), ("here", found[:5], found[5:])):
                plain, plain_sd, small, sized, sized_sd = values
                cells = (f"{plain:,.0f} ± {plain_sd:,.0f}", f"{small:.1f}", f"{sized:,.0f} ± {sized_sd:,.0f}")
                times = tuple(f"{value:.2f}" if value != "" else "" for value in seconds)
                rows.append((method, str(tau), where, *cells, *times))
    header = ("method", "minimum", "", "plain", f"clusters of up to {MAX_SMALL} rows", "with sizes")
    yield Table(
        "web",
        "Table 9.1: objective without and with a minimum size, 20 clusters",
        (*header, "seconds, plain", "seconds, with sizes"),
        tuple(rows),
        "The chapter clusters 10,144 users by 300 news stories, which are not public; here it is as many newsgroup "
        "messages by 100 words. Levels cannot be compared, ratios can.",
    )


# ---- the claims


def judge_uniform(results: Results) -> Verdict:
    """Plain k-means from uniform centers has at least one empty cluster from a number of clusters on."""
    parts, held = [], True
    for dataset, least in PUBLISHED_EMPTY.items():
        for k in (k for k in UNIFORM_KS if k >= least):
            values = results.values("n_empty", dataset=dataset, method=UNIFORM, amount=k)
            if not values:
                return NO_RESULTS
            held = held and min(values) >= 1
            parts.append(f"{TITLES[dataset]} {k}: {min(values):.0f} ({np.mean(values):.1f})")
    return Verdict(held, f"Least number of empty clusters of a run, and the mean, by k: {join_words(parts)}.")


def ratios(results: Results, dataset: str, k: int, taus: list[int]) -> list[float]:
    """Return the mean ratios at some minimum sizes."""
    return [results.mean("ratio", dataset=dataset, method=method_of(k), amount=tau) for tau in taus]


def judge_ratios(dataset: str, k: int, least: int, above: bool, results: Results) -> Verdict:
    """The mean ratio is above one, or below, at all minimum sizes from one on."""
    taus = [tau for tau in TAUS[k] if tau >= least]
    found = ratios(results, dataset, k, taus)
    if any(map(math.isnan, found)):
        return NO_RESULTS
    held = all(value > 1 if above else value < 1 for value in found)
    cells = [f"{value:.3f} at {tau}" for tau, value in zip(taus, found, strict=True)]
    return Verdict(held, f"{TITLES[dataset]}, k = {k}: {join_words(cells)}.")


def judge_trend(results: Results) -> Verdict:
    """The ratio is about one at the smallest minimum and above one at the largest, for k of 10 and more."""
    parts, held = [], True
    for dataset in (IONOSPHERE, WDBC):
        for k in (10, 20, 50):
            first, last = ratios(results, dataset, k, [TAUS[k][0], TAUS[k][-1]])
            if math.isnan(first) or math.isnan(last):
                return NO_RESULTS
            held = held and abs(first - 1) <= ABOUT and last > 1
            parts.append(f"{TITLES[dataset]}, k = {k}: {first:.3f} to {last:.3f}")
    return Verdict(held, f"{join_words(parts)}.")


def judge_violations(results: Results) -> Verdict:
    """k-means breaks minimum sizes above one in most settings, even after fresh draws."""
    means = [
        results.mean("n_small", dataset=dataset, method=method_of(k), amount=tau)
        for dataset in (IONOSPHERE, WDBC)
        for k, taus in TAUS.items()
        for tau in taus
        if tau > 1
    ]
    known = [value for value in means if not math.isnan(value)]
    n_broken = sum(value > 0 for value in known)
    sentence = f"In {n_broken} of {len(known)} settings with a minimum above 1, some run breaks it."
    return Verdict(n_broken > len(known) / 2, sentence) if known else NO_RESULTS


def judge_spread(results: Results) -> Verdict:
    """k-means with sizes has the higher mean objective and a far smaller standard deviation."""
    parts, held = [], True
    for tau in WEB_TAUS:
        plain, plain_sd, _, sized, sized_sd, *_ = web_row(results, "k-means", tau)
        if math.isnan(plain):
            return NO_RESULTS
        held = held and sized > plain and plain_sd >= 4.5 * sized_sd
        parts.append(f"{sized / plain:.3f} and {plain_sd / sized_sd:.1f} at {tau}")
    return Verdict(held, f"Ratio of the means, and of the standard deviations: {join_words(parts)}.")


def judge_medians(results: Results) -> Verdict:
    """The objectives of k-medians with and without sizes differ by at most two percent."""
    found = [web_row(results, "k-medians", tau) for tau in WEB_TAUS]
    if any(math.isnan(row[0]) for row in found):
        return NO_RESULTS
    changes = [row[3] / row[0] - 1 for row in found]
    cells = [f"{change:.1%} at {tau}" for tau, change in zip(WEB_TAUS, changes, strict=True)]
    return Verdict(all(0 <= change <= 0.02 for change in changes), f"{join_words(cells)}.")


def judge_small(results: Results) -> Verdict:
    """Plain k-means leaves many clusters of up to five rows, k-medians fewer."""
    means = [results.mean("plain_small", method=method) for method in WEB_METRICS]
    if any(map(math.isnan, means)):
        return NO_RESULTS
    words = " against ".join(map(score_text, means))
    return Verdict(means[0] >= 5 and means[1] < means[0], f"Of 20 clusters {words} have up to {MAX_SMALL} rows.")


def judge_seconds(results: Results) -> Verdict:
    """The time with sizes depends little on the minimum: the slowest takes at most half as long again."""
    parts, held = [], True
    for method in WEB_METRICS:
        seconds = [web_row(results, method, tau)[6] for tau in WEB_TAUS]
        if any(map(math.isnan, seconds)):
            return NO_RESULTS
        held = held and max(seconds) <= 1.5 * min(seconds)
        parts.append(f"{method} {', '.join(f'{value:.2f}' for value in seconds)} s")
    return Verdict(held, f"{join_words(parts)} at {', '.join(map(str, WEB_TAUS))}.")


SIZE_CLAIMS = (
    Claim(
        "S1",
        "On Ionosphere with k = 5 the ratio is below 1 on average for all minimum sizes up to 50.",
        partial(judge_ratios, IONOSPHERE, 5, 1, False),
    ),
    Claim(
        "S2",
        "On Ionosphere with k = 20 the ratio is above 1 for minimum sizes from 10 on.",
        partial(judge_ratios, IONOSPHERE, 20, 10, True),
    ),
    Claim("S3", "It is similar on WDBC with k = 20.", partial(judge_ratios, WDBC, 20, 10, True)),
    Claim("S4", "The ratio is about 1 for small minimum sizes and above 1 for large ones.", judge_trend),
    Claim("S5", "k-means often has clusters below minimum sizes above 1, even after fresh draws.", judge_violations),
)
UNIFORM_CLAIMS = (
    Claim(
        "U1",
        "From centers in the range of the data, k-means has an empty cluster for k of 20 and more on Ionosphere and 30 "
        "and more on WDBC.",
        judge_uniform,
    ),
)
WEB_CLAIMS = (
    Claim(
        "W1",
        "With sizes, k-means has a higher mean objective and a 4.5 to 7.3 times smaller standard deviation.",
        judge_spread,
    ),
    Claim("W2", "With sizes, the objective of k-medians is higher by up to 2%.", judge_medians),
    Claim("W3", "Without sizes, 8 to 9 of 20 clusters of k-means are small, 2 to 3 of k-medians.", judge_small),
    Claim("W4", "The time with sizes does not depend much on the minimum.", judge_seconds),
)

PROTOCOL = Protocol(
    name=PAPER,
    title="Minimum cluster sizes in k-means and k-medians",
    source=(
        "A. Demiriz, K. P. Bennett and P. S. Bradley, Using assignment constraints to avoid empty clusters in k-means "
        "clustering, in: Constrained Clustering, 2009, chapter 9."
    ),
    intro=(
        "Ionosphere and breast cancer are standardized; what the chapter calls WDBC has 683 rows of 9 columns and is "
        "Breast Cancer Wisconsin (Original) without its incomplete rows. For the figures, rows are drawn as centers, "
        "up to 50 times until the nearest rows make clusters of the minimum size, and plain k-means is run, up to ten "
        "times until its result keeps the minimum; k-means with sizes starts from the last centers. The objective is "
        "that at nearest centers for both. Empty clusters of plain k-means keep their centers, as in the chapter. The "
        "web data of the table are private; in their place are as many messages of newsgroups by the presence of 100 "
        "words."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=no_links,
    parts=(
        Part("sizes", size_runs, size_tables, size_figures, SIZE_CLAIMS),
        Part("uniform", uniform_runs, uniform_tables, claims=UNIFORM_CLAIMS),
        Part("web", web_runs, web_tables, claims=WEB_CLAIMS),
    ),
    quick=RunPlan(tuple(TITLES), (), 10, note="10 trials, as in the chapter."),
    full=RunPlan(tuple(TITLES), (), 50, note="50 trials; the chapter has 10."),
)
