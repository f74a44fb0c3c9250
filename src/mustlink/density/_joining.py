"""Must-links satisfied by joining clusters and moving rows, without violating a cannot-link."""

from __future__ import annotations

import numpy as np

from mustlink._types import Indices, Ints, Mask
from mustlink.constraints import Closure
from mustlink.density._selection import ComponentGraph


class _Clusters:
    """Clusters that can be joined; each knows which components with a cannot-link it contains."""

    def __init__(self, labels: Ints, graph: ComponentGraph, n_new: int) -> None:
        self.labels = labels.copy()
        self._graph = graph
        self._next = int(labels.max(initial=-1)) + 1
        # The cluster that each label belongs to now; the entry at -1 is that of noise.
        self._cluster = np.append(np.arange(self._next + n_new), -1)
        self._contained = graph.components_by(labels, np.flatnonzero(labels >= 0))

    def current(self, labels: Ints) -> Ints:
        """Return the clusters that some labels belong to now, -1 for noise."""
        return self._cluster[labels]

    def join(self, one: int, other: int) -> int | None:
        """Join two clusters and return the new one, or None if that would violate a cannot-link."""
        if self._graph.sets_conflict(self._contained[one], self._contained[other]):
            return None
        low, high = min(one, other), max(one, other)
        smaller, larger = sorted((self._contained[low], self._contained.pop(high)), key=len)
        larger |= smaller
        self._contained[low] = larger
        self._cluster[self._cluster == high] = low
        return low

    def move(self, rows: Indices, component: int, source: int, target: int) -> None:
        """Move all rows that a cluster has of a component to another cluster that has rows of it."""
        self._contained[source].discard(component)
        self.labels[rows] = target

    def add(self, rows: Indices, component: int) -> None:
        """Make a new cluster of a component."""
        if self._graph.has_cannot_link[component]:
            self._contained[self._next].add(component)
        self.labels[rows] = self._next
        self._next += 1


def join_must_linked(labels: Ints, closure: Closure, graph: ComponentGraph) -> tuple[Ints, Mask]:
    """Bring every must-link component into one cluster; `labels` are clusters without cannot-linked rows, -1 is noise.

    Larger components come first. The cluster with the most rows of the component is joined with the other clusters
    that have some, unless that would violate a cannot-link; then only the component's rows move. Its rows of noise
    follow. A component of noise only becomes a cluster.

    Returns cluster numbers, possibly with gaps, and whether each row has left its cluster, or noise, by a must-link.
    """
    groups = closure.groups()
    components = np.split(groups.rows, groups.indptr[1:-1]) if len(groups.rows) else []
    clusters = _Clusters(labels, graph, len(components))
    for rows in sorted(components, key=lambda rows: (-len(rows), int(rows[0]))):
        component = int(closure.component[rows[0]])
        now = clusters.current(clusters.labels[rows])
        found, counts = np.unique(now[now >= 0], return_counts=True)
        if not found.size:
            clusters.add(rows, component)
            continue
        target, *others = found[np.argsort(-counts, kind="stable")].tolist()
        for other in others:
            joined = clusters.join(target, other)
            if joined is None:
                clusters.move(rows[now == other], component, other, target)
            else:
                target = joined
        clusters.labels[rows[now < 0]] = target
    final = clusters.current(clusters.labels)
    return final, final != clusters.current(labels)
