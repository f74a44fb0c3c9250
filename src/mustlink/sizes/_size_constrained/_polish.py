"""Hartigan's improvement of k-means under sizes: moves, swaps and chains of rows, with the centers following at once.

At the end of k-means no row is cheaper elsewhere as long as the centers stay. A move also shifts the two centers, and
that can make it worthwhile. Where bounds rule out a move, a swap keeps the sizes, and so does a chain: a row moves to a
second cluster, one from there to a third, and from there one back to the first, or none if the sizes leave room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import PIECE_ROWS, RowBlocks
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.sizes._size_constrained._polish_kernels import chain_rows, move_rows, swap_rows
from mustlink.sizes._size_constrained._sizing import Sizing

__all__ = ["polish"]

# Rounds of moves and swaps, until none is left.
MAX_ROUNDS = 100
# How many rows of a cluster are tried in swaps with another cluster: those that it costs least to move there.
N_SWAPPED = 8
# The clusters that a chain goes on to from each cluster: those that a row can move to at the least cost.
N_NEIGHBORS = 10
# Gains below this share of the inertia are rounding.
MIN_GAIN = 1e-12


@dataclass
class Table:
    """The rows of an improvement, with the sums of the clusters that they are in."""

    rows: RowBlocks
    weight: Floats
    size: Floats
    is_movable: Mask
    origin: Floats
    labels: Indices
    sums: Floats
    mass: Floats
    sizes: Floats

    @property
    def centers(self) -> Floats:
        """The mean of each cluster; an empty one has any."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.mass[:, None] > 0, self.origin + self.sums / self.mass[:, None], 0.0)

    def take(self, index: Indices) -> tuple[Floats, Floats, Floats]:
        """Return some rows relative to the origin, their weights and their sizes."""
        return self.rows.rows(index) - self.origin, self.weight[index], self.size[index]


def polish(
    rows: RowBlocks, weight: Floats, sizing: Sizing, is_movable: Mask, labels: NDArray[np.int32], inertia: float
) -> NDArray[np.int32] | None:
    """Move rows while this lowers the inertia and the sizes allow it; return the labels, None if unchanged."""
    table = _tabulate(rows, weight, sizing, is_movable, labels)
    bounds = sizing.lowest.astype(np.float64), sizing.highest.astype(np.float64)
    min_gain = MIN_GAIN * inertia
    fallen = 0.0
    for _ in range(MAX_ROUNDS):
        gained = _move(table, bounds, min_gain)
        gained += _swap_and_chain(table, bounds, min_gain)
        if not gained:
            break
        fallen += gained
    return table.labels.astype(np.int32) if fallen else None


def _tabulate(rows: RowBlocks, weight: Floats, sizing: Sizing, is_movable: Mask, labels: Array) -> Table:
    """Sum up the rows of each cluster, relative to a point amid the data."""
    is_inside = labels >= 0
    inside = np.flatnonzero(is_inside)
    n_clusters = sizing.n_clusters
    mass = np.bincount(labels[inside], weight[inside], n_clusters).astype(np.float64)
    filled = np.flatnonzero(mass > 0)
    means = rows.summed(labels, weight, n_clusters, 0.0).sums[filled] / mass[filled, None]
    origin = means.mean(axis=0)
    sums = np.zeros((n_clusters, rows.n_features))
    sums[filled] = (means - origin) * mass[filled, None]
    size = np.ones(rows.n_rows) if sizing.weight is None else sizing.weight
    is_movable = is_movable & is_inside & (weight > 0)
    sizes = np.bincount(labels[inside], size[inside], n_clusters).astype(np.float64)
    return Table(rows, weight, size, is_movable, origin, labels.astype(np.intp), sums, mass, sizes)


