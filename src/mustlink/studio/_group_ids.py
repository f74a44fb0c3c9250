"""Ids of groups that stay the same while the clustering changes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from types import MappingProxyType

import numpy as np
from scipy.optimize import linear_sum_assignment

from mustlink._types import Ints

__all__ = ["keep_locked", "match_ids"]


def match_ids(
    labels: Ints, before: Ints, locks: Mapping[int, Ints], absent: Mapping[int, Ints] = MappingProxyType({})
) -> tuple[int, ...]:
    """Return an id for every label: that of the group before with which it shares most rows.

    The ids of locked groups stay with their rows. Those of absent groups, which are none now and have a name, go to a
    label that has most of their rows, and most of whose rows they are, and to no other. Of the others, as many rows as
    possible keep their id. A label that shares no row with a group before gets the lowest free id. A label of -1 is no
    group, in both; a label without rows gets the id -1.
    """
    n_labels = int(labels.max(initial=-1)) + 1
    ids = np.full(n_labels, -1, dtype=np.int64)
    for group, rows in locks.items():
        ids[labels[rows[0]]] = group
    for group, rows in absent.items():
        shared = np.bincount(labels[rows][labels[rows] >= 0], minlength=max(n_labels, 1))
        label = int(shared.argmax())
        if 2 * shared[label] > max(len(rows), np.count_nonzero(labels == label)) and ids[label] < 0:
            ids[label] = group
    # Ids are small numbers, as the lowest free ones are taken.
    n_old = int(before.max(initial=-1)) + 1
    both = (labels >= 0) & (before >= 0)
    overlap = np.bincount(labels[both] * n_old + before[both], minlength=n_labels * n_old).reshape(n_labels, n_old)
    overlap[ids >= 0] = 0
    overlap[:, [group for group in locks if group < n_old]] = 0
    for label, group in zip(*linear_sum_assignment(overlap, maximize=True), strict=True):
        if overlap[label, group] > 0:
            ids[label] = group
    used = set(ids.tolist()) | set(absent)
    free = (number for number in count() if number not in used)
    sizes = np.bincount(labels[labels >= 0], minlength=n_labels)
    new = (ids < 0) & (sizes > 0)
    return tuple(next(free) if is_new else group for group, is_new in zip(ids.tolist(), new.tolist(), strict=True))


def keep_locked(labels: Ints, locks: Mapping[int, Ints]) -> Ints:
    """Return labels in which the rows of every locked group have one label, and no two locked groups the same one."""
    if not locks:
        return labels
    labels = labels.copy()
    taken: set[int] = set()
    for rows in locks.values():
        found = labels[rows]
        counts = np.bincount(found[found >= 0], minlength=1)
        label = int(counts.argmax()) if counts.any() and int(counts.argmax()) not in taken else int(labels.max()) + 1
        labels[rows] = label
        taken.add(label)
    return labels
