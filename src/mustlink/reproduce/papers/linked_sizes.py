"""Sizes together with links on five sets, beside each alone: our own experiment, which chapter 9 does not have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from mustlink._types import Array
from mustlink.kmeans import COPKMeans
from mustlink.metrics import adjusted_rand
from mustlink.reproduce.engine._claims import NO_RESULTS, TIE, Claim, Verdict, join_words, score_text
from mustlink.reproduce.engine._methods import MIN_UNLINKED, Labeling
from mustlink.reproduce.engine._problem import DataSet, Problem, draw_pairs, standardize
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run, nan_mean
from mustlink.reproduce.engine._tables import Table, number_text, pair_text
from mustlink.sizes import SizeConstrainedKMeans

PAPER = "linked_sizes"
SETS = (
    DataSet("iris", "iris"),
    DataSet("wine", "wine", standardize),
    DataSet("ecoli", "ecoli"),
    DataSet("segment210", "segment", standardize),
    DataSet("vowel", "vowel", standardize),
)
TITLES = {data.name: data.title for data in SETS}
N_LINKS = (50, 100, 200)
N_STARTS = 5
# What is known of the sizes: the smallest class and the largest, give or take a fifth.
SLACK = 0.2
PLAIN, SIZES, LINKS, BOTH = "k-means", "sizes alone", "links alone", "sizes and links"


def known_sizes(problem: Problem) -> dict[str, int]:
    """Return bounds that the sizes of the classes keep."""
    sizes = np.bincount(problem.y)
    sizes = sizes[sizes > 0]
    return {"size_min": int((1 - SLACK) * sizes.min()), "size_max": math.ceil((1 + SLACK) * sizes.max())}


def cluster_plain(problem: Problem) -> Labeling:
    """Cluster by k-means, with neither."""
    model = KMeans(problem.n_clusters, n_init=N_STARTS, random_state=problem.shared_seed)
    return judged(problem, model.fit(problem.X).labels_)


def cluster_by_sizes(problem: Problem) -> Labeling:
    """Cluster by k-means with sizes."""
    return judged(problem, sized(problem).fit(problem.X).labels_)


def cluster_by_links(problem: Problem) -> Labeling:
    """Cluster by COP-KMeans, which keeps all links."""
    model = COPKMeans(problem.n_clusters, n_init=N_STARTS, random_state=problem.shared_seed)
    return judged(problem, model.fit(problem.X, constraints=problem.links).labels_)


def cluster_by_both(problem: Problem) -> Labeling:
    """Cluster by k-means with sizes and links."""
    return judged(problem, sized(problem).fit(problem.X, constraints=problem.links).labels_)


def sized(problem: Problem) -> SizeConstrainedKMeans:
    """Return the clusterer with the known sizes."""
    bounds: dict[str, Any] = known_sizes(problem)
    return SizeConstrainedKMeans(problem.n_clusters, n_init=N_STARTS, random_state=problem.shared_seed, **bounds)


def judged(problem: Problem, labels: Array) -> Labeling:
    """Return the labels with what they keep, and how well they agree with the classes, also on rows without links."""
    bounds, sizes = known_sizes(problem), np.bincount(labels, minlength=problem.n_clusters)
    unlinked = np.setdiff1d(np.arange(len(labels)), problem.links.constrained_rows())
    facts: dict[str, Any] = {
        "n_broken": len(problem.links.violations(labels)),
        "n_outside": int(np.count_nonzero((sizes < bounds["size_min"]) | (sizes > bounds["size_max"]))),
        "ari": adjusted_rand(problem.y, labels),
    }
    if len(unlinked) >= MIN_UNLINKED:
        facts["ari_unconstrained"] = adjusted_rand(problem.y[unlinked], labels[unlinked])
    return Labeling(labels, facts)


METHODS = {PLAIN: cluster_plain, SIZES: cluster_by_sizes, LINKS: cluster_by_links, BOTH: cluster_by_both}


def linked_runs(plan: RunPlan) -> Iterator[Run]:
    """All methods on all sets, with three numbers of links."""
    yield from plan.runs(PAPER, METHODS)


def linked_tables(results: Results) -> Iterator[Table]:
    """The agreement with the classes, and what is kept."""
    rows = []
    for dataset in TITLES:
        for method in METHODS:
            cells = [cell(results, dataset, method, amount) for amount in N_LINKS]
            if any(cells):
                found = {"dataset": dataset, "method": method}
                kept = [number_text(results.mean(fact, **found), 1) for fact in ("n_broken", "n_outside")]
                rows.append((TITLES[dataset], method, *cells, *kept))
    bounds = f"from {1 - SLACK:g} of the smallest class to {1 + SLACK:g} of the largest"
    yield Table(
        "scores",
        f"Adjusted Rand index; sizes {bounds}",
        ("set", "method", *(f"{amount} links" for amount in N_LINKS), "broken links", "clusters outside the sizes"),
        tuple(rows),
        "In brackets: on the rows without a link, if there are enough of them. The last two columns are means over all "
        "runs.",
    )


def cell(results: Results, dataset: str, method: str, amount: float) -> str:
    """Write the agreement of one method, on all rows and on those without links."""
    found: dict[str, Any] = {"dataset": dataset, "method": method, "amount": amount}
    everywhere = results.mean("ari", **found)
    return "" if math.isnan(everywhere) else pair_text(everywhere, results.mean("ari_unconstrained", **found))


def judge_kept(results: Results) -> Verdict:
    """No run with both breaks a link or a size."""
    broken, outside = (results.values(fact, method=BOTH) for fact in ("n_broken", "n_outside"))
    if not broken:
        return NO_RESULTS
    n_failed = len(results.select(method=BOTH).failures)
    sentence = f"In {len(broken)} runs, {sum(broken)} links are broken and {sum(outside)} clusters are outside."
    return Verdict(sum(broken) + sum(outside) + n_failed == 0, sentence)


def judge_accuracy(results: Results, rival: str) -> Verdict:
    """With both, the agreement is at least that of one alone, on average over the sets and on most of them."""
    differences = {}
    for dataset in TITLES:
        ours, theirs = (results.mean("ari", dataset=dataset, method=method) for method in (BOTH, rival))
        if not math.isnan(ours - theirs):
            differences[TITLES[dataset]] = ours - theirs
    if not differences:
        return NO_RESULTS
    mean, n_lower = nan_mean(differences.values()), sum(value < -TIE for value in differences.values())
    cells = join_words(f"{title} {number_text(value, 2, '+')}" for title, value in differences.items())
    held = mean > 0 and n_lower <= len(differences) // 2
    return Verdict(held, f"{score_text(mean)} on average; {cells}.")


CLAIMS = (
    Claim("L1", "With sizes and links together, no link is broken and all sizes are kept.", judge_kept),
    Claim(
        "L2",
        "They agree with the classes at least as well as links alone.",
        partial(judge_accuracy, rival=LINKS),
    ),
    Claim(
        "L3",
        "They agree with the classes at least as well as sizes alone.",
        partial(judge_accuracy, rival=SIZES),
    ),
)

PROTOCOL = Protocol(
    name=PAPER,
    title="Sizes and links together",
    source=(
        "Our own experiment. A. Demiriz, K. P. Bennett and P. S. Bradley, Using assignment constraints to avoid empty "
        "clusters in k-means clustering, in: Constrained Clustering, 2009, chapter 9, proposes sizes together with "
        "links and does not try them."
    ),
    intro=(
        "Links are drawn from the classes, half of them must-links. The bounds of the sizes are also taken from the "
        "classes, for all clusters alike: from 0.8 of the smallest class to 1.2 of the largest. k-means has neither; "
        "k-means with sizes, COP-KMeans and k-means with sizes and links have one or both. All make five runs from "
        "k-means++ and keep the one with the lowest inertia. Iris and ecoli are as they are, the others standardized. "
        "The classes of ecoli have from 2 to 143 rows, and its bounds never bind."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=draw_pairs,
    parts=(Part("links", linked_runs, linked_tables, claims=CLAIMS),),
    quick=RunPlan(tuple(TITLES), N_LINKS, 5, note="Quick run: 5 trials."),
    full=RunPlan(tuple(TITLES), N_LINKS, 20, note="20 trials."),
    seed_names={PAPER: "ch09"},
)
