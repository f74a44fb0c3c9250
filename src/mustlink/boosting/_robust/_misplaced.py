"""How many linked rows lie among those of another cluster: evidence against links, whatever was estimated of them.

Links that are right but hard put together rows that the runs keep apart. Still, most linked rows are then nearest to
the others of their cluster. With many wrong links the clusters are mixtures, and hardly differ.
"""

from __future__ import annotations

import numpy as np

from mustlink._types import Ints, Mask
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._code_kmeans import code_distances, compute_centers, take_rows

__all__ = ["count_misplaced", "misplaced_fraction"]

ROUNDING = 1e-12


def misplaced_fraction(rows: CoAssociation, labels: Ints, links: LinkSet) -> float:
    """Return the fraction of linked rows that are nearer to another cluster, as a multiple of that of random clusters.

    A cluster is the center of its linked rows, of its own that of the other ones. Rows without such others do not
    count; without any that count, and with one cluster, the fraction is that of random clusters.
    """
    is_misplaced, n_clusters = find_misplaced(rows, labels, links)
    if n_clusters < 2 or not is_misplaced.size:
        return 1.0
    return float(is_misplaced.mean() / (1 - 1 / n_clusters))


def count_misplaced(rows: CoAssociation, labels: Ints, links: LinkSet, n_clusters: int) -> float:
    """Return the number of linked rows that are nearer to another cluster.

    If all linked rows are in one cluster, nothing can be said; it is the number in random clusters then.
    """
    is_misplaced, n_used = find_misplaced(rows, labels, links)
    return float(is_misplaced.sum()) if n_used > 1 else (1 - 1 / n_clusters) * len(links.rows)


def find_misplaced(rows: CoAssociation, labels: Ints, links: LinkSet) -> tuple[Mask, int]:
    """Return whether each linked row that counts is misplaced, and the number of clusters of linked rows."""
    linked = take_rows(rows, links.rows)
    names, own = np.unique(labels[links.rows], return_inverse=True)
    centers = compute_centers(linked, own, len(names))
    has_others = centers.masses[own] > linked.row_weight
    if len(names) < 2 or not has_others.any():
        return np.zeros(0, dtype=np.bool_), len(names)
    distance = code_distances(linked, centers) + rows.weights.sum()
    at_home = np.arange(len(own)), own
    size, weight = centers.masses[own][has_others], linked.row_weight[has_others]
    to_own = distance[at_home] - 2 * linked.row_weight * linked.noise_weight / centers.masses[own]
    # The mean without a row is farther from it than the mean with it.
    to_others_of_own = to_own[has_others] * (size / (size - weight)) ** 2
    distance[at_home] = np.inf
    return np.asarray(to_others_of_own > distance[has_others].min(axis=1) + ROUNDING), len(names)
