"""The experiments of chapter 8: balanced clusterings of text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from mustlink._types import Array, Ints
from mustlink.constraints import Constraints
from mustlink.metrics import mean_cosine, relative_min_size, size_deviation
from mustlink.reproduce.engine._claims import TIE, Claim, Verdict, join_words, missing_methods, score_text
from mustlink.reproduce.engine._figures import Figure, LineStyle, curve_panels
from mustlink.reproduce.engine._methods import Labeling, Method
from mustlink.reproduce.engine._problem import DataSet, Problem
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.sizes import BalancedClustering, FrequencySensitiveKMeans, balanced_sample_size

PAPER = "ch08"
NEWS, CLASSES = "news_mini", 20
MILD, STRICT = 0.3, 0.9
PUBLISHED_SIZES = (1160, 1200, 1239, 1277, 1315)
# With the 50 rows per cluster of the chapter, the sample would be all of this small set.
ROWS_PER_CLUSTER = 10
# By how much a mean cosine must be lower to be far lower.
FAR_COSINE = 0.01

VARIANTS: dict[str, tuple[str, str | None]] = {
    "SPKpr": ("stable", "moves"),
    "SPKpnr": ("stable", None),
    "SPKgpr": ("greedy", "moves"),
    "SPKgpnr": ("greedy", None),
    "exact": ("stable", "exact"),
}
STATIC = {"SPKMeans": "none", "fs": "batch", "pifs": "counts", "fifs": "online"}
STREAMS = {"sfs100": 100, "sfs1000": 1000}
FREQUENCY = ("fs", "pifs", "fifs")
MEASURES = {
    "nmi": ("NMI", 3),
    "sdcs": ("SDCS, the standard deviation of cluster sizes", 1),
    "rme": ("RME, the smallest size over the mean size", 2),
    "sof": ("SOF, the mean cosine", 3),
}


def variant(name: str, balance: float) -> str:
    """Name a variant at a balance."""
    return f"{name} {balance:g}"


def message_bodies(table: Array) -> Any:
    """Return the words of messages without their headers, by TF-IDF and at unit length."""
    bodies = [str(text).partition("\n\n")[2] for text in table[:, 1]]
    words = TfidfVectorizer(stop_words="english", min_df=3, max_df=0.5, sublinear_tf=True)
    return words.fit_transform(bodies)


def unit_rows(X: Array) -> Array:
    """Scale rows to unit length."""
    scaled: Array = normalize(X)
    return scaled


SETS = (DataSet(NEWS, "news_mini", message_bodies), DataSet("digits", "digits (not of the chapter)", unit_rows))
TITLES = {data.name: data.title for data in SETS}


def measured(problem: Problem, labels: Ints, **facts: Any) -> Labeling:
    """Return labels with the measures of the chapter; NMI is divided by the geometric mean of the entropies."""
    k = int(problem.amount)
    nmi = normalized_mutual_info_score(problem.y, labels, average_method="geometric")
    sizes = {"sdcs": size_deviation(labels, n_clusters=k), "rme": relative_min_size(labels, n_clusters=k)}
    return Labeling(labels, {"nmi": float(nmi), **sizes, "sof": mean_cosine(problem.X, labels), **facts})


def fit_k_means(problem: Problem) -> Labeling:
    """K-means from random rows."""
    model = KMeans(int(problem.amount), init="random", n_init=1, random_state=problem.shared_seed)
    return measured(problem, model.fit(problem.X).labels_.astype(np.int64))


def spherical(update: Any, memory: float | None = None) -> FrequencySensitiveKMeans:
    """Make a spherical k-means as the chapter has it: from the perturbed mean, and empty clusters stay empty."""
    return FrequencySensitiveKMeans(metric="cosine", update=update, memory=memory, init="mean", restart_empty=False)


def fit_spherical(update: str, memory: float | None, problem: Problem) -> Labeling:
    """Fit a spherical k-means; all of a trial have the same start."""
    model = spherical(update, memory).set_params(n_clusters=int(problem.amount), random_state=problem.shared_seed)
    return measured(problem, model.fit(problem.X).labels_)


def fit_balanced(name: str, balance: float, problem: Problem) -> Labeling:
    """Fit a variant of sampling, populating and refining."""
    populate, refine = VARIANTS[name]
    model = BalancedClustering(
        int(problem.amount),
        estimator=spherical("none"),
        balance=balance,
        metric="cosine",
        sampling="coupon",
        rows_per_cluster=ROWS_PER_CLUSTER,
        populate=populate,  # type: ignore[arg-type]
        refine=refine,  # type: ignore[arg-type]
        random_state=problem.shared_seed,
    ).fit(problem.X)
    sizes = [balanced_sample_size(10, 50, 10, 1 - 10.0**-power) for power in range(1, 6)]
    return measured(problem, model.labels_, sample_sizes=sizes, n_sampled=len(model.sample_))


METHODS: dict[str, Method] = {
    "KMeans": fit_k_means,
    **{name: partial(fit_spherical, update, None) for name, update in STATIC.items()},
    **{name: partial(fit_spherical, "stream", memory) for name, memory in STREAMS.items()},
    **{variant(name, balance): partial(fit_balanced, name, balance) for balance in (MILD, STRICT) for name in VARIANTS},
}
BALANCED = tuple(name for name in METHODS if name.split()[0] in VARIANTS)


def no_links(y: Ints, run: Run) -> Constraints:
    """Return no links."""
    return Constraints()


def runs_of(methods: tuple[str, ...], plan: RunPlan) -> Iterator[Run]:
    """All numbers of clusters for some methods."""
    yield from plan.runs(PAPER, methods)


def tables_of(part: str, methods: tuple[str, ...], results: Results) -> Iterator[Table]:
    """A table for each measure."""
    for measure, (title, digits) in MEASURES.items():
        means, amounts, rows = results.means(measure, "dataset", "method", "amount"), results.amounts(), []
        for dataset in TITLES:
            for method in methods:
                found = [means.get((dataset, method, amount), math.nan) for amount in amounts]
                if not all(map(math.isnan, found)):
                    rows.append((TITLES[dataset], method, *(number_text(value, digits) for value in found)))
        header = ("set", "method", *(f"{amount:g} clusters" for amount in amounts))
        yield Table(f"{part}-{measure}", title, header, tuple(rows))


def sampling_tables(results: Results) -> Iterator[Table]:
    """Table 8.1, and the measures."""
    sizes = results.values("sample_sizes")
    if sizes:
        yield Table(
            "table1",
            "Table 8.1: rows of a sample with 50 rows of each of 10 clusters of equal size",
            ("", *(f"{1 - 10.0**-power:.10g}" for power in range(1, 6))),
            (("paper", *map(str, PUBLISHED_SIZES)), ("here", *map(str, sizes[0]))),
        )
    yield from tables_of("sampling", ("KMeans", "SPKMeans", *BALANCED), results)


def figures_of(part: str, methods: tuple[str, ...], results: Results) -> Iterator[Figure]:
    """A figure for each measure, against the number of clusters."""
    styles = {method: LineStyle(place % 8, "-" if place < 8 else "--") for place, method in enumerate(methods)}
    for measure, (title, _) in MEASURES.items():
        axis_titles = ("number of clusters", title.split(",")[0])
        draw = partial(curve_panels, results, measure, TITLES, styles, axis_titles=axis_titles)
        yield Figure(f"{part}-{measure}", f"{title}, against the number of clusters.", draw)


def mean_of(results: Results, measure: str, method: str, k: float | None = None) -> float:
    """Return the mean of a measure on the messages, over all numbers of clusters or at one."""
    wanted: dict[str, Any] = {} if k is None else {"amount": k}
    return results.mean(measure, dataset=NEWS, method=method, **wanted)


def missing(results: Results, *methods: str) -> Verdict | None:
    """Return the verdict that a claim cannot be tested, if a method has no result on the messages."""
    return missing_methods(results, methods, dataset=NEWS)


def listed(results: Results, measure: str, methods: tuple[str, ...], k: float | None = CLASSES) -> str:
    """Write the means of some methods."""
    words = [f"{method} {score_text(mean_of(results, measure, method, k))}" for method in methods]
    where = f"at {k:g} clusters" if k is not None else "over all numbers of clusters"
    return f"{measure.upper()} {where}: {join_words(words)}."


def judge_sample_sizes(results: Results) -> Verdict:
    """The sample sizes are those of the table, up to one row."""
    sizes = results.values("sample_sizes")
    if not sizes:
        return Verdict(None, "Not tested: there are no results of BalancedClustering.")
    held = all(abs(ours - theirs) <= 1 for ours, theirs in zip(sizes[0], PUBLISHED_SIZES, strict=True))
    return Verdict(held, f"Here {join_words(map(str, sizes[0]))}.")


def judge_mild(results: Results) -> Verdict:
    """With mild balance nothing is lost."""
    pair = (variant("SPKpr", MILD), variant("SPKpnr", MILD))
    if absent := missing(results, "SPKMeans", *pair):
        return absent
    plain = mean_of(results, "nmi", "SPKMeans", CLASSES)
    held = all(mean_of(results, "nmi", name, CLASSES) >= plain - TIE for name in pair)
    return Verdict(held, listed(results, "nmi", ("SPKMeans", *pair)))


def judge_greedy(results: Results) -> Verdict:
    """Stable populating is better than greedy populating."""
    names = tuple(variant(name, MILD) for name in ("SPKpr", "SPKpnr", "SPKgpr", "SPKgpnr"))
    if absent := missing(results, *names):
        return absent
    stable, greedy = ([mean_of(results, "nmi", name, CLASSES) for name in half] for half in (names[:2], names[2:]))
    return Verdict(min(stable) > max(greedy), listed(results, "nmi", names))


def judge_k_means(results: Results) -> Verdict:
    """Euclidean k-means is worst on text."""
    others = ("SPKMeans", *(variant(name, MILD) for name in VARIANTS if name != "exact"))
    if absent := missing(results, "KMeans", *others):
        return absent
    lowest = min(mean_of(results, "nmi", name, CLASSES) for name in others)
    return Verdict(mean_of(results, "nmi", "KMeans", CLASSES) < lowest, listed(results, "nmi", ("KMeans", *others)))


def judge_refining(results: Results) -> Verdict:
    """Refining pays under strict balance."""
    pair = (variant("SPKpr", STRICT), variant("SPKpnr", STRICT))
    if absent := missing(results, *pair):
        return absent
    refined, populated = (mean_of(results, "nmi", name, CLASSES) for name in pair)
    return Verdict(refined > populated + TIE, listed(results, "nmi", pair))


def judge_greedy_strict(results: Results) -> Verdict:
    """Greedy populating is a little better under strict balance, and breaks the minimum."""
    pair = (variant("SPKgpr", STRICT), variant("SPKpr", STRICT))
    if absent := missing(results, *pair):
        return absent
    greedy, stable = (mean_of(results, "nmi", name, CLASSES) for name in pair)
    smallest = min(results.values("rme", dataset=NEWS, method=pair[0]))
    sentence = f"{listed(results, 'nmi', pair)} The smallest RME of {pair[0]} is {smallest:.2f}."
    return Verdict(greedy > stable and smallest < STRICT - 0.01, sentence)


def judge_deviation(results: Results) -> Verdict:
    """Balanced methods have the most equal sizes."""
    ours = (variant("SPKpr", STRICT), variant("SPKpnr", STRICT))
    others = ("KMeans", "SPKMeans", variant("SPKgpr", STRICT), variant("SPKgpnr", STRICT))
    if absent := missing(results, *ours, *others):
        return absent
    largest, lowest = (
        max(mean_of(results, "sdcs", name) for name in ours),
        min(mean_of(results, "sdcs", name) for name in others),
    )
    return Verdict(largest < lowest, listed(results, "sdcs", (*ours, *others), None))


def judge_guarantee(results: Results) -> Verdict:
    """The guarantee holds in every run, up to the rounding of the minimum to whole rows."""
    names = [variant(name, balance) for name in ("SPKpr", "SPKpnr") for balance in (MILD, STRICT)]
    if absent := missing(results, *names):
        return absent
    parts, held = [], True
    for name in names:
        balance = float(name.split()[1])
        records = [record for record in results.select(dataset=NEWS, method=name) if "rme" in record.scores]
        # A minimum in whole rows is lower by less than one row.
        held = held and all(r.scores["rme"] >= balance - r.run.amount / 1900 for r in records)
        parts.append(f"{name} {min(r.scores['rme'] for r in records):.2f}")
    return Verdict(held, f"Smallest RME of all runs: {join_words(parts)}.")


def judge_empty(results: Results) -> Verdict:
    """Without balance there are empty clusters at many clusters."""
    if absent := missing(results, "SPKMeans"):
        return absent
    most = max(results.amounts(dataset=NEWS, method="SPKMeans"))
    smallest = min(results.values("rme", dataset=NEWS, method="SPKMeans", amount=most))
    return Verdict(smallest == 0, f"The smallest RME of SPKMeans with {most:g} clusters is {smallest:.2f}.")


def judge_peak(results: Results) -> Verdict:
    """NMI is highest at the number of classes."""
    if absent := missing(results, *STATIC):
        return absent
    peaks = {}
    for method in STATIC:
        amounts = results.amounts(dataset=NEWS, method=method)
        peaks[method] = max(amounts, key=lambda k: mean_of(results, "nmi", method, k))
    parts = [f"{method} at {k:g}" for method, k in peaks.items()]
    return Verdict(set(peaks.values()) == {CLASSES}, f"Highest NMI: {join_words(parts)}.")


def judge_static(results: Results) -> Verdict:
    """Frequencies help, and their two updates are alike."""
    if absent := missing(results, *STATIC):
        return absent
    plain, fs, pifs, fifs = (mean_of(results, "nmi", method, CLASSES) for method in STATIC)
    held = min(fs, fifs) > max(plain, pifs) and abs(fs - fifs) <= TIE
    return Verdict(held, listed(results, "nmi", tuple(STATIC)))


def judge_most_balanced(results: Results) -> Verdict:
    """Counts after every row, centers after a pass: the most balanced at every number of clusters."""
    if absent := missing(results, *STATIC):
        return absent
    held, wins = True, 0
    amounts = results.amounts(dataset=NEWS, method="pifs")
    for k in amounts:
        others = [method for method in STATIC if method != "pifs"]
        lowest = all(mean_of(results, "sdcs", "pifs", k) <= mean_of(results, "sdcs", name, k) for name in others)
        highest = all(mean_of(results, "rme", "pifs", k) >= mean_of(results, "rme", name, k) for name in others)
        wins += lowest and highest
        held = held and lowest and highest
    sentence = f"At {wins} of {len(amounts)} numbers of clusters. {listed(results, 'sdcs', tuple(STATIC), None)}"
    return Verdict(held, sentence)


def judge_never_empty(results: Results) -> Verdict:
    """No frequency-sensitive method has an empty cluster."""
    if absent := missing(results, *FREQUENCY):
        return absent
    smallest = {name: min(results.values("rme", dataset=NEWS, method=name)) for name in FREQUENCY}
    parts = [f"{name} {value:.2f}" for name, value in smallest.items()]
    return Verdict(min(smallest.values()) > 0, f"Smallest RME of all runs: {join_words(parts)}.")


def judge_cosine(results: Results) -> Verdict:
    """Balance costs nothing in the objective."""
    if absent := missing(results, *STATIC):
        return absent
    plain = mean_of(results, "sof", "SPKMeans")
    held = all(mean_of(results, "sof", name) >= plain for name in FREQUENCY)
    return Verdict(held, listed(results, "sof", tuple(STATIC), None))


def judge_stream(results: Results) -> Verdict:
    """Streams find the classes better than all rows at once."""
    if absent := missing(results, *STATIC, *STREAMS):
        return absent
    best = max(mean_of(results, "nmi", name, CLASSES) for name in STATIC)
    short, long = (mean_of(results, "nmi", name, CLASSES) for name in STREAMS)
    return Verdict(short >= long > best + TIE, listed(results, "nmi", (*STATIC, *STREAMS)))


def judge_stream_cosine(results: Results) -> Verdict:
    """Streams have a far lower mean cosine, and sizes as equal."""
    if absent := missing(results, *STATIC, *STREAMS):
        return absent
    lowest = min(mean_of(results, "sof", name, CLASSES) for name in STATIC)
    highest = max(mean_of(results, "sof", name, CLASSES) for name in STREAMS)
    return Verdict(highest < lowest - FAR_COSINE, listed(results, "sof", (*STATIC, *STREAMS)))


def judge_stream_sizes(results: Results) -> Verdict:
    """Streams are more balanced than fs, which is more balanced than no counts."""
    if absent := missing(results, "SPKMeans", "fs", *STREAMS):
        return absent
    streams = min(mean_of(results, "rme", name) for name in STREAMS)
    held = streams > mean_of(results, "rme", "fs") > mean_of(results, "rme", "SPKMeans")
    return Verdict(held, listed(results, "rme", ("SPKMeans", "fs", *STREAMS), None))


SAMPLING_CLAIMS = (
    Claim("A1", "Samples of 1160, 1200, 1239, 1277 and 1315 rows (Table 8.1).", judge_sample_sizes),
    Claim("A2", "At mild balance SPKpr and SPKpnr have about the NMI of SPKMeans.", judge_mild),
    Claim("A3", "Their NMI is above that of the greedy variants SPKgpr and SPKgpnr.", judge_greedy),
    Claim("A4", "KMeans has the lowest NMI.", judge_k_means),
    Claim("A5", "Under strict balance SPKpr is well above SPKpnr.", judge_refining),
    Claim(
        "A6",
        "Under strict balance SPKgpr is marginally above SPKpr in NMI, but violates the minimum.",
        judge_greedy_strict,
    ),
    Claim("A7", "The balanced methods have the lowest SDCS.", judge_deviation),
    Claim("A8", "The RME of SPKpr and SPKpnr is never below the balance.", judge_guarantee),
    Claim("A9", "Without balance, RME falls to 0 at many clusters.", judge_empty),
)
STATIC_CLAIMS = (
    Claim("C1", "All methods have their highest NMI at 20 clusters.", judge_peak),
    Claim("C2", "There fs and fifs exceed SPKMeans and pifs, and are nearly equal.", judge_static),
    Claim("C3", "pifs has the lowest SDCS and the highest RME at every number of clusters.", judge_most_balanced),
    Claim("C4", "No frequency-sensitive method has an empty cluster.", judge_never_empty),
    Claim("C5", "The SOF of the frequency-sensitive methods is at least that of SPKMeans.", judge_cosine),
)
STREAM_CLAIMS = (
    Claim("S1", "sfs100 and sfs1000 have a far higher NMI than the static methods, sfs100 the highest.", judge_stream),
    Claim("S2", "Their SOF is far below that of the static methods.", judge_stream_cosine),
    Claim("S3", "Their RME is above that of fs, which is above that of SPKMeans.", judge_stream_sizes),
)


def make_part(key: str, methods: tuple[str, ...], claims: tuple[Claim, ...], tables: Any = None) -> Part:
    """Make a part of all measures of some methods."""
    tables = partial(tables_of, key, methods) if tables is None else tables
    return Part(key, partial(runs_of, methods), tables, partial(figures_of, key, methods), claims)


PROTOCOL = Protocol(
    name=PAPER,
    title="Chapter 8: clustering with balancing constraints",
    source="A. Banerjee and J. Ghosh, Clustering with Balancing Constraints, in Constrained Clustering, 2009.",
    intro=(
        "The chapter clusters news20 (about 20,000 messages) and yahoo (2,340 articles in very unbalanced classes); "
        "both are not public in the form it used, and its statements on yahoo are not tested. Here are 2,000 messages, "
        "100 of each of the 20 groups, without their headers, as TF-IDF at unit length; one has no word left and is in "
        "no cluster. Digits are there as a dense set. SPKpr, SPKpnr, SPKgpr, SPKgpnr are the variants of "
        f"BalancedClustering at a balance of {MILD} (mild) and {STRICT} (strict), with {ROWS_PER_CLUSTER} rows per "
        "cluster in the sample, as 50 would take all messages; exact is our own refinement. fs, pifs, fifs and sfs are "
        "those of FrequencySensitiveKMeans. The start is the mean with small perturbations, the same for all methods "
        "of a trial. The chapter prints no numbers, only figures: its statements are tested."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=no_links,
    parts=(
        make_part("sampling", ("KMeans", "SPKMeans", *BALANCED), SAMPLING_CLAIMS, sampling_tables),
        make_part("static", tuple(STATIC), STATIC_CLAIMS),
        make_part("stream", (*STATIC, *STREAMS), STREAM_CLAIMS),
    ),
    quick=RunPlan(
        tuple(TITLES), (10, 20, 40), trials=3, note="Quick run: 3 random starts per number of clusters, the chapter 10."
    ),
    full=RunPlan(
        tuple(TITLES), (10, 15, 20, 25, 30, 40), trials=10, note="10 random starts per number, as in the chapter."
    ),
)