def _move(table: Table, bounds: tuple[Floats, Floats], min_gain: float) -> float:
    """Move the rows for which the centers of this moment promise a gain; each is judged by those of its own turn."""
    mass, fallen = table.mass.copy(), 0.0
    for index, labels, costs, own in _pieces(table):
        w = table.weight[index]
        with np.errstate(divide="ignore"):
            leaving = np.where(mass[labels] > w, mass[labels] / (mass[labels] - w), 0.0) * own
        entering = (costs * (mass / (mass + w[:, None]))).min(axis=1)
        promising = index[w * (leaving - entering) > min_gain]
        if promising.size:
            moved = table.labels[promising]
            state = (moved, table.sums, table.mass, table.sizes)
            fallen += move_rows(*table.take(promising), *state, *bounds, min_gain)
            table.labels[promising] = moved
    return fallen


def _swap_and_chain(table: Table, bounds: tuple[Floats, Floats], min_gain: float) -> float:
    """Swap rows near the border between each two clusters; where no swap gains, move rows along chains of clusters."""
    rows, border, neighbors = _border_rows(table)
    if not len(rows):
        return 0.0
    moved = table.labels[rows]
    state = (moved, table.sums, table.mass, table.sizes)
    taken = table.take(rows)
    fallen = swap_rows(*taken, _pairs_across(border), *state, *bounds, min_gain)
    if not fallen:
        fallen = chain_rows(*taken, border, neighbors, *state, *bounds, min_gain)
    table.labels[rows] = moved
    return float(fallen)


def _border_rows(table: Table) -> tuple[Indices, Ints, Ints]:
    """Return rows near borders, their places for each ordered pair of clusters, and the nearest clusters of each.

    The rows of a pair are those of the first cluster that it costs least to move to the second; -1 is none.
    """
    n_clusters = len(table.mass)
    found: list[tuple[Indices, Ints, Floats]] = []
    for index, labels, costs, own in _pieces(table):
        for other in np.flatnonzero(table.mass > 0):
            extra = table.weight[index] * (costs[:, other] - own)
            # The border that a row is at: its own cluster, and the other.
            border = labels.astype(np.int64) * n_clusters + other
            least, _ = _first_of_each(border, extra)
            least = least[labels[least] != other]
            found.append((index[least], border[least], extra[least]))
    row, border, extra = (
        np.concatenate(parts) for parts in zip(*found, (np.empty(0, dtype=np.int64),) * 3, strict=True)
    )
    least, rank = _first_of_each(border, extra)
    rows, place = np.unique(row[least], return_inverse=True)
    places = np.full((n_clusters**2, N_SWAPPED), -1)
    places[border[least], rank] = place
    nearest = np.full((n_clusters, n_clusters), np.inf)
    nearest.flat[border[least[rank == 0]]] = extra[least[rank == 0]]
    neighbors = np.argsort(nearest, axis=1, kind="stable")[:, :N_NEIGHBORS]
    neighbors[~np.isfinite(np.take_along_axis(nearest, neighbors, axis=1))] = -1
    return rows, places.reshape(n_clusters, n_clusters, N_SWAPPED), neighbors


def _pairs_across(border: Ints) -> Ints:
    """Return pairs of places, of each two clusters one row each that is near the border to the other."""
    g, h = np.tril_indices(len(border), -1)
    pairs = np.stack(np.broadcast_arrays(border[g, h][:, None, :], border[h, g][:, :, None]), axis=-1).reshape(-1, 2)
    return pairs[(pairs >= 0).all(axis=1)]


def _first_of_each(group: Ints, value: Floats) -> tuple[Indices, Indices]:
    """Return the places of the few lowest values of each group, group by group, and their ranks in it."""
    order = np.lexsort((value, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return order[rank < N_SWAPPED], rank[rank < N_SWAPPED]


def _pieces(table: Table) -> Iterator[tuple[Indices, Indices, Floats, Floats]]:
    """Yield rows that may move, a few thousand at a time: numbers, clusters, costs in all clusters and in their own."""
    movable, centers = np.flatnonzero(table.is_movable), table.centers
    for start in range(0, len(movable), PIECE_ROWS):
        index = movable[start : start + PIECE_ROWS]
        costs = table.rows.take(index).squared_distances(centers)
        labels = table.labels[index]
        yield index, labels, costs, costs[np.arange(len(index)), labels]
