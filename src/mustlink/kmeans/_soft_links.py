"""Rows with links that cost something to break."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink._rows import RowBlocks
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.kmeans._lloyd import BoundRows, Labels
from mustlink.kmeans._pckmeans_kernels import sweep_groups, sweep_rows


class SoftLinks(BoundRows):
    """The rows that have a link, labelled so that distances and the price of broken links are low together.

    Parameters
    ----------
    table, weight : RowBlocks and ndarray of shape (n_rows,)
        All rows and their weights.
    links : Constraints
        The links.
    price : float
        What it costs to break a link of weight one.
    """

    data_factor = 0.5

    def __init__(self, table: RowBlocks, weight: Floats, links: Constraints, price: float) -> None:
        rows = links.constrained_rows().astype(np.intp)
        super().__init__(table, weight, rows, np.arange(len(rows)))
        self._must = np.searchsorted(rows, links.must_link)
        self._cannot = np.searchsorted(rows, links.cannot_link)
        self._must_price = price * links.must_link_weight
        self._cannot_price = price * links.cannot_link_weight
        self._partners = (
            *_both_ways(self._must, self._must_price, len(rows)),
            *_both_ways(self._cannot, self._cannot_price, len(rows)),
        )
        # Must-link components of several rows: their rows one component after the other, and where each begins.
        component = links.components(table.n_rows)[rows]
        several = np.flatnonzero(np.bincount(component)[component] > 1)
        self._group_rows = several[np.argsort(component[several], kind="stable")]
        _, number, size = np.unique(component[self._group_rows], return_inverse=True, return_counts=True)
        self._group_indptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        self._group_of = np.full(len(rows), -1, dtype=np.intp)
        self._group_of[self._group_rows] = number

    def place(self, costs: Floats, previous: Labels | None) -> Labels:
        """Sweep over rows and over whole components in turn until the objective falls no more.

        The most certain go first, and nothing but exact ties depends on how the rows are numbered.
        """
        costs = self.data_factor * costs
        labels = np.full(self.n_items, -1, dtype=np.intp) if previous is None else previous.copy()
        row_order = _most_certain_first(costs)
        group_order = np.empty(0, dtype=np.intp)
        if self._group_rows.size:
            group_order = _most_certain_first(np.add.reduceat(costs[self._group_rows], self._group_indptr[:-1]))
        groups = (self._group_indptr, self._group_rows, self._group_of)
        sweep_rows(costs, *self._partners, row_order, labels)
        while sweep_groups(costs, *self._partners, *groups, group_order, labels):
            sweep_rows(costs, *self._partners, row_order, labels)
        return labels

    def penalty(self, labels: Labels) -> float:
        """Return the price of all broken links."""
        must, cannot = labels[self._must], labels[self._cannot]
        return float(
            self._must_price[must[:, 0] != must[:, 1]].sum() + self._cannot_price[cannot[:, 0] == cannot[:, 1]].sum()
        )

    def movers(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return single rows, then components of several rows."""
        first, size = super().movers()
        start = self._group_indptr[:-1]
        return (
            np.concatenate([first, self._group_rows[start]]),
            np.concatenate([size, np.diff(self._group_indptr)]),
        )

    def items_of(self, mover: int) -> NDArray[np.intp]:
        """Return a row, or the rows of a component."""
        if mover < self.n_items:
            return np.array([mover])
        start, stop = self._group_indptr[mover - self.n_items :][:2]
        return self._group_rows[start:stop]

    def gain_of_leaving(self, labels: Labels, own_cost: Floats) -> Floats:
        """Return the data term and the cannot-links that a mover would save, less the must-links it would break."""
        data = self.data_factor * own_cost
        rows = (
            data
            - self._price_of_together(labels, self._must, self._must_price)
            + self._price_of_together(labels, self._cannot, self._cannot_price)
        )
        if not self._group_rows.size:
            return rows
        a, b = self._group_of[self._cannot].T
        between = (a != b) | (a < 0)
        saved = data + self._price_of_together(labels, self._cannot[between], self._cannot_price[between])
        start = self._group_indptr[:-1]
        inside = labels[self._group_rows]
        is_whole = np.minimum.reduceat(inside, start) == np.maximum.reduceat(inside, start)
        groups = np.add.reduceat(saved[self._group_rows], start) - self.data_factor * self._group_scatter
        return np.concatenate([rows, np.where(is_whole, groups, -np.inf)])

    def _price_of_together(self, labels: Labels, pairs: NDArray[np.intp], price: Floats) -> Floats:
        """Return the price of each row's links to rows in its own cluster."""
        together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
        ends, prices = pairs[together], price[together]
        return np.bincount(ends.ravel(), np.repeat(prices, 2), self.n_items).astype(np.float64)

    @cached_property
    def _group_scatter(self) -> Floats:
        """The data term of each component about its own mean, twice; asked for only when a cluster is empty."""
        assert self.means is not None
        weight, number = self.weight[self._group_rows], self._group_of[self._group_rows]
        members = self.means.take(self._group_rows)
        return members.scatter(number, members.averages(number, len(self._group_indptr) - 1, weight), weight)


def _both_ways(
    pairs: NDArray[np.intp], price: Floats, n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return links as (indptr, indices, prices), each from both of its ends."""
    a, b = pairs.T
    ends = (np.concatenate([a, b]), np.concatenate([b, a]))
    graph = sparse.csr_array((np.concatenate([price, price]), ends), shape=(n_rows, n_rows))
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data


def _most_certain_first(costs: Floats) -> NDArray[np.intp]:
    """Order rows by how much dearer their second-best cluster is than their best."""
    two = np.sort(costs, axis=1)[:, :2]
    return np.argsort(two[:, 0] - two[:, -1], kind="stable")
