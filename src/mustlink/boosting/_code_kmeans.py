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

from mustlink._codes_kernels import group_rows
from mustlink._types import Array, Floats, Ints
from mustlink.boosting._coassociation_kernels import cluster_masses, nearest_two, sum_table_rows

if TYPE_CHECKING:
    from mustlink.boosting._coassociation import CoAssociation

__all__ = [
    "CodeCenters",
    "CodeMasses",
    "assign",
    "best_of_starts",
    "centers_of",
    "code_distances",
    "compute_centers",
    "continue_from",
    "merge_equal",
    "start_labels",
    "sum_codes",
    "take_rows",
    "weighted_count",
]

N_ROWS_PROBED = 1_000


@dataclass(frozen=True)
class CodeCenters:
    """Centers in code space."""

    table: Floats  # (n_columns, n_clusters): the inner product of a column with every center
    lengths: Floats  # squared; infinite for an empty cluster, which no row is nearest to
    masses: Floats  # the weight of the rows in each cluster
    objective: float  # the sum of squared distances of the rows to the centers of the clusters they came from

    def take(self, clusters: Ints) -> CodeCenters:
        """Keep some of the clusters."""
        table = np.ascontiguousarray(self.table[:, clusters])
        return replace(self, table=table, lengths=self.lengths[clusters], masses=self.masses[clusters])

    def padded(self, n_clusters: int) -> CodeCenters:
        """Add empty clusters up to a number."""
        n_more = max(0, n_clusters - len(self.lengths))
        table = np.ascontiguousarray(np.pad(self.table, ((0, 0), (0, n_more))))
        lengths = np.pad(self.lengths, (0, n_more), constant_values=np.inf)
        return replace(self, table=table, lengths=lengths, masses=np.pad(self.masses, (0, n_more)))


@dataclass(frozen=True)
class CodeMasses:
    """What centers are computed from; the masses of several sets of rows can be added up."""

    columns: Floats  # (n_columns, n_clusters): the weight of the rows of each column in each cluster
    sizes: Floats  # the weight of the rows in each cluster
    noise: Floats  # of each cluster, the squared lengths that noise adds
    total: float  # the weight of all rows

    def __add__(self, other: CodeMasses) -> CodeMasses:
        columns, noise = self.columns + other.columns, self.noise + other.noise
        return CodeMasses(columns, self.sizes + other.sizes, noise, self.total + other.total)

    def __sub__(self, other: CodeMasses) -> CodeMasses:
        columns, noise = self.columns - other.columns, self.noise - other.noise
        return CodeMasses(columns, self.sizes - other.sizes, noise, self.total - other.total)

    def take(self, clusters: Ints) -> CodeMasses:
        """Keep some of the clusters."""
        columns = np.ascontiguousarray(self.columns[:, clusters])
        return replace(self, columns=columns, sizes=self.sizes[clusters], noise=self.noise[clusters])


def compute_centers(rows: CoAssociation, labels: Ints, n_clusters: int) -> CodeCenters:
    """Compute the centers of the clusters; rows with label -1 belong to none."""
    return centers_of(sum_codes(rows, labels, n_clusters), rows)


def sum_codes(rows: CoAssociation, labels: Ints, n_clusters: int) -> CodeMasses:
    """Add up the rows of each cluster; rows with label -1 belong to none."""
    columns = cluster_masses(rows.codes, rows.offsets, labels, rows.row_weight, n_clusters)
    member = labels >= 0
    sizes = weighted_count(labels[member], rows.row_weight[member], n_clusters)
    noise = np.zeros(n_clusters)
    if rows.noise_weight.any():
        own = (rows.row_weight**2 * rows.noise_weight)[member]
        noise = weighted_count(labels[member], own, n_clusters)
    return CodeMasses(columns, sizes, noise, float(rows.row_weight[member].sum()))


def centers_of(masses: CodeMasses, rounds: CoAssociation) -> CodeCenters:
    """Compute the centers of clusters with these masses, given a co-association of the same rounds."""
    column_weight = rounds.column_weight
    squared = column_weight @ masses.columns**2 + masses.noise
    occupied = masses.sizes > 0
    safe = np.where(occupied, masses.sizes, 1.0)
    table = masses.columns * column_weight[:, None] / safe
    lengths = np.where(occupied, squared / safe**2, np.inf)
    objective = rounds.weights.sum() * masses.total - (squared / safe).sum()
    return CodeCenters(table, lengths, masses.sizes, float(objective))


def weighted_count(labels: Array, weight: Floats, n_labels: int) -> Floats:
    """Sum the weights of the rows with each label."""
    return np.bincount(labels, weights=weight, minlength=n_labels).astype(np.float64)


def assign(rows: CoAssociation, centers: CodeCenters, labels: Ints) -> tuple[Ints, Floats]:
    """Return the nearest center of every row, and its squared distance less the row's squared length."""
    moved = labels.copy()
    own = np.zeros(len(moved))
    noisy = (rows.noise_weight > 0) & (labels >= 0)
    if noisy.any():
        own[noisy] = (rows.row_weight * rows.noise_weight)[noisy] / centers.masses[labels[noisy]]
    gap, _ = nearest_two(rows.codes, rows.offsets, centers.table, centers.lengths, own, moved)
    return moved, gap


