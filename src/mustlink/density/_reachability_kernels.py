"""The compiled spanning tree of mutual reachability distances: Prim's algorithm as in scikit-learn's HDBSCAN."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def reachability_steps(
    X: Any, core: Any, alpha: Any, in_tree: Any, reach: Any, source: Any, edges: Any, lengths: Any, begin: Any, end: Any
) -> None:
    """Take the steps `begin` to `end`, each of which adds the nearest row to the tree.

    `core` is the core distance of every row, `reach` the mutual reachability distance of each row outside to the tree,
    and `source` the row of the tree at that distance. Comparisons are in the order of scikit-learn, for the same ties.
    """
    n_rows, n_features = X.shape
    for step in range(begin, end):
        current = edges[step - 1, 1] if step else 0
        in_tree[current] = True
        shortest, from_row, to_row = np.inf, 0, 0
        for row in range(n_rows):
            if in_tree[row]:
                continue
            squares = 0.0
            for k in range(n_features):
                squares += (X[current, k] - X[row, k]) * (X[current, k] - X[row, k])
            distance = max(core[current], core[row], np.sqrt(squares) / alpha)
            if distance < reach[row]:
                reach[row], source[row] = distance, current
                if distance < shortest:
                    shortest, from_row, to_row = distance, current, row
            elif reach[row] < shortest:
                shortest, from_row, to_row = reach[row], source[row], row
        edges[step, 0], edges[step, 1], lengths[step] = from_row, to_row, shortest
