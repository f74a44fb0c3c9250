"""Rows whose links are decided one by one, and the pull that broken links have on the centres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink._rows import Assignment, RowBlocks
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.kmeans._lcvqe_kernels import settle_cannot_links, settle_must_links
from mustlink.kmeans._lloyd import BoundRows, Labels


class Pulls(NamedTuple):
    """Rows that broken links add to the means of clusters they are not in, and by how much."""

    rows: NDArray[np.intp]
    clusters: NDArray[np.intp]
    shares: Floats


class PairwiseLinks(BoundRows):
    """The rows that have a link, labelled link by link.

    Parameters
    ----------
    table, weight : RowBlocks and ndarray of shape (n_rows,)
        All rows and their weights.
    links : Constraints
        The links.
    penalty : float
        What the weights of the links are multiplied with.
    """

    data_factor = 0.5

    def __init__(self, table: RowBlocks, weight: Floats, links: Constraints, penalty: float) -> None:
        rows = links.constrained_rows().astype(np.intp)
        super().__init__(table, weight, rows, np.arange(len(rows)))
        self._must, self._must_weight = self._least_plausible_first(
            np.searchsorted(rows, links.must_link), penalty * links.must_link_weight, -1.0
        )
        self._cannot, self._cannot_weight = self._least_plausible_first(
            np.searchsorted(rows, links.cannot_link), penalty * links.cannot_link_weight, 1.0
        )
        self._costs = np.empty((0, 0))

    def place(self, costs: Floats, previous: Labels | None) -> Labels:
        """Give every row its nearest centre, then walk over the must-links and over the cannot-links."""
        self._costs = costs
        labels = costs.argmin(axis=1)
        settle_must_links(costs, self._must, self._must_weight, labels)
        settle_cannot_links(costs, self._cannot, self._cannot_weight, labels)
        return labels

    def penalty(self, labels: Labels) -> float:
        """Return half the distances of pulled rows to the centres that they pull, times their shares."""
        pulls = self._pulls(labels)
        return 0.5 * float(pulls.shares @ self._costs[pulls.rows, pulls.clusters])

    def pull(self, labels: Labels, free: Assignment) -> None:
        """Add the pulled rows to the sums of their clusters."""
        assert self.means is not None
        pulls = self._pulls(labels)
        weight = self.weight[pulls.rows] * pulls.shares
        shape = (len(free.counts), self.n_items)
        member = sparse.csr_array((weight, (pulls.clusters, pulls.rows)), shape=shape)
        counts = np.bincount(pulls.clusters, weight, len(free.counts))
        sums = member @ self.means.X
        free.counts[:] += counts
        free.sums[:] += (sums.toarray() if self.means.is_sparse else sums) - counts[:, None] * free.origin

    def gain_of_leaving(self, labels: Labels, own_cost: Floats) -> Floats:
        """Return the data term that a row would save; what its links make of it shows in the next round."""
        return self.data_factor * own_cost

    def _pulls(self, labels: Labels) -> Pulls:
        """Find the links that the labels break, and which rows they add to which clusters.

        The rows of a must-link pull the centre of the other's cluster, each with half the weight of the link. Of two
        rows that should be apart, the farther from their centre pulls the nearest other centre with the weight.
        """
        ends = labels[self._must]
        broken = ends[:, 0] != ends[:, 1]
        rows, clusters = self._must[broken].ravel(), ends[broken][:, ::-1].ravel()
        shares = np.repeat(0.5 * self._must_weight[broken], 2)
        if self._costs.shape[1] == 1:
            return Pulls(rows, clusters, shares)
        together = labels[self._cannot[:, 0]] == labels[self._cannot[:, 1]]
        pairs = self._cannot[together]
        own = labels[pairs[:, 0]]
        is_first = self._costs[pairs[:, 0], own] > self._costs[pairs[:, 1], own]
        farther = np.where(is_first, pairs[:, 0], pairs[:, 1])
        others = self._costs[farther]
        others[np.arange(len(farther)), own] = np.inf
        return Pulls(
            np.concatenate([rows, farther]),
            np.concatenate([clusters, others.argmin(axis=1)]),
            np.concatenate([shares, self._cannot_weight[together]]),
        )

    def _least_plausible_first(
        self, pairs: NDArray[np.intp], weight: Floats, sign: float
    ) -> tuple[NDArray[np.intp], Floats]:
        """Order links by weight, and those of equal weight by length; the last one decides.

        A long must-link and a short cannot-link are the least plausible.
        """
        if len(pairs) == 0:
            return pairs, weight
        assert self.means is not None
        apart = self.means.X[pairs[:, 0]] - self.means.X[pairs[:, 1]]
        length = np.asarray((apart.multiply(apart) if self.means.is_sparse else np.square(apart)).sum(axis=1)).ravel()
        order = np.lexsort((sign * length, weight))
        return np.ascontiguousarray(pairs[order]), np.ascontiguousarray(weight[order])
