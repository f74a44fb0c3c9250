"""A minimum spanning tree of the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KDTree

from mustlink.hierarchy._spanning_tree_kernels import boruvka, prim_steps

__all__ = ["SpanningTree", "spanning_tree"]

MOST_FEATURES = 12
"""Above so many features boxes overlap so much that going through all pairs of rows is as quick."""

LEAF_SIZE = 8
STEPS_AT_ONCE = 2000


@dataclass(frozen=True)
class SpanningTree:
    """Edges, shortest first, and their lengths; fewer than n - 1 where some distances are infinite."""

    edges: NDArray[np.int64]
    lengths: NDArray[np.float64]


def spanning_tree(X: Any, metric: str, algorithm: str, verbose: int | bool) -> SpanningTree:
    """Find a minimum spanning tree without holding more than one row of distances.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The table, or the square matrix of precomputed distances.
    metric : str
        The name of a metric, or "precomputed".
    algorithm : {"auto", "kd_tree", "prim"}
        How to go about it, where there is a choice.
    verbose : int or bool
        Whether to show a bar.
    """
    if X.shape[0] == 1:
        return SpanningTree(np.empty((0, 2), dtype=np.int64), np.empty(0))
    in_space = metric == "euclidean" and not issparse(X)
    if in_space and (algorithm == "kd_tree" or (algorithm == "auto" and X.shape[1] <= MOST_FEATURES)):
        edges, lengths = _by_boruvka(np.ascontiguousarray(X, dtype=np.float64))
    elif in_space:
        edges, lengths = _by_prim(np.array(X, dtype=np.float64, order="C"), verbose)
    else:
        edges, lengths = _by_rows(X, metric, verbose)
    edges = np.sort(edges, axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    order = order[np.isfinite(lengths[order])]
    return SpanningTree(edges[order], lengths[order])


def _by_boruvka(X: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Join parts with the parts nearest to them, found by way of a k-d tree."""
    _, order, nodes, box = KDTree(X, leaf_size=LEAF_SIZE).get_arrays()
    order = np.asarray(order)
    first, last = (np.ascontiguousarray(nodes[end], dtype=np.int64) for end in ("idx_start", "idx_end"))
    edges, squares = boruvka(X[order], first, last, np.array(box))
    return order[edges].astype(np.int64), np.sqrt(squares)


def _by_prim(X: NDArray[np.float64], verbose: int | bool) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Add the nearest row to the tree, again and again; the table is used up."""
    n_rows = len(X)
    name, reached, near = np.arange(n_rows), np.full(n_rows, np.inf), np.zeros(n_rows, dtype=np.int64)
    edges, squares = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    for begin in _shown(range(0, n_rows - 1, STEPS_AT_ONCE), verbose):
        prim_steps(X, name, reached, near, edges, squares, begin, min(begin + STEPS_AT_ONCE, n_rows - 1))
    return edges, np.sqrt(squares)


def _by_rows(X: Any, metric: str, verbose: int | bool) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Do as Prim for any metric, with one row of distances at a time."""
    n_rows = X.shape[0]
    outside = np.ones(n_rows, dtype=bool)
    reached, near = np.full(n_rows, np.inf), np.zeros(n_rows, dtype=np.int64)
    edges, lengths = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    row = 0
    for step in _shown(range(n_rows - 1), verbose):
        outside[row] = False
        away = X[row] if metric == "precomputed" else pairwise_distances(X[row : row + 1], X, metric=metric)[0]
        closer = outside & (away < reached)
        reached[closer], near[closer] = away[closer], row
        row = int(np.argmin(np.where(outside, reached, np.inf)))
        if not outside[row]:
            # Nothing outside can be reached: another tree of the forest begins, by an edge that does not count.
            row = int(np.argmax(outside))
        edges[step], lengths[step] = (near[row], row), reached[row]
    return edges, lengths


def _shown(steps: range, verbose: int | bool) -> Iterable[int]:
    """Go through the steps, with a bar if asked for."""
    if not verbose:
        return steps
    from rich.progress import track

    return track(steps, "Spanning tree")
