"""Disjoint connected clusters from overlapping ones: Algorithm 2 of the source, in several orders."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import permutations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from mustlink._types import Indices, Ints
from mustlink.graph._adjacency import Adjacency
from mustlink.graph._centers import Spread
from mustlink.graph._disjoint_kernels import make_disjoint
from mustlink.graph._growth import grow_smoothly

__all__ = ["assign_disjointly", "separate", "split_off_leaves"]

# All orders of the centers are tried if that visits no more rows than this, and otherwise some random ones.
MAX_VISITED = 2_000_000
N_RANDOM_ORDERS = 8
# Radii are compared with this relative tolerance.
TOLERANCE = 1e-12


def separate(graph: Adjacency, spread: Spread, order: Indices, radius: float) -> tuple[Ints, float]:
    """Return disjoint connected clusters of centers that reach all rows within a radius, assigned in one order.

    Parameters
    ----------
    graph : Adjacency
        The edges.
    spread : Spread
        The centers.
    order : ndarray of shape (n_clusters,)
        The order of the centers, from 0.
    radius : float
        A radius at which they reach all rows.

    Returns
    -------
    labels : ndarray of shape (n_rows,)
        The clusters; one whose center an earlier cluster has taken is empty.
    largest : float
        The largest distance of a row from the center of its cluster, at most 2 n_clusters - 1 times the radius in a
        metric.
    """
    labels = np.empty(graph.n_rows, dtype=np.int64)
    largest = make_disjoint(
        graph.indptr,
        graph.indices,
        spread.distances,
        spread.reach,
        spread.centers.astype(np.int64),
        np.asarray(order, dtype=np.int64),
        radius * (1 + TOLERANCE),
        labels,
    )
    return labels, float(largest)


def assign_disjointly(graph: Adjacency | None, spread: Spread, rng: np.random.RandomState) -> Ints:
    """Return disjoint connected clusters around centers: the best of several orders, and of continuous growth.

    Parameters
    ----------
    graph : Adjacency or None
        The edges.
    spread : Spread
        The centers.
    rng : RandomState
        Draws orders.

    Returns
    -------
    ndarray of shape (n_rows,)
        The clusters, none of them empty.
    """
    n_rows = spread.distances.shape[1]
    best, _ = grow_smoothly(graph, spread.distances, spread.centers)
    if graph is None:
        return best
    least = float(spread.distances[best, np.arange(n_rows)].max())
    for order in _orders(len(spread.centers), n_rows, rng):
        labels, largest = separate(graph, spread, order, spread.radius)
        if largest < least:
            best, least = labels, largest
    return split_off_leaves(graph, best, spread)


def _orders(n_clusters: int, n_rows: int, rng: np.random.RandomState) -> Iterator[Indices]:
    """Yield the orders of the centers that are tried."""
    if n_clusters < 10 and math.factorial(n_clusters) * n_rows <= MAX_VISITED:
        yield from (np.array(order) for order in permutations(range(n_clusters)))
        return
    forward = np.arange(n_clusters)
    yield forward
    yield forward[::-1]
    yield from (rng.permutation(n_clusters) for _ in range(N_RANDOM_ORDERS))


def split_off_leaves(graph: Adjacency, labels: Ints, spread: Spread) -> Ints:
    """Return clusters without empty ones: a row without which its cluster stays connected becomes a cluster.

    Parameters
    ----------
    graph : Adjacency
        The edges.
    labels : ndarray of shape (n_rows,)
        Connected clusters, of which some may be empty.
    spread : Spread
        The centers and their distances.

    Returns
    -------
    ndarray of shape (n_rows,)
        The clusters. Rows that are split off are leaves of a tree from the center, the farthest first, so that no
        radius rises.
    """
    n_clusters, n_rows = spread.distances.shape
    empty = np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    ends = np.repeat(np.arange(n_rows), graph.degree)
    inside = labels[ends] == labels[graph.indices]
    edges = sparse.csr_array((np.ones(inside.sum()), (ends[inside], graph.indices[inside])), shape=(n_rows, n_rows))
    parent = np.full(n_rows, -1, dtype=np.intp)
    for c in np.setdiff1d(np.arange(n_clusters), empty):
        order, before = breadth_first_order(edges, int(spread.centers[c]), directed=False)
        parent[order] = before[order]
    n_children = np.bincount(parent[parent >= 0], minlength=n_rows)
    far = spread.distances[labels, np.arange(n_rows)]
    leaves = [(-far[row], int(row)) for row in np.flatnonzero((n_children == 0) & (parent >= 0))]
    heapq.heapify(leaves)
    for c in empty:
        row = heapq.heappop(leaves)[1]
        labels[row] = c
        above = int(parent[row])
        n_children[above] -= 1
        if n_children[above] == 0 and parent[above] >= 0:
            heapq.heappush(leaves, (-far[above], above))
    return labels
