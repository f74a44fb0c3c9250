"""What is true of a problem, computed from the definitions and without the package."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from fuzz.problems import UNKNOWN, Problem
from reference.closure import saturate
from reference.feasibility import can_be_partitioned, can_be_sized

Pair = tuple[int, int]


@dataclass(frozen=True)
class Facts:
    """The links of a problem, each pair once with the smaller row first, and what follows from them."""

    problem: Problem

    @cached_property
    def balance(self) -> dict[Pair, float]:
        """The weight of each given pair, negative for a cannot-link; pairs in balance are left out."""
        total: dict[Pair, float] = defaultdict(float)
        for link in self.problem.given:
            total[min(link.a, link.b), max(link.a, link.b)] += link.sign * link.weight
        return {pair: weight for pair, weight in total.items() if weight != 0}

    @cached_property
    def must_link(self) -> list[Pair]:
        return sorted(pair for pair, weight in self.balance.items() if weight > 0)

    @cached_property
    def cannot_link(self) -> list[Pair]:
        return sorted(pair for pair, weight in self.balance.items() if weight < 0)

    @cached_property
    def classes(self) -> dict[int, int]:
        """The class of every row with a label."""
        y = self.problem.y
        return {} if y is None else {row: int(label) for row, label in enumerate(y) if label != UNKNOWN}

    @cached_property
    def all_must_link(self) -> list[Pair]:
        """The must-links with those of the labels."""
        rows = combinations(self.classes, 2)
        return self.must_link + [(a, b) for a, b in rows if self.classes[a] == self.classes[b]]

    @cached_property
    def all_cannot_link(self) -> list[Pair]:
        """The cannot-links with those of the labels."""
        rows = combinations(self.classes, 2)
        return self.cannot_link + [(a, b) for a, b in rows if self.classes[a] != self.classes[b]]

    @cached_property
    def conflicts(self) -> list[Pair]:
        """The given cannot-links whose rows given must-links join."""
        together, _ = saturate(self.problem.n_rows, self.must_link, [])
        return [(a, b) for a, b in self.cannot_link if together[a, b]]

    @cached_property
    def is_consistent(self) -> bool:
        """Whether some clustering, into any number of clusters, keeps all links and labels."""
        together, _ = saturate(self.problem.n_rows, self.all_must_link, [])
        return not any(together[a, b] for a, b in self.all_cannot_link)

    @cached_property
    def links_are_feasible(self) -> bool:
        """Whether some clustering into the number of clusters asked for keeps all given links."""
        return can_be_partitioned(self.problem.n_rows, self.must_link, self.cannot_link, self.problem.n_clusters)

    @cached_property
    def is_feasible(self) -> bool:
        """Whether some clustering into the number of clusters asked for keeps all links and labels."""
        return can_be_partitioned(
            self.problem.n_rows, self.all_must_link, self.all_cannot_link, self.problem.n_clusters
        )

    def is_feasible_with_sizes(self, size_min: Sequence[int], size_max: Sequence[int]) -> bool:
        """Say whether some clustering with sizes within the bounds of each cluster keeps all links and labels."""
        return can_be_sized(self.problem.n_rows, self.all_must_link, self.all_cannot_link, size_min, size_max)

    def broken(self, labels: Sequence[int]) -> set[Pair]:
        """Return the given pairs that labels break."""
        return {(a, b) for (a, b), weight in self.balance.items() if are_together(labels, a, b) != (weight > 0)}

    def broken_labels(self, labels: Sequence[int]) -> set[Pair]:
        """Return the pairs of rows with known classes that labels break."""
        known = self.classes
        return {(a, b) for a, b in combinations(known, 2) if are_together(labels, a, b) != (known[a] == known[b])}


def are_together(labels: Sequence[int], a: int, b: int) -> bool:
    """Say whether two rows are in one cluster; a row of noise is with no other."""
    return labels[a] == labels[b] and labels[a] != UNKNOWN
