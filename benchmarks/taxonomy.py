"""Categories of texts from given ones, beside a plain version of the same formulas and what a user would pick instead.

Made documents of related topics, of which a fifth is given any category and every second topic is divided into two, and
the messages of 20 newsgroups if they are on this machine. The score is the share of held-out documents in a category
most of whose documents are of their topic. The plain version has dense arrays of documents and loops over seeds; both
have the same labels. ``--quick`` is one small set.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measure import forget_peak, megabytes_now
from benchmarks._show import new_table, show

SIZES = {2_000: 20, 5_000: 50, 20_000: 100}
QUICK = {1_000: 10}
N_TERMS = 10_000
# With more documents its dense arrays are too large.
MAX_PLAIN = 5_000
N_TIMES = 3


def main() -> None:
    for title, X, topic, given in problems(QUICK if "--quick" in sys.argv else SIZES):
        rng = np.random.default_rng(0)
        test = rng.random(len(topic)) < 0.25
        table = new_table(
            title, "method", "CPU seconds", "times TaxonomyClusterer", "peak MB", "own topic", "categories"
        )
        ours = None
        for name, fit in CONTENDERS.items():
            if name == PLAIN and len(topic) > MAX_PLAIN:
                continue
            seconds, peak, (trained, predicted) = best_of(fit, X[~test], given[~test], X[test])
            ours = seconds if ours is None else ours
            score = own_topic(trained, predicted, topic[~test], topic[test])
            cells = (
                f"{seconds:.2f}",
                f"{seconds / ours:.1f}",
                f"{peak:,.0f}",
                f"{score:.3f}",
                f"{len(set(trained) - {-1})}",
            )
            table.add_row(name, *cells)
        show(table)


def problems(sizes: dict[int, int]) -> Any:
    """Yield titles, counts, topics, and given categories."""
    from mustlink.errors import DataNotFoundError
    from mustlink.reproduce.papers._ch07_data import make_topics

    rng = np.random.default_rng(1)
    for n_documents, n_topics in sizes.items():
        X, topic = make_topics(n_documents, n_topics, n_terms=N_TERMS)
        code = 2 * topic + np.where(topic % 2, rng.integers(2, size=n_documents), 0)
        given = np.where(rng.random(n_documents) < 0.2, rng.permutation(code), code)
        yield f"{n_documents:,} documents, {n_topics} topics, {X.nnz:,} counts; a fifth misplaced", X, topic, given
    try:
        yield news()
    except DataNotFoundError as error:
        print(error)


def news() -> tuple[str, Any, Any, Any]:
    """The messages of 20 newsgroups; the groups are given."""
    from mustlink.datasets import load
    from mustlink.reproduce.papers._ch07_data import message_counts

    bunch: Any = load("news_mini")
    X = message_counts(bunch.data)
    return f"20 newsgroups: {X.shape[0]:,} messages, {X.nnz:,} counts", X, bunch.target, bunch.target


def best_of(fit: Callable[..., Any], *arguments: Any) -> tuple[float, float, Any]:
    """Return the least processor time of some runs, the peak of memory of the first, and the result."""
    times, peak = [], 0.0
    for number in range(N_TIMES):
        before, started = forget_peak(), time.process_time()
        result = fit(*arguments)
        times.append(time.process_time() - started)
        peak = megabytes_now("VmHWM") - before if number == 0 else peak
    return min(times), peak, result


def own_topic(trained: Any, predicted: Any, topic: Any, topic_of_new: Any) -> float:
    """Return the share of new documents in a category most of whose documents are of their topic."""
    composition = np.zeros((int(max(trained.max(), predicted.max())) + 1, int(topic.max()) + 1))
    np.add.at(composition, (trained[trained >= 0], topic[trained >= 0]), 1)
    return float(np.mean(np.where(predicted >= 0, composition.argmax(axis=1)[predicted], -1) == topic_of_new))


# ---- the contenders: documents, given categories and new documents in, labels of both out


def fit_ours(X: Any, given: Any, new: Any) -> tuple[Any, Any]:
    from mustlink import TaxonomyClusterer

    model = TaxonomyClusterer().fit(X, given)
    return model.labels_, model.predict(new)


def fit_plain(X: Any, given: Any, new: Any) -> tuple[Any, Any]:
    """The formulas of the chapter on dense arrays, one document after the other where it is classified."""
    counts, code = X.toarray(), np.unique(given, return_inverse=True)[1]
    n_given = int(code.max()) + 1
    occurrences = np.array([counts[code == one].sum(axis=0) for one in range(n_given)])
    rate = occurrences / occurrences.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        gini = 1 - np.sqrt(((rate / rate.sum(axis=0)) ** 2).sum(axis=0))
    frequent = np.flatnonzero((np.count_nonzero(counts, axis=0) >= 2) & ~np.isnan(gini))
    order = frequent[np.argsort(np.round(gini[frequent], 12), kind="stable")]
    terms = np.sort(order[: len(order) - int(0.11 * len(order))])

    damped = np.log1p(counts[:, terms])
    unit = to_unit(damped)
    seeds = np.array([damped[code == one].sum(axis=0) for one in range(n_given)])
    for words in (500, 350, 245, 200):
        label = np.round(unit @ to_unit(seeds).T, 12).argmax(axis=1)
        seeds = np.array([damped[label == one].sum(axis=0) for one in range(len(seeds))])
        seeds = np.array([keep_heaviest(seed, words) for seed in seeds])
        # No two seeds of these sets are as similar as 0.95, so that nothing is merged.
        seeds = seeds[np.bincount(label, minlength=len(seeds)) >= 8]
    seeds = to_unit(seeds)
    predicted = [classify(document, seeds) for document in to_unit(np.log1p(new.toarray()[:, terms]))]
    return np.round(unit @ seeds.T, 12).argmax(axis=1), np.array(predicted)


def to_unit(rows: Any) -> Any:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)


def keep_heaviest(seed: Any, words: int) -> Any:
    kept = np.zeros_like(seed)
    heaviest = np.argsort(-np.round(seed / max(seed.max(), 1e-300), 12), kind="stable")[:words]
    kept[heaviest] = seed[heaviest]
    return kept


def classify(document: Any, seeds: Any, k: int = 5, threshold: float = 0.025) -> int:
    cosines = np.round(seeds @ document, 12)
    candidates = np.argsort(-cosines, kind="stable")[:k]
    wins = dict.fromkeys(candidates.tolist(), 0)
    for place, a in enumerate(candidates.tolist()):
        for b in candidates[place + 1 :].tolist():
            winner = a
            if cosines[a] - cosines[b] < threshold:
                ours, theirs = seeds[a] * (seeds[b] == 0), seeds[b] * (seeds[a] == 0)
                sizes = [max(np.linalg.norm(one), 1e-300) for one in (ours, theirs)]
                if round(theirs @ document / sizes[1], 12) > round(ours @ document / sizes[0], 12):
                    winner = b
            wins[winner] += 1
    return int(max(wins, key=lambda one: wins[one]))


def fit_centroid(X: Any, given: Any, new: Any) -> tuple[Any, Any]:
    from sklearn.neighbors import NearestCentroid
    from sklearn.preprocessing import normalize

    code = np.unique(given, return_inverse=True)[1]
    with warnings.catch_warnings():
        # Terms that no document of a category has.
        warnings.filterwarnings("ignore", "self.within_class_std_dev_")
        model = NearestCentroid().fit(normalize(X), code)
    return model.predict(normalize(X)), model.predict(normalize(new))


def fit_tfidf_centroid(X: Any, given: Any, new: Any) -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import TfidfTransformer

    weigh = TfidfTransformer(sublinear_tf=True).fit(X)
    return fit_centroid(weigh.transform(X), given, weigh.transform(new))


def fit_bayes(X: Any, given: Any, new: Any) -> tuple[Any, Any]:
    from sklearn.naive_bayes import MultinomialNB

    code = np.unique(given, return_inverse=True)[1]
    model = MultinomialNB().fit(X, code)
    return model.predict(X), model.predict(new)


def fit_k_means(X: Any, given: Any, new: Any) -> tuple[Any, Any]:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    unit, code = normalize(X), np.unique(given, return_inverse=True)[1]
    start = np.array([np.asarray(unit[code == one].mean(axis=0)).ravel() for one in range(int(code.max()) + 1)])
    model = KMeans(len(start), init=start, n_init=1).fit(unit)
    return model.labels_, model.predict(normalize(new))


OURS, PLAIN = "TaxonomyClusterer", "plain version, dense"
CONTENDERS: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    OURS: fit_ours,
    PLAIN: fit_plain,
    "NearestCentroid, rows of norm 1": fit_centroid,
    "NearestCentroid, TF-IDF": fit_tfidf_centroid,
    "MultinomialNB": fit_bayes,
    "KMeans from the given centroids, rows of norm 1": fit_k_means,
}


if __name__ == "__main__":
    main()
