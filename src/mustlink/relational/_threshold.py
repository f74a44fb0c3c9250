"""The default threshold, and the one that agrees best with links that had no part in the merges."""

from __future__ import annotations

from typing import Literal

import numpy as np

from mustlink._types import Array, Ints
from mustlink.constraints import Constraints
from mustlink.errors import OptionError
from mustlink.relational._merging_kernels import times_of_joining

__all__ = ["default_threshold"]

# The default threshold, as a share of the similarity of equal names without a neighbor in common.
DEFAULT_SHARE = 0.8
# How far above the first merge a threshold may be chosen.
ROOM_ABOVE = 0.02


def default_threshold(alpha: float = 0.3, method: Literal["cr", "a*", "nr*"] = "cr") -> float:
    """Return the threshold of "auto": 0.8 of the similarity that equal names without a common neighbor have.

    Parameters
    ----------
    alpha : float, default=0.3
        The weight of the records that occur together, less than 1.
    method : {"cr", "a*", "nr*"}, default="cr"
        The method; "a*" has no relational part.

    Returns
    -------
    float
        ``0.8 * (1 - alpha)``, or 0.8 for "a*".

    Examples
    --------
    >>> from mustlink.relational import default_threshold
    >>> round(default_threshold(alpha=0.3), 3)
    0.56
    """
    if method == "a*":
        return DEFAULT_SHARE
    if alpha >= 1:
        raise OptionError("With alpha=1 names do not count, and there is no default threshold; give one.")
    return DEFAULT_SHARE * (1.0 - alpha)


def lowest_so_far(merges: Array) -> Array:
    """Return the smallest similarity up to each merge: a threshold above it stops before the merge."""
    return np.minimum.accumulate(merges["similarity"])


def choose_threshold(merges: Array, start: Ints, links: Constraints, default: float) -> float:
    """Return the threshold at which most links are satisfied, by weight; of equally good ones the nearest to a default.

    Links of both kinds count by their weights, and not each kind as a whole: among pairs drawn at random, one kind can
    be rare. `start` is the cluster of each row before the first merge.
    """
    lowest = lowest_so_far(merges)
    n_merges = len(merges)
    # Before merge t, after merges 0 to t - 1: thresholds above lowest[t], up to lowest[t - 1].
    gain = np.zeros(n_merges + 1)
    for pairs, weight, sign in (
        (links.must_link, links.must_link_weight, 1.0),
        (links.cannot_link, links.cannot_link_weight, -1.0),
    ):
        if len(pairs):
            joined = times_of_joining(merges["left"].copy(), merges["right"].copy(), len(start), start[pairs])
            np.add.at(gain, np.minimum(joined + 1, n_merges), np.where(joined < n_merges, sign * weight, 0.0))
    satisfied = np.cumsum(gain)
    # Only where the smallest similarity falls can a threshold stop.
    can_stop = np.append(np.diff(lowest, prepend=np.inf) < 0, True)
    above = np.append(lowest, 0.0)
    # Above the first merge there is always room, so that a threshold can also say to merge nothing.
    below = np.concatenate([[max(1.0, float(lowest[0]) + ROOM_ABOVE) if n_merges else 1.0], lowest])
    best = satisfied[can_stop].max()
    rounding = 1e-9 * max(1.0, float(np.abs(satisfied).max()))
    chosen = np.flatnonzero(can_stop & (satisfied >= best - rounding))
    # The middle of the gap, unless the default is in it.
    middle = (above[chosen] + below[chosen]) / 2
    is_inside = (above[chosen] < default) & (default <= below[chosen])
    candidate = np.where(is_inside, default, middle)
    return float(candidate[np.argmin(np.abs(candidate - default))])
