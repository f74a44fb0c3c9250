"""Blocks of rows, dense or sparse, in memory or memory-mapped: nearest centers, distances, means and variances."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink._rows_kernels import (
    dense_distances,
    dense_pass,
    dense_sums,
    priced_pass,
    sparse_distances,
    sparse_pass,
)
from mustlink._sklearn_compat import n_threads, one_blas_thread
from mustlink._types import Array, Floats, Indices, Mask

__all__ = ["PIECE_ROWS", "Assignment", "RowBlocks", "Standardizer", "read_only", "squared_norms"]

# Fewer rows than this are not worth a thread of their own.
MIN_ROWS_PER_THREAD = 32_768

MAX_BLOCKS = 32

# The most numbers that the blocks together keep as sums of their own (64 MB).
MAX_PARTIAL_SUMS = 1 << 23

# How many rows' distances are held at a time where only a summary of them is needed.
PIECE_ROWS = 16_384


@dataclass(frozen=True)
class Assignment:
    """The nearest center of every row, and what the mean of each cluster needs.

    `sums` holds the weighted sum of the rows of each cluster relative to `origin`, `counts` their weight, and
    `inertia` the weighted sum of squared distances.
    """

    labels: NDArray[np.int32]
    inertia: float
    origin: Floats
    sums: Floats
    counts: Floats

    def add(self, points: Any, index: Indices, clusters: Indices, weight: Floats) -> None:
        """Add points, chosen by their numbers, to the sums of clusters."""
        shape = (len(self.counts), points.shape[0])
        sums = sparse.csr_array((weight, (clusters, index)), shape=shape) @ points
        counts = np.bincount(clusters, weight, len(self.counts))
        self.counts[:] += counts
        self.sums[:] += (sums.toarray() if sparse.issparse(sums) else sums) - counts[:, None] * self.origin

    def move(self, points: Floats, weight: Floats, old: int, new: int) -> None:
        """Take weighted points out of one cluster and put them into another."""
        change, total = weight @ (points - self.origin), weight.sum()
        self.sums[old] -= change
        self.counts[old] -= total
        self.sums[new] += change
        self.counts[new] += total


class RowBlocks:
    """Rows that are compared with centers one block at a time, on several threads.

    The blocks depend on the shape alone and are added up in order: results do not depend on the number of threads.

    Parameters
    ----------
    X : ndarray in C order or CSR matrix, float32 or float64
        Never written; may be memory-mapped.
    max_threads : int, default=None
        The most threads to use; None is as many as scikit-learn would use.
    """

    def __init__(self, X: Any, *, max_threads: int | None = None) -> None:
        self.is_sparse = sparse.issparse(X)
        # A view that cannot be written: numba compiles read-only and writable arrays apart, and one is enough.
        self.X: Any = X if self.is_sparse else read_only(X)
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype
        self._max_threads = max_threads

    def assign(self, centers: Floats, weight: Floats) -> Assignment:
        """Find the nearest center of every row, and sum the rows of each cluster."""
        n_clusters = len(centers)
        blocks = self._blocks(centers.size)
        origin, by_feature, norms = self._shift_to_origin(centers, self.dtype)
        labels = np.empty(self.n_rows, dtype=np.int32)
        sums = np.zeros((len(blocks), n_clusters, self.n_features))
        counts = np.zeros((len(blocks), n_clusters))

        def work(number: int) -> float:
            rows = blocks[number]
            outcome = (labels[rows], sums[number], counts[number])
            if self.is_sparse:
                return float(sparse_pass(*self._compressed(rows), weight[rows], by_feature, norms, *outcome))
            return float(dense_pass(self.X[rows], weight[rows], origin, by_feature, norms, *outcome))

        inertia = sum(self._map_in_order(work, blocks))
        return Assignment(labels, inertia, origin.astype(float), sums.sum(axis=0), counts.sum(axis=0))

    def assign_priced(
        self, centers: Floats, weight: Floats, prices: Floats
    ) -> tuple[NDArray[np.int32], Floats, Floats]:
        """Find the center of the least weighted squared distance minus price of every row; the rows must be dense.

        Returns the labels, by how much the next center exceeds the least difference, and the squared distances.
        """
        blocks = self._blocks(1)
        origin, by_feature, norms = self._shift_to_origin(centers, np.float64)
        labels = np.empty(self.n_rows, dtype=np.int32)
        gaps, own = np.empty(self.n_rows), np.empty(self.n_rows)

        def work(number: int) -> None:
            rows = blocks[number]
            outcome = (labels[rows], gaps[rows], own[rows])
            priced_pass(self.X[rows], weight[rows], origin, by_feature, norms, prices, *outcome)

        self._map_in_order(work, blocks)
        return labels, gaps, own

    def summed(self, labels: NDArray[np.int32], weight: Floats, n_clusters: int, inertia: float) -> Assignment:
        """Sum the rows of each cluster for given labels, of which -1 is none, with a given inertia."""
        origin, shape = np.zeros(self.n_features), (n_clusters, self.n_features)
        if self.is_sparse:
            found = Assignment(labels, inertia, origin, np.zeros(shape), np.zeros(n_clusters))
            inside = np.flatnonzero(labels >= 0)
            found.add(self.X, inside, labels[inside].astype(np.intp), weight[inside])
            return found
        blocks = self._blocks(n_clusters * self.n_features)
        sums, counts = np.zeros((len(blocks), *shape)), np.zeros((len(blocks), n_clusters))

        def work(number: int) -> None:
            rows = blocks[number]
            dense_sums(self.X[rows], weight[rows], labels[rows], sums[number], counts[number])

        self._map_in_order(work, blocks)
        return Assignment(labels, inertia, origin, sums.sum(axis=0), counts.sum(axis=0))

    def squared_distances(self, centers: Floats, dtype: Any = np.float64) -> Array:
        """Return the squared distance of every row to every center, an array of shape (n_rows, n_centers)."""
        blocks = self._blocks(1)
        origin, by_feature, norms = self._shift_to_origin(centers, np.float64)
        out = np.empty((self.n_rows, len(centers)), dtype=dtype)

        def work(number: int) -> None:
            rows = blocks[number]
            if self.is_sparse:
                sparse_distances(*self._compressed(rows), by_feature, norms, out[rows])
            else:
                dense_distances(self.X[rows], origin, by_feature, norms, out[rows])

        self._map_in_order(work, blocks)
        return out

    def nearest_distances(self, centers: Floats) -> Floats:
        """Return the squared distance of every row to its nearest center."""
        return np.concatenate(self.map_pieces(lambda _, piece: piece.squared_distances(centers).min(axis=1)))

    def cheapest(self, costs: Callable[[Any], Floats]) -> tuple[NDArray[np.int32], Floats]:
        """Return the cheapest cluster of every row, and its cost; `costs` returns those of some rows in all."""
        labels, own = np.empty(self.n_rows, dtype=np.int32), np.empty(self.n_rows)

        def work(rows: slice, piece: RowBlocks) -> None:
            of_piece = costs(piece.X)
            labels[rows], own[rows] = of_piece.argmin(axis=1), of_piece.min(axis=1)

        self.map_pieces(work)
        return labels, own

    def distances_to_own(self, centers: Floats, labels: NDArray[np.integer]) -> Floats:
        """Return the squared distance of every row to the center of its cluster."""

        def own(rows: slice, piece: RowBlocks) -> Floats:
            return np.asarray(piece.squared_distances(centers)[np.arange(piece.n_rows), labels[rows]])

        return np.concatenate(self.map_pieces(own))

    def map_pieces(self, work: Callable[[slice, RowBlocks], Any]) -> list[Any]:
        """Apply a function to pieces of a few thousand rows, and return its results in order."""
        # No rows are one piece without rows, so that results have their shape.
        cuts = [slice(start, start + PIECE_ROWS) for start in range(0, max(1, self.n_rows), PIECE_ROWS)]
        threads = self._max_threads
        return self._map_in_order(
            lambda number: work(cuts[number], RowBlocks(self.X[cuts[number]], max_threads=threads)), cuts
        )

    def rows(self, index: Indices | slice) -> Floats:
        """Return some rows as a dense array in double precision."""
        taken = self.pick(index)
        return np.asarray(taken.toarray() if self.is_sparse else taken, dtype=np.float64)

    def take(self, index: Indices) -> RowBlocks:
        """Return some rows in double precision."""
        return RowBlocks(self.pick(index).astype(np.float64))

    def pick(self, index: Indices | slice) -> Any:
        """Return some rows as they are."""
        return self.X[index]

    def release(self, rows: slice) -> None:
        """Say that some rows will not be read for a while; memory-mapped ones need not stay in memory."""

    def averages(self, group: Indices, n_groups: int, weight: Floats) -> RowBlocks:
        """Return the weighted mean of each group of rows in double precision.

        A group whose rows all have weight zero gets their plain mean.
        """
        weight = np.where(np.bincount(group, weight, n_groups)[group] > 0, weight, 1.0)
        share = weight / np.bincount(group, weight, n_groups)[group]
        member = sparse.csr_array((share, (group, np.arange(self.n_rows))), shape=(n_groups, self.n_rows))
        means = member @ self.X
        return RowBlocks(sparse.csr_matrix(means) if self.is_sparse else np.ascontiguousarray(means))

    def scatter(self, group: Indices, means: RowBlocks, weight: Floats) -> Floats:
        """Return the weighted sum of squared distances of each group's rows to its mean."""

        def squares(rows: slice, piece: RowBlocks) -> Floats:
            return squared_norms(piece.X - means.X[group[rows]])

        return np.bincount(group, weight * np.concatenate(self.map_pieces(squares)), means.n_rows).astype(np.float64)

    def mean_variance(self, weight: Floats) -> float:
        """Return the weighted variance of the features, averaged over the features."""
        share = weight / weight.sum()
        mean = sum(self.map_pieces(lambda rows, piece: share[rows] @ piece.X))
        if self.is_sparse:
            # Squares in single precision would not cancel with the mean.
            squares = self.map_pieces(
                lambda rows, piece: float((share[rows] @ piece.X.astype(np.float64).power(2)).sum())
            )
            return max(0.0, sum(squares) - float(mean @ mean)) / self.n_features
        squares = self.map_pieces(lambda rows, piece: float((share[rows] @ np.square(piece.X - mean)).sum()))
        return sum(squares) / self.n_features

    def order_by_content(self) -> Indices:
        """Return the rows in an order that is the same however they are numbered, equal rows side by side.

        They are sorted along one fixed random direction: a single pass over all rows, dense or sparse, which is all
        that draws of seeds and samples need. Different rows may tie by chance; where a tie would change a result, and
        for distances between all rows, use the exact ``_row_order.rank_rows``.
        """
        direction = np.random.RandomState(0).standard_normal(self.n_features)
        place = np.concatenate(self.map_pieces(lambda _, piece: piece.X @ direction))
        return np.argsort(place, kind="stable")

    def _blocks(self, n_sums: int) -> list[slice]:
        """Cut the rows into blocks for the threads, each of which keeps `n_sums` numbers of its own."""
        n_blocks = max(1, min(MAX_BLOCKS, MAX_PARTIAL_SUMS // n_sums, self.n_rows // MIN_ROWS_PER_THREAD))
        edges = np.arange(n_blocks + 1) * self.n_rows // n_blocks
        return [slice(start, stop) for start, stop in pairwise(edges)]

    def _map_in_order(self, work: Callable[[int], Any], blocks: list[slice]) -> list[Any]:
        """Work on the blocks, on threads where there are several, and return the results in order."""

        def work_and_release(number: int) -> Any:
            try:
                return work(number)
            finally:
                self.release(blocks[number])

        threads = min(len(blocks), n_threads() if self._max_threads is None else self._max_threads)
        if threads == 1:
            return [work_and_release(number) for number in range(len(blocks))]
        with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work_and_release, range(len(blocks))))

    def _shift_to_origin(self, centers: Floats, dtype: Any) -> tuple[Array, Array, Array]:
        """Put the origin at the mean of the centers; return it, the centers relative to it (features first), |c|^2."""
        origin = np.zeros(self.n_features) if self.is_sparse else centers.mean(axis=0)
        # Rounded before it is subtracted: rows and centers are moved by exactly the same amount.
        origin = origin.astype(dtype)
        by_feature = np.ascontiguousarray((centers - origin.astype(float)).T)
        return origin, by_feature.astype(dtype), np.square(by_feature).sum(axis=0).astype(dtype)

    def _compressed(self, rows: slice) -> tuple[Array, Array, Array]:
        """Return the three arrays of some rows of a sparse matrix, without a copy."""
        indptr = self.X.indptr[rows.start : rows.stop + 1]
        return read_only(indptr), read_only(self.X.indices), read_only(self.X.data)


