"""Rules for the linked rows: which rows go together as units, and which clusters the units go to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from mustlink._types import Floats, Indices, Mask
from mustlink.constraints import Closure, Constraints, Groups, LinkGraph
from mustlink.inference import LinkModel, iterated_conditional_modes

__all__ = ["NO_ROWS", "LinkRule", "LinkedRows", "NoPlacement", "SoftLinks"]

NO_ROWS: Indices = np.empty(0, dtype=np.intp)


class LinkedRows:
    """The linked rows of a fit and their links, numbered by the places of these rows; each part is computed once.

    The rows of `alone`, groups without any other link, are not among them.
    """

    def __init__(self, links: Constraints, n_samples: int) -> None:
        self.given, self.n_samples = links, n_samples
        alone, others = links.split_groups()
        self.alone = alone.cannot_link_groups
        self.rows, self.links = others.expand().compact()

    @cached_property
    def closure(self) -> Closure:
        """The must-link components of the linked rows."""
        return self.links.closure(len(self.rows))

    @cached_property
    def groups(self) -> Groups:
        """The components of two and more rows."""
        return self.closure.groups()

    @cached_property
    def graph(self) -> LinkGraph:
        """The links of every linked row."""
        return self.links.adjacency(len(self.rows))


class NoPlacement(Exception):  # noqa: N818  (a turn of the search, not an error that a user meets)
    """A rule found no clusters for its units in this run; another start may do better."""


class LinkRule:
    """Rows that do not simply go to the nearest center, in units, and the rule that places the units.

    All other rows are free. `unit` is the unit of each of the `rows` under the rule. The base class is the rule of no
    units, and of units that never move from the clusters `fixed`.
    """

    # What a squared distance is multiplied with in the objective.
    data_factor = 1.0

    def __init__(self, rows: Indices = NO_ROWS, unit: Indices = NO_ROWS, fixed: Indices = NO_ROWS) -> None:
        self.rows, self.unit, self._fixed = rows, unit, fixed
        self.n_units = int(unit.max()) + 1 if unit.size else 0

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        """Return the cluster of each unit, given its cost in each cluster and where it was."""
        return self._fixed.copy()

    def parts(self, n_clusters: int) -> list[slice]:
        """Return the units in parts that are placed independently of each other."""
        return [slice(0, self.n_units)]

    def place_part(self, part: slice, costs: Floats, previous: Indices | None) -> Indices:
        """Return the cluster of each unit of a part, given its cost in each cluster and where it was."""
        return self.place(costs, previous)

    def try_another_order(self) -> None:
        """Prepare for another run after one that found no placement."""

    def set_penalties(self, penalties: Floats) -> None:
        """Take the penalties of the links under a new metric."""

    def penalty(self, units: Indices) -> float:
        """Return what the objective adds for broken links."""
        return 0.0

    def pulled_units(self, units: Indices) -> tuple[Indices, Indices, Floats] | None:
        """Return units that broken links add to the means of clusters they are not in, the clusters, and the shares."""
        return None

    def n_broken(self, units: Indices) -> int:
        """Return how many links a hard rule had to break; a run with fewer is better whatever its objective."""
        return 0

    def movers(self) -> tuple[Indices, Indices]:
        """Return the first unit of all that can move as one into an empty cluster, and how many units each has."""
        return np.arange(self.n_units), np.ones(self.n_units, dtype=np.intp)

    def units_of(self, mover: int) -> Indices:
        """Return the units that move together."""
        return np.array([mover])

    def gain_of_leaving(self, units: Indices, distance: Floats, c: int) -> Floats:
        """Return how far the objective falls if a mover goes into the empty cluster c, whose center becomes its mean.

        `distance` is the (weighted) squared distance of every unit to its center.
        """
        return np.full(self.n_units, -np.inf)


class SoftLinks(LinkRule):
    """Links with a penalty: distances and the penalties of broken links are lowered together.

    Each linked row is a unit. `penalties` are those of a :class:`mustlink.inference.LinkModel`, None if a geometry
    measures the links. `group_scatter` returns the squared distances of each component's rows to their mean; with it,
    components of several rows can move into an empty cluster as a whole.
    """

    def __init__(
        self,
        linked: LinkedRows,
        penalties: Floats | None = None,
        *,
        data_factor: float = 1.0,
        group_scatter: Callable[[], Floats] | None = None,
    ) -> None:
        super().__init__(linked.rows, np.arange(len(linked.rows)))
        self.data_factor = data_factor
        self._graph, self._groups = linked.graph, linked.groups
        self._is_must: Mask = self._graph.sign > 0
        self._penalties = np.zeros(len(self._is_must)) if penalties is None else penalties
        self._scatter = group_scatter

    def set_penalties(self, penalties: Floats) -> None:
        self._penalties = penalties

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        model = LinkModel(-self.data_factor * costs, self._graph, self._penalties)
        return iterated_conditional_modes(model, self._groups, previous)

    def penalty(self, units: Indices) -> float:
        cost, broken = self._between(*units[self._graph.pairs].T), self.broken(units)
        return float(cost[broken & self._is_must].sum() + cost[broken & ~self._is_must].sum())

    def broken(self, units: Indices) -> Mask:
        """Return whether each link is broken."""
        a, b = units[self._graph.pairs].T
        return np.asarray((a != b) == self._is_must)

    def movers(self) -> tuple[Indices, Indices]:
        first, size = super().movers()
        if self._scatter is None:
            return first, size
        indptr, rows, _ = self._groups
        return np.concatenate([first, rows[indptr[:-1]]]), np.concatenate([size, np.diff(indptr)])

    def units_of(self, mover: int) -> Indices:
        # Single rows come first, then components.
        if mover < self.n_units:
            return np.array([mover])
        start, stop = self._groups.indptr[mover - self.n_units :][:2]
        return self._groups.rows[start:stop]

    def gain_of_leaving(self, units: Indices, distance: Floats, c: int) -> Floats:
        data = self.data_factor * distance
        a, b = units[self._graph.pairs].T
        together = a == b
        change = np.where(self._is_must, -self._between(a, np.full(len(a), c)), self._between(a, b)) * together
        rows = data + self._sum_of_links(change)
        if self._scatter is None or not self._groups.rows.size:
            return rows
        # A component that moves as a whole saves the cannot-links that lead out of it.
        indptr, grouped, number = self._groups
        one, other = number[self._graph.pairs].T
        leads_out = ~self._is_must & ((one != other) | (one < 0))
        saved = data + self._sum_of_links(change * leads_out)
        inside = units[grouped]
        is_whole = np.minimum.reduceat(inside, indptr[:-1]) == np.maximum.reduceat(inside, indptr[:-1])
        groups = np.add.reduceat(saved[grouped], indptr[:-1]) - self.data_factor * self._scatter()
        return np.concatenate([rows, np.where(is_whole, groups, -np.inf)])

    def _between(self, a: Indices, b: Indices) -> Floats:
        """Return what each link costs if it is broken between the clusters a and b of its ends."""
        if self._penalties.ndim == 1:
            return self._penalties
        links = np.arange(len(a))
        return np.asarray(0.5 * (self._penalties[links, a] + self._penalties[links, b]))

    def _sum_of_links(self, value: Floats) -> Floats:
        """Return the sum of a value of the links over the links of each row."""
        return np.bincount(self._graph.pairs.ravel(), np.repeat(value, 2), self.n_units).astype(np.float64)
