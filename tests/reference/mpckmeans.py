"""MPCKMeans one visit at a time in the units of X, the objective computed again after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from mustlink import Constraints
from reference.lloyd import Floats, means


def length(difference: Floats, metric: Floats) -> float:
    """Return the squared length of a difference of two rows under a metric."""
    return float(difference @ metric @ difference)


def longest_pair(X: Floats, metric: Floats) -> Floats:
    """Return the difference of the two rows farthest apart, by trying all pairs."""
    pairs = [X[a] - X[b] for a, b in combinations(range(len(X)), 2)]
    return max(pairs, key=lambda difference: length(difference, metric))


def objective(
    X: Floats,
    links: Constraints,
    penalty: float,
    labels: list[int],
    centers: Floats,
    metrics: list[Floats],
    longest: list[Floats],
) -> float:
    """Return the objective of a labeling; rows without a label (-1) and their links count nothing."""
    total = 0.0
    for i, c in enumerate(labels):
        if c >= 0:
            total += length(X[i] - centers[c], metrics[c]) - np.linalg.slogdet(metrics[c])[1]
    for (i, j), w in zip(links.must_link, links.must_link_weight, strict=True):
        a, b = labels[i], labels[j]
        if a != b and a >= 0 and b >= 0:
            total += penalty * w * 0.5 * (length(X[i] - X[j], metrics[a]) + length(X[i] - X[j], metrics[b]))
    for (i, j), w in zip(links.cannot_link, links.cannot_link_weight, strict=True):
        c = labels[i]
        if c == labels[j] >= 0:
            total += penalty * w * (length(longest[c], metrics[c]) - length(X[i] - X[j], metrics[c]))
    return float(total)


@dataclass
class SlowMPCKMeans:
    """The algorithm on lists, from given centers and from columns divided by their standard deviations.

    `objective` has a list for each time that the longest pairs were looked for, with an entry per visit, per update of
    the means and per update of the metrics. `was_empty` tells whether a cluster ever was.
    """

    X: Floats
    links: Constraints
    penalty: float
    centers: Floats
    is_full: bool
    is_shared: bool
    min_variance: float
    labels: list[int] = field(default_factory=list)
    objective: list[list[float]] = field(default_factory=list)
    was_empty: bool = False

    def value(self, labels: list[int]) -> float:
        """Return the objective of a labeling."""
        return objective(self.X, self.links, self.penalty, labels, self.centers, self.metrics, self.longest)

    def look_for_longest(self) -> None:
        """Find the longest pair under each metric."""
        self.longest = [longest_pair(self.X, metric) for metric in self.metrics]
        self.objective.append([])

    def note(self) -> None:
        """Write the objective down."""
        if -1 not in self.labels:
            self.objective[-1].append(self.value(self.labels))

    def cost(self, rows: list[int], c: int) -> float:
        """Return the data term of some rows in a cluster."""
        log_det = np.linalg.slogdet(self.metrics[c])[1]
        return sum(length(self.X[i] - self.centers[c], self.metrics[c]) - log_det for i in rows)

    def visit(self, rows: list[int]) -> bool:
        """Give some rows together the label that lowers the objective most; say whether that changed anything."""
        trials = [[c if i in rows else old for i, old in enumerate(self.labels)] for c in range(len(self.centers))]
        values = [self.value(trial) for trial in trials]
        best = int(np.argmin(values))
        now = self.value(self.labels)
        if self.labels[rows[0]] >= 0 and values[best] >= now - 1e-11 * max(1.0, abs(now)):
            return False
        self.labels = trials[best]
        return True

    def certainty(self, rows: list[int]) -> float:
        """Return how much more the second-best cluster costs for some rows together."""
        costs = sorted(self.cost(rows, c) for c in range(len(self.centers)))
        return costs[1] - costs[0] if len(costs) > 1 else 0.0

    def assign(self) -> None:
        """Label the rows without links by distance, then sweep over the linked rows and over whole components."""
        linked = [int(i) for i in self.links.constrained_rows()] if self.penalty else []
        for i in range(len(self.X)):
            if i not in linked:
                self.labels[i] = int(np.argmin([self.cost([i], c) for c in range(len(self.centers))]))
        self.note()
        linked.sort(key=lambda i: -self.certainty([i]))
        component = self.links.components(len(self.X))
        groups = [[int(i) for i in np.flatnonzero(component == c)] for c in np.unique(component)]
        groups = [group for group in groups if len(group) > 1 and self.penalty]
        groups.sort(key=lambda group: -self.certainty(group))
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
            self.note()
        return changed

    def scatter(self, c: int) -> Floats:
        """Return the sum of outer products of which the metric of a cluster is the inverse."""
        total = np.zeros((self.X.shape[1],) * 2)
        for i, label in enumerate(self.labels):
            if label == c:
                total += np.outer(self.X[i] - self.centers[c], self.X[i] - self.centers[c])
        for (i, j), w in zip(self.links.must_link, self.links.must_link_weight, strict=True):
            if self.labels[i] != self.labels[j] and c in (self.labels[i], self.labels[j]):
                total += 0.5 * self.penalty * w * np.outer(self.X[i] - self.X[j], self.X[i] - self.X[j])
        for (i, j), w in zip(self.links.cannot_link, self.links.cannot_link_weight, strict=True):
            if self.labels[i] == self.labels[j] == c:
                total += self.penalty * w * np.outer(self.longest[c], self.longest[c])
                total -= self.penalty * w * np.outer(self.X[i] - self.X[j], self.X[i] - self.X[j])
        return total

    def inverse(self, scatter: Floats, mass: float) -> Floats:
        """Return mass times the inverse, after raising what is too small in standardized columns."""
        scale = self.X.std(axis=0)
        scatter = scatter / np.outer(scale, scale) / mass
        if not self.is_full:
            scatter = np.diag(np.diag(scatter))
        variance, directions = np.linalg.eigh(scatter)
        variance = np.maximum(variance, self.min_variance)
        return np.asarray((directions / variance) @ directions.T / np.outer(scale, scale))

    def learn(self) -> None:
        """Make the metrics those of least objective, the longest pairs being what they are."""
        scatters = [self.scatter(c) for c in range(len(self.centers))]
        if self.is_shared:
            self.metrics = [self.inverse(np.sum(scatters, axis=0), len(self.X))] * len(self.centers)
        else:
            counts = [max(1, self.labels.count(c)) for c in range(len(self.centers))]
            self.metrics = [self.inverse(one, count) for one, count in zip(scatters, counts, strict=True)]

    def fit(self, max_iter: int) -> SlowMPCKMeans:
        """Assign, average and learn in turn until no label changes."""
        self.labels = [-1] * len(self.X)
        self.metrics = [np.diag(1 / self.X.var(axis=0))] * len(self.centers)
        self.look_for_longest()
        for _ in range(max_iter):
            before = list(self.labels)
            self.assign()
            self.was_empty |= len(set(self.labels)) < len(self.centers)
            if self.labels == before:
                break
            self.centers = means(self.X, self.labels, np.ones(len(self.X)), self.centers)
            self.note()
            self.learn()
            self.note()
            self.look_for_longest()
        return self