class Standardizer:
    """Means and standard deviations of the columns of X; a constant column keeps its unit."""

    def __init__(self, X: Array) -> None:
        mean: Floats = X.mean(axis=0, dtype=np.float64)
        squares = RowBlocks(X).map_pieces(lambda _, piece: np.square(piece.X - mean).sum(axis=0))
        self._keep(mean, np.sqrt(sum(squares) / len(X)), X.min(axis=0), X.max(axis=0), X.dtype)

    @classmethod
    def from_moments(cls, moments: Any, dtype: Any) -> Self:
        """Return the one of columns whose mean, variance, lowest and highest number are known."""
        standardizer = cls.__new__(cls)
        deviation = np.sqrt(moments.variance)
        standardizer._keep(moments.mean, deviation, moments.lowest, moments.highest, np.dtype(dtype))
        return standardizer

    def _keep(self, mean: Floats, deviation: Floats, lowest: Array, highest: Array, dtype: Any) -> None:
        """Store means and deviations, and find the constant columns."""
        # The deviation of equal numbers is not always zero, as their mean is rounded; over many rows, by much.
        self._is_constant: Mask = (deviation <= 4 * np.finfo(dtype).eps * np.abs(mean)) | (lowest == highest)
        # Its own value, and not the mean, whose rounding error in the unit of the column can exceed all other columns.
        self.mean: Floats = np.where(self._is_constant, lowest, mean)
        self.scale: Floats = np.where(self._is_constant, 1.0, deviation)
        self.dtype = dtype

    def transform(self, X: Array) -> Floats:
        """Return rows with mean zero and variance one in every column, in double precision."""
        Z = np.subtract(X, self.mean, dtype=np.float64)
        Z /= self.scale
        return Z

    def inverse_transform(self, Z: Floats) -> Array:
        """Return standardized rows in the units and the precision of X."""
        return (Z * self.scale + self.mean).astype(self.dtype)

    def original_weights(self) -> Floats:
        """Return the column weights, one on average, that give standardized columns the distances of X."""
        variance = np.where(self._is_constant, 0.0, np.square(self.scale))
        if not variance.any():
            return np.ones(len(variance))
        variance[self._is_constant] = variance[~self._is_constant].mean()
        return np.asarray(variance / variance.mean())


def squared_norms(X: Any) -> Floats:
    """Return the squared length of every row of a dense array or a sparse matrix."""
    return np.asarray((X.multiply(X) if sparse.issparse(X) else np.square(X)).sum(axis=1)).ravel()


def read_only(array: Array) -> Array:
    """Return a view that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view
