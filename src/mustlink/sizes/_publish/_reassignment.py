"""Exact reassignment: in regions of neighboring groups, rows go to the means at the least cost with minimum sizes kept.

Moves and swaps stop where only a chain of several rows would help; the assignment finds such chains.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from mustlink._types import Floats, Indices, Ints
from mustlink.sizes._assign._assign import assign
from mustlink.sizes._publish._cutting import rows_of_groups
from mustlink.sizes._publish._models import NO_DIVERSITY, PrivacyModel

__all__ = ["reassign_regions", "sums_of_groups"]

# The most groups that are reassigned together.
MAX_REGION_GROUPS = 48


def reassign_regions(
    X: Floats, codes: Ints, labels: Ints, model: PrivacyModel, random_state: np.random.RandomState
) -> Ints:
    """Return the groups after an exact reassignment in each of some random regions; the sum of squares never rises."""
    labels = labels.copy()
    sizes = np.bincount(labels)
    means = sums_of_groups(X, labels, len(sizes)) / sizes[:, None]
    members = rows_of_groups(labels)
    for region in _regions(means, np.arange(len(sizes)), random_state):
        rows = np.concatenate([members[group] for group in region])
        found = _reassign(X[rows], codes[rows], np.repeat(np.arange(len(region)), sizes[region]), means[region], model)
        labels[rows] = region[found]
    return labels


def sums_of_groups(X: Floats, labels: Ints, n_groups: int) -> Floats:
    """Return the sum of the rows of each group."""
    sums = np.zeros((n_groups, X.shape[1]))
    np.add.at(sums, labels, X)
    return sums


def _regions(means: Floats, groups: Indices, random_state: np.random.RandomState) -> Iterator[Indices]:
    """Halve the groups along random directions, so that each call has other borders, and yield small regions."""
    if len(groups) <= MAX_REGION_GROUPS:
        yield groups
        return
    direction = random_state.normal(size=means.shape[1])
    order = groups[np.argsort(means[groups] @ direction, kind="stable")]
    half = len(order) // 2
    for part in (order[:half], order[half:]):
        yield from _regions(means, part, random_state)


def _reassign(X: Floats, codes: Ints, labels: Ints, means: Floats, model: PrivacyModel) -> Ints:
    """Return the cheapest groups for the rows of a region, or those before if diversity would be lost."""
    found = assign(euclidean_distances(X, means, squared=True), size_min=model.min_size).labels
    return found if _are_diverse(codes, found, len(means), model) else labels


def _are_diverse(codes: Ints, labels: Ints, n_groups: int, model: PrivacyModel) -> bool:
    """Return whether every group is diverse enough."""
    if model.form == NO_DIVERSITY:
        return True
    counts = np.zeros((n_groups, int(codes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (labels, codes), 1)
    return all(map(model.is_diverse, counts))
