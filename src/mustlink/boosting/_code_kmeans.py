"""Exact k-means on codes, which is kernel k-means on the co-association.

The vector of a row has sqrt(w_t) in the column of its label of round t; the inner product of two rows is K_ij. A noise
label of a round is a column of that row alone: it adds to its length, and to no inner product with another row. Such
columns are kept implicit as `own` below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mustlink._types import Floats
from mustlink.boosting._coassociation_kernels import cluster_masses, group_rows, nearest_code_centers, sum_table_rows

if TYPE_CHECKING:
    from mustlink.boosting._coassociation import CoAssociation

__all__ = [
    "CodeCenters",
    "CodeTable",
    "assign",
    "best_of_starts",
    "code_distances",
    "compute_centers",
    "continue_from",
    "start_labels",
]

N_ROWS_PROBED = 1_000
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class CodeTable:
    """Codes with a weight per row: either all rows, or each distinct code once.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_rounds)
        Renumbered labels, -1 for noise.
    offsets : ndarray of shape (n_rounds + 1,)
        The first column of every round.
    column_weight : ndarray of shape (n_columns,)
        The weight of the round each column belongs to.
    row_weight : ndarray of shape (n_rows,)
        How many points a row stands for.
    noise_weight : ndarray of shape (n_rows,)
        The summed weight of the rounds in which a row is noise.
    length : float
        The squared length of every row: the summed weight of all rounds.
    """

    codes: NDArray[Any]
    offsets: NDArray[np.int64]
    column_weight: Floats
    row_weight: Floats
    noise_weight: Floats
    length: float

    @classmethod
    def of(cls, kernel: CoAssociation, sample_weight: Floats | None = None) -> CodeTable:
        """Take all rows of a co-association."""
        weight = np.ones(kernel.n_samples) if sample_weight is None else sample_weight
        total = float(kernel.weights.sum())
        return cls(kernel.codes, kernel.offsets, kernel.column_weight, weight, kernel.noise_weight, total)

    @classmethod
    def new_rows(cls, kernel: CoAssociation, labels: NDArray[Any]) -> CodeTable:
        """Return rows without weight, given their labels in each round."""
        codes = kernel.encode(labels)
        nothing = np.zeros(len(codes))
        return cls(codes, kernel.offsets, kernel.column_weight, nothing, nothing, float(kernel.weights.sum()))

    def take(self, rows: NDArray[Any]) -> CodeTable:
        """Keep some of the rows."""
        return replace(
            self,
            codes=np.ascontiguousarray(self.codes[rows]),
            row_weight=self.row_weight[rows],
            noise_weight=self.noise_weight[rows],
        )

    def distinct(self) -> tuple[CodeTable, NDArray[np.int64] | None]:
        """Keep each distinct code once, with the number of every row; itself and None where that saves little."""
        # Two noise rows with equal codes are two points and must not be merged.
        if self.noise_weight.any():
            return self, None
        # A few rows show whether it is worthwhile to compare all.
        if len(self.codes) > 4 * N_ROWS_PROBED:
            some = self.codes[:: len(self.codes) // N_ROWS_PROBED]
            if len(group_rows(some)[0]) > 0.7 * len(some):
                return self, None
        first, number = group_rows(self.codes)
        if len(first) > 0.7 * len(self.codes):
            return self, None
        weight = weighted_count(number, self.row_weight, len(first))
        codes = np.ascontiguousarray(self.codes[first])
        return replace(self, codes=codes, row_weight=weight, noise_weight=np.zeros(len(first))), number


@dataclass(frozen=True)
class CodeCenters:
    """Centers in code space.

    Attributes
    ----------
    table : ndarray of shape (n_columns, n_clusters)
        The inner product of a column with every center.
    lengths : ndarray of shape (n_clusters,)
        Squared lengths of the centers; infinite for an empty cluster, which no row is nearest to.
    masses : ndarray of shape (n_clusters,)
        The weight of the rows in each cluster.
    objective : float
        The summed squared distances of the rows to the centers of the clusters they came from.
    """

    table: Floats
    lengths: Floats
    masses: Floats
    objective: float

    def take(self, clusters: NDArray[np.int64]) -> CodeCenters:
        """Keep some of the clusters."""
        table = np.ascontiguousarray(self.table[:, clusters])
        return replace(self, table=table, lengths=self.lengths[clusters], masses=self.masses[clusters])


def compute_centers(rows: CodeTable, labels: Labels, n_clusters: int) -> CodeCenters:
    """Compute the centers of the clusters; rows with label -1 belong to none."""
    mass = cluster_masses(rows.codes, rows.offsets, labels, rows.row_weight, n_clusters)
    member = labels >= 0
    size = weighted_count(labels[member], rows.row_weight[member], n_clusters)
    squared = rows.column_weight @ mass**2
    if rows.noise_weight.any():
        own = (rows.row_weight**2 * rows.noise_weight)[member]
        squared = squared + weighted_count(labels[member], own, n_clusters)
    occupied = size > 0
    safe = np.where(occupied, size, 1.0)
    table = mass * rows.column_weight[:, None] / safe
    lengths = np.where(occupied, squared / safe**2, np.inf)
    objective = rows.length * rows.row_weight[member].sum() - (squared / safe).sum()
    return CodeCenters(table, lengths, size, float(objective))


def weighted_count(labels: NDArray[Any], weight: Floats, n_labels: int) -> Floats:
    """Sum the weights of the rows with each label."""
    return np.bincount(labels, weights=weight, minlength=n_labels).astype(np.float64)


def assign(rows: CodeTable, centers: CodeCenters, labels: Labels) -> tuple[Labels, Floats]:
    """Return the nearest center of every row, and its squared distance less the row's squared length."""
    moved = labels.copy()
    own = np.zeros(len(moved))
    noisy = (rows.noise_weight > 0) & (labels >= 0)
    if noisy.any():
        own[noisy] = (rows.row_weight * rows.noise_weight)[noisy] / centers.masses[labels[noisy]]
    gap = nearest_code_centers(rows.codes, rows.offsets, centers.table, centers.lengths, own, moved)
    return moved, gap


