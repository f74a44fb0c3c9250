"""Links to give up where not all can be kept beside the sizes."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.constraints import Constraints
from mustlink.sizes._linked._linked import LinkedAssignment
from mustlink.sizes._linked._program import NO_TRIPLES
from mustlink.sizes._linked._units import Units, make_units

__all__ = ["clustering_with_few_breaks"]


def clustering_with_few_breaks(
    links: Constraints, costs: Floats, size_min: Ints, size_max: Ints, one_of: Ints = NO_TRIPLES
) -> Ints:
    """Return labels that keep all sizes and break few links, none where that is found possible.

    Components are kept whole while that leaves room for the sizes. The largest one of a cluster that is too full is
    divided into its rows, at a penalty for each must-link that breaks; a single row that is in the way loses its links.
    """
    # More than the costs of all rows together: no link is broken for their sake.
    penalty = 1.0 + float(np.ptp(costs, axis=1).sum())
    is_kept: Mask = np.ones(len(links), dtype=bool)
    is_soft: Mask = np.zeros(len(links), dtype=bool)
    while True:
        kept = links.take(is_kept)
        units = make_units(kept, len(costs), size_min, size_max, one_of, penalty, is_soft[is_kept])
        assignment = LinkedAssignment(units, exact=False, relax=True)
        placed = assignment.with_few_breaks(costs)
        if not units.size_misfit(placed):
            return assignment.labels_beside(costs, placed)
        divided, dropped = _in_the_way(units, placed)
        is_soft |= (links.sign > 0) & np.isin(links.pairs, divided).any(axis=1)
        is_kept &= ~np.isin(links.pairs, dropped).any(axis=1)
        one_of = one_of[~np.isin(one_of, dropped).any(axis=1)]


def _in_the_way(units: Units, placed: Indices) -> tuple[Indices, Indices]:
    """Return the rows of the largest unit of each cluster that is too full, components and single rows apart.

    If none is too full, a cluster is too small, and all units may be in the way.
    """
    over = np.flatnonzero(units.filled(placed) > units.size_max)
    inside = [np.flatnonzero(placed == cluster) for cluster in over] or [np.arange(units.n_units)]
    largest = np.array([members[np.argmax(units.size[members])] for members in inside], dtype=np.intp)
    is_single = units.size[largest] == 1
    rows = units.linked.rows
    return rows[np.isin(units.unit, largest[~is_single])], rows[np.isin(units.unit, largest[is_single])]
