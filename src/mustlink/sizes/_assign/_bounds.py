"""Checks of minimum and maximum sizes, with the numbers that clash in every message."""

from __future__ import annotations

import reprlib
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_scalar, column_or_1d

from mustlink._spelling import count, spell_number
from mustlink._types import Array, Indices, Ints, Mask
from mustlink.constraints import known_rows
from mustlink.errors import InfeasibleError

__all__ = ["check_apart", "check_pivots", "check_sizes", "one_per_cluster"]

# Sums of weights are compared up to rounding, relative to the total.
ROUNDING = 1e-9
# Whole sizes below this are spelled with all their digits.
MAX_IN_FULL = 1e15


def check_sizes(
    size_min: ArrayLike | None,
    size_max: ArrayLike | None,
    n_rows: int,
    n_clusters: int,
    *,
    total: float | None = None,
) -> tuple[Array, Array]:
    """Validate minimum and maximum sizes of clusters.

    Parameters
    ----------
    size_min : int, float, array-like of shape (n_clusters,) or None
        The minimum size of all clusters or of each; None is 0.
    size_max : int, float, array-like of shape (n_clusters,) or None
        The maximum size of all clusters or of each; None is no maximum.
    n_rows : int
        The number of rows to assign.
    n_clusters : int
        The number of clusters.
    total : float, default=None
        The sum of the weights of the rows, if sizes are sums of weights; they may then have decimals.

    Returns
    -------
    lowest : ndarray of shape (n_clusters,)
        The minimum of every cluster; integers without `total`, floats with it.
    highest : ndarray of shape (n_clusters,)
        The maximum of every cluster; none exceeds the number of rows or the total weight.

    Raises
    ------
    ValueError
        If a bound is no size: negative, not a number, not whole, or not one per cluster.
    InfeasibleError
        If no sizes satisfy the bounds: a maximum below its minimum, or sums that no number of rows can meet.

    Examples
    --------
    >>> from mustlink.sizes import check_sizes
    >>> check_sizes(2, [3, 100], n_rows=6, n_clusters=2)
    (array([2, 2]), array([3, 6]))
    >>> check_sizes(4, None, n_rows=6, n_clusters=2)
    Traceback (most recent call last):
        ...
    mustlink.errors.InfeasibleError: The minimum sizes of 2 clusters add up to 8, but there are 6 rows; reduce size_min.
    """
    check_scalar(n_rows, "n_rows", Integral, min_val=0)
    check_scalar(n_clusters, "n_clusters", Integral, min_val=1)
    weighted = total is not None
    whole = float(n_rows) if total is None else float(total)
    if not 0 <= whole < np.inf:
        raise ValueError(f"The sizes of all rows together are {whole:g}; they must be a finite number from 0 on.")
    lowest = one_per_cluster("size_min", 0 if size_min is None else size_min, n_clusters, weighted)
    highest = one_per_cluster("size_max", np.inf if size_max is None else size_max, n_clusters, weighted)
    for cluster in np.flatnonzero(highest < lowest)[:1]:
        raise InfeasibleError(
            f"The maximum size of cluster {cluster} is {_spell(highest[cluster])}, below its minimum of "
            f"{_spell(lowest[cluster])}",
            remedy=("lower_size_min", "raise_size_max"),
        )
    there = f"there {'is' if n_rows == 1 else 'are'} {count(n_rows, 'row')}"
    if weighted:
        there = f"the rows weigh {_spell(whole)} in all"
    slack = ROUNDING * whole if weighted else 0.0
    if lowest.sum() > whole + slack:
        raise InfeasibleError(
            f"The minimum sizes of {count(n_clusters, 'cluster')} add up to {_spell(lowest.sum())}, but {there}",
            remedy="lower_size_min",
        )
    if highest.sum() < whole - slack:
        raise InfeasibleError(
            f"The maximum sizes of {count(n_clusters, 'cluster')} add up to {_spell(highest.sum())}, but {there}",
            remedy="raise_size_max",
        )
    highest = np.minimum(highest, max(whole, lowest.max(initial=0.0)))
    return (lowest, highest) if weighted else (lowest.astype(np.int64), highest.astype(np.int64))


def check_pivots(
    pivots: ArrayLike, pivot_min: ArrayLike | None, lowest: Array, highest: Array, n_rows: int
) -> tuple[Mask, Ints]:
    """Return which rows are pivots and how many each cluster needs, together with bounds of the sizes."""
    mask, n_clusters = _check_mask(pivots, n_rows), len(lowest)
    needed = one_per_cluster("pivot_min", 0 if pivot_min is None else pivot_min, n_clusters, False)
    n_pivots = int(mask.sum())
    if needed.sum() > n_pivots:
        raise InfeasibleError(
            f"The minimum numbers of pivots of {count(n_clusters, 'cluster')} add up to {_spell(needed.sum())}, but "
            f"{count(n_pivots, 'row')} {'is' if n_pivots == 1 else 'are'} marked as such",
            remedy=("lower_pivot_min", "mark_more_pivots"),
        )
    for cluster in np.flatnonzero(needed > highest)[:1]:
        raise InfeasibleError(
            f"Cluster {cluster} needs {count(int(needed[cluster]), 'pivot')}, and its maximum size is "
            f"{_spell(highest[cluster])}",
            remedy=("lower_pivot_min", "raise_size_max"),
        )
    together = np.maximum(needed, lowest).sum()
    if together > n_rows:
        raise InfeasibleError(
            f"The minimum sizes, at least the minimum numbers of pivots, add up to {_spell(together)}, but there are "
            f"{count(n_rows, 'row')}",
            remedy=("lower_size_min", "lower_pivot_min"),
        )
    return mask, needed.astype(np.int64)


