"""PCKMeans one visit at a time, the objective computed again after each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mustlink import Constraints
from reference.lloyd import Floats, means, squared_distance


@dataclass
class SlowPCKMeans:
    """The algorithm on lists; `objective` grows by one entry per visit and per update of the means.

    Rows are visited in the order of their certainty: how much farther the second-nearest center is. Must-link
    components of several rows follow, as wholes, in the order of theirs. `was_empty` tells whether a cluster ever was.
    """

    X: Floats
    links: Constraints
    price: float
    centers: Floats
    weight: Floats
    labels: list[int] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    was_empty: bool = False

    def value(self, labels: list[int]) -> float:
        """Return the objective of a labeling; links to rows without a label (-1) count nothing."""
        total = 0.0
        for i, c in enumerate(labels):
            if c >= 0:
                total += 0.5 * self.weight[i] * squared_distance(self.X[i], self.centers[c])
        for (i, j), w in zip(self.links.must_link, self.links.must_link_weight, strict=True):
            total += self.price * w * (labels[i] != labels[j] and labels[i] >= 0 and labels[j] >= 0)
        for (i, j), w in zip(self.links.cannot_link, self.links.cannot_link_weight, strict=True):
            total += self.price * w * (labels[i] == labels[j] >= 0)
        return float(total)

    def visit(self, rows: list[int]) -> bool:
        """Give some rows together the label that lowers the objective most; say whether that changed anything."""
        trials = [[c if i in rows else old for i, old in enumerate(self.labels)] for c in range(len(self.centers))]
        values = [self.value(trial) for trial in trials]
        best = int(np.argmin(values))
        if self.labels[rows[0]] >= 0 and values[best] >= self.value(self.labels) * (1 - 1e-13):
            return False
        self.labels = trials[best]
        return True

    def certainty(self, rows: list[int]) -> float:
        """Return how much more the second-best cluster costs for some rows together."""
        costs = sorted(
            sum(self.weight[i] * squared_distance(self.X[i], center) for i in rows) for center in self.centers
        )
        return costs[1] - costs[0] if len(costs) > 1 else 0.0

    def assign(self) -> None:
        """Label the rows without links by distance, then sweep over the linked rows and over whole components."""
        linked = [int(i) for i in self.links.constrained_rows()]
        for i in range(len(self.X)):
            if i not in linked:
                nearest = int(np.argmin([squared_distance(self.X[i], center) for center in self.centers]))
                self.labels[i] = nearest
        linked.sort(key=lambda i: -self.certainty([i]))
        component = self.links.components(len(self.X))
        groups = [[int(i) for i in np.flatnonzero(component == c)] for c in np.unique(component)]
        groups = sorted((group for group in groups if len(group) > 1), key=lambda group: -self.certainty(group))
        complete = -1 not in self.labels
        if complete:
            self.objective.append(self.value(self.labels))
        moved = True
        while moved:
            while self.sweep([[i] for i in linked]):
                pass
            moved = self.sweep(groups)

    def sweep(self, visits: list[list[int]]) -> bool:
        """Make some visits; say whether any changed a label."""
        changed = False
        for rows in visits:
            changed |= self.visit(rows)
            if -1 not in self.labels:
                self.objective.append(self.value(self.labels))
        return changed

    def fit(self, max_iter: int) -> SlowPCKMeans:
        """Assign and average in turn until no label changes."""
        self.labels = [-1] * len(self.X)
        for _ in range(max_iter):
            before = list(self.labels)
            self.assign()
            self.was_empty |= len(set(self.labels)) < len(self.centers)
            if self.labels == before:
                break
            self.centers = means(self.X, self.labels, self.weight, self.centers)
            self.objective.append(self.value(self.labels))
        return self
