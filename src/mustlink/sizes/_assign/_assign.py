"""The cheapest assignment of rows to clusters of bounded sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from mustlink._types import Floats
from mustlink.sizes._assign._apart import solve_apart
from mustlink.sizes._assign._assignment import Assignment
from mustlink.sizes._assign._bounds import check_apart, check_pivots, check_sizes
from mustlink.sizes._assign._cost_blocks import CostBlocks, as_cost_blocks
from mustlink.sizes._assign._flow import solve_by_flow
from mustlink.sizes._assign._lp import solve_by_lp
from mustlink.sizes._assign._paths import solve_by_paths
from mustlink.sizes._assign._terms import Terms
from mustlink.sizes._assign._weighted import solve_weighted

__all__ = ["Assignment", "assign"]

# Weights of which the sum of many, and one over the smallest, are still numbers.
MIN_WEIGHT, MAX_WEIGHT = 1e-290, 1e290
SOLVERS = {"paths": solve_by_paths, "flow": solve_by_flow, "lp": solve_by_lp}


def assign(
    costs: ArrayLike | CostBlocks,
    *,
    size_min: ArrayLike | None = 0,
    size_max: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    pivots: ArrayLike | None = None,
    pivot_min: ArrayLike | None = 0,
    apart: ArrayLike | None = None,
    apart_max: Any = 1,
    solver: str = "paths",
    start: ArrayLike | Assignment | None = None,
) -> Assignment:
    """Assign rows to clusters of bounded sizes at the least total cost.

    Parameters
    ----------
    costs : array-like of shape (n_rows, n_clusters) or CostBlocks
        What each row costs in each cluster, for example squared distances to centers; as :class:`CostBlocks` where they
        are computed some rows at a time.
    size_min : int, float or array-like of shape (n_clusters,), default=0
        The minimum size of all clusters, or of each; a number of rows is whole, a sum of weights may have decimals.
    size_max : int, float or array-like of shape (n_clusters,), default=None
        The maximum size of all clusters, or of each; None is no maximum.
    weights : array-like of shape (n_rows,), default=None
        The weights of the rows; sizes are then sums of weights and may have decimals. A cost remains that of the whole
        row, and a price is per unit of weight. See the notes.
    pivots : array-like of shape (n_rows,), default=None
        True for rows of which every cluster needs some, such as experts or confirmed cases.
    pivot_min : int or array-like of shape (n_clusters,), default=0
        How many pivots all clusters need, or each.
    apart : array-like of shape (n_rows,), default=None
        The group of every row, such as its family or source; -1, None, NaN and empty text are none. A cluster has at
        most `apart_max` rows of a group.
    apart_max : int, default=1
        The most rows of a group in a cluster.
    solver : {"paths", "flow", "lp"}, default="paths"
        ``"paths"`` is the method of the notes. ``"flow"`` is the minimum-cost flow of OR-tools (extra ``exact``), with
        costs rounded to 64-bit integers and whole weights only, and ``"lp"`` the linear programming of HiGHS; both hold
        an arc for every cost and are there to compare with.
    start : array-like of shape (n_clusters,) or Assignment, default=None
        Prices to start from, such as those of a similar problem; the least cost does not depend on them.

    Returns
    -------
    Assignment
        The labels, and the prices of the bounds: every row is in the cluster that minimizes
        ``costs[row] - prices``.

    Raises
    ------
    ValueError
        If the costs are not finite or a bound is no size.
    InfeasibleError
        If no assignment satisfies the bounds.

    Notes
    -----
    The problem is a minimum-cost flow [1]_. From the cheapest cluster of every row at the starting prices, successive
    shortest paths on a network of the clusters move rows until the bounds hold; the lengths of the paths are prices.
    Without a start, labels are those of ``argmin`` and all prices are zero where these satisfy the bounds; otherwise
    large problems start with the prices of a sample of their rows, always the same one. Only moves near the borders of
    clusters are kept: the cheapest for each pair of clusters, and a lower bound for the others. When a path
    needs a move that was left out, rows farther from the borders are looked at.

    Rows of a group that are to be apart pass through a node for each group and cluster, with room for `apart_max` of
    them; the answer is exact. A group moves as one, by chains of its rows. Only these rows and others near the borders
    of clusters are assigned so, and their costs held, if the prices prove that the others stay where they are.

    With weights, whole rows may be unable to meet the bounds, and whether they can is hard to decide. The fractional
    problem is solved exactly, which gives the prices, and shares few rows out between clusters: at most one less than
    there are clusters, if no costs tie. These are rounded by matching [2]_: every size is then within the largest
    weight of its bounds, and the cost is not above the least one. Where this misses the bounds, the other rows are
    assigned again around the rounded ones, and single rows are moved and swapped; this finds sizes within the bounds in
    most cases where there are some, at a cost near the least. ``is_within_bounds`` tells whether it did, and ``gap``
    bounds what it costs.

    References
    ----------
    .. [1] A. Demiriz, K. P. Bennett and P. S. Bradley, "Using assignment constraints to avoid empty clusters in
       k-means clustering", in Constrained Clustering, chapter 9, 2009.
    .. [2] D. B. Shmoys and E. Tardos, "An approximation algorithm for the generalized assignment problem",
       Mathematical Programming 62, 1993.

    Examples
    --------
    >>> from mustlink.sizes import assign
    >>> labels, prices = assign([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], size_min=2)
    >>> labels
    array([0, 0, 1, 1])
    >>> prices
    array([0., 3.])
    """
    blocks = as_cost_blocks(costs)
    terms = _check_terms(blocks.shape, size_min, size_max, weights, pivots, pivot_min, apart, apart_max)
    potential = None if start is None else _check_start(start, terms, blocks.shape[0])
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {solver!r}.")
    if terms.weight is not None:
        return Assignment(*solve_weighted(blocks, terms, potential, SOLVERS[solver]), terms=terms)
    if terms.apart is not None and solver == "paths":
        return Assignment(*solve_apart(blocks, terms, potential), terms=terms)
    solution = SOLVERS[solver](blocks, terms, potential)
    if not solution.is_feasible:
        raise AssertionError("Conditions that were checked have no assignment.")
    prices = solution.potential[: blocks.shape[1]]
    pivot_prices = None if terms.pivots is None else solution.potential[blocks.shape[1] :] - prices
    return Assignment(solution.labels, prices, pivot_prices, terms)


def _check_terms(
    shape: tuple[int, int],
    size_min: ArrayLike | None,
    size_max: ArrayLike | None,
    weights: ArrayLike | None,
    pivots: ArrayLike | None,
    pivot_min: ArrayLike | None,
    apart: ArrayLike | None,
    apart_max: Any,
) -> Terms:
    """Return conditions that can be met, as far as can be decided."""
    given = [name for name, value in (("weights", weights), ("pivots", pivots), ("apart", apart)) if value is not None]
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} cannot be given together; the assignment would not be a flow.")
    if pivots is None and pivot_min is not None and np.any(np.asarray(pivot_min) != 0):
        raise ValueError(f"pivot_min={pivot_min!r} was given without pivots; a minimum number of pivots needs both.")
    n_rows = shape[0]
    if weights is not None:
        checked = _check_weights(weights, n_rows)
        return Terms(*check_sizes(size_min, size_max, *shape, total=float(checked.sum())), checked).tightened()
    lowest, highest = check_sizes(size_min, size_max, *shape)
    if pivots is not None:
        return Terms(lowest, highest, None, *check_pivots(pivots, pivot_min, lowest, highest, n_rows))
    if apart is not None:
        groups = check_apart(apart, apart_max, lowest, highest, n_rows)
        return Terms(lowest, highest, apart=groups, apart_max=int(apart_max))
    return Terms(lowest, highest)


def _check_weights(weights: ArrayLike, n_rows: int) -> Floats:
    """Return the weights of all rows, at least zero and not all zero."""
    checked = np.asarray(check_array(weights, dtype=np.float64, ensure_2d=False, input_name="weights"))
    if checked.shape != (n_rows,):
        raise ValueError(f"weights must have one weight for each of {n_rows} rows, got the shape {checked.shape}.")
    wrong = (checked != 0) & ((checked < MIN_WEIGHT) | (checked > MAX_WEIGHT))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"The weight of row {row} is {checked[row]:g}; weights must be zero, or from {MIN_WEIGHT:g} to "
            f"{MAX_WEIGHT:g}."
        )
    if not checked.any():
        raise ValueError("All weights are zero; some row must have a positive weight.")
    return checked


def _check_start(start: ArrayLike | Assignment, terms: Terms, n_rows: int) -> Floats:
    """Return potentials to start from, zero where they have the sign of a bound that never binds."""
    given = start.prices if isinstance(start, Assignment) else start
    prices = np.asarray(check_array(given, dtype=np.float64, ensure_2d=False, input_name="start"))
    n_clusters = len(terms.lowest)
    if prices.shape != (n_clusters,):
        raise ValueError(f"start must have one price for each of {n_clusters} clusters, got the shape {prices.shape}.")
    total = n_rows if terms.weight is None else terms.weight.sum()
    prices = np.where(terms.lowest == 0, np.minimum(prices, 0.0), prices)
    prices = np.where(terms.highest >= total, np.maximum(prices, 0.0), prices)
    if terms.pivots is None:
        return prices
    known = start.pivot_prices if isinstance(start, Assignment) else None
    return np.concatenate([prices, prices if known is None else prices + np.where(terms.pivot_min == 0, 0.0, known)])
