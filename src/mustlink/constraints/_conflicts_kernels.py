"""Shortest chains of must-links, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mustlink._jit import jit


@jit
def shortest_path(indptr: NDArray[np.int64], indices: NDArray[np.int64], start: int, end: int) -> NDArray[np.int64]:
    """Search breadth first from one node until the other is met, and walk back."""
    n_nodes = len(indptr) - 1
    came_from = np.full(n_nodes, -1, dtype=np.int64)
    queue = np.empty(n_nodes, dtype=np.int64)
    queue[0] = end
    came_from[end] = end
    n_queued, head = 1, 0
    while came_from[start] < 0 and head < n_queued:
        node = queue[head]
        head += 1
        for edge in range(indptr[node], indptr[node + 1]):
            neighbour = indices[edge]
            if came_from[neighbour] < 0:
                came_from[neighbour] = node
                queue[n_queued] = neighbour
                n_queued += 1
    # The search began at the end, so that the steps back lead from start to end.
    length = 0
    queue[0] = start
    while queue[length] != end:
        queue[length + 1] = came_from[queue[length]]
        length += 1
    return queue[: length + 1].copy()
