"""Placing one row after the other into neighbourhoods: groups of rows that are known to be apart from each other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from mustlink.active._strategy import Answer, Question, Strategy

__all__ = ["PlacingStrategy"]


class PlacingStrategy(Strategy):
    """A strategy that asks about one row against every neighbourhood until it fits one or founds a new one."""

    def _begin(self) -> None:
        super()._begin()
        self._founders: list[int] = []
        self._placed = np.zeros(self._rows.n_rows, dtype=np.bool_)
        self._nearest = np.full(self._rows.n_rows, np.inf)
        self._fresh: list[int] = []
        groups = self._known_groups()
        if not groups:
            self._found(int(np.random.RandomState(self._seed).randint(self._rows.n_rows)))
        # Twice: what the number of groups tells shows only when all groups are found.
        for row in groups * 2:
            self._conclude(row)

    @property
    def neighbourhoods(self) -> list[list[int]]:
        """The rows of every group found so far; the groups are known to be apart from each other."""
        return [sorted(self._knowledge.members(row)) for row in self._founders]

    def _known_groups(self) -> list[int]:
        """Order the groups known beforehand: the largest first, then those that most others are apart from."""
        knowledge = self._knowledge
        firsts = [min(knowledge.members(row)) for row in knowledge.groups()]
        return sorted(firsts, key=lambda row: (-len(knowledge.members(row)), -knowledge.n_apart(row), row))

    def _learned(self, answer: Answer) -> None:
        for row in (answer.a, answer.b):
            self._conclude(row)

    def _conclude(self, row: int) -> None:
        """See whether the group of a row has found its place: in a neighbourhood, as a new one, or in the last left."""
        if self._is_placed(row):
            self._absorb(row)
            return
        relations = [self._knowledge.relation(row, founder) for founder in self._founders]
        if all(relation is False for relation in relations):
            self._found(row)
        elif len(self._founders) >= self.n_clusters and relations.count(None) == 1:
            last = self._founders[relations.index(None)]
            if not self._knowledge.is_settled(row, last):
                pair = self._question_between(row, last)
                self.deduced.append(pair)
                self._knowledge.learn(*pair, True)
                self._absorb(row)

    def _found(self, row: int) -> None:
        """Make a neighbourhood of the group of a row."""
        self._founders.append(row)
        self._absorb(row)

    def _is_placed(self, row: int) -> bool:
        """Say whether a row belongs to a neighbourhood."""
        return any(self._knowledge.relation(row, founder) is True for founder in self._founders)

    def _absorb(self, row: int) -> None:
        """Note the rows that have come to a neighbourhood."""
        fresh = [member for member in self._knowledge.members(row) if not self._placed[member]]
        self._placed[fresh] = True
        self._fresh += fresh

    def _choose(self) -> Question | None:
        if self.n_clusters == 1:
            return None
        row = self._unfinished()
        if row is None:
            row = self._next_row()
        if row is None:
            return None
        return self._question_between(row, self._in_order(row, self._open(row))[0])

    def _unfinished(self) -> int | None:
        """Return the row of the last answer if it is still without a place and more can be asked about it."""
        row = self.answers[-1].a if self.answers else None
        return row if row is not None and not self._placed[row] and self._open(row) else None

    def _open(self, row: int) -> list[int]:
        """Return the neighbourhoods a row can be asked about, by their founders."""
        return [founder for founder in self._founders if not self._knowledge.is_settled(row, founder)]

    def _question_between(self, row: int, founder: int) -> Question:
        """Ask about a row and that row of a neighbourhood that is most like it."""
        members = sorted(self._knowledge.members(founder))
        distances = self._rows.distances_to(self._rows.point(row), members)
        return Question(row, members[int(np.argmin(distances))])

    def _farthest(self) -> int | None:
        """Return the row farthest from all rows that have a place, among those that can be asked about."""
        self._rows.lower(self._nearest, self._fresh)
        self._fresh = []
        distance = np.where(self._placed, -1.0, self._nearest)
        while distance[row := int(np.argmax(distance))] >= 0:
            if self._open(row):
                return row
            distance[row] = -1.0
        return None

    def _by_nearest_member(self, row: int, founders: Sequence[int]) -> list[int]:
        """Order neighbourhoods by the row of each that is nearest."""
        point = self._rows.point(row)
        return self._ordered(
            founders,
            [self._rows.distances_to(point, self._knowledge.members(founder)).min() for founder in founders],
        )

    def _by_centre(self, row: int, founders: Sequence[int]) -> list[int]:
        """Order neighbourhoods by the distance of their means."""
        point = self._rows.point(row)
        centres = [self._rows.centre(self._knowledge.members(founder)) for founder in founders]
        return self._ordered(founders, [float(np.square(centre - point).sum()) for centre in centres])

    @staticmethod
    def _ordered(founders: Sequence[int], costs: Sequence[float]) -> list[int]:
        """Order neighbourhoods by a cost; equal ones in the order in which they were found."""
        return [founders[place] for place in np.argsort(costs, kind="stable").tolist()]

    @abstractmethod
    def _next_row(self) -> int | None:
        """Choose the next row to place."""

    @abstractmethod
    def _in_order(self, row: int, founders: Sequence[int]) -> list[int]:
        """Order neighbourhoods by how soon to ask about them."""
