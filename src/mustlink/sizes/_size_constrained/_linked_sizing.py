"""Sizes together with links, as the assignment step of k-means takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from itertools import combinations

import numpy as np

from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink._warnings import warn_caller
from mustlink.base import check_fits
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, InfeasibleError, InfeasibleWarning
from mustlink.sizes._linked._linked import LinkedAssignment
from mustlink.sizes._linked._relax import clustering_with_few_breaks
from mustlink.sizes._linked._units import make_units
from mustlink.sizes._size_constrained._row_costs import RowCosts
from mustlink.sizes._size_constrained._sizing import Placement, Prices, Sizing

__all__ = ["LinkedSizing", "add_links", "relax_links", "warn_of_breaks"]

# Beside links, the costs of all rows are held so many times: as they are, with shared ones for must-link components,
# and those of the rows without links.
N_HELD = 3
# The most numbers for that (3.2 GB).
MAX_HELD = 3 << 27


@dataclass(frozen=True)
class LinkedSizing(Sizing):
    """Bounds of the sizes, and links and triples that the assignment keeps."""

    links: Constraints = field(kw_only=True)
    one_of: Ints = field(kw_only=True)
    assignment: LinkedAssignment = field(kw_only=True)
    n_samples: int = field(kw_only=True)

    @property
    def is_bound(self) -> Mask | None:
        bound: Mask = np.zeros(self.n_samples, dtype=bool)
        bound[self.links.constrained_rows()] = True
        bound[self.one_of] = True
        return bound

    def is_met_by_nearest(self, labels: Array) -> bool:
        if not (super().is_met_by_nearest(labels) and self.links.satisfied(labels).all()):
            return False
        return bool(kept_triples(self.one_of, labels).all())

    def place(self, costs: RowCosts, previous: Prices | None = None, before: Array | None = None) -> Placement:
        start = None if previous is None else previous.columns
        if self.assignment.is_network:
            found, prices = self.assignment.assign_network(costs, before, start)
        else:
            found, prices = self.assignment.assign(costs.whole(), before, start)
        labels = found.astype(np.int32)
        return Placement(labels, self._own_costs(costs, labels), self._split(prices))

    def gains(self, costs_of: Callable[[], RowCosts], labels: Array, prices: Prices) -> Floats:
        # With links, no path of single rows tells what a looser bound gains.
        return self.unknown_gains(labels)


def add_links(sizing: Sizing, links: Constraints, one_of: Ints, n_samples: int) -> Sizing:
    """Return the sizing with links, refused where quick tests prove that the two do not go together."""
    linked = _linked(sizing, links, one_of, n_samples)
    linked.assignment.check()
    return linked


def relax_links(sizing: Sizing, links: Constraints, one_of: Ints, costs: RowCosts) -> Sizing:
    """Return the sizing with the links that can be kept; which ones is decided at the costs of a start."""
    n_samples = costs.shape[0]
    if sizing.apart is not None:
        raise ConstraintError('apart cannot be combined with links that are relaxed; pass on_infeasible="raise".')
    try:
        linked = add_links(sizing, links, one_of, n_samples)
        linked.place(costs)
    except InfeasibleError:
        _check_held(*costs.shape)
        lowest, highest = _bounds_of_rows(sizing, n_samples)
        labels = clustering_with_few_breaks(links, costs.whole(), lowest, highest, one_of)
        kept = one_of[kept_triples(one_of, labels)]
        return _linked(sizing, links.take(links.satisfied(labels)), kept, n_samples, labels)
    return linked


def _linked(
    sizing: Sizing, links: Constraints, one_of: Ints, n_samples: int, known: Ints | None = None
) -> LinkedSizing:
    """Add links to a sizing; `known` are labels that keep both."""
    for name, value in (("pivot_min", sizing.pivots), ("outlier_cost", sizing.outlier_cost)):
        if value is not None:
            raise ConstraintError(f"{name} cannot be combined with links; leave out one of the two.")
    if sizing.apart is not None:
        if sizing.apart_max > 1:
            raise ConstraintError(
                f"apart cannot be combined with links for apart_max={sizing.apart_max}; pass apart_max=1."
            )
        _refuse_joined_rows(sizing.apart, links)
        links = links.add(_links_of_groups(sizing.apart), contradictions="keep")
    units = make_units(links, n_samples, *_bounds_of_rows(sizing, n_samples), one_of)
    given = {own.name: getattr(sizing, own.name) for own in fields(Sizing)}
    assignment = LinkedAssignment(units, known=known)
    if not assignment.is_network:
        _check_held(n_samples, sizing.n_clusters)
    return LinkedSizing(**given, links=links, one_of=one_of, assignment=assignment, n_samples=n_samples)


def _check_held(n_rows: int, n_clusters: int) -> None:
    """Refuse costs that are too many to be held."""
    shape = n_rows, N_HELD * n_clusters
    check_fits("The assignment under links and sizes", shape, MAX_HELD, "use fewer rows, or leave out the links")


def _refuse_joined_rows(group: Indices, links: Constraints) -> None:
    """Refuse must-links that connect two rows of a group."""
    rows = np.flatnonzero(group >= 0)
    kind = np.column_stack([group, links.components(len(group))])[rows]
    _, first, number = np.unique(kind, axis=0, return_index=True, return_inverse=True)
    for again in np.flatnonzero(first[number.ravel()] != np.arange(len(rows)))[:1]:
        a, b = rows[first[number.ravel()[again]]], rows[again]
        raise InfeasibleError(
            f"The rows {a} and {b} are of one group that is to be apart, but must-links connect them",
            remedy="drop_link",
        )


def _links_of_groups(group: Indices) -> Constraints:
    """Return cannot-links between all rows of each group; there are no more rows in one than clusters."""
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    members = np.split(rows, np.flatnonzero(np.diff(group[rows])) + 1)
    return Constraints(cannot_link=[pair for inside in members for pair in combinations(inside.tolist(), 2)])


def _bounds_of_rows(sizing: Sizing, n_samples: int) -> tuple[Ints, Ints]:
    """Return the bounds as numbers of rows; links and bounds of sums of weights are refused together."""
    if sizing.weight is None:
        return sizing.lowest, sizing.highest
    if sizing.lowest.any() or (sizing.highest < sizing.weight.sum()).any():
        raise ConstraintError(
            "Bounds of sums of weights cannot be combined with links: no fast method divides weights exactly; pass "
            'size_by="rows" to count rows.'
        )
    return np.zeros(sizing.n_clusters, dtype=np.int64), np.full(sizing.n_clusters, n_samples, dtype=np.int64)


def kept_triples(one_of: Ints, labels: Array) -> Mask:
    """Return which triples have their first row with exactly one of the others."""
    i, j, g = labels[one_of].T
    return np.asarray((i == j) != (i == g))


def warn_of_breaks(links: Constraints, violations: Constraints, one_of: Ints, labels: Array) -> None:
    """Warn if a clustering breaks links or triples."""
    n_broken, n_triples = len(violations), int((~kept_triples(one_of, labels)).sum())
    if n_broken or n_triples:
        broken = f"{n_broken:,} of {count(len(links), 'link')}"
        if len(one_of):
            broken += f" and {n_triples:,} of {count(len(one_of), 'triple')}"
        warn_caller(
            f"Not all links could be kept beside the sizes: the clustering breaks {broken}",
            InfeasibleWarning,
            remedy="see_violations",
        )
