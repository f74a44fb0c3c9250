"""Connected clusters of places, each joined to its nearest ones: NetScan beside scikit-learn's linkage along edges.

All fit the same rows and edges in one process, after a small fit that excludes compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import measure
from benchmarks._show import new_table, show

SIZES = (25_000, 50_000, 100_000)
N_FEATURES, N_NEIGHBORS, N_CLUSTERS = 20, 6, 10
# Words of the sparse rows, and how many a row has.
N_WORDS, N_WORDS_OF_ROW = 2_000, 40


def main() -> None:
    title = f"{N_CLUSTERS} clusters, {N_NEIGHBORS} neighbors; target: 100,000 rows in 20 s"
    table = new_table(title, "clusterer", *(f"s, {n:,}" for n in SIZES), "growth", "MB above", "radius", "inertia")
    problems = {n: make_places(n) for n in (500, *SIZES)}
    for name, fit in CONTENDERS.items():
        fit(*problems[500])
        seconds, megabytes, labels = [], 0.0, np.empty(0)
        for n in SIZES:
            taken, megabytes, labels = measure(partial(fit, *problems[n]))
            seconds.append(taken)
        growth = np.log(seconds[-1] / seconds[0]) / np.log(SIZES[-1] / SIZES[0])
        table.add_row(
            name,
            *(f"{taken:.1f}" for taken in seconds),
            f"n^{growth:.1f}",
            f"{megabytes:.0f}",
            *spread(problems[SIZES[-1]][0], labels),
        )
    show(table)


def make_places(n: int) -> tuple[Any, Any]:
    """Return rows that depend on a place in the plane, and the edges to the nearest places."""
    from scipy import sparse
    from sklearn.neighbors import kneighbors_graph

    rng = np.random.default_rng(0)
    places = rng.uniform(size=(n, 2))
    X = places @ rng.normal(size=(2, N_FEATURES)) + rng.normal(scale=0.2, size=(n, N_FEATURES))
    graph = kneighbors_graph(places, N_NEIGHBORS)
    # Neighbors from left to right, so that the graph is connected.
    order = np.argsort(places[:, 0])
    chain = sparse.coo_array((np.ones(n - 1), (order[:-1], order[1:])), shape=(n, n))
    return X, sparse.csr_array(graph + graph.T + chain + chain.T)


def as_words(X: Any) -> Any:
    """Return sparse rows with as many numbers as texts have."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    words = rng.integers(N_WORDS, size=(len(X), N_WORDS_OF_ROW)).ravel()
    rows = np.repeat(np.arange(len(X)), N_WORDS_OF_ROW)
    topics = np.tile(np.abs(X), (1, N_WORDS_OF_ROW // N_FEATURES)).ravel()
    return sparse.csr_matrix((topics, (rows, words)), shape=(len(X), N_WORDS))


def spread(X: Any, labels: Any) -> list[str]:
    """Return the largest distance from the mean of a cluster, and the sum of squares; nothing for other rows."""
    if not len(labels) or labels.max() + 1 != N_CLUSTERS:
        return ["", ""]
    means = np.array([X[labels == label].mean(axis=0) for label in range(N_CLUSTERS)])
    squares = np.square(X - means[labels]).sum(axis=1)
    return [f"{np.sqrt(squares.max()):.2f}", f"{squares.sum():,.0f}"]


def fit_ours(name: str, X: Any, graph: Any, **options: Any) -> Any:
    import mustlink

    model = getattr(mustlink, name)(N_CLUSTERS, random_state=0, **options)
    return model.fit(X, graph=graph).labels_


def fit_words(X: Any, graph: Any) -> Any:
    return fit_ours("NetScan", as_words(X), graph, metric="cosine")


def fit_ward(X: Any, graph: Any) -> Any:
    from sklearn.cluster import AgglomerativeClustering

    return AgglomerativeClustering(N_CLUSTERS, connectivity=graph).fit(X).labels_


CONTENDERS: dict[str, Callable[[Any, Any], Any]] = {
    "NetScan": partial(fit_ours, "NetScan"),
    "NetScan, published steps": partial(fit_ours, "NetScan", step="published"),
    "NetScan, sparse, cosine": fit_words,
    "ConnectedKMeans": partial(fit_ours, "ConnectedKMeans"),
    "ConnectedKCenter": partial(fit_ours, "ConnectedKCenter"),
    "scikit-learn Ward, connectivity": fit_ward,
}


if __name__ == "__main__":
    main()
