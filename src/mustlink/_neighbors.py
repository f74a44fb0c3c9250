"""The nearest neighbors of every row of a table, by scikit-learn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from mustlink._sklearn_compat import n_threads
from mustlink._types import Floats, Indices

__all__ = ["nearest_neighbors"]

# Up to this many rows are searched at once; with more, a search would take seconds in which Ctrl-C is not heard.
MAX_ROWS_AT_ONCE = 20_000
# scikit-learn compares so many rows at a time, and goes through the rows if a thread has more than four such blocks.
BLOCK_ROWS = 256


def nearest_neighbors(X: Any, n_neighbors: int) -> tuple[Floats, Indices]:
    """Return the distances of every row to its nearest other rows, and their numbers, in blocks of rows.

    The result is that of ``NearestNeighbors.kneighbors()`` on all rows.
    """
    n_rows = X.shape[0]
    model = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    if n_rows <= MAX_ROWS_AT_ONCE:
        distance, neighbor = model.kneighbors()
        return distance, neighbor
    step = BLOCK_ROWS * (4 * n_threads() + 1)
    # The last block has the rest, since scikit-learn would search few rows in another way.
    edges = [*range(0, n_rows - step + 1, step), n_rows]
    found = [_of_block(model, X[begin:end], begin, n_neighbors) for begin, end in pairwise(edges)]
    return np.concatenate([distance for distance, _ in found]), np.concatenate([neighbor for _, neighbor in found])


def _of_block(model: NearestNeighbors, rows: Any, begin: int, n_neighbors: int) -> tuple[Floats, Indices]:
    """Search the neighbors of some rows, and leave out each row itself as scikit-learn does."""
    distance, neighbor = model.kneighbors(rows, n_neighbors + 1)
    others = neighbor != np.arange(begin, begin + len(neighbor))[:, None]
    # A row with more equal rows than neighbors may not be among its own; then the first is left out.
    others[others.all(axis=1), 0] = False
    shape = (len(neighbor), n_neighbors)
    return distance[others].reshape(shape), neighbor[others].reshape(shape)
