"""Rejoining must-link components: what links entail counts, and not only the links themselves.

A component that grew by one answer per row is a tree. Breaking one of its links cuts off all rows behind it, although
each of these was said to belong to it. The distances of these rows may outweigh one link, but they are not independent
evidence: runs put similar rows together, and err on all of them together.
"""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Ints
from mustlink.boosting._code_kmeans import weighted_count
from mustlink.constraints import Constraints

__all__ = ["rejoin_components"]

MAX_TURNS = 10
ROUNDING = 1e-12


def rejoin_components(distance: Floats, labels: Ints, links: Constraints, penalty: float) -> Ints:
    """Move parts of must-link components to other parts of them, if their distances do not outweigh the links.

    A part is the rows of a component with the same label. The distances of its n rows, squared and to every center,
    count as those of sqrt(n) rows. `penalty` is that of a link of weight one. Row numbers are those of `distance`.
    """
    labels = labels.copy()
    n_rows, n_clusters = distance.shape
    component_of = links.components(n_rows)
    for _ in range(MAX_TURNS):
        names, part = np.unique(component_of * n_clusters + labels, return_inverse=True)
        component, own = np.divmod(names, n_clusters)
        present = np.zeros((component.max() + 1, n_clusters), dtype=np.bool_)
        present[component, own] = True
        if not (present.sum(axis=1) > 1).any():
            break
        cost = np.column_stack([weighted_count(part, column, len(names)) for column in distance.T])
        cost /= np.sqrt(np.bincount(part))[:, None]
        cost += penalty * link_costs(part, labels, links, cost.shape)
        at_home = np.arange(len(names)), own
        change = cost - cost[at_home][:, None]
        change[~present[component]] = np.inf
        change[at_home] = np.inf
        target, gain = np.argmin(change, axis=1), change.min(axis=1)
        # Of each component, the part that gains most moves.
        order = np.lexsort((gain, component))
        first = order[np.unique(component[order], return_index=True)[1]]
        movers = first[gain[first] < -ROUNDING]
        if not movers.size:
            break
        own[movers] = target[movers]
        labels = own[part]
    return labels


def link_costs(part: Ints, labels: Ints, links: Constraints, shape: tuple[int, ...]) -> Floats:
    """Return the weight of links that each part breaks with each label, up to a constant of the part."""
    signed = np.where(links.sign > 0, -links.weight, links.weight)
    here, there = np.concatenate([links.pairs, links.pairs[:, ::-1]]).T
    leaves = np.flatnonzero(part[here] != part[there])
    entry = np.ravel_multi_index((part[here[leaves]], labels[there[leaves]]), shape)
    weight = signed[leaves % len(signed)]
    return weighted_count(entry, weight, int(np.prod(shape))).reshape(shape)
