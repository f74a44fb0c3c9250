"""The cheapest assignment of rows to clusters of bounded sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from mustlink._types import Floats, Ints
from mustlink.sizes._bounds import check_sizes
from mustlink.sizes._cost_blocks import CostBlocks, as_cost_blocks
from mustlink.sizes._paths import Terms, solve_by_paths

__all__ = ["Assignment", "assign"]


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
    costs: ArrayLike | CostBlocks,
    *,
    size_min: ArrayLike | None = 0,
    size_max: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> Assignment:
    """Assign rows to clusters of bounded sizes at the least total cost.

    Parameters
    ----------
    costs : array-like of shape (n_rows, n_clusters) or CostBlocks
        What each row costs in each cluster, for example squared distances to centers; as :class:`CostBlocks` where they
        are computed some rows at a time.
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
    The problem is a minimum-cost flow [1]_. From the cheapest cluster of every row at the starting prices, successive
    shortest paths on a network of the clusters move rows until the bounds hold; the lengths of the paths are prices.
    Without a start, labels are those of ``argmin`` and all prices are zero where these satisfy the bounds; otherwise
    large problems start with the prices of a sample of their rows, always the same one. Only moves near the borders of
    clusters are kept: the cheapest for each pair of clusters, and a lower bound for the others. The rows are passed
    through again when a path needs a move that was left out.

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
    blocks = as_cost_blocks(costs)
    lowest, highest = check_sizes(size_min, size_max, *blocks.shape)
    prices = None if start is None else _check_start(start, lowest, highest, blocks.shape[0])
    solution = solve_by_paths(blocks, Terms(lowest, highest), prices)
    return Assignment(solution.labels, solution.potential)


def _check_start(start: ArrayLike, lowest: Ints, highest: Ints, n_rows: int) -> Floats:
    """Return prices to start from, one for each cluster, zero where they have the sign of a bound that never binds."""
    prices = check_array(start, dtype=np.float64, ensure_2d=False, input_name="start")
    if prices.shape != lowest.shape:
        raise ValueError(f"start must have one price for each of {len(lowest)} clusters, got the shape {prices.shape}.")
    prices = np.where(lowest == 0, np.minimum(prices, 0.0), prices)
    return np.where(highest >= n_rows, np.maximum(prices, 0.0), prices)
