"""Connected clusters of researchers, here of papers that cite each other, and both schedules of NetScan's radius."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import AgglomerativeClustering
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import kneighbors_graph

from mustlink._plot_style import COLORS, DARK, pyplot
from mustlink._types import Array, Indices, Ints
from mustlink.constraints import Constraints
from mustlink.datasets import load
from mustlink.graph import ConnectedKCenter, ConnectedKMeans, NetScan
from mustlink.reproduce.engine._claims import NO_RESULTS, Claim, Verdict, missing_methods
from mustlink.reproduce.engine._figures import Figure
from mustlink.reproduce.engine._methods import Labeling, Method
from mustlink.reproduce.engine._problem import DataSet, Problem
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.sizes import FrequencySensitiveKMeans

PAPER = "ch12"
CORA, GRAPHS = "cora_graph", "graphs"
TOPICS = (
    "case based", "genetic algorithms", "neural networks", "probabilistic methods", "reinforcement learning",
    "rule learning", "theory",
)  # fmt: skip
# The graphs of the second part: random edges, and so many nearest neighbors.
KINDS = {0.0: "random edges", 5.0: "5 nearest neighbors"}
N_NODES, N_CENTERS, N_STARTS = 150, 4, 3
# How far the attributes of places are from where they are.
SPREAD = 0.2

K_MEANS, CONTINUOUS, STEPS = "k-means", "NetScan, continuous", "NetScan, published steps"
SMALL_STEPS, BEST = "NetScan, tenth of the steps", "NetScan, continuous, 10 starts"
BEST_K_MEANS, WARD = "k-means, 10 starts", "Ward with edges"
SMOOTH, ROUNDS, BOUNDED = "continuous radius", "published steps", "ConnectedKCenter"
# Table 12.2: correctly identified researchers of 1,786, in percent.
PUBLISHED = {K_MEANS: 79.2, STEPS: 89.7}


def number_nodes(words: Array) -> Array:
    """Append the number of the node to its words, by which edges name it."""
    return np.column_stack([words, np.arange(len(words))])


def make_nodes() -> tuple[Array, Ints]:
    """Room for the labels of a random graph, which the trial draws."""
    return np.zeros((N_NODES, 1)), np.arange(N_NODES) % N_CENTERS


def no_links(y: Ints, run: Run) -> Constraints:
    """The chapter has no links."""
    return Constraints()


def largest_part(nodes: Indices) -> tuple[Indices, Any]:
    """Return the places of the nodes of the largest connected part, and the edges between them."""
    edges: Any = load(f"{CORA}_edges")
    n_all = int(max(nodes.max(), edges.data.max())) + 1
    half = sparse.coo_array((np.ones(len(edges.data)), tuple(edges.data.T)), shape=(n_all, n_all))
    graph = sparse.csr_array(half + half.T)[nodes][:, nodes]
    part = connected_components(graph, directed=False)[1]
    kept = np.flatnonzero(part == np.bincount(part).argmax())
    return kept, graph[kept][:, kept]


def fit_topics(fit: Any, problem: Problem) -> Labeling:
    """Cluster the largest part of the citations by tf-idf, and count the papers of the majority topic of a cluster."""
    kept, graph = largest_part(problem.X[:, -1].astype(np.intp))
    words = TfidfTransformer().fit_transform(sparse.csr_matrix(problem.X[kept, :-1]))
    found = fit(words, graph, problem)
    table = np.zeros((found.max() + 1, problem.y.max() + 1), dtype=np.int64)
    np.add.at(table, (found, problem.y[kept]), 1)
    majority = table.argmax(axis=1)
    correct = np.zeros(table.shape[1], dtype=np.int64)
    np.add.at(correct, majority, table.max(axis=1))
    labels = np.full(len(problem.y), -1)
    labels[kept] = found
    facts = {"accuracy": float(100 * correct.sum() / len(kept)), "correct": correct.tolist(), "n_kept": len(kept)}
    return Labeling(labels, facts | {"n_topics": len(np.unique(majority))})


def spherical_k_means(words: Any, graph: Any, problem: Problem, n_init: int) -> Ints:
    """K-means by the cosine, which does not know the edges."""
    model = FrequencySensitiveKMeans(
        problem.n_clusters, metric="cosine", update="none", n_init=n_init, random_state=problem.seed
    )
    return model.fit(words).labels_


def connected_k_means(words: Any, graph: Any, problem: Problem, **options: Any) -> Ints:
    """NetScan for connected k-means by the cosine."""
    model = ConnectedKMeans(problem.n_clusters, metric="cosine", random_state=problem.seed, **options)
    return model.fit(words, graph=graph).labels_


def ward(words: Any, graph: Any, problem: Problem) -> Ints:
    """Ward's linkage along edges, on rows of unit length."""
    labels: Ints = AgglomerativeClustering(problem.n_clusters, connectivity=graph).fit_predict(words.toarray())
    return labels


