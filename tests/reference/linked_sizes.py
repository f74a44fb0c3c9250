"""Links and sizes together by trying every labeling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reference.feasibility import all_assignments
from reference.random_links import Pairs

Floats = NDArray[np.float64]
Triples = Sequence[tuple[int, int, int]]


def keeps_sizes(labels: NDArray[np.int64], size_min: Sequence[int], size_max: Sequence[int]) -> NDArray[np.bool_]:
    """Say of every labeling (one per line) whether all clusters have a size within their bounds."""
    good = np.ones(len(labels), dtype=bool)
    for cluster, (lowest, highest) in enumerate(zip(size_min, size_max, strict=True)):
        size = (labels == cluster).sum(axis=1)
        good &= (lowest <= size) & (size <= highest)
    return good


def n_broken(labels: NDArray[np.int64], must_link: Pairs, cannot_link: Pairs) -> NDArray[np.int64]:
    """Count the links that every labeling breaks."""
    broken = np.zeros(len(labels), dtype=np.int64)
    for i, j in must_link:
        broken += labels[:, i] != labels[:, j]
    for i, j in cannot_link:
        broken += labels[:, i] == labels[:, j]
    return broken


def keeps_triples(labels: NDArray[np.int64], one_of: Triples) -> NDArray[np.bool_]:
    """Say of every labeling whether i is with exactly one of j and g, for all triples (i, j, g)."""
    good = np.ones(len(labels), dtype=bool)
    for i, j, g in one_of:
        good &= (labels[:, i] == labels[:, j]) ^ (labels[:, i] == labels[:, g])
    return good


def least_cost(
    costs: Floats,
    must_link: Pairs,
    cannot_link: Pairs,
    size_min: Sequence[int],
    size_max: Sequence[int],
    one_of: Triples = (),
    penalty: float | None = None,
) -> float | None:
    """Return the least cost of a labeling that keeps links, triples and sizes; None if there is none.

    With a penalty, must-links may be broken at this cost each.
    """
    labels = all_assignments(*costs.shape)
    good = keeps_sizes(labels, size_min, size_max) & keeps_triples(labels, one_of)
    total = costs[np.arange(len(costs)), labels].sum(axis=1)
    if penalty is None:
        good &= n_broken(labels, must_link, cannot_link) == 0
    else:
        good &= n_broken(labels, [], cannot_link) == 0
        total = total + penalty * n_broken(labels, must_link, [])
    return float(total[good].min()) if good.any() else None


def fewest_broken(case: tuple[int, Pairs, Pairs], size_min: Sequence[int], size_max: Sequence[int]) -> int:
    """Return the fewest links that a labeling which keeps the sizes breaks."""
    n, must_link, cannot_link = case
    labels = all_assignments(n, len(size_min))
    return int(n_broken(labels, must_link, cannot_link)[keeps_sizes(labels, size_min, size_max)].min())
