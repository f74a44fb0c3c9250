"""Existential constraints by brute force: schedules of moves, assignments, clusterings, Hamiltonian paths."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

# A pivot that wants to move: its cluster, the nearest cluster, the gain.
Pivot = tuple[int, int, float]


def best_schedule(counts: Sequence[int], minimum: Sequence[int], pivots: Sequence[Pivot]) -> float:
    """Return the largest total gain of moves, one after the other, that leave every cluster its minimum."""
    seen: set[frozenset[int]] = set()

    def extend(moved: frozenset[int], now: tuple[int, ...]) -> float:
        if moved in seen:
            return 0.0  # reached before by another order, with the same counts and gain
        seen.add(moved)
        best = sum(pivots[p][2] for p in moved)
        for p, (source, target, _) in enumerate(pivots):
            if p not in moved and now[source] > minimum[source]:
                after = list(now)
                after[source] -= 1
                after[target] += 1
                best = max(best, extend(moved | {p}, tuple(after)))
        return best

    return extend(frozenset(), tuple(counts))


def best_assignment(costs: np.ndarray, is_pivot: Sequence[Sequence[bool]], minimum: Sequence[int]) -> float:
    """Return the least total cost of rows in clusters, each with its minimum of every kind of pivots."""
    n_rows, n_clusters = costs.shape
    best = np.inf
    for labels in itertools.product(range(n_clusters), repeat=n_rows):
        if is_valid(labels, is_pivot, minimum, n_clusters):
            best = min(best, sum(costs[row, label] for row, label in enumerate(labels)))
    return float(best)


def is_valid(
    labels: Sequence[int], is_pivot: Sequence[Sequence[bool]], minimum: Sequence[int], n_clusters: int
) -> bool:
    """Return whether every cluster has the minimum of every kind of pivots."""
    for cluster in range(n_clusters):
        for kind, needed in enumerate(minimum):
            members = [row for row, label in enumerate(labels) if label == cluster and is_pivot[row][kind]]
            if len(members) < needed:
                return False
    return True


def dispersion(X: np.ndarray, labels: Sequence[int]) -> float:
    """Return the sum of squared distances of the rows to the means of their clusters."""
    labels = np.asarray(labels)
    return float(sum(np.square(X[labels == c] - X[labels == c].mean(axis=0)).sum() for c in set(labels.tolist())))


def best_clustering(X: np.ndarray, is_pivot: Sequence[bool], minimum: int, n_clusters: int) -> float:
    """Return the least dispersion of a clustering in which every cluster has the minimum of pivots."""
    kinds = [[bool(mark)] for mark in is_pivot]
    return min(
        dispersion(X, labels)
        for labels in itertools.product(range(n_clusters), repeat=len(X))
        if is_valid(labels, kinds, [minimum], n_clusters)
    )


def has_cycle(edges: Iterable[tuple[int, int]]) -> bool:
    """Return whether a directed graph has a cycle, by removing vertices that no edge leaves."""
    left = set(edges)
    while left:
        sources = {a for a, _ in left}
        smaller = {(a, b) for a, b in left if b in sources}
        if smaller == left:
            return True
        left = smaller
    return False


def has_hamiltonian_path(n_vertices: int, edges: set[tuple[int, int]], start: int) -> bool:
    """Return whether a path from the start visits every vertex once."""
    others = [v for v in range(n_vertices) if v != start]
    return any(
        all(pair in edges for pair in itertools.pairwise((start, *order))) for order in itertools.permutations(others)
    )


def hamiltonian_gadget(
    n_vertices: int, edges: set[tuple[int, int]], start: int, t: int
) -> tuple[list[int], list[int], list[Pivot]]:
    """Return the movement problem that decides on Hamiltonian paths: counts, minimum, pivots of gain one.

    Each vertex v is split into v' (number v + n) and v (number v) with an edge v' -> v; edges into v lead to v', and
    those into the start are dropped. Every cluster has t pivots, the start one more.
    """
    pivots: list[Pivot] = [(v + n_vertices, v, 1.0) for v in range(n_vertices) if v != start]
    pivots += [(a, b + n_vertices, 1.0) for a, b in sorted(edges) if b != start]
    counts = [t] * (2 * n_vertices)
    counts[start] += 1
    return counts, [t] * (2 * n_vertices), pivots


def replay(
    counts: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    member: np.ndarray,
    moves: Iterable[tuple[int, int, int]],
) -> Iterator[np.ndarray]:
    """Yield the counts after every step of a schedule of moves (item, units, step)."""
    now = counts.copy()
    for _, step in itertools.groupby(moves, key=lambda move: move[2]):
        for item, units, _ in step:
            now[source[item]] -= units * member[item]
            now[target[item]] += units * member[item]
        yield now.copy()
