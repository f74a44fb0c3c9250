"""Rows with links whose price depends on how long they are under the metrics of the clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import RowBlocks
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.kmeans._mpckmeans_kernels import sweep_groups, sweep_rows
from mustlink.kmeans._mpckmeans_metrics import LongestPairs, Metrics

MOST_SWEEPS = 100
"""Far more than are ever made; rounding could otherwise let rows hand a tie to and fro."""


class MeasuredLinks:
    """The linked rows, labelled so that distances and the price of broken links are low together.

    A broken must-link costs its weight times its squared length, averaged over the metrics of its two clusters. A
    broken cannot-link costs its weight times what its squared length falls short of that of the longest pair.

    Parameters
    ----------
    table : RowBlocks
        All rows.
    links : Constraints
        The links.
    penalty : float
        What the weights are multiplied with.
    n_clusters : int
        The number of clusters.
    """

    def __init__(self, table: RowBlocks, links: Constraints, penalty: float, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        self.rows = links.constrained_rows().astype(np.intp)
        self.must = np.searchsorted(self.rows, links.must_link)
        self.cannot = np.searchsorted(self.rows, links.cannot_link)
        self.must_price = penalty * links.must_link_weight
        self.cannot_price = penalty * links.cannot_link_weight
        self.Z = table.rows(self.rows)
        self.must_difference = self.Z[self.must[:, 0]] - self.Z[self.must[:, 1]]
        self.cannot_difference = self.Z[self.cannot[:, 0]] - self.Z[self.cannot[:, 1]]
        self._longest = LongestPairs(table) if len(self.cannot) else None
        self._must_ends = _priced(self.must, self.must_price, len(self.rows))
        self._cannot_ends = _priced(self.cannot, self.cannot_price, len(self.rows))
        self._groups = groups_of_rows(links.components(table.n_rows)[self.rows])

    def measure(self, metrics: Metrics) -> None:
        """Take the lengths of the links, and find the longest pairs, under new metrics."""
        self.must_length = metrics.lengths(self.must_difference, self.n_clusters)
        self.cannot_length = metrics.lengths(self.cannot_difference, self.n_clusters)
        self.longest = np.zeros((len(metrics.matrices), self.Z.shape[1]))
        if self._longest is not None:
            self.longest = self._longest.under(metrics, self.cannot_difference)
        reach = np.diagonal(metrics.lengths(self.longest, len(self.longest)))
        self.reach = np.ascontiguousarray(np.broadcast_to(reach, self.n_clusters))

    def place(self, costs: Floats, previous: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """Sweep over rows and over whole must-link components in turn until the objective falls no more.

        The most certain go first, and nothing but exact ties depends on how the rows are numbered.
        """
        labels = np.full(len(self.rows), -1, dtype=np.intp) if previous is None else previous.copy()
        links = (*self._must_ends, self.must_length, *self._cannot_ends, self.cannot_length, self.reach)
        row_order = most_certain_first(costs)
        group_indptr, group_rows, _ = self._groups
        group_order = np.empty(0, dtype=np.intp)
        if group_rows.size:
            group_order = most_certain_first(np.add.reduceat(costs[group_rows], group_indptr[:-1]))
        for _ in range(MOST_SWEEPS):
            sweep_rows(costs, *links, row_order, MOST_SWEEPS, labels)
            if not sweep_groups(costs, *links, *self._groups, group_order, labels):
                break
        return labels

    def penalty(self, labels: NDArray[np.intp]) -> float:
        """Return the price of all broken links."""
        a, b, broken = _ends(labels, self.must, together=False)
        length = 0.5 * (self.must_length[broken, a] + self.must_length[broken, b])
        total = self.must_price[broken] @ length
        c, _, broken = _ends(labels, self.cannot, together=True)
        return float(total + self.cannot_price[broken] @ (self.reach[c] - self.cannot_length[broken, c]))

    def scatter(self, labels: NDArray[np.intp], metrics: Metrics) -> Floats:
        """Return what broken links add to the scatter of each cluster."""
        a, b, must = _ends(labels, self.must, together=False)
        c, _, cannot = _ends(labels, self.cannot, together=True)
        longest = np.broadcast_to(self.longest, (self.n_clusters, self.Z.shape[1]))[c]
        differences = (self.must_difference[must], self.must_difference[must], longest, self.cannot_difference[cannot])
        half, whole = 0.5 * self.must_price[must], self.cannot_price[cannot]
        return metrics.outer_sums(
            np.concatenate(differences),
            np.concatenate([a, b, c, c]),
            np.concatenate([half, half, whole, -whole]),
            self.n_clusters,
        )


def _ends(
    labels: NDArray[np.intp], pairs: NDArray[np.intp], *, together: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the clusters of both ends of the pairs that are together, or of those that are not, and which they are."""
    a, b = labels[pairs].T.reshape(2, -1)
    which = np.flatnonzero((a == b) == together)
    return a[which], b[which], which


def both_ways(pairs: NDArray[np.intp], n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return links as (indptr, partner, number of the pair), each from both of its ends."""
    one, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((other, one))
    pair = np.tile(np.arange(len(pairs)), 2)[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=n_rows))])
    return indptr.astype(np.int64), other[order].astype(np.int64), pair


def _priced(
    pairs: NDArray[np.intp], price: Floats, n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return links as (indptr, partner, number of the pair, price)."""
    indptr, partner, pair = both_ways(pairs, n_rows)
    return indptr, partner, pair, price[pair]


def groups_of_rows(component: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Return where each must-link component of several rows begins, their rows, and the component of each row or -1."""
    several = np.flatnonzero(np.bincount(component)[component] > 1) if component.size else component
    rows = several[np.argsort(component[several], kind="stable")]
    _, number, size = np.unique(component[rows], return_inverse=True, return_counts=True)
    group_of = np.full(len(component), -1, dtype=np.intp)
    group_of[rows] = number
    return np.concatenate([[0], np.cumsum(size)]).astype(np.int64), rows, group_of


def most_certain_first(costs: Floats) -> NDArray[np.intp]:
    """Order rows by how much dearer their second-best cluster is than their best."""
    two = np.sort(costs, axis=1)[:, :2]
    return np.argsort(two[:, 0] - two[:, -1], kind="stable")