def code_distances(rows: CodeTable, centers: CodeCenters) -> Floats:
    """Return the squared distances to the centers, less the squared length of each row."""
    return np.asarray(centers.lengths - 2 * sum_table_rows(rows.codes, rows.offsets, centers.table))


def lloyd(rows: CodeTable, centers: CodeCenters, labels: Labels, max_iter: int) -> tuple[Labels, float]:
    """Alternate nearest centers and means until no label changes; return labels and objective."""
    n_clusters = len(centers.lengths)
    labels, gap = assign(rows, centers, labels)
    for _ in range(max_iter):
        fill_empty(rows, labels, gap, n_clusters)
        centers = compute_centers(rows, labels, n_clusters)
        moved, gap = assign(rows, centers, labels)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels, compute_centers(rows, labels, n_clusters).objective


def continue_from(rows: CodeTable, centers: CodeCenters, max_iter: int) -> Labels:
    """Run k-means on the codes from given centers and return the labels."""
    few, number = rows.distinct()
    labels, _ = lloyd(few, centers, np.full(len(few.codes), -1, dtype=np.int64), max_iter)
    return labels if number is None else labels[number]


def fill_empty(rows: CodeTable, labels: Labels, gap: Floats, n_clusters: int) -> None:
    """Give every empty cluster the row farthest from its center, in place, as long as that empties no other."""
    size = np.bincount(labels, minlength=n_clusters)
    empty = np.flatnonzero(size == 0)
    if not empty.size:
        return
    farthest = iter(np.argsort(-gap, kind="stable"))
    for cluster in empty:
        for row in farthest:
            if gap[row] <= -rows.length * (1 - 1e-12):
                return
            if size[labels[row]] > 1:
                size[labels[row]] -= 1
                labels[row] = cluster
                break


def start_labels(labels: Any, n_rows: int, n_clusters: int, row_weight: Floats) -> Labels:
    """Renumber a start from 0; the heaviest n_clusters clusters keep a number, the rest and noise get -1."""
    given = np.asarray(labels)
    if given.shape != (n_rows,):
        raise ValueError(f"A start must hold one label per row, {n_rows} of them; got an array of shape {given.shape}.")
    names, number = np.unique(given, return_inverse=True)
    weight = np.bincount(number, weights=row_weight)
    if given.dtype.kind in "if":
        weight[names == -1] = -1.0
    order = np.argsort(-weight, kind="stable")[: min(n_clusters, int((weight >= 0).sum()))]
    new = np.full(len(names), -1, dtype=np.int64)
    new[np.sort(order)] = np.arange(len(order))
    return new[number]


def best_of_starts(
    rows: CodeTable,
    n_clusters: int,
    starts: Sequence[Any],
    max_iter: int,
    further_cost: Callable[[Labels], float] | None = None,
) -> tuple[Labels, float]:
    """Run k-means on the codes from several label vectors; keep the lowest objective, with a further cost if any."""
    few, number = rows.distinct()
    best: tuple[Labels, float] | None = None
    for start in starts:
        labels = start_labels(start, len(rows.codes), n_clusters, rows.row_weight)
        centers = compute_centers(rows, labels, n_clusters)
        on_few = labels if number is None else np.full(len(few.codes), -1, dtype=np.int64)
        labels, cost = lloyd(few, centers, on_few, max_iter)
        labels = labels if number is None else labels[number]
        if further_cost is not None:
            cost += further_cost(labels)
        if best is None or cost < best[1] - 1e-12 * abs(best[1]):
            best = labels, cost
    if best is None:
        raise ValueError("k-means on codes needs at least one start.")
    return best
