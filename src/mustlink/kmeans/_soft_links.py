"""Rows with links that cost something to break."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink.constraints import Constraints
from mustlink.kmeans._lloyd import BoundRows, Labels
from mustlink.kmeans._pckmeans_kernels import sweep_groups, sweep_rows
from mustlink.kmeans._table import Floats, Table


class SoftLinks(BoundRows):
    """The rows that have a link, labelled so that distances and the price of broken links are low together.

    Parameters
    ----------
    table, weight : Table and ndarray of shape (n_rows,)
        All rows and their weights.
    links : Constraints
        The links.
    price : float
        What it costs to break a link of weight one.
    """

    data_factor = 0.5

    def __init__(self, table: Table, weight: Floats, links: Constraints, price: float) -> None:
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
        self._group_of = links.components(table.n_rows)[rows]
        # Only components of several rows move as a whole; the others do so as rows.
        several = np.flatnonzero(np.bincount(self._group_of)[self._group_of] > 1)
        members = several[np.argsort(self._group_of[several], kind="stable")]
        _, number, size = np.unique(self._group_of[members], return_inverse=True, return_counts=True)
        self._group_of = np.full(len(rows), -1, dtype=np.intp)
        self._group_of[members] = number
        self._group_rows = members
        self._group_indptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)

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

    def gain_of_leaving(self, labels: Labels, own_cost: Floats) -> Floats:
        """Return the data term and the cannot-links that a row would save, less the must-links it would break."""
        gain = self.data_factor * own_cost
        for pairs, price in ((self._must, -self._must_price), (self._cannot, self._cannot_price)):
            together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
            for end in (0, 1):
                gain += np.bincount(pairs[together, end], price[together], self.n_items)
        return gain


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
