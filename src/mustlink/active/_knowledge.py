"""What follows from the answers so far, updated answer by answer."""

from __future__ import annotations

__all__ = ["Knowledge"]


class Knowledge:
    """The closure of a growing set of answers.

    Rows that belong together form components; two components are apart, or undecided because a question was skipped.
    Only rows of answers are stored.
    """

    # A union-find with lists of members, several times faster here than scipy's DisjointSet.
    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._apart: dict[int, set[int]] = {}
        self._skipped: dict[int, set[int]] = {}

    def root(self, row: int) -> int:
        """Return the row that represents the component of a row."""
        parent = self._parent
        root = row
        while (above := parent.get(root, root)) != root:
            root = above
        while (above := parent.get(row, row)) != root:
            parent[row], row = root, above
        return root

    def members(self, row: int) -> list[int]:
        """Return the rows of the component of a row."""
        root = self.root(row)
        return self._members.get(root, [root])

    def n_apart(self, row: int) -> int:
        """Return the number of components that are apart from that of a row."""
        return len(self._apart.get(self.root(row), ()))

    def n_skipped(self, row: int) -> int:
        """Return the number of components for which a question about that of a row was skipped."""
        return len(self._skipped.get(self.root(row), ()))

    def relation(self, a: int, b: int) -> bool | None:
        """Return True if two rows are together, False if they are apart, and None if this is unknown."""
        first, second = self.root(a), self.root(b)
        if first == second:
            return True
        return False if second in self._apart.get(first, ()) else None

    def is_settled(self, a: int, b: int) -> bool:
        """Return whether a question is pointless: its answer follows from others, or it was skipped."""
        first, second = self.root(a), self.root(b)
        return first == second or any(second in side.get(first, ()) for side in (self._apart, self._skipped))

    def roots(self) -> list[int]:
        """Return one row of every component with a known relation."""
        return list(dict.fromkeys(self.root(row) for row in (*self._parent, *self._apart)))

    def learn(self, a: int, b: int, answer: bool | None) -> bool:
        """Add an answer; return False, and change nothing, if it contradicts earlier ones."""
        known = self.relation(a, b)
        if known is not None:
            return answer is None or answer == known
        first, second = self.root(a), self.root(b)
        if answer is True:
            self._join(first, second)
        else:
            side = self._skipped if answer is None else self._apart
            side.setdefault(first, set()).add(second)
            side.setdefault(second, set()).add(first)
        return True

    def _join(self, first: int, second: int) -> None:
        """Join two components, the smaller one into the larger."""
        kept, gone = sorted((first, second), key=lambda root: (-len(self.members(root)), root))
        self._members[kept] = self.members(kept) + self.members(gone)
        self._members.pop(gone, None)
        self._parent[gone] = kept
        self._parent.setdefault(kept, kept)
        for side in (self._apart, self._skipped):
            for other in side.pop(gone, ()):
                side[other].discard(gone)
                if other != kept:
                    side[other].add(kept)
                    side.setdefault(kept, set()).add(other)
