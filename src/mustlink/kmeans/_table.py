"""The rows of a table, dense or sparse, behind the few questions that k-means asks of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink._sklearn_compat import n_threads, one_blas_thread
from mustlink.kmeans._lloyd_kernels import dense_distances, dense_pass, sparse_distances, sparse_pass

Floats = NDArray[np.float64]

ROWS_PER_THREAD = 32_768
"""Fewer rows than this are not worth a thread of their own."""

MOST_BLOCKS = 32

MOST_PARTIAL_SUMS = 1 << 23
"""How many numbers the blocks together may keep as sums of their own (64 MB)."""

ROWS_AT_ONCE = 16_384
"""How many rows' distances are held at a time where only a summary of them is wanted."""


@dataclass(frozen=True)
class Assignment:
    """Every row with its nearest centre, and what a mean of each cluster needs.

    `sums` holds the weighted sum of the rows of each cluster relative to `origin`, `counts` their weight, and
    `inertia` the weighted sum of squared distances.
    """

    labels: NDArray[np.int32]
    inertia: float
    origin: Floats
    sums: Floats
    counts: Floats


class Table:
    """Rows that can be compared with centres, a block at a time and on several threads.

    Which rows make up a block depends on the shape alone, and the blocks are added up in order, so that the number
    of threads never shows in a result.

    Parameters
    ----------
    X : ndarray in C order or CSR matrix, float32 or float64
        Never written.
    """

    def __init__(self, X: Any) -> None:
        self.is_sparse = sparse.issparse(X)
        # A view that cannot be written: numba compiles read-only and writable arrays apart, and one is enough.
        self.X: Any = X if self.is_sparse else _read_only(X)
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype

    def assign(self, centers: Floats, weight: Floats) -> Assignment:
        """Find the nearest centre of every row, and sum the rows of each cluster."""
        n_clusters = len(centers)
        blocks = self._blocks(centers.size)
        origin, by_feature, norms = self._frame(centers, self.dtype)
        labels = np.empty(self.n_rows, dtype=np.int32)
        sums = np.zeros((len(blocks), n_clusters, self.n_features))
        counts = np.zeros((len(blocks), n_clusters))

        def work(number: int) -> float:
            rows = blocks[number]
            outcome = (labels[rows], sums[number], counts[number])
            if self.is_sparse:
                return float(sparse_pass(*self._compressed(rows), weight[rows], by_feature, norms, *outcome))
            return float(dense_pass(self.X[rows], weight[rows], origin, by_feature, norms, *outcome))

        inertia = sum(_in_order(work, len(blocks)))
        return Assignment(labels, inertia, origin.astype(float), sums.sum(axis=0), counts.sum(axis=0))

    def squared_distances(self, centers: Floats, dtype: Any = np.float64) -> NDArray[Any]:
        """Return the squared distance of every row to every centre, an array of shape (n_rows, n_centers)."""
        blocks = self._blocks(1)
        origin, by_feature, norms = self._frame(centers, np.float64)
        out = np.empty((self.n_rows, len(centers)), dtype=dtype)

        def work(number: int) -> None:
            rows = blocks[number]
            if self.is_sparse:
                sparse_distances(*self._compressed(rows), by_feature, norms, out[rows])
            else:
                dense_distances(self.X[rows], origin, by_feature, norms, out[rows])

        _in_order(work, len(blocks))
        return out

    def by_piece(self, work: Callable[[slice, Table], Any]) -> list[Any]:
        """Do some work on pieces of a few thousand rows, and return what it gave for each, in order."""
        cuts = [slice(start, start + ROWS_AT_ONCE) for start in range(0, self.n_rows, ROWS_AT_ONCE)]
        return _in_order(lambda number: work(cuts[number], Table(self.X[cuts[number]])), len(cuts))

    def rows(self, index: NDArray[np.intp] | slice) -> Floats:
        """Return some rows as a dense array in double precision."""
        taken = self.X[index]
        return np.asarray(taken.toarray() if self.is_sparse else taken, dtype=np.float64)

    def take(self, index: NDArray[np.intp]) -> Table:
        """Return some rows as a table in double precision."""
        return Table(self.X[index].astype(np.float64))

    def averages(self, group: NDArray[np.intp], n_groups: int, weight: Floats) -> Table:
        """Return the weighted mean of each group of rows as a table in double precision.

        A group whose rows all weigh nothing gets their plain mean.
        """
        weight = np.where(np.bincount(group, weight, n_groups)[group] > 0, weight, 1.0)
        share = weight / np.bincount(group, weight, n_groups)[group]
        member = sparse.csr_array((share, (group, np.arange(self.n_rows))), shape=(n_groups, self.n_rows))
        means = member @ self.X
        return Table(sparse.csr_matrix(means) if self.is_sparse else np.ascontiguousarray(means))

    def scatter(self, group: NDArray[np.intp], means: Table, weight: Floats) -> Floats:
        """Return the weighted sum of squared distances of each group's rows to its mean."""

        def squares(rows: slice, piece: Table) -> Floats:
            apart = piece.X - means.X[group[rows]]
            return np.asarray((apart.multiply(apart) if self.is_sparse else np.square(apart)).sum(axis=1)).ravel()

        return np.bincount(group, weight * np.concatenate(self.by_piece(squares)), means.n_rows).astype(np.float64)

    def mean_variance(self, weight: Floats) -> float:
        """Return the weighted variance of the features, averaged over the features."""
        share = weight / weight.sum()
        mean = sum(self.by_piece(lambda rows, piece: share[rows] @ piece.X))
        if self.is_sparse:
            squares = self.by_piece(lambda rows, piece: float((share[rows] @ piece.X.multiply(piece.X)).sum()))
            return max(0.0, sum(squares) - float(mean @ mean)) / self.n_features
        squares = self.by_piece(lambda rows, piece: float((share[rows] @ np.square(piece.X - mean)).sum()))
        return sum(squares) / self.n_features

    def order_by_content(self) -> NDArray[np.intp]:
        """Return the rows in an order that is the same however they are numbered, equal rows side by side."""
        direction = np.random.RandomState(0).standard_normal(self.n_features)
        place = np.concatenate(self.by_piece(lambda _, piece: piece.X @ direction))
        return np.argsort(place, kind="stable")

    def _blocks(self, n_sums: int) -> list[slice]:
        """Cut the rows into blocks for the threads, each of which keeps `n_sums` numbers of its own."""
        most = min(MOST_BLOCKS, MOST_PARTIAL_SUMS // n_sums, self.n_rows // ROWS_PER_THREAD)
        edges = np.arange(max(most, 1) + 1) * self.n_rows // max(most, 1)
        return [slice(start, stop) for start, stop in pairwise(edges)]

    def _frame(self, centers: Floats, dtype: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Put the origin amid the centres; return it, the centres relative to it, feature by feature, and |c|^2."""
        origin = np.zeros(self.n_features) if self.is_sparse else centers.mean(axis=0)
        # Rounded before it is subtracted, so that rows and centres are moved by the very same amount.
        origin = origin.astype(dtype)
        by_feature = np.ascontiguousarray((centers - origin.astype(float)).T)
        return origin, by_feature.astype(dtype), np.square(by_feature).sum(axis=0).astype(dtype)

    def _compressed(self, rows: slice) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the three arrays of some rows of a sparse table, without a copy."""
        indptr = self.X.indptr[rows.start : rows.stop + 1]
        return _read_only(indptr), _read_only(self.X.indices), _read_only(self.X.data)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _in_order(work: Callable[[int], Any], n_blocks: int) -> list[Any]:
    """Do the blocks, on threads where there are several, and return what they gave in their order."""
    threads = min(n_blocks, n_threads())
    if threads == 1:
        return [work(number) for number in range(n_blocks)]
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(n_blocks)))
