"""Rows in no link that follow the linked rows, and not the other way round.

Runs divide a large class, and the consensus with them. Links can put the linked rows of that class together again, and
give the cluster that becomes free to a small class; but the rows in no link stay where the runs put them, and the
center of the small class is then among the rows of the large one. It is at the linked rows that this shows: they are
far from the centers of their own clusters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mustlink._types import Ints
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._code_kmeans import CodeCenters, assign, code_distances, compute_centers, take_rows

__all__ = ["centers_of_linked", "should_follow_linked", "sum_of_linked"]

ROUNDING = 1e-12


def centers_of_linked(rows: CoAssociation, labels: Ints, links: LinkSet, centers: CodeCenters) -> CodeCenters:
    """Return the centers of the linked rows; of clusters without any, the given centers of all rows."""
    of_linked = compute_centers(take_rows(rows, links.rows), labels[links.rows], len(centers.masses))
    absent = of_linked.masses == 0
    return replace(
        centers,
        table=np.where(absent, centers.table, of_linked.table),
        lengths=np.where(absent, centers.lengths, of_linked.lengths),
        masses=np.where(absent, centers.masses, of_linked.masses),
    )


def should_follow_linked(rows: CoAssociation, labels: Ints, links: LinkSet, n_clusters: int) -> bool:
    """Whether linked rows are nearer to the centers of all rows if the others go to the nearest center of linked ones.

    `labels` are those of all given rows.
    """
    centers = compute_centers(rows, labels, n_clusters)
    following, _ = assign(rows, centers_of_linked(rows, labels, links, centers), labels)
    following[links.rows] = labels[links.rows]
    before = sum_of_linked(rows, centers, labels, links)
    after = sum_of_linked(rows, compute_centers(rows, following, n_clusters), labels, links)
    return after < before - ROUNDING * abs(before)


def sum_of_linked(rows: CoAssociation, centers: CodeCenters, labels: Ints, links: LinkSet) -> float:
    """Return the sum of the squared distances of linked rows to the centers of their clusters, up to a constant."""
    distance = code_distances(take_rows(rows, links.rows), centers)
    return float(distance[np.arange(len(links.rows)), labels[links.rows]].sum())
