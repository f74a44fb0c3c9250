"""The cheapest assignment of rows to clusters of bounded sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from mustlink._types import Array, Floats, Ints
from mustlink.sizes._assign_kernels import balance
from mustlink.sizes._bounds import check_sizes

__all__ = ["Assignment", "assign"]

# Paths between two looks at the keyboard.
PATHS_AT_ONCE = 64


class Assignment(NamedTuple):
    """An optimal assignment, with the prices that prove it.

    :func:`assign` returns it.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        The cluster of every row.
    prices : ndarray of shape (n_clusters,)
        The price of the bounds of every cluster: how much the total cost would fall if the minimum (positive) or rise
        if the maximum (negative) were one lower; zero where neither binds.

    Examples
    --------
    >>> from mustlink.sizes import assign
    >>> costs = [[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]]
    >>> answer = assign(costs, size_max=2)
    >>> answer.sizes, answer.cost(costs), answer.slackness(costs)
    (array([2, 1]), 6.0, 0.0)
    """

    labels: Ints
    prices: Floats

    @property
    def sizes(self) -> Ints:
        """The number of rows in every cluster."""
        return np.bincount(self.labels, minlength=len(self.prices))

    def cost(self, costs: ArrayLike) -> float:
        """Return the total cost of the assignment.

        Parameters
        ----------
        costs : array-like of shape (n_rows, n_clusters)
            The costs that were assigned by.

        Returns
        -------
        float
            The sum over the rows.
        """
        return float(np.asarray(costs)[np.arange(len(self.labels)), self.labels].sum(dtype=np.float64))

    def slackness(self, costs: ArrayLike) -> float:
        """Return how far any row is from its cheapest cluster at these prices; zero proves the optimum.

        Together with prices that are zero where no bound binds, at least zero at a minimum and at most zero at a
        maximum, this is the certificate of linear programming.

        Parameters
        ----------
        costs : array-like of shape (n_rows, n_clusters)
            The costs that were assigned by.

        Returns
        -------
        float
            The largest difference, rounding errors included.
        """
        priced = np.asarray(costs, dtype=np.float64) - self.prices
        own = priced[np.arange(len(self.labels)), self.labels]
        return float((own - priced.min(axis=1)).max(initial=0.0))


def assign(
    costs: ArrayLike,
    *,
    size_min: ArrayLike | None = 0,
    size_max: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> Assignment:
    """Assign rows to clusters of bounded sizes at the least total cost.

    Parameters
    ----------
    costs : array-like of shape (n_rows, n_clusters)
        What each row costs in each cluster, for example squared distances to centers.
    size_min : int or array-like of shape (n_clusters,), default=0
        The minimum size of all clusters, or of each.
    size_max : int or array-like of shape (n_clusters,), default=None
        The maximum size of all clusters, or of each; None is no maximum.
    start : array-like of shape (n_clusters,), default=None
        Prices to start from, such as those of a similar problem; the total cost does not depend on them.

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
    The problem is a minimum-cost flow [1]_. From the cheapest cluster of every row, successive shortest paths on a
    network of the clusters move rows until the bounds hold; the lengths of the paths are the prices. Where the bounds
    hold from the start, the labels are those of ``argmin`` and all prices are zero.

    References
    ----------
    .. [1] A. Demiriz, K. P. Bennett and P. S. Bradley, "Using assignment constraints to avoid empty clusters in
       k-means clustering", in Constrained Clustering, chapter 9, 2009.

    Examples
    --------
    >>> from mustlink.sizes import assign
    >>> labels, prices = assign([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], size_min=2)
    >>> labels
    array([0, 0, 1, 1])
    >>> prices
    array([0., 3.])
    """
    costs = _check_costs(costs)
    lowest, highest = check_sizes(size_min, size_max, *costs.shape)
    potential = np.zeros(costs.shape[1] + 1)
    if start is not None:
        potential[:-1] = _check_start(start, lowest, highest, len(costs))
    labels = (costs - potential[:-1]).argmin(axis=1)
    flow, excess = _initial_flow(labels, potential[:-1], lowest, highest)
    n_left = int(excess[excess > 0].sum())
    while n_left > 0:
        n_taken = balance(costs, labels, flow, lowest, highest, excess, potential, min(n_left, PATHS_AT_ONCE))
        if n_taken < 0:
            raise AssertionError("Bounds that were checked have no assignment.")
        n_left -= n_taken
    prices = potential[:-1] - potential[-1]
    prices[(flow > lowest) & (flow < highest)] = 0.0
    return Assignment(labels, prices)


def _initial_flow(labels: Ints, prices: Floats, lowest: Ints, highest: Ints) -> tuple[Ints, Ints]:
    """Return the flow of every cluster that its price asks for, and the rows that each node has in excess of it."""
    sizes = np.bincount(labels, minlength=len(prices))
    flow = np.clip(sizes, lowest, highest)
    flow[prices > 0] = lowest[prices > 0]
    flow[prices < 0] = highest[prices < 0]
    return flow, np.append(sizes - flow, flow.sum() - len(labels))


def _check_costs(costs: ArrayLike) -> Array:
    """Return costs as an array of floats."""
    checked = check_array(costs, dtype=[np.float64, np.float32], order="C", input_name="costs")
    # Numba compiles read-only and writable arrays apart, and one is enough.
    checked = checked.view()
    checked.flags.writeable = False
    return checked


def _check_start(start: ArrayLike, lowest: Ints, highest: Ints, n_rows: int) -> Floats:
    """Return prices to start from, one for each cluster, zero where they have the sign of a bound that never binds."""
    prices = check_array(start, dtype=np.float64, ensure_2d=False, input_name="start")
    if prices.shape != lowest.shape:
        raise ValueError(f"start must have one price for each of {len(lowest)} clusters, got the shape {prices.shape}.")
    prices = np.where(lowest == 0, np.minimum(prices, 0.0), prices)
    return np.where(highest >= n_rows, np.maximum(prices, 0.0), prices)
