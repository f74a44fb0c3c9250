"""What every published group must have: a minimum size, and diverse sensitive values.

All models are monotone: the union of two groups that satisfy one satisfies it too. A table can therefore be published
at all if and only if it satisfies the model as one group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mustlink._types import Ints
from mustlink.sizes._entropy import has_entropy

__all__ = ["DISTINCT", "ENTROPY", "NO_DIVERSITY", "RECURSIVE", "Diversity", "PrivacyModel"]

Diversity = Literal["distinct", "entropy", "recursive"]

# The forms of diversity by number, for compiled code.
NO_DIVERSITY, DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2, 3
FORMS = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}


@dataclass(frozen=True)
class PrivacyModel:
    """k-anonymity, alone or with one form of l-diversity.

    Parameters
    ----------
    k : int
        The minimum number of rows of a group.
    min_diversity : float or None, default=None
        The l of l-diversity: the least diversity of the sensitive values of a group; None asks for none.
    diversity : {"distinct", "entropy", "recursive"}, default="distinct"
        How diversity is measured.
    m : float, default=1.0
        The factor of recursive (m, l)-diversity.
    """

    k: int
    min_diversity: float | None = None
    diversity: Diversity = "distinct"
    m: float = 1.0

    @property
    def form(self) -> int:
        """The form of diversity, as a number for compiled code."""
        return NO_DIVERSITY if self.min_diversity is None else FORMS[self.diversity]

    @property
    def min_size(self) -> int:
        """The fewest rows that a group can have, which diversity may raise above k."""
        if self.min_diversity is None:
            return self.k
        if self.diversity == "recursive":
            # All values differ: 1 < m (size - l + 1).
            return max(self.k, math.floor(self.min_diversity - 1 + 1 / self.m) + 1)
        return max(self.k, math.ceil(self.min_diversity))

    def is_diverse(self, counts: Any) -> bool:
        """Return whether a group with these counts of sensitive values is diverse enough, whatever its size."""
        if self.min_diversity is None:
            return True
        counts = np.sort(np.asarray(counts)[np.asarray(counts) > 0])[::-1]
        if self.diversity == "distinct":
            return bool(counts.size >= self.min_diversity)
        if counts.size == 0:
            return False
        if self.diversity == "entropy":
            return has_entropy(counts.tolist(), self.min_diversity)
        # As a ratio, which is rounded to m if it is m: a product such as 1.1 * 50 may be above 55.
        tail = int(counts[int(self.min_diversity) - 1 :].sum())
        return tail > 0 and int(counts[0]) / tail < self.m

    def is_valid(self, counts: Ints) -> bool:
        """Return whether a group with these counts of sensitive values can be published."""
        return bool(counts.sum() >= self.k and self.is_diverse(counts))

    def allows(self, counts: Ints, n_groups: int) -> bool:
        """Return whether rows with these counts of sensitive values can be cut into so many groups.

        Exact for k-anonymity and for distinct l-diversity, where each group takes a value at most once for its l: c
        groups exist if and only if the sum of min(count, c) is at least c l. For the other models it is necessary.
        """
        if counts.sum() < n_groups * self.min_size:
            return False
        if self.form == DISTINCT:
            assert self.min_diversity is not None
            return bool(np.minimum(counts, n_groups).sum() >= n_groups * self.min_diversity)
        return self.is_diverse(counts)

    def max_groups(self, counts: Ints) -> int:
        """Return the largest number of groups that these counts allow, by bisection; 0 if not even one."""
        low, high = 0, int(counts.sum()) // self.min_size
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.allows(counts, middle) else (low, middle - 1)
        return low

    def max_count(self, size: int) -> int:
        """Return how often a value may occur in a group of this size for the group to be diverse in any case."""
        assert self.min_diversity is not None
        if self.diversity == "entropy":
            # No share above 1 / l: the least of all entropies, and so every other, is at least log l.
            return math.floor(size / self.min_diversity)
        # The l - 1 most frequent values have at most (l - 1) times this.
        return math.ceil(self.m * size / (1 + self.m * (self.min_diversity - 1))) - 1