def code_distances(rows: CoAssociation, centers: CodeCenters) -> Floats:
    """Return the squared distances to the centers, less the squared length of each row."""
    return np.asarray(centers.lengths - 2 * sum_table_rows(rows.codes, rows.offsets, centers.table))


def take_rows(rows: CoAssociation, index: Ints) -> CoAssociation:
    """Return the co-association of some rows."""
    taken = rows.with_codes(np.ascontiguousarray(rows.codes[index]), rows.row_weight[index])
    taken.noise_weight = rows.noise_weight[index]
    return taken


def merge_equal(rows: CoAssociation) -> tuple[CoAssociation, Ints | None]:
    """Keep each distinct code once, with the number of every row; all rows and None where that saves little."""
    # Two noise rows with equal codes are two points and must not be merged.
    if rows.noise_weight.any():
        return rows, None
    # A few rows show whether it is worthwhile to compare all.
    if rows.n_samples > 4 * N_ROWS_PROBED:
        # Of the memory order that the kernel is compiled for.
        some = np.ascontiguousarray(rows.codes[:: rows.n_samples // N_ROWS_PROBED])
        if len(group_rows(some)[0]) > 0.7 * len(some):
            return rows, None
    first, number = group_rows(rows.codes)
    if len(first) > 0.7 * rows.n_samples:
        return rows, None
    codes = np.ascontiguousarray(rows.codes[first])
    return rows.with_codes(codes, weighted_count(number, rows.row_weight, len(first))), number


def lloyd(rows: CoAssociation, centers: CodeCenters, labels: Ints, max_iter: int) -> tuple[Ints, float]:
    """Alternate nearest centers and means until no label changes; return labels and objective."""
    n_clusters = len(centers.lengths)
    labels, gap = assign(rows, centers, labels)
    for _ in range(max_iter):
        fill_empty(labels, gap, n_clusters, rows.weights.sum())
        centers = compute_centers(rows, labels, n_clusters)
        moved, gap = assign(rows, centers, labels)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels, compute_centers(rows, labels, n_clusters).objective


def continue_from(rows: CoAssociation, centers: CodeCenters, max_iter: int) -> Ints:
    """Run k-means on the codes from given centers and return the labels."""
    few, number = merge_equal(rows)
    labels, _ = lloyd(few, centers, np.full(few.n_samples, -1, dtype=np.int64), max_iter)
    return labels if number is None else labels[number]


def fill_empty(labels: Ints, gap: Floats, n_clusters: int, length: float) -> None:
    """Give every empty cluster the row farthest from its center, in place, as long as that empties no other."""
    size = np.bincount(labels, minlength=n_clusters)
    empty = np.flatnonzero(size == 0)
    if not empty.size:
        return
    farthest = iter(np.argsort(-gap, kind="stable"))
    for cluster in empty:
        for row in farthest:
            if gap[row] <= -length * (1 - 1e-12):
                return
            if size[labels[row]] > 1:
                size[labels[row]] -= 1
                labels[row] = cluster
                break


def start_labels(rows: CoAssociation, labels: Any, n_clusters: int) -> Ints:
    """Renumber a start from 0; the heaviest n_clusters clusters keep a number, the rest and noise get -1."""
    given = np.asarray(labels)
    if given.shape != (rows.n_samples,):
        raise ValueError(
            f"A start must hold one label per row, {rows.n_samples} of them; got an array of shape {given.shape}."
        )
    names, number = np.unique(given, return_inverse=True)
    weight = np.bincount(number, weights=rows.row_weight)
    if given.dtype.kind in "if":
        weight[names == -1] = -1.0
    order = np.argsort(-weight, kind="stable")[: min(n_clusters, int((weight >= 0).sum()))]
    new = np.full(len(names), -1, dtype=np.int64)
    new[np.sort(order)] = np.arange(len(order))
    return new[number]


def best_of_starts(
    rows: CoAssociation,
    n_clusters: int,
    starts: Sequence[Any],
    max_iter: int,
    further_cost: Callable[[Ints], float] | None = None,
) -> tuple[Ints, float]:
    """Run k-means on the codes from several label vectors; keep the lowest objective, with a further cost if any."""
    few, number = merge_equal(rows)
    best: tuple[Ints, float] | None = None
    for start in starts:
        labels = start_labels(rows, start, n_clusters)
        centers = compute_centers(rows, labels, n_clusters)
        on_few = labels if number is None else np.full(few.n_samples, -1, dtype=np.int64)
        labels, cost = lloyd(few, centers, on_few, max_iter)
        labels = labels if number is None else labels[number]
        if further_cost is not None:
            cost += further_cost(labels)
        if best is None or cost < best[1] - 1e-12 * abs(best[1]):
            best = labels, cost
    if best is None:
        raise ValueError("k-means on codes needs at least one start.")
    return best
