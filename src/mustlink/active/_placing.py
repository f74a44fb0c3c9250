"""Strategies that assign one row after the other to must-link components that are known to be apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from mustlink.active._strategy import Answer, Question, Strategy

__all__ = ["PlacingStrategy"]


class PlacingStrategy(Strategy):
    """A strategy that compares one row with every component until it belongs to one or starts a new one."""

    def _begin(self) -> None:
        super()._begin()
        self._firsts: list[int] = []
        self._assigned = np.zeros(self._rows.n_rows, dtype=np.bool_)
        self._nearest = np.full(self._rows.n_rows, np.inf)
        self._new_rows: list[int] = []
        known = self._known_components()
        if not known:
            self._start_component(int(np.random.RandomState(self._seed).randint(self._rows.n_rows)))
        # Twice: deductions from the number of clusters need all components.
        for row in known * 2:
            self._conclude(row)

    @property
    def components(self) -> list[list[int]]:
        """The rows of every component found so far; the components are known to be apart from each other."""
        return [sorted(self._knowledge.members(row)) for row in self._firsts]

    def _known_components(self) -> list[int]:
        """Return a row of each known component: largest first, then those with the most cannot-links."""
        knowledge = self._knowledge
        firsts = [min(knowledge.members(row)) for row in knowledge.roots()]
        return sorted(firsts, key=lambda row: (-len(knowledge.members(row)), -knowledge.n_apart(row), row))

    def _conclude_from(self, answer: Answer) -> None:
        for row in (answer.a, answer.b):
            self._conclude(row)

    def _conclude(self, row: int) -> None:
        """Assign the component of a row if it belongs to a known one, is a new one, or only one is left."""
        if self._is_assigned(row):
            self._assign(row)
            return
        relations = [self._knowledge.relation(row, first) for first in self._firsts]
        if all(relation is False for relation in relations):
            self._start_component(row)
        elif len(self._firsts) >= self.n_clusters and relations.count(None) == 1:
            last = self._firsts[relations.index(None)]
            if not self._knowledge.is_settled(row, last):
                pair = self._question_between(row, last)
                self.deduced.append(pair)
                self._knowledge.learn(*pair, True)
                self._assign(row)

    def _start_component(self, row: int) -> None:
        """Make the component of a row one of the known ones."""
        self._firsts.append(row)
        self._assign(row)

    def _is_assigned(self, row: int) -> bool:
        """Return whether a row belongs to a known component."""
        return any(self._knowledge.relation(row, first) is True for first in self._firsts)

    def _assign(self, row: int) -> None:
        """Mark the rows of a component as assigned."""
        new = [member for member in self._knowledge.members(row) if not self._assigned[member]]
        self._assigned[new] = True
        self._new_rows += new

    def _choose(self) -> Question | None:
        if self.n_clusters == 1:
            return None
        row = self._unfinished()
        if row is None:
            row = self._next_row()
        if row is None:
            return None
        return self._question_between(row, self._order(row, self._undecided(row))[0])

    def _unfinished(self) -> int | None:
        """Return the row of the last answer if it is not assigned and questions about it are left."""
        row = self.answers[-1].a if self.answers else None
        return row if row is not None and not self._assigned[row] and self._undecided(row) else None

    def _undecided(self, row: int) -> list[int]:
        """Return the components that a row can be compared with, by their first rows."""
        return [first for first in self._firsts if not self._knowledge.is_settled(row, first)]

    def _question_between(self, row: int, first: int) -> Question:
        """Return the question about a row and the nearest row of a component."""
        members = sorted(self._knowledge.members(first))
        distances = self._rows.distances_to(self._rows.point(row), members)
        return Question(row, members[int(np.argmin(distances))])

    def _farthest(self) -> int | None:
        """Return the row farthest from all assigned rows, among those that questions are left about."""
        self._rows.update_nearest(self._nearest, self._new_rows)
        self._new_rows = []
        distance = np.where(self._assigned, -1.0, self._nearest)
        while distance[row := int(np.argmax(distance))] >= 0:
            if self._undecided(row):
                return row
            distance[row] = -1.0
        return None

    def _order_by_nearest_row(self, row: int, firsts: Sequence[int]) -> list[int]:
        """Sort components by the distance of their nearest row."""
        point = self._rows.point(row)
        return self._sort(
            firsts,
            [self._rows.distances_to(point, self._knowledge.members(first)).min() for first in firsts],
        )

    def _order_by_mean(self, row: int, firsts: Sequence[int]) -> list[int]:
        """Sort components by the distance of their means."""
        point = self._rows.point(row)
        means = [self._rows.mean(self._knowledge.members(first)) for first in firsts]
        return self._sort(firsts, [float(np.square(mean - point).sum()) for mean in means])

    @staticmethod
    def _sort(firsts: Sequence[int], costs: Sequence[float]) -> list[int]:
        """Sort components by a cost; ties in the order in which they were found."""
        return [firsts[place] for place in np.argsort(costs, kind="stable").tolist()]

    @abstractmethod
    def _next_row(self) -> int | None:
        """Return the next row to assign."""

    @abstractmethod
    def _order(self, row: int, firsts: Sequence[int]) -> list[int]:
        """Sort components by the order of questions about them."""
