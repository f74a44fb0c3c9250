"""Rows in blocks that lie elsewhere: what files, Dask and Spark have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from mustlink._magnitude import largest_number
from mustlink._rows import RowBlocks
from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices
from mustlink.blocks._moments import Moments, inspect_block
from mustlink.errors import NumberTooLargeError

__all__ = ["BlockedRows", "Task", "TransformedRows", "join_results"]

# A function of a block, of arguments that are the same for all blocks and, where there are any, of those of the block.
Task = Callable[..., Any]


class BlockedRows(ABC):
    """Rows of numbers that are not in memory, in blocks.

    All that a fit needs of them is found in passes: a function is called on every block where the block lies, and its
    results, which are small, are returned in the order of the blocks. Functions and arguments must be picklable, as
    they may be sent to other processes. A function uses one thread: blocks are what is parallel.

    Parameters
    ----------
    bounds : ndarray of shape (n_blocks + 1,)
        The first row of every block, and the number of rows.
    n_features : int
        The number of columns.
    dtype : dtype
        That of the numbers: float32 or float64.
    columns : sequence of str, default=None
        The names of the columns.
    checkpoint : path, default=None
        A folder in which boosting keeps every round of tables with more than 50,000 rows, to go on after a failure.
        Trials are run again, and codes are computed again. The files stay after the fit and may be deleted.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.blocks import FileRows
    >>> rows = FileRows(np.arange(8.0).reshape(4, 2), block_rows=3)
    >>> rows.run(len)
    [3, 1]
    >>> rows.total(len)
    4
    >>> rows.moments.mean
    array([3., 4.])
    >>> rows.gather([3])
    array([[6., 7.]])
    """

    ndim = 2

    def __init__(
        self,
        bounds: Indices,
        n_features: int,
        dtype: Any,
        columns: Sequence[str] | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.bounds, self.n_features, self.dtype = np.asarray(bounds, dtype=np.intp), n_features, np.dtype(dtype)
        self.columns = None if columns is None else list(columns)
        self.checkpoint = None if checkpoint is None else Path(checkpoint)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # An engine does what is described here, elsewhere.
        for name, method in vars(cls).items():
            described = getattr(BlockedRows, name, None)
            if callable(method) and described is not None and method.__doc__ is None:
                method.__doc__ = described.__doc__

    @abstractmethod
    def run(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a function on every block.

        Parameters
        ----------
        task : callable
            Called as ``task(block, *shared, *each[number])``; a block is an array in C order that must not be written.
        *shared : object
            Arguments that are the same for all blocks.
        each : sequence of tuple, default=None
            Further arguments, one tuple per block.

        Returns
        -------
        list
            The results in the order of the blocks.
        """

    @abstractmethod
    def gather(self, index: Indices) -> Array:
        """Return some rows as an array.

        Parameters
        ----------
        index : array-like of int
            The numbers of the rows, in any order.

        Returns
        -------
        ndarray of shape (len(index), n_features)
            The rows in the order of `index`.
        """

    @abstractmethod
    def label(
        self, task: Task, *shared: Any, dtype: Any = np.int32, each: Sequence[tuple[Any, ...]] | None = None
    ) -> Any:
        """Return one integer for every row, by a function that returns those of a block.

        Parameters
        ----------
        task : callable
            Called as ``task(block, *shared, *each[number])``; returns an entry for every row of the block.
        *shared : object
            Arguments that are the same for all blocks.
        dtype : dtype, default=int32
            The type of the integers.
        each : sequence of tuple, default=None
            Further arguments, one tuple per block.

        Returns
        -------
        array of shape (n_rows,)
            In the form of these rows: an array or a memory map for files, a Dask array for Dask.
        """

    @abstractmethod
    def derive(self, task: Task, *shared: Any, n_features: int, dtype: Any) -> BlockedRows:
        """Return rows that a function computes of every block, kept where the blocks are, such as codes of boosting.

        Parameters
        ----------
        task : callable
            Called as ``task(block, *shared)``; returns an array with a row for every row of the block.
        *shared : object
            Arguments that are the same for all blocks.
        n_features : int
            The number of columns that it returns.
        dtype : dtype
            The type of its numbers, floats or integers.

        Returns
        -------
        BlockedRows
            In the same blocks.
        """

    def total(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> Any:
        """Join the results of a function on every block by ``+``; those of tuples are joined part by part.

        The order of the joins depends on the blocks alone.

        Parameters
        ----------
        task : callable
            Called as ``task(block, *shared, *each[number])``.
        *shared : object
            Arguments that are the same for all blocks.
        each : sequence of tuple, default=None
            Further arguments, one tuple per block.

        Returns
        -------
        object
            The sum of the results.
        """
        return reduce(join_results, self.run(task, *shared, each=each))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.n_rows, self.n_features

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.bounds[-1])

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self.bounds) - 1

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, *arguments: Any, **options: Any) -> Array:
        raise TypeError(
            f"{self!r} are not turned into an array, as they may not fit into memory. Pass them to fit of a clusterer "
            "that takes rows in blocks, or to predict; gather(index) returns some of them as an array."
        )

    def __repr__(self) -> str:
        name = type(self).__name__
        blocks = count(self.n_blocks, "block")
        return f"{name}({self.n_rows:,} x {self.n_features:,} numbers of {self.dtype} in {blocks})"

    @cached_property
    def moments(self) -> Moments:
        """Mean and sum of squares of every column; refuses no rows, NaN, infinity and too large numbers."""
        if self.n_rows < 1 or self.n_features < 1:
            raise ValueError(f"X has the shape {self.shape}; at least one row and one column are needed.")
        limit = largest_number(self.dtype, self.n_rows * self.n_features)
        found = self.run(inspect_block, limit)
        for number, moments in enumerate(found):
            if moments.bad is not None:
                self._refuse(number, moments.bad, limit)
        return reduce(Moments.__add__, found)

    def _refuse(self, number: int, bad: tuple[int, int, float], limit: float) -> None:
        """Raise an error that names a number that cannot be computed with, and where it is."""
        row, column, value = bad
        name = column if self.columns is None else repr(self.columns[column])
        whole = int(self.bounds[number]) + row
        where = f"row {whole:,}, column {name} of X ({self._name_block(number)}, row {row:,} of the block)"
        if np.isnan(value):
            raise ValueError(f"Input X contains NaN: {where}. Fill in or remove missing values first.")
        if np.isinf(value):
            raise ValueError(f"Input X contains infinity: {where}. Replace it or remove the row first.")
        raise NumberTooLargeError(
            f"X holds {value:.3g} in {where}; numbers above {limit:.1g} are too large for squared distances in "
            f"{self.dtype}",
            remedy=("scale", "missing_marker"),
            row=whole,
            column=column,
        )

    def _name_block(self, number: int) -> str:
        """Return how a message names a block."""
        return f"block {number + 1:,} of {self.n_blocks:,}"

    def mean_variance(self, weight: Floats | None = None) -> float:
        """Return the variance of the features, averaged over the features.

        Parameters
        ----------
        weight : object, default=None
            Ignored: all rows have weight one.

        Returns
        -------
        float
            The mean of the variances.
        """
        return float(self.moments.variance.mean())

    def rows(self, index: Indices) -> Floats:
        """Return some rows as an array in double precision.

        Parameters
        ----------
        index : array-like of int
            The numbers of the rows.

        Returns
        -------
        ndarray of shape (len(index), n_features)
            The rows.
        """
        return self.gather(index).astype(np.float64)

    def take(self, index: Indices) -> RowBlocks:
        """Return some rows in memory, in double precision, for further computations.

        Parameters
        ----------
        index : array-like of int
            The numbers of the rows.

        Returns
        -------
        RowBlocks
            The rows.
        """
        return RowBlocks(self.rows(index))

    def split(self, index: Indices, *values: Array) -> list[tuple[Array, ...]]:
        """Deal rows, given by their numbers, to the blocks.

        Parameters
        ----------
        index : ndarray of int
            The numbers of the rows.
        *values : ndarray
            Arrays with an entry for each of these rows.

        Returns
        -------
        list of tuple
            For each block the places of its rows in it, and their values: what ``run`` takes as `each`.
        """
        order = np.argsort(index, kind="stable")
        cuts = np.searchsorted(index[order], self.bounds)
        parts = [order[start:stop] for start, stop in pairwise(cuts)]
        return [
            (index[part] - start, *(value[part] for value in values))
            for part, start in zip(parts, self.bounds[:-1], strict=True)
        ]

    def with_labels_in_memory(self) -> BlockedRows:
        """Return these rows such that :meth:`label` writes no file: that of a fit must survive a prediction.

        Returns
        -------
        BlockedRows
            The same rows, if they write none anyway.
        """
        return self

    def _copy_with(self, **attributes: Any) -> Self:
        """Return the same rows with other attributes; what has been computed of them stays."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__ | attributes)
        return other

    def transform(self, function: Callable[[Array], Array], n_features: int, dtype: Any) -> TransformedRows:
        """Return these rows after a function of a block, which is called again in every pass.

        Parameters
        ----------
        function : callable
            Called on a block; returns an array with a row for every row of the block.
        n_features : int
            The number of columns that it returns.
        dtype : dtype
            The type of its numbers.

        Returns
        -------
        BlockedRows
            In the same blocks; nothing is stored.
        """
        return TransformedRows(self, function, n_features, dtype)


class TransformedRows(BlockedRows):
    """Rows in blocks after a function that is called in every pass: nothing is stored."""

    def __init__(self, rows: BlockedRows, function: Callable[[Array], Array], n_features: int, dtype: Any) -> None:
        super().__init__(rows.bounds, n_features, dtype, checkpoint=rows.checkpoint)
        self._rows, self._function = rows, function

    def run(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        return self._rows.run(After(self._function, task), *shared, each=each)

    def total(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> Any:
        return self._rows.total(After(self._function, task), *shared, each=each)

    def gather(self, index: Indices) -> Array:
        return self._function(self._rows.gather(index))

    def label(
        self, task: Task, *shared: Any, dtype: Any = np.int32, each: Sequence[tuple[Any, ...]] | None = None
    ) -> Any:
        return self._rows.label(After(self._function, task), *shared, dtype=dtype, each=each)

    def with_labels_in_memory(self) -> BlockedRows:
        return self._copy_with(_rows=self._rows.with_labels_in_memory())

    def derive(self, task: Task, *shared: Any, n_features: int, dtype: Any) -> BlockedRows:
        return self._rows.derive(After(self._function, task), *shared, n_features=n_features, dtype=dtype)


@dataclass(frozen=True)
class After:
    """A task on blocks that a function has changed."""

    function: Callable[[Array], Array]
    task: Task

    def __call__(self, block: Array, *arguments: Any) -> Any:
        return self.task(np.ascontiguousarray(self.function(block)), *arguments)


def join_results(one: Any, other: Any) -> Any:
    """Add the results of two blocks; those of tuples part by part."""
    if isinstance(one, tuple):
        parts = map(join_results, one, other)
        return type(one)(*parts) if hasattr(one, "_fields") else tuple(parts)
    return one + other
