"""Correlation and consensus clustering by brute force: every set partition, every pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mustlink import Constraints


def set_partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the labels of every partition of n items, numbered by first appearance."""

    def extend(labels: tuple[int, ...], n_used: int) -> Iterator[tuple[int, ...]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(n_used + 1):
            yield from extend((*labels, label), max(n_used, label + 1))

    yield from extend((), 0)


def disagreement(weights: Any, labels: Sequence[int], penalty: float = 0.0) -> float:
    """Cost of a clustering by (13.1); a weight of 0 is missing and negative with a penalty."""
    total = 0.0
    for u, v in combinations(range(len(labels)), 2):
        weight = float(weights[u, v]) or -penalty
        together = labels[u] == labels[v]
        total += max(-weight, 0.0) if together else max(weight, 0.0)
    return total


def agreement(weights: Any, labels: Sequence[int], penalty: float = 0.0) -> float:
    """Value of a clustering by (13.2)."""
    total = 0.0
    for u, v in combinations(range(len(labels)), 2):
        weight = float(weights[u, v]) or -penalty
        together = labels[u] == labels[v]
        total += max(weight, 0.0) if together else max(-weight, 0.0)
    return total


def keeps_rules(
    labels: Sequence[int],
    links: Constraints | None = None,
    sources: Sequence[Any] | None = None,
    max_per_source: int = 1,
) -> bool:
    """Whether a clustering keeps all links, and holds at most so many rows of a source in a cluster."""
    if links is not None and len(links.violations(np.array(labels))):
        return False
    held: dict[tuple[int, Any], int] = {}
    for label, source in zip(labels, sources if sources is not None else (), strict=False):
        if source is not None:
            held[label, source] = held.get((label, source), 0) + 1
    return all(n_rows <= max_per_source for n_rows in held.values())


def least_disagreement(weights: Any, penalty: float = 0.0, **rules: Any) -> float:
    """The least cost of any clustering that keeps the rules."""
    return min(
        disagreement(weights, labels, penalty)
        for labels in set_partitions(len(weights))
        if keeps_rules(labels, **rules)
    )


def pivot(weights: Any, order: Sequence[int]) -> list[int]:
    """The pivot algorithm in one pass: each free node, in order, takes its free positive neighbors."""
    label = [-1] * len(weights)
    for u in order:
        if label[u] < 0:
            for v in range(len(weights)):
                if label[v] < 0 and (v == u or weights[u, v] > 0):
                    label[v] = u
    return label


def bad_triangles(weights: Any) -> list[tuple[int, int, int]]:
    """Triples with two positive pairs and a negative one."""
    return [
        triple
        for triple in combinations(range(len(weights)), 3)
        if sorted(np.sign([weights[u, v] for u, v in combinations(triple, 2)])) == [-1, 1, 1]
    ]


def mirkin(first: Sequence[int], second: Sequence[int]) -> int:
    """The number of pairs that are together in one clustering and apart in the other."""
    return sum((first[u] == first[v]) != (second[u] == second[v]) for u, v in combinations(range(len(first)), 2))


def consensus_cost(columns: Any, labels: Sequence[int], weights: Sequence[float] | None = None) -> float:
    """The weighted number of pairs in which a clustering differs from the columns; NaN is unknown, -1 is noise."""
    columns = np.asarray(columns, dtype=float)
    total = 0.0
    for t in range(columns.shape[1]):
        column = columns[:, t]
        for u, v in combinations(range(len(columns)), 2):
            if np.isnan(column[u]) or np.isnan(column[v]):
                continue
            joined = column[u] == column[v] and column[u] != -1
            total += (joined != (labels[u] == labels[v])) * (1.0 if weights is None else weights[t])
    return total


def least_consensus_cost(columns: Any, weights: Sequence[float] | None = None) -> float:
    """The least cost of any clustering."""
    return min(consensus_cost(columns, labels, weights) for labels in set_partitions(len(columns)))
