"""Compiled checks of the gaps between the members of bi-sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def gaps_within(positions: Any, n_positions: Any, min_gap: Any, max_gap: Any, circular: Any) -> Any:
    """Return whether the number of positions between consecutive members is within bounds; positions are sorted.

    Equal positions are one. In a circle the last member is followed by the first, and the largest gap has no upper
    bound.
    """
    previous, n_too_large = positions[0], 0
    for at in range(1, positions.shape[0]):
        if positions[at] == previous:
            continue
        gap = positions[at] - previous - 1
        previous = positions[at]
        n_too_large += gap > max_gap
        if gap < min_gap:
            return False
    if circular and previous != positions[0]:
        gap = positions[0] + n_positions - previous - 1
        n_too_large += gap > max_gap
        if gap < min_gap:
            return False
        return n_too_large <= 1
    return n_too_large == 0


@jit
def gaps_are_kept(indptr: Any, position: Any, n_positions: Any, min_gap: Any, max_gap: Any, circular: Any) -> Any:
    """Return for each bi-set whether its gaps are within bounds; `position` has those of all members."""
    kept = np.ones(indptr.shape[0] - 1, dtype=np.bool_)
    for biset in range(kept.shape[0]):
        if indptr[biset + 1] > indptr[biset]:
            members = np.sort(position[indptr[biset] : indptr[biset + 1]])
            kept[biset] = gaps_within(members, n_positions, min_gap, max_gap, circular)
    return kept
