"""Links with a penalty, some of them in groups without a list of their pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._types import Floats, Indices
from mustlink.kmeans._group_units import GroupUnits
from mustlink.kmeans._rules import LinkedRows, SoftLinks
from mustlink.kmeans._soft_groups_kernels import sweep_groups_apart

__all__ = ["SoftGroups"]


class SoftGroups(SoftLinks):
    """Soft links, and groups whose rows have no other link, in which every two rows of one cluster cost a penalty.

    The rows of the groups are units after those of the links. They are placed as the others are, one row at a time,
    with the links counted instead of listed. `penalty` is that of a link of weight one.
    """

    def __init__(self, linked: LinkedRows, n_clusters: int, penalty: float, **options: Any) -> None:
        super().__init__(linked, penalty * linked.links.weight, **options)
        self._n_clusters = n_clusters
        self._alone = GroupUnits(linked.alone, self.n_units)
        self._group_penalty = penalty * self._alone.weight
        self._unit_penalty = np.repeat(self._group_penalty, self._alone.sizes)
        self.rows = np.concatenate([self.rows, self._alone.rows])
        self.n_units = len(self.rows)
        self.unit = np.arange(self.n_units)

    def parts(self, n_clusters: int) -> list[slice]:
        return self._alone.parts(n_clusters)

    def place_part(self, part: slice, costs: Floats, previous: Indices | None) -> Indices:
        if part.start < self._alone.n_before:
            return self.place(costs, previous)
        costs = self.data_factor * costs
        bounds = self._alone.bounds(part)
        labels = np.full(len(costs), -1, dtype=np.intp) if previous is None else previous.copy()
        group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        two = np.partition(costs, min(1, costs.shape[1] - 1), axis=1)[:, :2]
        # The most certain rows of each group first.
        order = np.lexsort((two[:, 0] - two[:, -1], group))
        sweep_groups_apart(costs, bounds, self._group_penalty[self._alone.groups_in(part)], order, labels)
        return labels

    def penalty(self, units: Indices) -> float:
        sharing = self._alone.n_sharing(units, self._n_clusters)
        return super().penalty(units) + 0.5 * float(self._unit_penalty @ sharing)

    def gain_of_leaving(self, units: Indices, distance: Floats, c: int) -> Floats:
        gain = super().gain_of_leaving(units, distance, c)
        sharing = self._alone.n_sharing(units, self._n_clusters)
        gain[self._alone.n_before : self.n_units] += self._unit_penalty * sharing
        return gain
