"""How many linked rows lie among those of another cluster: evidence against links, whatever was estimated of them.

Links that are right but hard put together rows that the runs keep apart. Still, most linked rows are then nearest to
the others of their cluster. With many wrong links the clusters are mixtures, and hardly differ.
"""

from __future__ import annotations

import numpy as np

from mustlink._types import Ints
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._code_kmeans import code_distances, compute_centers, take_rows

__all__ = ["misplaced_fraction"]

ROUNDING = 1e-12


def misplaced_fraction(rows: CoAssociation, labels: Ints, links: LinkSet) -> float:
    """Return the fraction of linked rows that are nearer to another cluster, as a multiple of that of random clusters.

    A cluster is the center of its linked rows, of its own that of the other ones. Rows without such others do not
    count; without any that count, and with one cluster, the fraction is that of random clusters.
    """
    linked = take_rows(rows, links.rows)
    names, own = np.unique(labels[links.rows], return_inverse=True)
    centers = compute_centers(linked, own, len(names))
    has_others = centers.masses[own] > linked.row_weight
    if len(names) < 2 or not has_others.any():
        return 1.0
    distance = code_distances(linked, centers) + rows.weights.sum()
    at_home = np.arange(len(own)), own
    size, weight = centers.masses[own][has_others], linked.row_weight[has_others]
    to_own = distance[at_home] - 2 * linked.row_weight * linked.noise_weight / centers.masses[own]
    # The mean without a row is farther from it than the mean with it.
    to_others_of_own = to_own[has_others] * (size / (size - weight)) ** 2
    distance[at_home] = np.inf
    is_misplaced = to_others_of_own > distance[has_others].min(axis=1) + ROUNDING
    return float(is_misplaced.mean() / (1 - 1 / len(names)))
