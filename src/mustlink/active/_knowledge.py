"""What follows from the answers so far, kept up to date answer by answer."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Knowledge"]


class Knowledge:
    """The closure of a growing set of answers.

    Rows that belong together form groups; groups are apart, or undecided because the question was skipped. Only rows
    that occur in an answer take up room.
    """

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._apart: dict[int, set[int]] = {}
        self._unsure: dict[int, set[int]] = {}

    def group(self, row: int) -> int:
        """Return the row that stands for the group of a row."""
        parent = self._parent
        root = row
        while (above := parent.get(root, root)) != root:
            root = above
        while (above := parent.get(row, row)) != root:
            parent[row], row = root, above
        return root

    def members(self, row: int) -> list[int]:
        """Return the rows of the group of a row."""
        root = self.group(row)
        return self._members.get(root, [root])

    def n_apart(self, row: int) -> int:
        """Return how many groups are known to be apart from that of a row."""
        return len(self._apart.get(self.group(row), ()))

    def relation(self, a: int, b: int) -> bool | None:
        """Say whether two rows are known to be together (True) or apart (False)."""
        first, second = self.group(a), self.group(b)
        if first == second:
            return True
        return False if second in self._apart.get(first, ()) else None

    def is_settled(self, a: int, b: int) -> bool:
        """Say whether there is no point in asking: the answer follows from others, or nobody knew it."""
        first, second = self.group(a), self.group(b)
        return first == second or any(second in side.get(first, ()) for side in (self._apart, self._unsure))

    def groups(self) -> Iterator[int]:
        """Give one row of every group that an answer is known about."""
        seen = dict.fromkeys(self.group(row) for row in (*self._parent, *self._apart))
        return iter(seen)

    def learn(self, a: int, b: int, answer: bool | None) -> bool:
        """Take in an answer; return False, and change nothing, if it contradicts what follows from earlier ones."""
        known = self.relation(a, b)
        if known is not None:
            return answer is None or answer == known
        first, second = self.group(a), self.group(b)
        if answer is True:
            self._join(first, second)
        else:
            side = self._unsure if answer is None else self._apart
            side.setdefault(first, set()).add(second)
            side.setdefault(second, set()).add(first)
        return True

    def _join(self, first: int, second: int) -> None:
        """Make one group of two, the smaller one going over to the larger."""
        kept, gone = sorted((first, second), key=lambda root: (-len(self.members(root)), root))
        self._members[kept] = self.members(kept) + self.members(gone)
        self._members.pop(gone, None)
        self._parent[gone] = kept
        self._parent.setdefault(kept, kept)
        for side in (self._apart, self._unsure):
            for other in side.pop(gone, ()):
                side[other].discard(gone)
                if other != kept:
                    side[other].add(kept)
                    side.setdefault(kept, set()).add(other)
