"""Labels of an earlier clustering, changed as little as new links require."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mustlink._types import Array, Floats, Ints
from mustlink.constraints import Closure, Constraints
from mustlink.studio._group_means import group_means

__all__ = ["correct_labels"]


def correct_labels(
    labels: Ints, links: Constraints, X: Array, anchors: Sequence[int] = (), n_clusters: int | None = None
) -> Ints:
    """Return labels that keep the links where possible; only linked rows change.

    The rows of a must-link component get the label that most of them have, or that of its anchor: the row to which
    others were moved. Of two cannot-linked components with one label, the one whose anchor is later in `anchors`, or
    else the smaller one, gets the label of the nearest center that none of its cannot-linked components has. If all
    have one, it gets a new label, as long as there are fewer than `n_clusters`.
    """
    if links.is_empty or not (labels >= 0).any():
        return labels
    rows, compact = links.compact()
    closure = compact.closure(len(rows))
    places = np.searchsorted(rows, np.asarray(anchors, dtype=np.int64))
    is_linked = places < len(rows)
    is_linked[is_linked] = rows[places[is_linked]] == np.asarray(anchors, dtype=np.int64)[is_linked]
    votes = np.ones(len(rows))
    votes[places[is_linked]] = len(rows)
    # Components without a pinned row are moved before those with one, and later places before earlier ones.
    age = np.full(closure.n_components, len(anchors))
    age[closure.component[places[is_linked]]] = np.flatnonzero(is_linked)
    chosen = _elect(labels[rows], closure, votes)
    torn = closure.cannot_link[chosen[closure.cannot_link[:, 0]] == chosen[closure.cannot_link[:, 1]]]
    if len(torn):
        centers, _ = group_means(X, labels, int(labels.max()) + 1)
        n_labels = len(X) if n_clusters is None else n_clusters
        chosen = _part(chosen, torn, closure, rows, X, centers, age, n_labels)
    corrected = labels.copy()
    corrected[rows] = np.where(chosen[closure.component] >= 0, chosen[closure.component], labels[rows])
    return corrected


def _elect(labels: Ints, closure: Closure, votes: Floats) -> Ints:
    """Return the label with most votes in every component; -1 if no row has one."""
    n_labels = int(labels.max(initial=0)) + 1
    known = labels >= 0
    keys, places = np.unique(closure.component[known] * n_labels + labels[known], return_inverse=True)
    total = np.bincount(places, weights=votes[known], minlength=len(keys))
    chosen = np.full(closure.n_components, -1, dtype=np.int64)
    # Ascending, so that the label with most votes is written last, and of equal ones the lowest.
    order = np.lexsort((-keys, total))
    chosen[keys[order] // n_labels] = keys[order] % n_labels
    return chosen


def _part(
    chosen: Ints, torn: Ints, closure: Closure, rows: Ints, X: Array, centers: Floats, age: Ints, n_labels: int
) -> Ints:
    """Give one of each two components that are torn apart the label of another center, or a new one."""
    chosen = chosen.copy()
    neighbors = closure.graph()
    for one, other in torn.tolist():
        if chosen[one] != chosen[other] or chosen[one] < 0:
            continue
        moved = max(one, other, key=lambda component: (age[component], -closure.sizes[component], component))
        apart = chosen[neighbors.indices[neighbors.indptr[moved] : neighbors.indptr[moved + 1]]]
        free = np.setdiff1d(np.arange(len(centers)), apart)
        n_used = max(len(centers), int(chosen.max()) + 1)
        if len(free):
            middle = np.asarray(X[rows[closure.component == moved]]).mean(axis=0)
            chosen[moved] = free[np.argmin(np.square(centers[free] - middle).sum(axis=1))]
        elif n_used < n_labels:
            chosen[moved] = n_used
    return chosen
