"""The instant clustering: seeded single linkage along a tree that is computed once."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

from mustlink._types import Array, Floats, Ints
from mustlink.constraints import Constraints
from mustlink.errors import FileFormatError
from mustlink.hierarchy import SeededSingleLink
from mustlink.studio._margin_kernels import bottleneck_margins

__all__ = ["InstantClusterer"]

# Larger tables with more columns are clustered by their first principal components, for which a k-d tree is fast.
MAX_EXACT_ROWS = 20_000
MAX_COLUMNS = 12


class InstantClusterer:
    """Seeded single linkage with the confidence of every row.

    The tree is computed when it is first needed, or by :meth:`prepare`, which may run in another thread.
    """

    def __init__(self, X: Array, random_state: int = 0) -> None:
        self._X = X
        self._random_state = random_state
        self._lock = threading.Lock()
        self.is_reduced = X.shape[0] > MAX_EXACT_ROWS and X.shape[1] > MAX_COLUMNS

    def prepare(self) -> None:
        """Compute the tree now."""
        with self._lock:
            _ = self._rooted

    @property
    def packed_tree(self) -> bytes | None:
        """The tree as bytes, for :meth:`load`; None as long as it is not computed."""
        if "_model" not in vars(self):
            return None
        edges, lengths = self._model.tree_, self._model.tree_lengths_
        return edges.astype("<i4").tobytes() + lengths.astype("<f8").tobytes()

    def load(self, packed_tree: bytes) -> None:
        """Take a tree that was computed earlier of the same rows."""
        n_rows = len(self._X)
        model = SeededSingleLink()
        n_bytes = 8 * (n_rows - 1)
        if len(packed_tree) != 2 * n_bytes:
            raise FileFormatError(f"The tree kept in the file is not one of {n_rows:,} rows; the file is damaged.")
        model.tree_ = np.frombuffer(packed_tree[:n_bytes], dtype="<i4").astype(np.int64).reshape(-1, 2)
        model.tree_lengths_ = np.frombuffer(packed_tree[n_bytes:], dtype="<f8").astype(np.float64)
        model.labels_ = np.zeros(n_rows, dtype=np.int64)
        vars(self)["_model"] = model

    def cluster(self, links: Constraints, pins: list[int], n_clusters: int | None) -> tuple[Ints, Floats]:
        """Return the labels and confidences of all rows; there is at least one link or pin."""
        self.prepare()
        model = self._model
        model.n_clusters = n_clusters
        seeds = None
        if not np.isin(pins, links.constrained_rows()).all():
            # A single pinned row has no link, and yet is a seed.
            seeds = np.full(len(self._X), -1)
            seeds[pins[0]] = 0
        # Not by `update`, whose warnings of broken links cannot be left out in one thread alone; the studio tells them.
        model._label(links, len(self._X), seeds)
        labels: Ints = model.labels_
        order, above, step = self._rooted
        ordered = labels[order]
        confidence = np.empty(len(labels))
        confidence[order] = bottleneck_margins(above, step, np.where(model.seeds_[order] >= 0, ordered, -1), ordered)
        return labels, confidence

    @cached_property
    def _model(self) -> SeededSingleLink:
        X = self._X
        if self.is_reduced:
            from sklearn.decomposition import PCA

            X = PCA(MAX_COLUMNS, random_state=self._random_state).fit_transform(X)
        return SeededSingleLink().fit(X)

    @cached_property
    def _rooted(self) -> tuple[Ints, Ints, Floats]:
        """The tree from a root down: the rows in order, the place of the parent of each, and the length of the edge.

        In this order, neighbors in the tree are near each other in memory.
        """
        n_rows = len(self._X)
        tree: Any = self._model.tree_
        if n_rows == 1:
            return np.zeros(1, dtype=np.int64), np.full(1, -1), np.zeros(1)
        a, b = tree.T
        # Ones, since a sparse array has no edges of length 0.
        graph = coo_array((np.ones(len(tree)), (a, b)), shape=(n_rows, n_rows)).tocsr()
        order, before = breadth_first_order(graph, 0, directed=False)
        step = np.zeros(n_rows)
        step[np.where(before[b] == a, b, a)] = self._model.tree_lengths_
        place = np.empty(n_rows, dtype=np.int64)
        place[order] = np.arange(n_rows)
        # The root has no parent.
        above = np.concatenate([[-1], place[before[order[1:]]]])
        return order.astype(np.int64), above, step[order]
