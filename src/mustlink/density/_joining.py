"""Must-links kept by joining clusters and moving rows, without bringing together what is to be kept apart."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from mustlink.density._torn import Apart

Labels = NDArray[np.int64]


class _Groups:
    """Clusters that can be joined; each knows which of the components to be kept apart from others it holds."""

    def __init__(self, labels: Labels, apart: Apart) -> None:
        self.labels = labels.copy()
        self._apart = apart
        self._joined = {label: label for label in np.unique(labels[labels >= 0]).tolist()}
        self._next = max(self._joined, default=-1) + 1
        self._holds: defaultdict[int, set[int]] = defaultdict(set)
        rows = np.flatnonzero((labels >= 0) & apart.concerned[apart.component])
        for label, component in np.unique(np.column_stack([labels[rows], apart.component[rows]]), axis=0).tolist():
            self._holds[label].add(component)

    def find(self, label: int) -> int:
        """Return the group that a label has come to."""
        while self._joined[label] != label:
            self._joined[label] = self._joined[self._joined[label]]
            label = self._joined[label]
        return label

    def of(self, labels: Labels) -> Labels:
        """Return the groups that some labels have come to, -1 for noise."""
        different, place = np.unique(labels, return_inverse=True)
        return np.array([label if label < 0 else self.find(label) for label in different.tolist()])[place]

    def join(self, one: int, other: int) -> int | None:
        """Make one group of two and return it, or None if they hold what is to be kept apart."""
        if self._apart.sets_meet(self._holds[one], self._holds[other]):
            return None
        low, high = min(one, other), max(one, other)
        fewer, more = sorted((self._holds[low], self._holds.pop(high)), key=len)
        more |= fewer
        self._holds[low] = more
        self._joined[high] = low
        return low

    def move(self, rows: NDArray[np.intp], component: int, source: int, target: int) -> None:
        """Put some rows, all that a group has of a component, into another group that has rows of it."""
        self._holds[source].discard(component)
        self.labels[rows] = target

    def found(self, rows: NDArray[np.intp], component: int) -> None:
        """Make a new group of a component."""
        self._joined[self._next] = self._next
        if self._apart.concerned[component]:
            self._holds[self._next].add(component)
        self.labels[rows] = self._next
        self._next += 1


def join_must_linked(labels: Labels, apart: Apart) -> tuple[Labels, NDArray[np.bool_]]:
    """Bring every must-link component into one cluster each.

    Larger components come first. The cluster with the most rows of the component is joined with the other clusters
    that have some, where nothing to be kept apart would come together; from the others only the component's rows
    move over. Its rows of noise follow. A component of noise only becomes a cluster.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The cluster of each row, -1 for noise. No cluster holds rows to be kept apart.
    apart : Apart
        The components, and which of them are to be kept apart.

    Returns
    -------
    groups : ndarray of shape (n_rows,)
        Numbers of groups, some of which may be left out, -1 for noise.
    by_link : ndarray of shape (n_rows,)
        Whether a row is not where its cluster went, but where its links are.
    """
    groups = _Groups(labels, apart)
    for rows in _components(apart):
        component = int(apart.component[rows[0]])
        now = groups.of(groups.labels[rows])
        there, counts = np.unique(now[now >= 0], return_counts=True)
        if not there.size:
            groups.found(rows, component)
            continue
        target, *others = there[np.argsort(-counts, kind="stable")].tolist()
        for other in others:
            joined = groups.join(target, other)
            if joined is None:
                groups.move(rows[now == other], component, other, target)
            else:
                target = joined
        groups.labels[rows[now < 0]] = target
    found = groups.of(groups.labels)
    return found, found != groups.of(labels)


def _components(apart: Apart) -> list[NDArray[np.intp]]:
    """List the rows of each component of two rows and more, larger ones first, then by their first row."""
    rows = np.flatnonzero(apart.sizes[apart.component] > 1)
    if not rows.size:
        return []
    rows = rows[np.argsort(apart.component[rows], kind="stable")]
    _, start = np.unique(apart.component[rows], return_index=True)
    return sorted(np.split(rows, start[1:]), key=lambda members: (-len(members), int(members[0])))
