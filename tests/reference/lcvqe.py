"""LCVQE by its definition, one row and one link at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mustlink import Constraints
from reference.lloyd import Floats, squared_distance

Pull = tuple[int, int, float]


@dataclass
class SlowLCVQE:
    """The algorithm on lists; `was_empty` tells whether a cluster ever was."""

    X: Floats
    links: Constraints
    centers: Floats
    weight: Floats
    labels: list[int] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    was_empty: bool = False

    def cost(self, i: int, c: int) -> float:
        """Return the weighted squared distance of a row to a center."""
        return float(self.weight[i]) * squared_distance(self.X[i], self.centers[c])

    def next_choice(self, i: int, own: int) -> int:
        """Return the nearest center but one's own."""
        return min((c for c in range(len(self.centers)) if c != own), key=lambda c: self.cost(i, c))

    def farther(self, i: int, j: int) -> int:
        """Return which of two rows of a cluster is farther from its center."""
        own = self.labels[i]
        return i if self.cost(i, own) > self.cost(j, own) else j

    def ordered(self, kind: str) -> list[tuple[int, int, float]]:
        """Return the links of a kind, light ones first, of equal weight the least plausible first."""
        pairs, weight = getattr(self.links, f"{kind}_link"), getattr(self.links, f"{kind}_link_weight")
        sign = -1 if kind == "must" else 1
        links = [(int(i), int(j), float(w)) for (i, j), w in zip(pairs, weight, strict=True)]
        return sorted(links, key=lambda link: (link[2], sign * squared_distance(self.X[link[0]], self.X[link[1]])))

    def assign(self) -> None:
        """Label all rows by distance, then decide the must-links, then the cannot-links."""
        k = len(self.centers)
        self.labels = [min(range(k), key=lambda c, i=i: self.cost(i, c)) for i in range(len(self.X))]
        for i, j, w in self.ordered("must"):
            a, b = self.labels[i], self.labels[j]
            if a == b:
                continue
            ways = {
                (a, b): (self.cost(i, a) + self.cost(j, b)) / 2 + w * (self.cost(i, b) + self.cost(j, a)) / 4,
                (a, a): (self.cost(i, a) + self.cost(j, a)) / 2,
                (b, b): (self.cost(i, b) + self.cost(j, b)) / 2,
            }
            self.labels[i], self.labels[j] = min(ways, key=lambda way: ways[way])
        for i, j, w in self.ordered("cannot"):
            if self.labels[i] != self.labels[j] or k == 1:
                continue
            own, far = self.labels[i], self.farther(i, j)
            near = i + j - far
            other = self.next_choice(far, own)
            keep = (self.cost(near, own) + self.cost(far, own) + w * self.cost(far, other)) / 2
            move = (self.cost(near, own) + self.cost(far, other)) / 2
            if move <= keep:
                self.labels[far] = other

    def pulls(self) -> list[Pull]:
        """Return (row, cluster, share) for all that broken links add to the centers."""
        found: list[Pull] = []
        for i, j, w in self.ordered("must"):
            if self.labels[i] != self.labels[j]:
                found += [(i, self.labels[j], w / 2), (j, self.labels[i], w / 2)]
        for i, j, w in self.ordered("cannot"):
            if self.labels[i] == self.labels[j] and len(self.centers) > 1:
                far = self.farther(i, j)
                found.append((far, self.next_choice(far, self.labels[i]), w))
        return found

    def value(self, pulls: list[Pull]) -> float:
        """Return the objective."""
        data = sum(self.cost(i, c) for i, c in enumerate(self.labels))
        return 0.5 * data + 0.5 * sum(share * self.cost(i, c) for i, c, share in pulls)

    def average(self, pulls: list[Pull]) -> None:
        """Make every center the mean of its rows and of those that pull on it."""
        parts = [(i, c, 1.0) for i, c in enumerate(self.labels)] + pulls
        for c in range(len(self.centers)):
            own = [(i, share * float(self.weight[i])) for i, cluster, share in parts if cluster == c]
            if own:
                self.centers[c] = sum(w * self.X[i] for i, w in own) / sum(w for _, w in own)

    def fit(self, max_iter: int) -> SlowLCVQE:
        """Assign and average in turn until no label changes."""
        for _ in range(max_iter):
            before = list(self.labels)
            self.assign()
            pulls = self.pulls()
            self.objective.append(self.value(pulls))
            self.was_empty |= len(set(self.labels)) < len(self.centers)
            self.average(pulls)
            if self.labels == before:
                break
        return self


def least_objective_centers(slow: SlowLCVQE) -> tuple[float, float]:
    """Return the objective at the averaged centers and the least one near by, with labels and pulls held fixed."""
    pulls = slow.pulls()
    slow.average(pulls)
    at_means = slow.value(pulls)
    least = at_means
    for index in np.ndindex(slow.centers.shape):
        for step in (-1e-3, 1e-3):
            slow.centers[index] += step
            least = min(least, slow.value(pulls))
            slow.centers[index] -= step
    return at_means, least
