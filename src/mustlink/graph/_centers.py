"""Centers: far from each other along the graph, and in the middle of a cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mustlink._types import Floats, Indices, Ints
from mustlink.base import check_fits
from mustlink.graph._adjacency import Adjacency
from mustlink.graph._distances import MAX_DISTANCES, Distances
from mustlink.graph._growth import reach_of

__all__ = ["Spread", "best_centers", "farthest_first"]

# The most rows of a cluster that are tried as its center.
MAX_TRIED = 200


@dataclass(frozen=True)
class Spread:
    """Centers with their distances and reaches to all rows, and the largest reach that is left."""

    centers: Indices
    distances: Floats
    reach: Floats

    @property
    def radius(self) -> float:
        """The least radius at which the centers reach all rows."""
        return float(self.reach.min(axis=0).max())


def farthest_first(graph: Adjacency | None, distances: Distances, n_clusters: int, start: int) -> Spread:
    """Choose centers one by one, each the row that those before reach last.

    Parameters
    ----------
    graph : Adjacency or None
        The edges.
    distances : Distances
        The distances between rows.
    n_clusters : int
        The number of centers, at least that of the connected parts.
    start : int
        The first center.

    Returns
    -------
    Spread
        Its radius is at most twice the least possible one with clusters that may overlap, in a metric. The argument
        needs no symmetry of the reach: of more than n_clusters rows that reach each other only beyond t, two are in one
        cluster of the optimum, and a path over its center stays within twice its radius. Rows of parts without a
        center are reached at infinity, so that every part gets one before any gets two, and then the part with the
        largest radius the next.
    """
    check_fits(
        "The reach of the centers",
        (n_clusters, distances.n_rows),
        MAX_DISTANCES,
        "use fewer clusters or a sample of the rows",
    )
    centers = np.empty(n_clusters, dtype=np.intp)
    lines, reach = np.empty((n_clusters, distances.n_rows)), np.empty((n_clusters, distances.n_rows))
    least = np.full(distances.n_rows, np.inf)
    # Never chosen twice, also among equal rows.
    is_free = np.ones(distances.n_rows, dtype=bool)
    for place in range(n_clusters):
        row = start if place == 0 else int(np.where(is_free, least, -1.0).argmax())
        is_free[row] = False
        centers[place] = row
        lines[place] = distances.from_rows(np.array([row]))[0]
        reach[place] = reach_of(graph, lines[place], row)
        np.minimum(least, reach[place], out=least)
    return Spread(centers, lines, reach)


def best_centers(distances: Distances, labels: Ints, centers: Indices) -> tuple[Indices, Floats]:
    """Return the row of each cluster whose largest distance to the cluster is least, and that distance.

    Parameters
    ----------
    distances : Distances
        The distances between rows.
    labels : ndarray of shape (n_rows,)
        The clusters; -1 is none.
    centers : ndarray of shape (n_clusters,)
        A row of every cluster, tried first.

    Returns
    -------
    centers : ndarray of shape (n_clusters,)
        The centers. In very large clusters without a clear middle they may be a little off.
    radii : ndarray of shape (n_clusters,)
        Their radii.
    """
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(len(centers) + 1))
    found = [_best_center(distances, order[bounds[c] : bounds[c + 1]], int(center)) for c, center in enumerate(centers)]
    return np.array([row for row, _ in found], dtype=np.intp), np.array([radius for _, radius in found])


def _best_center(distances: Distances, members: Indices, center: int) -> tuple[int, float]:
    """Search the center of one cluster: the row with the least bound is next, and each row that is tried raises bounds.

    The farthest row from a tried one bounds the radius around every other row from below.
    """
    if len(members) == 1:
        return int(members[0]), 0.0
    inside = distances.within(members)
    lower = np.zeros(len(members))
    tried, best, radius = int(np.searchsorted(members, center)), -1, np.inf
    for _ in range(MAX_TRIED):
        line = inside.from_rows(np.array([tried]))[0]
        farthest = int(line.argmax())
        if line[farthest] < radius:
            best, radius = tried, float(line[farthest])
        lower = np.maximum(lower, inside.from_rows(np.array([farthest]))[0])
        lower[tried] = np.inf
        tried = int(lower.argmin())
        if lower[tried] >= radius:
            break
    return int(members[best]), radius
