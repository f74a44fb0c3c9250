"""The merges of A* and NR*: pairs of rows, the most similar first."""

from __future__ import annotations

import numpy as np

from mustlink._types import Array, Floats
from mustlink.relational._apart import Apart
from mustlink.relational._baselines import hyperedge_similarity, row_pairs
from mustlink.relational._merging import MERGE, threshold_key
from mustlink.relational._merging_kernels import STEPS
from mustlink.relational._problem import Problem


class PairMerging:
    """Clusters that are merged pair by pair.

    At every threshold they are the connected components of the pairs at least as similar, if nothing keeps rows apart.
    `hyperedge_match` is None for attributes alone.
    """

    def __init__(
        self, problem: Problem, apart: Apart, alpha: float, hyperedge_match: str | None, max_pairs: int
    ) -> None:
        self.apart = apart
        self.left, self.right, attribute = row_pairs(problem, max_pairs)
        relational = np.zeros(len(attribute))
        if hyperedge_match is not None:
            relational = hyperedge_similarity(problem, self.left, self.right, hyperedge_match)
            similarity = (1 - alpha) * attribute + alpha * relational
        else:
            similarity = attribute
        self.parts = similarity, attribute, relational
        self.n_evaluations = len(attribute)

    def merge_down(self, threshold: float) -> Array:
        """Join the most similar pairs first, down to a threshold, and return the merges."""
        key = self._key()
        chosen = np.flatnonzero(key >= threshold_key(threshold))
        chosen = chosen[np.lexsort((self.right[chosen], self.left[chosen], -key[chosen]))]
        joined = self.apart.join(self.left[chosen], self.right[chosen])
        is_merge = joined[:, 0] >= 0
        return _merges(*joined[is_merge].T, *(part[chosen[is_merge]] for part in self.parts))

    def remaining(self) -> Array:
        """Return the pairs of clusters that could still be merged, each with its most similar pair of rows."""
        cluster = self.apart.clusters()
        left, right = cluster[self.left], cluster[self.right]
        left, right = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((-self._key(), right, left))
        order = order[left[order] != right[order]]
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = (np.diff(left[order]) != 0) | (np.diff(right[order]) != 0)
        best = order[is_first]
        is_free = ~self.apart.forbids(left[best], right[best])
        best = best[is_free]
        return _merges(left[best], right[best], *(part[best] for part in self.parts))

    def _key(self) -> Array:
        """Return the similarities as they are compared."""
        return np.floor(self.parts[0] * STEPS + 0.5).astype(np.int64)


def _merges(left: Array, right: Array, similarity: Floats, attribute: Floats, relational: Floats) -> Array:
    """Put columns into one array of merges."""
    found = np.empty(len(left), dtype=MERGE)
    for name, column in zip(MERGE.names or (), (left, right, similarity, attribute, relational), strict=True):
        found[name] = column
    return found
