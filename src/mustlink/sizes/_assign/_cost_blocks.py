"""Costs of rows in clusters, held as an array or computed some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from mustlink._types import Array, Floats, Indices

__all__ = ["CostBlocks", "as_cost_blocks", "rows_of_block"]

# The numbers of a block; one is held at a time (16 MB).
BLOCK_ENTRIES = 1 << 21
# The largest cost; sums of many are still numbers.
MAX_COST = 1e290


class CostBlocks:
    """Costs that are computed some rows at a time, so that they are never held whole.

    Parameters
    ----------
    shape : (int, int)
        The numbers of rows and of clusters.
    compute : callable
        Takes the rows, as a slice or as an array of row numbers, and returns what they cost in every cluster: an array
        of shape (n, n_clusters), with the same values each time.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.sizes import CostBlocks, assign
    >>> X, centers = np.arange(6.0), np.array([0.0, 1.0])
    >>> costs = CostBlocks((6, 2), lambda rows: np.square(X[rows, None] - centers))
    >>> assign(costs, size_max=3).labels
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, shape: tuple[int, int], compute: Callable[[Any], Array]) -> None:
        self.shape = shape
        self.compute = compute

    def rows(self, rows: slice | Indices) -> Array:
        """Return the costs of some rows.

        Parameters
        ----------
        rows : slice or ndarray of int
            The rows.

        Returns
        -------
        ndarray of shape (n, n_clusters)
            Their costs, as an array that cannot be written.

        Raises
        ------
        ValueError
            If the function returns another shape, or costs that are not finite.
        """
        costs = np.ascontiguousarray(self.compute(rows))
        if costs.dtype not in (np.float32, np.float64):
            costs = costs.astype(np.float64)
        n_rows = len(range(*rows.indices(self.shape[0]))) if isinstance(rows, slice) else len(rows)
        if costs.shape != (n_rows, self.shape[1]):
            raise ValueError(
                f"The costs of {n_rows} rows must have the shape {(n_rows, self.shape[1])}, got {costs.shape}."
            )
        _check_size(costs)
        # Numba compiles read-only and writable arrays apart, and one is enough.
        view = costs.view()
        view.flags.writeable = False
        return view

    def cheapest(self, prices: Floats) -> tuple[Array, Floats] | None:
        """Return the cheapest clusters at prices, if there is a faster way to them than through the costs.

        Parameters
        ----------
        prices : ndarray of shape (n_clusters,)
            What is subtracted from the costs in each cluster.

        Returns
        -------
        tuple of two ndarrays of shape (n_rows,), or None
            The cluster of every row, and by how much the next one exceeds its cost; None if there is no faster way.
        """
        return None

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield the first row and the costs of every block of rows.

        Yields
        ------
        int
            The first row.
        ndarray of shape (n, n_clusters)
            The costs.
        """
        n_rows, n_clusters = self.shape
        size = rows_of_block(n_clusters)
        for start in range(0, n_rows, size):
            yield start, self.rows(slice(start, min(start + size, n_rows)))


def rows_of_block(n_clusters: int) -> int:
    """Return the number of rows of a block."""
    return max(1, BLOCK_ENTRIES // n_clusters)


class _HeldCosts(CostBlocks):
    """Costs in memory that were checked."""

    def __init__(self, costs: Array) -> None:
        held = costs.view()
        held.flags.writeable = False
        super().__init__(costs.shape, held.__getitem__)

    def rows(self, rows: slice | Indices) -> Array:
        costs = self.compute(rows)
        costs.flags.writeable = False
        return costs


def as_cost_blocks(costs: ArrayLike | CostBlocks) -> CostBlocks:
    """Return checked costs: those of an array, or blocks as they are."""
    if isinstance(costs, CostBlocks):
        is_shape = isinstance(costs.shape, tuple) and all(isinstance(size, Integral) for size in costs.shape)
        if not is_shape or len(costs.shape) != 2 or min(costs.shape) < 1:
            raise ValueError(f"costs must have rows and clusters, got the shape {costs.shape}.")
        return costs
    held = check_array(costs, dtype=[np.float64, np.float32], order="C", input_name="costs")
    _check_size(held)
    return _HeldCosts(held)


def _check_size(costs: Array) -> None:
    """Refuse costs that are not finite, or so large that sums of them are not."""
    largest = max(float(costs.max(initial=0.0)), -float(costs.min(initial=0.0)))
    if not np.isfinite(largest):
        raise ValueError("The costs of some rows are not finite; every row needs a finite cost in every cluster.")
    if largest > MAX_COST:
        raise ValueError(
            f"The largest cost is {largest:g}; costs must be at most {MAX_COST:g}, so that sums are finite."
        )
