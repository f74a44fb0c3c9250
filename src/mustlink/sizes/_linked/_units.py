"""Links and sizes in contracted form: units that move as one, their sizes, and which of them stay apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.constraints import Constraints
from mustlink.kmeans.core import LinkedRows
from mustlink.sizes._linked._program import NO_PAIRS, NO_TRIPLES, Program

__all__ = ["Units", "make_units"]


class NamedRows(LinkedRows):
    """Linked rows, and more rows that are to be units although no link names them."""

    def __init__(self, links: Constraints, n_samples: int, more: Ints) -> None:
        super().__init__(links, n_samples)
        rows = np.union1d(self.rows, more).astype(np.intp)
        if len(rows) > len(self.rows):
            self.links = Constraints(
                np.searchsorted(rows, links.must_link),
                np.searchsorted(rows, links.cannot_link),
                must_link_weight=links.must_link_weight,
                cannot_link_weight=links.cannot_link_weight,
                contradictions="keep",
            )
            self.rows = rows


def make_units(
    links: Constraints,
    n_samples: int,
    size_min: Ints,
    size_max: Ints,
    one_of: Ints = NO_TRIPLES,
    penalty: float | None = None,
    is_soft: Mask | None = None,
) -> Units:
    """Contract links to units.

    Of a triple (i, j, g) in `one_of`, row i is to share a cluster with exactly one of j and g. With a `penalty`, that
    of a must-link of weight 1, must-links may be broken, or those of all links that are `is_soft`; they join no units.
    """
    if is_soft is None:
        is_soft = (links.sign > 0) & (penalty is not None)
    joined, cost = links.pairs[is_soft], (0.0 if penalty is None else penalty) * links.weight[is_soft]
    hard = links.take(~is_soft)
    if len(one_of):
        hard = hard.add(Constraints(cannot_link=one_of[:, 1:]), contradictions="keep")
    linked = NamedRows(hard, n_samples, np.union1d(one_of, joined))

    def unit_of(rows: Ints) -> Ints:
        return linked.closure.component[np.searchsorted(linked.rows, rows)].astype(np.int64)

    return Units(linked, size_min, size_max, unit_of(one_of), unit_of(joined), cost, one_of)


@dataclass(frozen=True, eq=False)
class Units:
    """The linked rows of a table as units, the rows without links, and the sizes that clusters may have.

    A unit is a must-link component, or a row that has only cannot-links. `size_min` and `size_max` have one number per
    cluster. The triples `one_of` and the pairs `joined`, with the `penalty` of each, are numbers of units;
    `triples` are the rows of `one_of`.
    """

    linked: LinkedRows
    size_min: Ints
    size_max: Ints
    one_of: Ints = field(default_factory=lambda: NO_TRIPLES)
    joined: Ints = field(default_factory=lambda: NO_PAIRS)
    penalty: Floats = field(default_factory=lambda: np.empty(0))
    triples: Ints = field(default_factory=lambda: NO_TRIPLES)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.size_min)

    @cached_property
    def free(self) -> Indices:
        """The rows without links."""
        is_free: Mask = np.ones(self.linked.n_samples, dtype=bool)
        is_free[self.linked.rows] = False
        return np.flatnonzero(is_free)

    @property
    def unit(self) -> Indices:
        """The unit of each linked row."""
        return self.linked.closure.component

    @property
    def n_units(self) -> int:
        """The number of units."""
        return self.linked.closure.n_components if len(self.linked.rows) else 0

    @cached_property
    def size(self) -> Ints:
        """The number of rows of each unit."""
        return np.bincount(self.unit, minlength=self.n_units).astype(np.int64)

    @property
    def apart(self) -> Ints:
        """Pairs of units with a cannot-link between them."""
        return self.linked.closure.cannot_link

    @cached_property
    def first_row(self) -> Indices:
        """The first row of each unit, to name it by."""
        return self.linked.rows[np.unique(self.unit, return_index=True)[1]]

    @cached_property
    def graph(self) -> sparse.csr_array:
        """The cannot-links between units."""
        return self.linked.closure.graph()

    @cached_property
    def is_network(self) -> bool:
        """Whether the placement is a network flow: no component of several rows, cannot-links in separate cliques."""
        if (self.size > 1).any() or len(self.one_of) or len(self.joined):
            return False
        n_parts, part = connected_components(self.graph, directed=False)
        n_nodes = np.bincount(part, minlength=n_parts)
        n_edges = np.bincount(part[self.apart[:, 0]], minlength=n_parts)
        return bool((n_edges == n_nodes * (n_nodes - 1) // 2).all())

    @cached_property
    def clique_of_row(self) -> Indices:
        """The clique of cannot-links of every row of the table, -1 for none; only where the links form a network."""
        clique = np.full(self.linked.n_samples, -1, dtype=np.intp)
        clique[self.linked.rows] = connected_components(self.graph, directed=False)[1][self.unit]
        return clique

    def costs(self, costs: Floats) -> Floats:
        """Return the costs of the units, the sums over their rows."""
        ones = np.ones(len(self.unit))
        sums = sparse.csr_array((ones, (self.unit, self.linked.rows)), (self.n_units, len(costs)))
        return np.asarray(sums @ costs, dtype=np.float64).reshape(self.n_units, self.n_clusters)

    def filled(self, placed: Indices) -> Ints:
        """Return how many rows of each cluster are those of units."""
        return np.bincount(placed, self.size, self.n_clusters).astype(np.int64)

    def n_broken_triples(self, placed: Indices) -> int:
        """Return how many triples a placement breaks."""
        i, j, g = placed[self.one_of].T
        return int(((i == j) == (i == g)).sum())

    def size_misfit(self, placed: Indices) -> int:
        """Return by how many rows the sizes cannot be kept beside placed units, whatever the other rows do."""
        filled = self.filled(placed)
        over = np.maximum(filled - self.size_max, 0).sum()
        return int(over + max(0, np.maximum(self.size_min - filled, 0).sum() - len(self.free)))

    def misfit(self, placed: Indices) -> int:
        """Return by how many rows and triples a placement fails."""
        return self.size_misfit(placed) + self.n_broken_triples(placed)

    def broken_penalty(self, placed: Indices) -> float:
        """Return the penalties of the joined pairs that a placement separates."""
        a, b = placed[self.joined].T
        return float(self.penalty[a != b].sum())

    def program(self, costs: Floats) -> Program:
        """Return the cheapest placement of the units and of the rows without links as a program; units come first."""
        n_free = len(self.free)
        n_nodes = self.n_units + n_free
        return Program(
            np.concatenate([self.costs(costs), costs[self.free]]),
            np.concatenate([self.size, np.ones(n_free, dtype=np.int64)]),
            self.size_min,
            self.size_max,
            np.ones(n_nodes, dtype=np.int64),
            # Once the units are placed, the rest is a network flow, whose solutions are whole.
            np.arange(n_nodes) < self.n_units,
            self.apart,
            self.one_of,
            self.joined,
            self.penalty,
        )
