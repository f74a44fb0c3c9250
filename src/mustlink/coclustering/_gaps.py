"""Constraints on the gaps between the members of a bi-set in an order of rows or columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mustlink._types import Ints, Mask
from mustlink.coclustering._gaps_kernels import gaps_are_kept

__all__ = ["Gaps", "make_gaps"]

# No upper bound on a gap.
NO_BOUND = np.iinfo(np.int64).max


class Gaps(NamedTuple):
    """The positions of one side in its order, and how many positions may lie between consecutive members."""

    position: Ints
    n_positions: int
    min_gap: int
    max_gap: int
    circular: bool

    @property
    def is_active(self) -> bool:
        """Whether a bi-set can break the constraint."""
        return self.min_gap > 0 or self.max_gap < NO_BOUND

    def kept(self, side: Any) -> Mask:
        """Return which bi-sets satisfy the constraint, of a sparse matrix with one line for each."""
        if not self.is_active:
            return np.ones(side.shape[0], dtype=np.bool_)
        bounds = self.n_positions, self.min_gap, self.max_gap, self.circular
        return np.asarray(gaps_are_kept(side.indptr.astype(np.int64), self.position[side.indices], *bounds))


def make_gaps(position: Ints, min_gap: int | None, max_gap: int | None, *, circular: bool) -> Gaps:
    """Return the constraint of one side; None is no bound."""
    n_positions = int(position.max()) + 1
    return Gaps(position, n_positions, int(min_gap or 0), NO_BOUND if max_gap is None else int(max_gap), circular)
