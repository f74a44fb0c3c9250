"""Growth of connected clusters from seeds, and the reach of a row: the least radius at which it reaches the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._types import Floats, Indices, Ints
from mustlink.graph._adjacency import Adjacency
from mustlink.graph._distances import Distances
from mustlink.graph._growth_kernels import grow, grow_by_rounds

__all__ = ["grow_in_rounds", "grow_smoothly", "reach_of", "reach_of_all"]

# Orders of the clusters, one for each round; more rounds begin with the first again.
N_ORDERS = 64


def reach_of(graph: Adjacency | None, distances: Floats, row: int) -> Floats:
    """Return the least radius around a row within which a path leads to each row; infinity if none does.

    Parameters
    ----------
    graph : Adjacency or None
        The edges; without, the reach is the distance.
    distances : ndarray of shape (n_rows,)
        The distances from the row.
    row : int
        The row.

    Returns
    -------
    ndarray of shape (n_rows,)
        R(row, v) for all v: the minimum over paths of the maximum of the distances from `row`.
    """
    if graph is None:
        return distances
    return grow_smoothly(graph, distances[None], np.array([row]))[1]


def reach_of_all(graph: Adjacency | None, distances: Distances) -> Floats:
    """Return the reach of every row, an array of shape (n_rows, n_rows), for few rows."""
    table = distances.from_rows(np.arange(distances.n_rows))
    return np.array([reach_of(graph, line, row) for row, line in enumerate(table)])


def grow_smoothly(graph: Adjacency | None, distances: Floats, seeds: Indices) -> tuple[Ints, Floats]:
    """Grow clusters with a radius that rises continuously.

    Parameters
    ----------
    graph : Adjacency or None
        The edges; without, every row joins the nearest center.
    distances : ndarray of shape (n_clusters, n_rows)
        The distances from the centers.
    seeds : ndarray of shape (n_clusters,)
        The first row of every cluster.

    Returns
    -------
    labels : ndarray of shape (n_rows,)
        The clusters.
    thresholds : ndarray of shape (n_rows,)
        The radius at which each row was assigned.
    """
    if graph is None:
        return _nearest(distances, seeds)
    labels, keys = _outcome(graph)
    grow(graph.indptr, graph.indices, distances, seeds.astype(np.int64), labels, keys)
    return labels, keys


def grow_in_rounds(
    graph: Adjacency | None,
    distances: Floats,
    seeds: Indices,
    first_radius: float,
    step: float,
    rng: np.random.RandomState,
) -> tuple[Ints, Floats]:
    """Grow clusters with a radius that rises by a step from round to round, as published.

    Takes and returns what :func:`grow_smoothly` does. Clusters take their turns in a random order in each round.
    """
    if graph is None:
        labels, nearest = _nearest(distances, seeds)
        n_steps = np.ceil(np.maximum(nearest - first_radius, 0.0) / step) if step > 0 else 0.0
        return labels, np.maximum(first_radius + n_steps * step, nearest)
    orders = np.array([rng.permutation(len(seeds)) for _ in range(N_ORDERS)], dtype=np.int64)
    labels, thresholds = _outcome(graph)
    grow_by_rounds(
        graph.indptr, graph.indices, distances, seeds.astype(np.int64), first_radius, step, orders, labels, thresholds
    )
    return labels, thresholds


def _nearest(distances: Floats, seeds: Indices) -> tuple[Ints, Floats]:
    """Put every row into the cluster of the nearest center, and the seeds into their own."""
    labels: Any = distances.argmin(axis=0).astype(np.int64)
    labels[seeds] = np.arange(len(seeds))
    return labels, distances[labels, np.arange(distances.shape[1])]


def _outcome(graph: Adjacency) -> tuple[Ints, Floats]:
    """Return room for the labels and the keys of all rows."""
    return np.empty(graph.n_rows, dtype=np.int64), np.empty(graph.n_rows)
