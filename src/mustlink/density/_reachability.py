"""The single-linkage tree of mutual reachability distances for many rows, in blocks that return to Python.

It is the tree of scikit-learn's HDBSCAN, bit for bit. That one is built in a single call, which for hundreds of
thousands of rows takes hours and does not hear Ctrl-C.
"""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from mustlink._sklearn_compat import MST_EDGE, make_single_linkage
from mustlink._types import Array, Floats
from mustlink.density._reachability_kernels import reachability_steps

__all__ = ["reachability_hierarchy"]

# A search or a compiled call takes about a second at the most.
QUERIES_AT_ONCE = 256
DIFFERENCES_AT_ONCE = 200_000_000


def reachability_hierarchy(X: Floats, neighbors: NearestNeighbors, min_samples: int, alpha: float) -> Array:
    """Return the two nodes, the distance and the size of every join, for Euclidean distances.

    `neighbors` is how the core distances are searched, and `min_samples` counts the row itself.
    """
    neighbors.fit(X)
    blocks = gen_batches(len(X), QUERIES_AT_ONCE)
    core = np.concatenate([neighbors.kneighbors(X[rows], min_samples)[0][:, -1] for rows in blocks])
    tree = _spanning_tree(X, core, alpha)
    return np.asarray(make_single_linkage(tree[np.argsort(tree["distance"])]))


def _spanning_tree(X: Floats, core: Floats, alpha: float) -> Array:
    """Return a minimum spanning tree of the mutual reachability distances."""
    n_rows = len(X)
    edges, lengths = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    state = (np.zeros(n_rows, dtype=np.bool_), np.full(n_rows, np.inf), np.ones(n_rows, dtype=np.int64))
    for steps in gen_batches(n_rows - 1, max(1, DIFFERENCES_AT_ONCE // X.size)):
        reachability_steps(X, core, alpha, *state, edges, lengths, steps.start, steps.stop)
    tree = np.empty(n_rows - 1, dtype=MST_EDGE)
    tree["current_node"], tree["next_node"], tree["distance"] = edges[:, 0], edges[:, 1], lengths
    return tree
