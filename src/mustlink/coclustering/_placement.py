"""K-means on bi-sets: starts, iterations, and the best state of all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from mustlink._types import Floats, Indices, Ints
from mustlink.coclustering._bisets import Bisets
from mustlink.coclustering._placement_kernels import count_members, place_bisets

__all__ = ["Placement", "State"]

# Below this a distance is a rounding error.
MIN_DISTANCE = 1e-12


class State(NamedTuple):
    """A partition of the bi-sets, its centroids as elements x clusters, and its cost; iterations, and costs of all."""

    labels: Ints
    row_weights: Floats
    column_weights: Floats
    cost: float
    n_iter: int
    costs: list[float]


@dataclass(frozen=True)
class Placement:
    """The bi-sets to partition, with the cannot-links between their elements (rows first)."""

    bisets: Bisets
    cannot_link: Ints
    n_clusters: int

    @cached_property
    def _sides(self) -> tuple[tuple[Ints, Indices], tuple[Ints, Indices]]:
        """The members of every bi-set on both sides, for the kernels."""
        rows, columns = self.bisets
        return (rows.indptr.astype(np.int64), rows.indices), (columns.indptr.astype(np.int64), columns.indices)

    @cached_property
    def _cannot(self) -> tuple[Ints, Ints, int]:
        """The ends of cannot-links in every bi-set; the ends 2 i and 2 i + 1 are those of link i."""
        n_ends = self.cannot_link.size
        if not n_ends:
            return np.zeros(self.bisets.n_bisets + 1, dtype=np.int64), np.empty(0, dtype=np.int64), 0
        members = sparse.csr_array(sparse.hstack(self.bisets, format="csr"), dtype=np.int32)
        incidence = (np.ones(n_ends, dtype=np.int32), (self.cannot_link.ravel(), np.arange(n_ends)))
        ends = sparse.csr_array(members @ sparse.csr_array(incidence, shape=(members.shape[1], n_ends)))
        return ends.indptr.astype(np.int64), ends.indices.astype(np.int64), n_ends

    def run(
        self, init: Literal["random", "k-means++"], max_iter: int, *, shuffle: bool, relax: bool, seed: int
    ) -> State | None:
        """Run one start; None if some bi-set has no cluster without a broken cannot-link.

        The mean does not minimize the distance, so that the cost may increase; the best state is returned.
        """
        rng = np.random.RandomState(seed)
        chosen = self._choose(init, rng)
        order = np.arange(self.bisets.n_bisets)
        # Without cannot-links the order has no effect, and the order in memory is the fastest.
        if shuffle and len(self.cannot_link):
            order = rng.permutation(order)
        weights = self._centroids(np.arange(self.n_clusters), self.bisets.take(chosen))
        labels = np.full(self.bisets.n_bisets, -1)
        best: State | None = None
        costs: list[float] = []
        # One pass more than iterations, for the cost of the last state.
        for n_done in range(max_iter + 1):
            found, distance, cost, n_failed = self._place(weights, order, labels, relax=relax)
            if n_failed and not relax:
                if n_done == 1:
                    # The first placement broke no link, and only its cost is missing.
                    cost = self._place(weights, order, labels, relax=True)[2]
                    best = State(labels, *weights, float(cost), 1, [float(cost)])
                    costs = best.costs
                return best._replace(n_iter=min(n_done + 1, max_iter), costs=costs) if best is not None else None
            if n_done:
                costs.append(float(cost))
                if best is None or cost < best.cost:
                    best = State(labels, *weights, float(cost), n_done, costs)
            found = self._fill_empty(found, distance)
            if n_done == max_iter or (n_done and np.array_equal(found, labels)):
                break
            labels, weights = found, self._centroids(found, self.bisets)
        assert best is not None
        return best._replace(n_iter=min(n_done + 1, max_iter), costs=costs)

    def distances_to(self, biset: int) -> Floats:
        """Return the distance of every bi-set to one of them."""
        weights = self._centroids(np.zeros(1, dtype=np.int64), self.bisets.take(np.array([biset])), 1)
        none = np.zeros(self.bisets.n_bisets + 1, dtype=np.int64), np.empty(0, dtype=np.int64), 0
        order, before = np.arange(self.bisets.n_bisets), np.full(self.bisets.n_bisets, -1)
        return np.asarray(place_bisets(*self._sides, _prepare(*weights), order, none, before, True)[1])

    def _place(
        self, weights: tuple[Floats, Floats], order: Indices, before: Ints, *, relax: bool
    ) -> tuple[Ints, Floats, float, int]:
        """Place every bi-set by its distance to the centroids."""
        found: tuple[Ints, Floats, float, int] = place_bisets(
            *self._sides, _prepare(*weights), order, self._cannot, before, relax
        )
        return found

    def _choose(self, init: str, rng: np.random.RandomState) -> Indices:
        """Choose different bi-sets as first centroids, at random or far from each other."""
        distinct = self._distinct
        if init == "random":
            return rng.choice(distinct, self.n_clusters, replace=False)
        chosen = [int(rng.choice(distinct))]
        nearest = self.distances_to(chosen[0])
        while len(chosen) < self.n_clusters:
            # In proportion to what each adds to the cost, as k-means++ does; equal bi-sets have the distance 0.
            chance = np.where(nearest[distinct] > MIN_DISTANCE, nearest[distinct], 0.0)
            chosen.append(int(rng.choice(distinct, p=chance / chance.sum())))
            nearest = np.minimum(nearest, self.distances_to(chosen[-1]))
        return np.array(chosen)

    @cached_property
    def _distinct(self) -> Indices:
        return self.bisets.distinct()

    def _centroids(self, labels: Ints, bisets: Bisets, n_clusters: int | None = None) -> tuple[Floats, Floats]:
        """Return the means of the bi-sets of every cluster, on rows and on columns, as elements x clusters."""
        n_clusters = n_clusters or self.n_clusters
        sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
        sums = [
            count_members(side.indptr.astype(np.int64), side.indices, labels, n_clusters, side.shape[1])
            for side in bisets
        ]
        return sums[0] / sizes, sums[1] / sizes

    def _fill_empty(self, labels: Ints, distance: Floats) -> Ints:
        """Move the bi-sets farthest from their centroids into the clusters that have none."""
        sizes = np.bincount(labels, minlength=self.n_clusters)
        empty = np.flatnonzero(sizes == 0)
        if not len(empty):
            return labels
        labels = labels.copy()
        farthest = iter(np.argsort(-distance, kind="stable"))
        for cluster in empty:
            moved = next(biset for biset in farthest if sizes[labels[biset]] > 1)
            sizes[labels[moved]] -= 1
            labels[moved] = cluster
            sizes[cluster] = 1
        return labels


def _prepare(row_weights: Floats, column_weights: Floats) -> tuple[Any, ...]:
    """Return what the distances to centroids need, see `add_distances`."""
    prepared: list[Floats] = []
    for weights in (row_weights, column_weights):
        prepared += [weights + (weights > 0), weights.sum(axis=0)]
    return tuple(prepared)
