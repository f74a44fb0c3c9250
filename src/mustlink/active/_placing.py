"""Strategies that assign one row after the other to must-link components that are known to be apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin_min

from mustlink._types import Floats
from mustlink.active._strategy import Answer, Question, Strategy

__all__ = ["PlacingStrategy"]

# Up to this number, distances to rows are computed one by one, exactly; otherwise by a matrix product.
MAX_EXACT_ROWS = 64
# A row with so many skipped questions and no answer is set aside.
MAX_SKIPPED = 3


class PlacingStrategy(Strategy):
    """A strategy that compares one row with every component until it belongs to one or starts a new one.

    Rows are chosen farthest-first, and components by their nearest row, unless a subclass chooses otherwise. A row
    about which every question is skipped is set aside until there are no others.
    """

    @cached_property
    def _rows(self) -> Rows:
        return Rows(self.X)

    def _begin(self) -> None:
        super()._begin()
        self._starts = np.random.RandomState(self._seed)
        self._find_first_components()

    def _find_first_components(self) -> None:
        """Start with the components that are known, or with a single row."""
        self._firsts: list[int] = []
        self._assigned = np.zeros(self._n_rows, dtype=np.bool_)
        self._nearest = np.full(self._n_rows, np.inf)
        self._new_rows: list[int] = []
        known = self._known_components()
        if not known:
            self._start_component(self._draw_start())
        # Twice: deductions from the number of clusters need all components.
        for row in known * 2:
            self._conclude(row)

    def _draw_start(self) -> int:
        """Draw one of the rows with the fewest skipped questions."""
        n_skipped = np.array([self._knowledge.n_skipped(row) for row in range(self._n_rows)])
        rows = np.flatnonzero(n_skipped == n_skipped.min())
        return int(rows[self._starts.randint(len(rows))])

    def _is_set_aside(self, row: int) -> bool:
        """Return whether several questions about a row were skipped and none was answered."""
        knowledge = self._knowledge
        is_answered = len(knowledge.members(row)) > 1 or knowledge.n_apart(row) > 0
        return not is_answered and knowledge.n_skipped(row) >= MAX_SKIPPED

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
        # Only a single component can be without an answer, as several are known to be apart.
        if answer.together is None and self._is_set_aside(self._firsts[0]):
            self._find_first_components()

    def _conclude(self, row: int) -> None:
        """Assign the component of a row if it belongs to a known one, is a new one, or only one is left."""
        relations = [self._knowledge.relation(row, first) for first in self._firsts]
        if True in relations:
            self._assign(row)
        elif None not in relations:
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

    def _assign(self, row: int) -> None:
        """Mark the rows of a component as assigned."""
        new = [member for member in self._knowledge.members(row) if not self._assigned[member]]
        self._assigned[new] = True
        self._new_rows += new

    def _choose(self) -> Question | None:
        if self.n_clusters == 1:
            return None
        # First further questions about the row of the last answer.
        row = self.answers[-1].a if self.answers else None
        if row is None or self._assigned[row] or self._is_set_aside(row) or not self._undecided(row):
            row = self._next_row()
        return None if row is None else self._question_between(row, self._order(row, self._undecided(row))[0])

    def _undecided(self, row: int) -> list[int]:
        """Return the components that a row can be compared with, by their first rows."""
        return [first for first in self._firsts if not self._knowledge.is_settled(row, first)]

    def _question_between(self, row: int, first: int) -> Question:
        """Return the question about a row and the nearest row of a component."""
        members = sorted(self._knowledge.members(first))
        distances = self._rows.distances_to(self._rows.point(row), members)
        return Question(row, members[int(np.argmin(distances))])

    def _farthest(self) -> int | None:
        """Return the row farthest from all assigned rows."""
        self._rows.update_nearest(self._nearest, self._new_rows)
        self._new_rows = []
        return self._first_undecided(self._nearest)

    def _first_undecided(self, priority: Floats) -> int | None:
        """Return the free row of the highest priority that questions are left about, those set aside last.

        Rows of negative priority are left out.
        """
        priority = np.where(self._assigned, -1.0, priority)
        last_resort = None
        while priority[row := int(np.argmax(priority))] >= 0:
            if self._undecided(row):
                if not self._is_set_aside(row):
                    return row
                last_resort = row if last_resort is None else last_resort
            priority[row] = -1.0
        return last_resort

    def _next_row(self) -> int | None:
        """Return the next row to assign."""
        return self._farthest()

    def _order(self, row: int, firsts: Sequence[int]) -> list[int]:
        """Sort components by the order of questions about them: by the distance of their nearest row."""
        point = self._rows.point(row)
        members = (self._knowledge.members(first) for first in firsts)
        return self._sort(firsts, [self._rows.distances_to(point, rows).min() for rows in members])

    @staticmethod
    def _sort(firsts: Sequence[int], costs: Sequence[float]) -> list[int]:
        """Sort components by a cost; ties in the order in which they were found."""
        return [firsts[place] for place in np.argsort(costs, kind="stable").tolist()]


class Rows:
    """Distances between rows of X, a few at a time."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self._is_sparse = sparse.issparse(X)
        self._norms = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel() if self._is_sparse else None

    def distances_to(self, point: Floats, rows: Sequence[int] | None = None) -> Floats:
        """Return the squared distances of all rows, or of some, to a point."""
        taken = self.X if rows is None else self.X[rows]
        if self._norms is None:
            apart = taken - point.astype(self.X.dtype)
            return np.einsum("ij,ij->i", apart, apart).astype(np.float64)
        norms = self._norms if rows is None else self._norms[rows]
        return np.maximum(norms + point @ point - 2 * (taken @ point), 0.0)

    def point(self, row: int) -> Floats:
        """Return one row, dense and in double precision."""
        return np.asarray(self.X[[row]].toarray() if self._is_sparse else self.X[[row]], dtype=np.float64)[0]

    def mean(self, rows: Sequence[int]) -> Floats:
        """Return the mean of some rows."""
        return np.asarray(self.X[rows].mean(axis=0), dtype=np.float64).ravel()

    def update_nearest(self, nearest: Floats, rows: Sequence[int]) -> None:
        """Update `nearest`, the smallest squared distances of all rows so far, by the distances to some rows."""
        if len(rows) <= MAX_EXACT_ROWS:
            for row in rows:
                np.minimum(nearest, self.distances_to(self.point(row)), out=nearest)
            return
        distances = pairwise_distances_argmin_min(self.X, self.X[rows])[1]
        np.minimum(nearest, np.square(distances), out=nearest)
        nearest[rows] = 0.0
