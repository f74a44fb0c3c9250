"""Groups of rows with cannot-links between all of them and no other link, as units of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mustlink._types import Floats, Indices
from mustlink.constraints import CannotLinkGroups

__all__ = ["GroupUnits"]

# The most costs of rows of groups that are held at once, 64 MB.
MAX_COSTS = 2**23


class GroupUnits:
    """The rows of groups as the last units of a rule, one group after the other, each row a unit.

    They are placed group by group: there is no list of their links, nor an array of all their costs. `n_before` is the
    number of the units before them, which are placed together.
    """

    def __init__(self, groups: Sequence[CannotLinkGroups], n_before: int) -> None:
        members = [one.members() for one in groups]
        self.n_before = n_before
        self.rows: Indices = np.concatenate([np.empty(0, dtype=np.intp), *(rows for _, rows in members)])
        self.sizes: Indices = np.concatenate([np.empty(0, dtype=np.intp), *(np.diff(indptr) for indptr, _ in members)])
        # The weight of a link in each group.
        self.weight: Floats = np.concatenate([np.empty(0), *(np.full(len(one.names), one.weight) for one in groups)])
        # Where the units of each group end; the first entry is where those of the first begin.
        self._ends = n_before + np.concatenate([[0], np.cumsum(self.sizes)])

    def parts(self, n_clusters: int) -> list[slice]:
        """Return the units placed together, and whole groups of a bounded number of costs."""
        before = [slice(0, self.n_before)] if self.n_before else []
        if not len(self.sizes):
            return before
        batch = (self._ends[1:] - self.n_before) * n_clusters // MAX_COSTS
        last = np.append(np.flatnonzero(np.diff(batch)), len(self.sizes) - 1)
        bounds = [self.n_before, *self._ends[last + 1].tolist()]
        return before + [slice(start, stop) for start, stop in pairwise(bounds)]

    def groups_in(self, part: slice) -> slice:
        """Return the groups of a part."""
        first, last = np.searchsorted(self._ends, [part.start, part.stop])
        return slice(int(first), int(last))

    def bounds(self, part: slice) -> Indices:
        """Return where each group of a part begins and ends, counted from the first unit of the part."""
        groups = self.groups_in(part)
        return self._ends[groups.start : groups.stop + 1] - part.start

    def n_sharing(self, units: Indices, n_clusters: int) -> Indices:
        """Return how many other units of its group each of these units shares its cluster with."""
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        key = group * n_clusters + units[self.n_before :]
        _, place, n_together = np.unique(key, return_inverse=True, return_counts=True)
        return n_together[place] - 1
