"""Outliers of grown clusters: the rows that were assigned after a sudden jump of the radius."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Indices

__all__ = ["find_outliers"]

# Only the last rows are searched for a jump: at most this share of all are outliers.
MAX_SHARE = 0.05


def find_outliers(thresholds: Floats, jump: float | None) -> Indices:
    """Return the rows from the largest jump of the sorted thresholds on.

    Parameters
    ----------
    thresholds : ndarray of shape (n_rows,)
        The radius at which each row was assigned. The row before it in its cluster has no larger one, so that what is
        left of a cluster stays connected.
    jump : float or None
        How many times as large as the one before a threshold must be at least; None is no outliers.

    Returns
    -------
    ndarray
        Row numbers, in rising order. The search begins at the 95th percentile.
    """
    if jump is None:
        return np.empty(0, dtype=np.intp)
    order = np.argsort(thresholds, kind="stable")
    ranked = thresholds[order]
    first = max(1, int(np.ceil((1.0 - MAX_SHARE) * len(ranked))))
    before, after = ranked[first - 1 : -1], ranked[first:]
    ratio = np.divide(after, before, out=np.where(after > 0, np.inf, 1.0), where=before > 0)
    if not len(ratio) or ratio.max() < jump:
        return np.empty(0, dtype=np.intp)
    return np.sort(order[first + int(ratio.argmax()) :])