def random_nodes(problem: Problem) -> tuple[Array, Any]:
    """Return attributes and edges of a random connected graph, the same for all methods of a trial."""
    rng = np.random.default_rng(problem.shared_seed)
    n_neighbors = int(problem.amount)
    if n_neighbors:
        places = rng.uniform(size=(N_NODES, 2))
        half = kneighbors_graph(places, n_neighbors).tolil()
        # A chain through the first row of each part.
        ends = np.unique(connected_components(half, directed=False)[1], return_index=True)[1]
        pairs = np.array([ends[:-1], ends[1:]])
        X = places + rng.normal(scale=SPREAD, size=places.shape)
    else:
        X = rng.normal(size=(N_NODES, 2))
        half = sparse.lil_array((N_NODES, N_NODES))
        tree = np.array([np.arange(1, N_NODES), rng.integers(np.arange(1, N_NODES))])
        more = rng.integers(N_NODES, size=(2, N_NODES // 2))
        pairs = np.concatenate([tree, more[:, more[0] != more[1]]], axis=1)
    half[pairs[0], pairs[1]] = 1
    return X, sparse.csr_array(half + half.T)


def fit_nodes(make: Any, problem: Problem) -> Labeling:
    """Cluster a random graph, and relate the radius to the lower bound of the problem."""
    X, graph = random_nodes(problem)
    lower = ConnectedKCenter(N_CENTERS, solver="approx", random_state=0).fit(X, graph=graph).lower_bound_
    model = make(N_CENTERS, n_init=N_STARTS, random_state=problem.shared_seed).fit(X, graph=graph)
    labels = np.zeros(len(problem.y), dtype=np.int64)
    n_iter = getattr(model, "n_iter_", 0)
    return Labeling(labels, {"radius": model.radius_, "ratio": model.radius_ / lower, "n_iter": n_iter})


OF_TOPICS: dict[str, Method] = {
    K_MEANS: partial(fit_topics, partial(spherical_k_means, n_init=1)),
    CONTINUOUS: partial(fit_topics, partial(connected_k_means, n_init=1)),
    STEPS: partial(fit_topics, partial(connected_k_means, n_init=1, step="published")),
    SMALL_STEPS: partial(fit_topics, partial(connected_k_means, n_init=1, step=0.1)),
    BEST_K_MEANS: partial(fit_topics, partial(spherical_k_means, n_init=10)),
    BEST: partial(fit_topics, partial(connected_k_means, n_init=10)),
    WARD: partial(fit_topics, ward),
}
OF_GRAPHS: dict[str, Method] = {
    SMOOTH: partial(fit_nodes, NetScan),
    ROUNDS: partial(fit_nodes, partial(NetScan, step="published")),
    BOUNDED: partial(fit_nodes, partial(ConnectedKCenter, solver="approx")),
}


def topic_runs(plan: RunPlan) -> Iterator[Run]:
    """All methods on Cora, Ward once, as it has no starts."""
    started = [method for method in OF_TOPICS if method != WARD]
    yield from plan.runs(PAPER, started, datasets=[CORA], amounts=[0])
    yield from plan.runs(PAPER, [WARD], datasets=[CORA], amounts=[0], trials=1)


def graph_runs(plan: RunPlan) -> Iterator[Run]:
    """All methods on random graphs of both kinds."""
    yield from plan.runs(PAPER, OF_GRAPHS, datasets=[GRAPHS], amounts=KINDS)


def topic_tables(results: Results) -> Iterator[Table]:
    """Correctly identified papers of each topic, as in Table 12.2."""
    found, rows = results.select(dataset=CORA), []
    for method in (name for name in OF_TOPICS if len(found.select(method=name))):
        of_method = found.select(method=method)
        correct = np.mean(of_method.values("correct"), axis=0)
        spread = float(np.std(of_method.values("accuracy")))
        accuracy = f"{of_method.mean('accuracy'):.1f} ± {spread:.1f}"
        published = number_text(PUBLISHED[method], 1) if method in PUBLISHED else ""
        rows.append((method, *(f"{count:.0f}" for count in correct), accuracy, published))
    header = ("method", *TOPICS, "accuracy in %", "published (other data)")
    note = (
        "Mean of the runs, the standard deviation beside the accuracy. The published figures are for 1,786 researchers "
        "in three communities, of whom those that disconnect a community were left out; that data set was not "
        "published. Here 2,485 papers of seven topics are connected by citations, and the topics are not connected."
    )
    yield Table("table2", "Correctly identified papers (Table 12.2)", header, tuple(rows), note)


def graph_tables(results: Results) -> Iterator[Table]:
    """Radii of both schedules on random graphs."""
    found, rows = results.select(dataset=GRAPHS), []
    for kind in (amount for amount in KINDS if amount in found.amounts()):
        for method in (name for name in OF_GRAPHS if len(found.select(method=name, amount=kind))):
            of_cell = found.select(method=method, amount=kind)
            smaller = compared(found, method, ROUNDS, kind)[0] if method != ROUNDS else 0
            wins = "" if method == ROUNDS else f"{smaller} of {len(of_cell)}"
            ratio = number_text(of_cell.mean("ratio"), 3)
            rows.append(
                (KINDS[kind], method, ratio, wins, "" if method == BOUNDED else number_text(of_cell.mean("n_iter"), 1))
            )
    header = ("graphs", "method", "radius / lower bound", "smaller than published steps", "iterations")
    note = f"Graphs of {N_NODES} rows, {N_CENTERS} clusters, best of {N_STARTS} starts."
    yield Table("radius", "Mean radius on random graphs", header, tuple(rows), note)


def compared(results: Results, method: str, other: str, kind: float) -> tuple[int, int, int]:
    """Return on how many graphs the radius of a method is smaller than that of another, equal, and larger."""
    radii = [
        {record.run.trial: record.scores["radius"] for record in results.select(method=name, amount=kind)}
        for name in (method, other)
    ]
    signs = [np.sign(radii[0][trial] - radii[1][trial]) for trial in radii[0].keys() & radii[1].keys()]
    return signs.count(-1), signs.count(0), signs.count(1)


def draw_radii(results: Results) -> Any:
    """Draw the radius of the continuous schedule against that of the steps, a panel for each kind of graph."""
    figure, grid = pyplot().subplots(1, len(KINDS), figsize=(7.0, 3.6), squeeze=False, layout="constrained")
    for axes, (kind, title) in zip(grid.flat, KINDS.items(), strict=True):
        points = [results.values("ratio", method=method, amount=kind) for method in (ROUNDS, SMOOTH)]
        n_both = min(map(len, points))
        axes.scatter(points[0][:n_both], points[1][:n_both], s=16, color=COLORS[0], alpha=0.8)
        if n_both:
            ends = (1.0, max(2.0, *points[0], *points[1]))
            axes.plot(ends, ends, color=DARK, linewidth=0.8, linestyle="--")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("published steps", fontsize=9)
        axes.tick_params(labelsize=8, colors=DARK)
        axes.spines[["top", "right"]].set_visible(False)
    grid.flat[0].set_ylabel("continuous radius", fontsize=9)
    return figure


def graph_figures(results: Results) -> Iterator[Figure]:
    """The radii of both schedules."""
    found = results.select(dataset=GRAPHS)
    caption = "Radius divided by its lower bound; below the line the continuous schedule has the smaller radius."
    yield Figure("radius", caption, partial(draw_radii, found))


def judge_topics(method: str, rival: str, results: Results) -> Verdict:
    """A method identifies more papers than another."""
    found = results.select(dataset=CORA)
    if missing := missing_methods(found, (method, rival)):
        return missing
    ours, theirs = (found.mean("accuracy", method=name) for name in (method, rival))
    published = f" (published, on other data: {PUBLISHED[STEPS]} % against {PUBLISHED[K_MEANS]} %)"
    return Verdict(
        ours > theirs, f"{ours:.1f} % of the papers against {theirs:.1f} %{published if rival == K_MEANS else ''}."
    )


def judge_schedules(results: Results) -> Verdict:
    """The continuous schedule has the smaller radius on most graphs of both kinds, and on average."""
    found = results.select(dataset=GRAPHS)
    if missing := missing_methods(found, (SMOOTH, ROUNDS)):
        return missing
    parts, held = [], True
    for kind in found.amounts():
        smaller, equal, larger = compared(found, SMOOTH, ROUNDS, kind)
        ours, theirs = (found.mean("ratio", method=name, amount=kind) for name in (SMOOTH, ROUNDS))
        held = held and smaller > larger and ours < theirs
        parts.append(
            f"with {KINDS[kind]} smaller on {smaller} graphs, equal on {equal}, larger on {larger}, "
            f"{ours:.2f} times the lower bound against {theirs:.2f}"
        )
    return Verdict(held, f"{'; '.join(parts)}.".capitalize())


def judge_bound(results: Results) -> Verdict:
    """No radius is below the lower bound, and none above the proved multiple of the least one."""
    ratios: Sequence[float] = results.select(dataset=GRAPHS, method=BOUNDED).values("ratio")
    if not ratios:
        return NO_RESULTS
    proved = 2 * (2 * N_CENTERS - 1)
    return Verdict(
        min(ratios) >= 1 - 1e-9 and max(ratios) <= proved,
        f"Between {min(ratios):.2f} and {max(ratios):.2f} times the lower bound, on {len(ratios)} graphs; proved is "
        f"{proved} times the optimum.",
    )


PROTOCOL = Protocol(
    name=PAPER,
    title="Connected clusters: attributes and relations together",
    source=(
        "M. Ester, R. Ge, B. J. Gao, Z. Hu and B. Ben-Moshe, Joint Cluster Analysis of Attribute Data and Relationship "
        "Data, in: Constrained Clustering, 2009, chapter 12."
    ),
    intro=(
        "The chapter's data set of researchers was not published. In its place are the largest connected part of Cora, "
        "2,485 papers with words and citations (the files cora_graph and cora_graph_edges), by the same protocol: "
        "tf-idf, the cosine, NetScan for connected k-means against k-means, a cluster labeled by its majority topic, "
        "the mean of 20 runs with one start each. Unlike the chapter's communities, the topics are not connected, so "
        "that no connected clusters are all right. With the published steps, the second radius exceeds all distances "
        "of such texts, and the first cluster to take its turn takes what is left; the chapter says that smaller steps "
        "are better and slower, and a tenth is tried as well. Ward's linkage along the edges, of scikit-learn, has no "
        "starts. The chapter gives no radii: the second part, claims C5 and C6, is ours, and so are C3 and C4."
    ),
    datasets=(
        DataSet(CORA, "Cora", number_nodes),
        DataSet(GRAPHS, "random graphs", make=make_nodes),
    ),
    methods={**OF_TOPICS, **OF_GRAPHS},
    draw=no_links,
    parts=(
        Part(
            "table2",
            topic_runs,
            topic_tables,
            claims=(
                Claim(
                    "C1",
                    "NetScan, with a continuous radius, identifies more correctly than k-means.",
                    partial(judge_topics, CONTINUOUS, K_MEANS),
                ),
                Claim(
                    "C2",
                    "NetScan, with the published steps, identifies more correctly than k-means.",
                    partial(judge_topics, STEPS, K_MEANS),
                ),
                Claim(
                    "C3",
                    "(Ours.) The best of 10 starts of NetScan identifies more than that of k-means.",
                    partial(judge_topics, BEST, BEST_K_MEANS),
                ),
                Claim(
                    "C4",
                    "(Ours.) The best of 10 starts of NetScan identifies more than Ward's linkage along the edges.",
                    partial(judge_topics, BEST, WARD),
                ),
            ),
        ),
        Part(
            "radius",
            graph_runs,
            graph_tables,
            graph_figures,
            claims=(
                Claim("C5", "(Ours.) A continuous radius ends smaller than the published steps.", judge_schedules),
                Claim(
                    "C6",
                    "(Ours.) ConnectedKCenter keeps within the proved multiple of the least radius.",
                    judge_bound,
                ),
            ),
        ),
    ),
    quick=RunPlan(
        (CORA, GRAPHS), (), trials=5, special_trials={GRAPHS: 20}, note="Quick run: 5 runs on Cora, 20 graphs."
    ),
    full=RunPlan((CORA, GRAPHS), (), trials=20, special_trials={GRAPHS: 60}, note="20 runs on Cora, 60 graphs."),
)
