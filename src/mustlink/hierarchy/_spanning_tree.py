"""A minimum spanning tree of the rows of X."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KDTree

from mustlink._progress import progress
from mustlink._types import Floats, Ints
from mustlink.hierarchy._spanning_tree_kernels import begin_round, join_parts, nearest_outside, prim_steps

__all__ = ["spanning_tree"]

# With more features, the boxes of a k-d tree overlap so much that going through all pairs of rows is as fast.
MAX_TREE_FEATURES = 12

LEAF_SIZE = 8
# Compiled calls return to Python about once a second at the latest, where Ctrl-C can stop them.
ROWS_AT_ONCE = 8_192
DIFFERENCES_AT_ONCE = 200_000_000


def spanning_tree(X: Any, metric: str, algorithm: str, verbose: int | bool) -> tuple[Ints, Floats]:
    """Return the edges of a minimum spanning tree, shortest first, and their lengths.

    At most one row of distances is stored. There are fewer than n - 1 edges if some distances are infinite.
    """
    if X.shape[0] == 1:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    is_dense = metric == "euclidean" and not issparse(X)
    if is_dense and (algorithm == "kd_tree" or (algorithm == "auto" and X.shape[1] <= MAX_TREE_FEATURES)):
        edges, lengths = _by_boruvka(np.ascontiguousarray(X, dtype=np.float64))
    elif is_dense:
        edges, lengths = _by_prim(np.array(X, dtype=np.float64, order="C"), verbose)
    else:
        edges, lengths = _by_rows(X, metric, verbose)
    edges = np.sort(edges, axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    order = order[np.isfinite(lengths[order])]
    return edges[order], lengths[order]


def _by_boruvka(X: Floats) -> tuple[Ints, Floats]:
    """Join each part with the nearest other part, found by a k-d tree."""
    _, order, nodes, box = KDTree(X, leaf_size=LEAF_SIZE).get_arrays()
    order = np.asarray(order)
    first, last = (np.ascontiguousarray(nodes[end], dtype=np.int64) for end in ("idx_start", "idx_end"))
    edges, squares = _boruvka(X[order], first, last, np.array(box))
    return order[edges].astype(np.int64), np.sqrt(squares)


def _boruvka(P: Floats, first: Ints, last: Ints, box: Floats) -> tuple[Ints, Floats]:
    """Return the edges of a minimum spanning tree of rows in the order of a k-d tree, and their squared lengths.

    In every round each part is joined with the nearest other part. With ties, edges that would close a cycle are
    skipped, and the tree is one of several.
    """
    n_rows = len(P)
    parent, part = np.arange(n_rows), np.arange(n_rows)
    known, floor = np.full(n_rows, -1), np.zeros(n_rows)
    best, edge = np.empty(n_rows), np.empty((n_rows, 2), dtype=np.int64)
    node_part = np.empty(len(first), dtype=np.int64)
    tree, length = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    n_edges, n_before = 0, -1
    # A round without a new edge would be followed by others: no row is at a finite distance of another part.
    while n_before < n_edges < n_rows - 1:
        begin_round(parent, part, known, floor, best, edge, node_part, first, last)
        for begin in range(0, n_rows, ROWS_AT_ONCE):
            some = (begin, min(begin + ROWS_AT_ONCE, n_rows))
            nearest_outside(P, part, known, floor, best, edge, node_part, first, last, box, *some)
        n_before, n_edges = n_edges, join_parts(parent, best, edge, tree, length, n_edges)
    return tree[:n_edges], length[:n_edges]


def _by_prim(X: Floats, verbose: int | bool) -> tuple[Ints, Floats]:
    """Add the nearest row to the tree, again and again; X is overwritten."""
    n_rows = len(X)
    name, reached, near = np.arange(n_rows), np.full(n_rows, np.inf), np.zeros(n_rows, dtype=np.int64)
    edges, squares = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    n_steps = max(1, DIFFERENCES_AT_ONCE // X.size)
    for begin in _track(range(0, n_rows - 1, n_steps), verbose):
        prim_steps(X, name, reached, near, edges, squares, begin, min(begin + n_steps, n_rows - 1))
    return edges, np.sqrt(squares)


def _by_rows(X: Any, metric: str, verbose: int | bool) -> tuple[Ints, Floats]:
    """Run Prim's algorithm for any metric, with one row of distances at a time."""
    n_rows = X.shape[0]
    outside = np.ones(n_rows, dtype=bool)
    reached, near = np.full(n_rows, np.inf), np.zeros(n_rows, dtype=np.int64)
    edges, lengths = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    row = 0
    for step in _track(range(n_rows - 1), verbose):
        outside[row] = False
        away = X[row] if metric == "precomputed" else pairwise_distances(X[row : row + 1], X, metric=metric)[0]
        closer = outside & (away < reached)
        reached[closer], near[closer] = away[closer], row
        row = int(np.argmin(np.where(outside, reached, np.inf)))
        if not outside[row]:
            # All rows outside are infinitely far: begin another tree, by an edge of infinite length, which is dropped.
            row = int(np.argmax(outside))
        edges[step], lengths[step] = (near[row], row), reached[row]
    return edges, lengths


def _track(steps: range, verbose: int | bool) -> Iterator[int]:
    """Iterate over the steps, with a progress bar if verbose."""
    with progress(len(steps), "Spanning tree", shown=verbose) as advance:
        for step in steps:
            yield step
            advance()
