"""Linked rows whose price is a distortion, the same for all clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.kmeans._hmrfkmeans_distortions import Distortion
from mustlink.kmeans._mpckmeans_links import both_ways, groups_of_rows, most_certain_first
from mustlink.kmeans._pckmeans_kernels import sweep_groups, sweep_rows


class DistortedLinks:
    """The linked rows, labelled so that distortions and the price of broken links are low together.

    Parameters
    ----------
    distortion : Distortion
        Of the table, and of the must-links and then the cannot-links.
    links : Constraints
        The links.
    penalty : float
        What the weights are multiplied with.
    """

    def __init__(self, distortion: Distortion, links: Constraints, penalty: float) -> None:
        self.rows = links.constrained_rows().astype(np.intp)
        self.distortion = distortion
        self._must = np.searchsorted(self.rows, links.must_link)
        self._cannot = np.searchsorted(self.rows, links.cannot_link)
        self._must_weight = penalty * links.must_link_weight
        self._cannot_weight = penalty * links.cannot_link_weight
        self._groups = groups_of_rows(links.components(distortion.n_rows)[self.rows])

    def prices(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return what it costs to break each must-link and each cannot-link."""
        length = self.distortion.lengths(weights)
        must, cannot = np.split(length, [len(self._must)])
        # Rounding must not make a broken link earn something.
        short = np.maximum(self.distortion.longest(weights) - cannot, 0.0) if len(cannot) else cannot
        return self._must_weight * must, self._cannot_weight * short

    def place(self, costs: Floats, weights: Floats, previous: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """Sweep over rows and over whole must-link components in turn until the objective falls no more."""
        labels = np.full(len(self.rows), -1, dtype=np.intp) if previous is None else previous.copy()
        must_price, cannot_price = self.prices(weights)
        partners = (
            *_priced(both_ways(self._must, len(self.rows)), must_price),
            *_priced(both_ways(self._cannot, len(self.rows)), cannot_price),
        )
        row_order = most_certain_first(costs)
        group_indptr, group_rows, _ = self._groups
        group_order = np.empty(0, dtype=np.intp)
        if group_rows.size:
            group_order = most_certain_first(np.add.reduceat(costs[group_rows], group_indptr[:-1]))
        sweep_rows(costs, *partners, row_order, labels)
        while sweep_groups(costs, *partners, *self._groups, group_order, labels):
            sweep_rows(costs, *partners, row_order, labels)
        return labels

    def penalty(self, labels: NDArray[np.intp], weights: Floats) -> float:
        """Return the price of all broken links."""
        must_price, cannot_price = self.prices(weights)
        must, cannot = self._broken(labels)
        return float(must_price[must].sum() + cannot_price[cannot].sum())

    def gradient(self, labels: NDArray[np.intp], weights: Floats) -> Floats:
        """Return the derivative of that price by the weights, the longest distortion held fast."""
        must, cannot = self._broken(labels)
        factor = np.concatenate([self._must_weight * must, -self._cannot_weight * cannot])
        return self.distortion.gradient_of_lengths(factor, weights)

    def _broken(self, labels: NDArray[np.intp]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say which must-links and which cannot-links are broken."""
        must, cannot = labels[self._must], labels[self._cannot]
        return must[:, 0] != must[:, 1], cannot[:, 0] == cannot[:, 1]


def _priced(
    ends: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], price: Floats
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return links as (indptr, partner, price)."""
    indptr, partner, pair = ends
    return indptr, partner, price[pair]
