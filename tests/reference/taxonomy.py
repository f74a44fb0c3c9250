"""Slow and obvious version of the supervised text clustering of chapter 7, on documents as dictionaries of terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Vector = dict[int, float]

DAMPINGS: dict[str, Callable[[float], float]] = {
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "binary": lambda count: 1.0,
    "identity": lambda count: count,
}
# Sums in another order differ by rounding; numbers that agree to so many decimals are equal.
DECIMALS = 12


def dot(a: Vector, b: Vector) -> float:
    return sum(a[term] * b[term] for term in sorted(a) if term in b)


def cosine(a: Vector, b: Vector) -> float:
    size = math.sqrt(dot(a, a)) * math.sqrt(dot(b, b))
    return round(dot(a, b) / size, DECIMALS) if size else 0.0


def add(vectors: Sequence[Vector]) -> Vector:
    total: Vector = {}
    for vector in vectors:
        for term, weight in vector.items():
            total[term] = total.get(term, 0.0) + weight
    return total


def gini(counts: Sequence[Vector], y: Sequence[int], n_categories: int, term: int) -> float | None:
    """The normalized Gini index of a term; None if no document with a category has it."""
    rates = []
    for category in range(n_categories):
        documents = [counts[row] for row in range(len(counts)) if y[row] == category]
        n_all = sum(sum(document.values()) for document in documents)
        n_own = sum(document.get(term, 0.0) for document in documents)
        rates.append(n_own / n_all if n_all else 0.0)
    if sum(rates) == 0:
        return None
    return 1 - math.sqrt(sum((rate / sum(rates)) ** 2 for rate in rates))


def schedule(words: int, words_final: int, theta: float) -> list[int]:
    passes = [words]
    while words > words_final:
        words = max(words_final, math.floor(round(words * theta, 9)))
        passes.append(words)
    return passes


def nearest(seeds: Sequence[Vector], document: Vector) -> tuple[int, float]:
    """The seed of the largest cosine, of equal ones the first."""
    cosines = [cosine(seed, document) for seed in seeds]
    return cosines.index(max(cosines)), max(cosines)


def project(seed: Vector, n_words: int) -> Vector:
    largest = max(seed.values(), default=1.0)
    kept = sorted(seed, key=lambda term: (-round(seed[term] / largest, DECIMALS), term))[:n_words]
    return {term: seed[term] for term in kept}


def components(seeds: Sequence[Vector], threshold: float) -> list[list[int]]:
    """Seeds that are connected by cosines above the threshold, in the order of their first seeds."""
    groups: list[list[int]] = []
    for start in range(len(seeds)):
        if any(start in group for group in groups):
            continue
        group, new = [start], [start]
        while new:
            one = new.pop()
            for other in range(len(seeds)):
                if other not in group and threshold < 1 and cosine(seeds[one], seeds[other]) > threshold:
                    group.append(other)
                    new.append(other)
        groups.append(sorted(group))
    return groups


@dataclass
class State:
    """Seeds, the given categories that each comes from, and the documents that are left."""

    seeds: list[Vector]
    origins: list[list[int]]
    pool: list[int]
    history: list[tuple[int, int, int, int, int]] = field(default_factory=list)


def assign(state: State, queries: Sequence[Vector], outlier_threshold: float) -> list[list[int]]:
    clusters: list[list[int]] = [[] for _ in state.seeds]
    for row in list(state.pool):
        number, similarity = nearest(state.seeds, queries[row])
        if similarity <= 0 or similarity < outlier_threshold:
            state.pool.remove(row)
        else:
            clusters[number].append(row)
    return clusters


def cluster(
    damped: Sequence[Vector],
    queries: Sequence[Vector],
    y: Sequence[int],
    n_categories: int,
    *,
    words_init: int,
    words_final: int,
    theta: float,
    merge_threshold: float,
    min_cluster_size: int,
    outlier_threshold: float,
) -> tuple[State, list[int]]:
    """TClus on documents of the chosen terms; the final seeds, and the label of every document."""
    seeds = [add([damped[row] for row in range(len(y)) if y[row] == category]) for category in range(n_categories)]
    pool = [row for row in range(len(y)) if queries[row]]
    state = State(seeds, [[category] for category in range(n_categories)], pool)
    for words in schedule(words_init, words_final, theta):
        n_before, n_pool = len(state.seeds), len(state.pool)
        clusters = assign(state, queries, outlier_threshold)
        state.seeds = [project(add([damped[row] for row in rows]), words) for rows in clusters]

        groups = components(state.seeds, merge_threshold)
        state.seeds = [add([state.seeds[number] for number in group]) for group in groups]
        clusters = [sorted(row for number in group for row in clusters[number]) for group in groups]
        state.origins = [[one for number in group for one in state.origins[number]] for group in groups]

        left = [number for number, rows in enumerate(clusters) if len(rows) >= min_cluster_size]
        state.seeds = [state.seeds[number] for number in left]
        state.origins = [state.origins[number] for number in left]
        n_outliers = n_pool - len(state.pool)
        state.history.append((words, len(left), n_outliers, n_before - len(groups), len(groups) - len(left)))
        if not left:
            return state, []
    state.seeds = [project(seed, words_final) for seed in state.seeds]
    labels = [-1] * len(y)
    for number, rows in enumerate(assign(state, queries, outlier_threshold)):
        for row in rows:
            labels[row] = number
    return state, labels


def subtract(a: Vector, b: Vector) -> Vector:
    return {term: weight for term, weight in a.items() if term not in b}


def rank(seeds: Sequence[Vector], document: Vector, n_candidates: int, threshold: float) -> list[tuple[int, int]]:
    """The candidates and their domination numbers, the best first."""
    cosines = [cosine(seed, document) for seed in seeds]
    candidates: list[int] = []
    while len(candidates) < min(n_candidates, len(seeds)):
        rest = [number for number in range(len(seeds)) if number not in candidates]
        candidates.append(max(rest, key=lambda number: (cosines[number], -number)))
    domination = dict.fromkeys(candidates, 0)
    for place, a in enumerate(candidates):
        for b in candidates[place + 1 :]:
            winner = a
            if cosines[a] - cosines[b] < threshold:
                ours, theirs = subtract(seeds[a], seeds[b]), subtract(seeds[b], seeds[a])
                if cosine(theirs, document) > cosine(ours, document):
                    winner = b
            domination[winner] += 1
    order = sorted(candidates, key=lambda number: (-domination[number], candidates.index(number)))
    return [(number, domination[number]) for number in order]