def _check_mask(pivots: ArrayLike, n_rows: int) -> Mask:
    """Return which rows are pivots."""
    shape = np.shape(pivots)
    if shape != (n_rows,):
        raise ValueError(
            f"pivots must say of every row whether it is a pivot: there are {count(n_rows, 'row')}, and it has the "
            f"shape {shape}."
        )
    mask = column_or_1d(pivots)
    if not np.isin(mask, [0, 1]).all():
        raise ValueError("pivots must hold True or False for every row; row numbers and classes are not understood.")
    return np.asarray(mask, dtype=bool)


def check_apart(apart: ArrayLike, apart_max: Any, lowest: Array, highest: Array, n_rows: int) -> Indices:
    """Return the group of every row, -1 for none, if the rows of each group can be apart within the bounds."""
    if isinstance(apart_max, bool) or not isinstance(apart_max, Integral) or apart_max < 1:
        raise ValueError(f"apart_max must be a whole number from 1 on, got {apart_max!r}.")
    try:
        shape = np.shape(apart)
    except ValueError:
        raise ValueError("apart must name one group for each row, and some of its entries are lists.") from None
    if shape != (n_rows,):
        raise ValueError(f"apart must name a group, or -1, for each of {count(n_rows, 'row')}, got the shape {shape}.")
    limit = int(apart_max)
    rows, codes, names = known_rows(apart)
    groups = np.full(n_rows, -1, dtype=np.intp)
    groups[rows] = codes
    n_members = np.bincount(codes, minlength=len(names))
    n_clusters = len(lowest)
    for group in np.flatnonzero(n_members > limit * n_clusters)[:1]:
        raise InfeasibleError(
            f"The group {names[group]} has {count(int(n_members[group]), 'row')}, and {count(n_clusters, 'cluster')} "
            f"with at most {limit} of them each hold {limit * n_clusters}",
            remedy=("more_clusters", "raise_apart_max"),
        )
    # By the theorem of Gale and Hoffman, the clusters with the largest minimum and smallest maximum sizes decide.
    most = np.sort(lowest)[::-1].cumsum()
    least = np.sort(highest).cumsum()
    for n_chosen in range(1, n_clusters + 1):
        fitting = n_rows - len(rows) + int(np.minimum(n_members, limit * n_chosen).sum())
        left = int(np.maximum(n_members - limit * (n_clusters - n_chosen), 0).sum())
        clusters = f"{count(n_chosen, 'cluster')} with at most {limit} of each group"
        needed, room = _spell(most[n_chosen - 1]), _spell(least[n_chosen - 1])
        if most[n_chosen - 1] > fitting:
            raise InfeasibleError(
                f"At most {count(fitting, 'row')} fit into {clusters}, but {n_chosen} need {needed}",
                remedy=("lower_size_min", "raise_apart_max"),
            )
        if least[n_chosen - 1] < left:
            raise InfeasibleError(
                f"At least {count(left, 'row')} of large groups must be in any {n_chosen} of {n_clusters} clusters "
                f"with at most {limit} of each group, but {n_chosen} have room for {room}",
                remedy=("raise_size_max", "raise_apart_max"),
            )
    return groups


def one_per_cluster(name: str, sizes: Any, n_clusters: int, weighted: bool) -> Array:
    """Return the bound of every cluster as floats, each a possible size; `name` is the parameter in messages."""
    try:
        # Text, truth values and dates would pass for numbers.
        kinds = {np.asarray(size).dtype.kind for size in np.asarray(sizes, dtype=object).ravel()}
        if not kinds <= set("iufO"):
            raise TypeError
        values = np.asarray(sizes, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number or one number per cluster, got {reprlib.repr(sizes)}.") from None
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_clusters):
        raise ValueError(
            f"{name} must be a number or one number for each of {count(n_clusters, 'cluster')}, got an array of shape "
            f"{values.shape}."
        )
    bounds = np.broadcast_to(values, n_clusters).copy()
    # No maximum may be written as infinity.
    finite = ~np.isnan(bounds) if name == "size_max" else np.isfinite(bounds)
    wrong = ~finite | (bounds < 0)
    if not weighted:
        with np.errstate(invalid="ignore"):
            wrong |= np.isfinite(bounds) & (bounds != np.floor(bounds))
    for cluster in np.flatnonzero(wrong)[:1]:
        where = f" for cluster {cluster}" if values.ndim else ""
        kind = "sums of weights, from 0 on" if weighted else "numbers of rows: whole, from 0 on"
        raise ValueError(f"{name} is {bounds[cluster]:g}{where}; sizes are {kind}.")
    return bounds


def _spell(size: float) -> str:
    """Spell a size: whole numbers in full, sums of weights with a few digits."""
    return f"{int(size):,}" if size == np.floor(size) and size < MAX_IN_FULL else spell_number(size, 6)
