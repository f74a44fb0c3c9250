"""Collective relational clustering from the formulas, with every similarity computed again before each merge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mustlink._types import Floats

# Similarities that differ by less are equal; the smaller rows are first.
DIGITS = 11

Clusters = dict[int, set[int]]


def neighborhoods(clusters: Clusters, groups: Sequence[set[int]]) -> dict[int, set[int]]:
    """The clusters that each cluster occurs with, by their smallest rows."""
    of_row = {row: name for name, rows in clusters.items() for row in rows}
    near: dict[int, set[int]] = {name: set() for name in clusters}
    for group in groups:
        names = {of_row[row] for row in group}
        for name in names:
            near[name] |= names - {name}
    return near


def relational_similarity(
    one: int, other: int, near: Mapping[int, set[int]], clusters: Clusters, rule: Mapping[str, Any]
) -> float:
    """How alike the neighborhoods of two clusters are, both clusters left out."""
    first, second = near[one] - {one, other}, near[other] - {one, other}
    weight = {
        "jaccard": lambda name: 1.0,
        "common": lambda name: 1.0,
        "degree": lambda name: 1 / math.log(1 + max(len(near[name]), 1)),
        "ambiguity": lambda name: 1 / (1 + np.mean([rule["n_names"][row] for row in clusters[name]])),
    }[rule["measure"]]
    shared = sum(map(weight, first & second))
    if rule["measure"] == "common":
        value = min(1.0, shared / rule["n_common"])
    else:
        value = shared / sum(map(weight, first | second)) if shared else 0.0
    if rule["second_weight"]:
        far = [set().union(*(near[name] for name in near[own] - {one, other})) - {one, other} for own in (one, other)]
        union = far[0] | far[1]
        jaccard = len(far[0] & far[1]) / len(union) if union else 0.0
        value = (value + rule["second_weight"] * jaccard) / (1 + rule["second_weight"])
    return float(value)


def attribute_similarity(one: set[int], other: set[int], S: Floats, linkage: str) -> float:
    """Of two clusters, from the similarities of their rows."""
    values = S[np.ix_(sorted(one), sorted(other))]
    return float({"average": np.mean, "max": np.max, "min": np.min}[linkage](values))


def is_allowed(rows: set[int], apart: Sequence[tuple[set[int], int]]) -> bool:
    """Whether a cluster has at most as many rows of each set as it may."""
    return all(len(rows & members) <= most for members, most in apart)


def merge_down(
    S: Floats,
    start: Sequence[int],
    groups: Sequence[set[int]],
    apart: Sequence[tuple[set[int], int]],
    threshold: float,
    rule: Mapping[str, Any],
) -> list[tuple[int, int, float]]:
    """Merge the most similar clusters with a candidate pair of rows, where S is not 0, down to a threshold."""
    clusters: Clusters = {}
    for row, name in enumerate(start):
        clusters.setdefault(name, set()).add(row)
    representative = {name: min(rows) for name, rows in clusters.items()}
    merges = []
    while True:
        near = neighborhoods(clusters, groups)
        best = None
        for one, other in itertools.combinations(sorted(clusters), 2):
            is_candidate = S[np.ix_(sorted(clusters[one]), sorted(clusters[other]))].any()
            if not is_candidate or not is_allowed(clusters[one] | clusters[other], apart):
                continue
            if rule["linkage"] == "representative":
                attribute = float(S[representative[one], representative[other]])
            else:
                attribute = attribute_similarity(clusters[one], clusters[other], S, rule["linkage"])
            similarity = (1 - rule["alpha"]) * attribute
            similarity += rule["alpha"] * relational_similarity(one, other, near, clusters, rule)
            entry = (-round(similarity, DIGITS), one, other)
            best = entry if best is None else min(best, entry)
        if best is None or -best[0] < threshold:
            return merges
        _, one, other = best
        merges.append((one, other, -best[0]))
        # That of the larger cluster, of equally large ones that of the first.
        if len(clusters[other]) > len(clusters[one]):
            representative[one] = representative[other]
        clusters[one] |= clusters.pop(other)


def soft_tfidf(one: str, other: str, weight: Any, close: Any, threshold: float) -> float:
    """SoftTF-IDF of two texts in one direction; `weight(text)` gives unit weights of its words."""
    first, second = weight(one), weight(other)
    total = 0.0
    for word, own in first.items():
        best = max(((close(word, near), mass) for near, mass in second.items()), default=(0.0, 0.0))
        if best[0] > threshold:
            total += own * best[1] * best[0]
    return total


def hyperedge_similarity(one: int, other: int, groups: Sequence[set[int]], S: Floats, how: str) -> float:
    """The best match of the rows that occur with two rows, at best over their groups."""
    from scipy.optimize import linear_sum_assignment

    best = 0.0
    for first, second in itertools.product(groups, groups):
        if first is second or one not in first or other not in second:
            continue
        rows, near = sorted(first - {one, other}), sorted(second - {one, other})
        if not rows or not near:
            continue
        values = S[np.ix_(rows, near)]
        if how == "max":
            score = values.max()
        elif how == "mean_best":
            score = (values.max(axis=1).mean() + values.max(axis=0).mean()) / 2
        else:
            score = values[linear_sum_assignment(values, maximize=True)].sum() / max(values.shape)
        best = max(best, float(score))
    return best
