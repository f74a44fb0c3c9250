"""An assignment with the prices that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from mustlink._types import Array, Floats, Ints
from mustlink.sizes._assign._cost_blocks import CostBlocks, as_cost_blocks
from mustlink.sizes._assign._gains import gains_of_bounds
from mustlink.sizes._assign._terms import Terms

__all__ = ["Assignment"]

UNKNOWN_BOUNDS = "The bounds of this assignment are not known; those that assign returns have them."


@dataclass(frozen=True, eq=False)
class Assignment:
    """An assignment of rows to clusters of bounded sizes, with the prices of the bounds.

    :func:`assign` returns it. ``labels, prices = assign(...)`` unpacks it.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        The cluster of every row.
    prices : ndarray of shape (n_clusters,)
        The price of the bounds of every cluster: at least zero at a minimum, at most zero at a maximum, zero where
        neither binds. Every row is in the cluster that minimizes its cost minus the price, which proves the assignment
        optimal. The size of a price lies between what the total cost would fall by if the bound were looser by one,
        see :meth:`gains`, and what it would rise by if the bound were tighter by one. Where no size is free to change,
        only differences between prices have a meaning.
    pivot_prices : ndarray of shape (n_clusters,) or None
        The price of the minimum of pivots of every cluster, at least zero; None if no rows are pivots.

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
    pivot_prices: Floats | None = None
    terms: Terms | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Any]:
        yield self.labels
        yield self.prices

    @property
    def sizes(self) -> Array:
        """The number of rows in every cluster, or the sum of their weights."""
        if self.terms is None:
            return np.bincount(self.labels, minlength=len(self.prices))
        return self.terms.sizes(self.labels)

    @property
    def is_within_bounds(self) -> bool:
        """Whether all sizes are within their bounds; with weights, they may be off by the weight of a row."""
        return self.terms is None or not self.terms.excess(self.labels).any()

    def cost(self, costs: ArrayLike | CostBlocks) -> float:
        """Return the total cost of the assignment.

        Parameters
        ----------
        costs : array-like of shape (n_rows, n_clusters) or CostBlocks
            The costs that were assigned by.

        Returns
        -------
        float
            The sum over the rows.
        """
        total = 0.0
        for first, block in as_cost_blocks(costs).blocks():
            labels = self.labels[first : first + len(block)]
            total += float(block[np.arange(len(block)), labels].sum(dtype=np.float64))
        return total

    def slackness(self, costs: ArrayLike | CostBlocks) -> float:
        """Return how far any row is from its cheapest cluster at these prices; zero proves the optimum.

        Together with prices that are zero where no bound binds, at least zero at a minimum and at most zero at a
        maximum, this is the certificate of linear programming. Where rows of a group are to be apart, it is the group
        whose cost is compared with the least one at these prices. With weights, rows that a fractional solution shares
        out between clusters are not at their cheapest; see :meth:`gap`.

        Parameters
        ----------
        costs : array-like of shape (n_rows, n_clusters) or CostBlocks
            The costs that were assigned by.

        Returns
        -------
        float
            The largest difference, rounding errors included.
        """
        return max(float((own - least).max(initial=0.0)) for own, least in self._compare(as_cost_blocks(costs)))

    def gap(self, costs: ArrayLike | CostBlocks) -> float:
        """Return by how much the total cost exceeds a lower bound of it, which follows from the prices.

        Parameters
        ----------
        costs : array-like of shape (n_rows, n_clusters) or CostBlocks
            The costs that were assigned by.

        Returns
        -------
        float
            Zero, up to rounding errors, at the optimum. With weights, the optimum may have a positive gap, and an
            assignment with sizes beyond the bounds a negative one.
        """
        if self.terms is None:
            raise ValueError(UNKNOWN_BOUNDS)
        lowest, highest = self.terms.lowest, self.terms.highest
        bounds = np.where(self.prices > 0, lowest, np.where(self.prices < 0, highest, 0)) @ self.prices
        if self.pivot_prices is not None and self.terms.pivot_min is not None:
            bounds += self.terms.pivot_min @ self.pivot_prices
        blocks = as_cost_blocks(costs)
        return self.cost(blocks) - float(bounds + sum(least.sum() for _, least in self._compare(blocks)))

    def gains(self, costs: ArrayLike | CostBlocks) -> Floats:
        """Return what the total cost would fall by if one bound were looser by one, exactly.

        Parameters
        ----------
        costs : array-like of shape (n_rows, n_clusters) or CostBlocks
            The costs that were assigned by.

        Returns
        -------
        ndarray of shape (2, n_clusters)
            The gains of lowering the minimum of each cluster by one, and those of raising its maximum by one, all other
            bounds as they are; zero where the bound does not bind, or another one is in the way.

        Raises
        ------
        ValueError
            If sizes are sums of weights or rows of a group are apart: these gains are not known.

        Examples
        --------
        >>> from mustlink.sizes import assign
        >>> costs = [[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]
        >>> assign(costs, size_min=2).gains(costs)
        array([[0., 3.],
               [0., 0.]])
        >>> assign(costs, size_min=2, size_max=2).gains(costs)
        array([[0., 0.],
               [0., 0.]])
        """
        if self.terms is None:
            raise ValueError(UNKNOWN_BOUNDS)
        for name, value in (("weights", self.terms.weight), ("apart", self.terms.apart)):
            if value is not None:
                raise ValueError(
                    f"With {name}, the gain of a looser bound is not known; solve with that bound instead."
                )
        return gains_of_bounds(as_cost_blocks(costs), self.labels, self.terms)

    def _compare(self, costs: CostBlocks) -> Iterator[tuple[Floats, Floats]]:
        """Yield for blocks of rows, and for groups, their cost at the prices and the least one."""
        grouped = None if self.terms is None else self.terms.apart
        for first, block in costs.blocks():
            rows = slice(first, first + len(block))
            priced = block - self._discount(rows)
            own = priced[np.arange(len(block)), self.labels[rows]]
            least = priced.min(axis=1)
            if grouped is not None:
                own, least = own[grouped[rows] < 0], least[grouped[rows] < 0]
            yield own, least
        if grouped is not None and self.terms is not None:
            order = np.argsort(grouped, kind="stable")
            order = order[grouped[order] >= 0]
            for group in np.split(order, np.flatnonzero(np.diff(grouped[order])) + 1):
                if len(group):
                    priced = costs.rows(group) - self.prices
                    places = np.repeat(priced, min(self.terms.apart_max, len(group)), axis=1)
                    own = priced[np.arange(len(group)), self.labels[group]]
                    yield own.sum(keepdims=True), places[linear_sum_assignment(places)].sum(keepdims=True)

    def _discount(self, rows: slice) -> Floats:
        """Return what the prices take off the costs of some rows in every cluster."""
        terms = self.terms
        if terms is not None and terms.weight is not None:
            return np.asarray(terms.weight[rows, None] * self.prices)
        if terms is None or terms.pivots is None or self.pivot_prices is None:
            return self.prices[None]
        return self.prices + np.where(terms.pivots[rows, None], self.pivot_prices, 0.0)
