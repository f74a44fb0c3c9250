"""Co-clustering of 0/1 matrices, slow and obvious: formal concepts, constraints on bi-sets, distances, CDK-Means.

Bi-sets are pairs of frozensets, of rows and of columns; elements are rows first, then columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from mustlink._types import Array, Floats, Ints

Biset = tuple[frozenset[int], frozenset[int]]


def all_concepts(X: Array) -> set[Biset]:
    """All formal concepts, those with an empty side included: intents are the intersections of rows."""
    n_rows, n_columns = X.shape
    intents = {frozenset(range(n_columns))}
    for row in X:
        own = frozenset(np.flatnonzero(row).tolist())
        intents |= {own & intent for intent in intents}
    return {
        (frozenset(row for row in range(n_rows) if all(X[row, column] for column in intent)), intent)
        for intent in intents
    }


def elements(biset: Biset, n_rows: int) -> set[int]:
    return set(biset[0]) | {n_rows + column for column in biset[1]}


def gaps_of(members: Sequence[int], position: Sequence[int], n_positions: int, circular: bool) -> list[int]:
    """The number of positions between consecutive members."""
    taken = sorted({position[member] for member in members})
    if len(taken) < 2:
        return []
    gaps = [sum(1 for between in range(a + 1, b)) for a, b in itertools.pairwise(taken)]
    if circular:
        gaps.append(n_positions - 1 - taken[-1] + taken[0])
    return gaps


def gaps_kept(
    members: Sequence[int],
    position: Sequence[int],
    *,
    min_gap: int | None = None,
    max_gap: int | None = None,
    circular: bool = False,
) -> bool:
    gaps = gaps_of(members, position, max(position) + 1, circular)
    if min_gap is not None and any(gap < min_gap for gap in gaps):
        return False
    if max_gap is None:
        return True
    bounded = sorted(gaps)[:-1] if circular else gaps
    return all(gap <= max_gap for gap in bounded)


def links_kept(biset: Biset, n_rows: int, must: Sequence[Sequence[int]], cannot: Sequence[Sequence[int]]) -> bool:
    own = elements(biset, n_rows)
    return all((a in own) == (b in own) for a, b in must) and not any(a in own and b in own for a, b in cannot)


def distance(members: Array, centroid: Floats) -> float:
    """One side: I and U of the source, element by element."""
    common = union = 0.0
    for own, coefficient in zip(members, centroid, strict=True):
        union += (own + coefficient) / 2
        if own * coefficient != 0:
            common += (own + coefficient) / 2
    return (union - common) / union if union else 0.0


def biset_distance(biset: tuple[Array, Array], centroid: tuple[Floats, Floats]) -> float:
    return 0.5 * (distance(biset[0], centroid[0]) + distance(biset[1], centroid[1]))


def cdk_means(
    bisets: list[tuple[Array, Array]],
    first: Sequence[int],
    order: Sequence[int],
    cannot: Sequence[Sequence[int]],
    max_iter: int,
) -> tuple[list[int], float] | None:
    """The labels of the best state of one start and its cost; None if there is no legal placement at all."""
    k = len(first)
    centroids = [(bisets[at][0].astype(float), bisets[at][1].astype(float)) for at in first]
    labels: list[int] = []
    best: tuple[list[int], float] | None = None
    for n_done in range(max_iter + 1):
        if labels:
            cost = sum(biset_distance(biset, centroids[label]) for biset, label in zip(bisets, labels, strict=True))
            if best is None or cost < best[1] - 1e-12:
                best = (labels, cost)
        if n_done == max_iter:
            break
        found = place(bisets, centroids, order, cannot)
        if found is None:
            break
        found = fill_empty(bisets, centroids, found, k)
        if found == labels:
            break
        labels = found
        centroids = []
        for cluster in range(k):
            own = [biset for biset, label in zip(bisets, labels, strict=True) if label == cluster]
            centroids.append((np.mean([rows for rows, _ in own], axis=0), np.mean([cols for _, cols in own], axis=0)))
    return best


def place(
    bisets: list[tuple[Array, Array]],
    centroids: list[tuple[Floats, Floats]],
    order: Sequence[int],
    cannot: Sequence[Sequence[int]],
) -> list[int] | None:
    """Every bi-set in the nearest cluster where no cannot-link is violated."""
    placed: list[set[int]] = [set() for _ in centroids]
    labels = [-1] * len(bisets)
    for at in order:
        own = set(np.flatnonzero(np.concatenate(bisets[at])).tolist())
        distances = [biset_distance(bisets[at], centroid) for centroid in centroids]
        for cluster in np.argsort(distances, kind="stable").tolist():
            if not any((a in own and b in placed[cluster]) or (b in own and a in placed[cluster]) for a, b in cannot):
                labels[at] = cluster
                placed[cluster] |= own
                break
        else:
            return None
    return labels


def fill_empty(
    bisets: list[tuple[Array, Array]], centroids: list[tuple[Floats, Floats]], labels: list[int], k: int
) -> list[int]:
    """The farthest bi-set of a cluster with others goes to an empty cluster."""
    labels = list(labels)
    far = [biset_distance(biset, centroids[label]) for biset, label in zip(bisets, labels, strict=True)]
    for cluster in range(k):
        if cluster not in labels:
            several = [at for at in range(len(bisets)) if labels.count(labels[at]) > 1]
            labels[max(several, key=lambda at: (far[at], -at))] = cluster
    return labels


def best_contiguous(weights: Floats, circular: bool) -> float:
    """The largest sum of weights of labels of which every cluster is one interval, by trying all labels."""
    n, k = weights.shape
    return max(
        sum(weights[at, label] for at, label in enumerate(labels))
        for labels in itertools.product(range(k), repeat=n)
        if all(is_interval([label == cluster for label in labels], circular) for cluster in range(k))
    )


def is_interval(present: Sequence[bool], circular: bool) -> bool:
    """Whether the members are one run."""
    n = len(present)
    starts = sum(present[at] and not (present[at - 1] if circular or at else False) for at in range(n))
    return starts <= 1


def jumps(labels: Ints) -> int:
    """Pairs of members of one cluster that are apart, with no member between."""
    total = 0
    for cluster in set(labels.tolist()) - {-1}:
        for a, b in itertools.pairwise(np.flatnonzero(labels == cluster).tolist()):
            total += b - a > 1
    return total


def share_table(X: Array, rows: Ints, columns: Ints) -> Floats:
    """The share of the ones of X in each pair of a row cluster and a column cluster."""
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    for row, column in zip(*np.nonzero(X), strict=True):
        table[rows[row], columns[column]] += 1
    return table / table.sum()


def tau(p: Floats) -> float:
    """Goodman and Kruskal's symmetric tau, term by term."""
    of_rows, of_columns = p.sum(axis=1), p.sum(axis=0)
    above = 0.0
    for i, j in itertools.product(range(p.shape[0]), range(p.shape[1])):
        if of_rows[i] and of_columns[j]:
            product = of_rows[i] * of_columns[j]
            above += 0.5 * (p[i, j] - product) ** 2 * (of_rows[i] + of_columns[j]) / product
    below = 1 - 0.5 * (of_rows**2).sum() - 0.5 * (of_columns**2).sum()
    return above / below if below > 1e-15 else 0.0


def filter_bisets(bisets: set[Biset], keep: Callable[[Biset], bool]) -> set[Biset]:
    return {biset for biset in bisets if keep(biset)}
