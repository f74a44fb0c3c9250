"""Rows in a file of NumPy, mapped into memory and read block by block."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import n_threads, one_blas_thread
from mustlink._types import Array, Indices
from mustlink.blocks._blocked_rows import BlockedRows, Task, join_results
from mustlink.blocks._in_place import MappedRowBlocks
from mustlink.blocks._label_file import check_label_file, write_labels

__all__ = ["FileRows", "LocalRows"]

# Small enough that the blocks of all threads, and what is computed from them, take little memory.
BLOCK_BYTES = 8 << 20

# Rows that are read at a time where they lie far from each other: the system maps some 64 KB around each, 32 MB in all.
TAKEN_ROWS = 512


class LocalRows(BlockedRows):
    """Blocks of an array on this machine, in memory or memory-mapped; threads work on them.

    The attribute `watch` may be a function, which is called with the number of every block that is done.

    Parameters
    ----------
    array : ndarray of shape (n_rows, n_features)
        In C order.
    bounds : ndarray of shape (n_blocks + 1,)
        The first row of every block, and the number of rows.
    columns : sequence of str, default=None
        The names of the columns.
    labels : path, default=None
        A file of NumPy that a fit writes its labels to; None keeps them in memory.
    checkpoint : path, default=None
        A folder in which boosting keeps every round of tables with more than 50,000 rows, to go on after a failure.
        Trials are run again, and codes are computed again. The files stay after the fit and may be deleted.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.blocks import LocalRows
    >>> rows = LocalRows(np.arange(8.0).reshape(4, 2), np.array([0, 3, 4]))
    >>> rows.run(len)
    [3, 1]
    >>> rows.in_place().n_rows
    4
    """

    def __init__(
        self,
        array: Array,
        bounds: Indices,
        columns: Sequence[str] | None = None,
        *,
        labels: str | Path | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        super().__init__(bounds, array.shape[1], array.dtype, columns, checkpoint)
        self._array = array
        self._labels = None if labels is None else Path(labels)
        self._pages = MappedPages(array)
        self.watch: Callable[[int], None] | None = None

    def run(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        found: list[Any] = self._work(list, task, shared, each)
        return found

    def total(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> Any:
        # Joined as they come: the results of all blocks are never in memory together.
        return self._work(partial(reduce, join_results), task, shared, each)

    def _work(self, collect: Callable[[Iterable[Any]], Any], task: Task, shared: tuple[Any, ...], each: Any) -> Any:
        """Call a task on every block, on threads, and collect the results in the order of the blocks."""

        def work(number: int) -> Any:
            start, stop = self.bounds[number : number + 2]
            try:
                return task(self._array[start:stop], *shared, *(() if each is None else each[number]))
            finally:
                self._pages.release(int(start), int(stop))
                if self.watch is not None:
                    self.watch(number)

        threads = min(self.n_blocks, n_threads())
        if threads == 1:
            return collect(map(work, range(self.n_blocks)))
        with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
            try:
                return collect(pool.map(work, range(self.n_blocks)))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def gather(self, index: Indices) -> Array:
        return self._pages.take(self._array, np.asarray(index, dtype=np.intp))

    def in_place(self) -> RowBlocks:
        """Return the array for algorithms that read some of its rows at a time, but keep numbers for every row.

        Returns
        -------
        RowBlocks
            Pages of a memory map are given back as soon as they have been read.
        """
        return MappedRowBlocks(self._array, self._pages)

    def __getstate__(self) -> dict[str, Any]:
        # A memory map is opened again by another process, and not sent there.
        state = self.__dict__ | {"_array": self._pages.source or self._array, "watch": None}
        del state["_pages"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        source = state.pop("_array")
        self.__dict__.update(state)
        self._array = source.open() if isinstance(source, MappedSource) else source
        self._pages = MappedPages(self._array)

    def label(
        self, task: Task, *shared: Any, dtype: Any = np.int32, each: Sequence[tuple[Any, ...]] | None = None
    ) -> Array:
        def fill(out: Array) -> None:
            parts = each if each is not None else [()] * self.n_blocks
            placed = [(int(start), *part) for start, part in zip(self.bounds[:-1], parts, strict=True)]
            self.run(WriteBlocks(task, out, len(shared)), *shared, each=placed)

        if self._labels is None:
            labels = np.empty(self.n_rows, dtype=dtype)
            fill(labels)
            return labels
        return write_labels(self._labels, self.n_rows, dtype, fill)

    def with_labels_in_memory(self) -> LocalRows:
        return self if self._labels is None else self._copy_with(_labels=None)

    def derive(self, task: Task, *shared: Any, n_features: int, dtype: Any) -> LocalRows:
        derived = np.empty((self.n_rows, n_features), dtype=dtype)
        starts = [(int(start),) for start in self.bounds[:-1]]
        self.run(WriteBlocks(task, derived, len(shared)), *shared, each=starts)
        return LocalRows(derived, self.bounds, labels=self._labels, checkpoint=self.checkpoint)


class FileRows(LocalRows):
    """Rows in a memory-mapped file.

    Parameters
    ----------
    array : memmap of shape (n_rows, n_features)
        In C order, float32 or float64. Any array in C order works.
    columns : sequence of str, default=None
        The names of the columns.
    labels : path, default=None
        A file of NumPy that a fit writes its labels to, as a memory map; None keeps them in memory, 4 bytes per row.
        It appears when it is complete. What ``predict`` returns is in memory.
    checkpoint : path, default=None
        A folder in which boosting keeps every round of tables with more than 50,000 rows, to go on after a failure.
        Trials are run again, and codes are computed again. The files stay after the fit and may be deleted.
    block_rows : int, default=None
        The number of rows in a block; None is 8 MB of them.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from mustlink import PCKMeans
    >>> from mustlink.blocks import FileRows
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.array([[0.0], [1.0], [8.0], [9.0]]))
    >>> rows = FileRows(np.load(path, mmap_mode="r"), block_rows=3)
    >>> rows
    FileRows(4 x 1 numbers of float64 in 2 blocks)
    >>> PCKMeans(n_clusters=2, random_state=0).fit(rows).labels_
    array([1, 1, 0, 0], dtype=int32)
    """

    def __init__(
        self,
        array: Array,
        columns: Sequence[str] | None = None,
        *,
        labels: str | Path | None = None,
        checkpoint: str | Path | None = None,
        block_rows: int | None = None,
    ) -> None:
        if array.ndim != 2 or array.dtype not in (np.float32, np.float64) or not array.flags.c_contiguous:
            raise ValueError(
                "Rows in a file must be an array of two dimensions of float32 or float64 in C order and native byte "
                f"order; got an array of {describe_array(array)}. Save it again as {as_plain(array)}."
            )
        n_rows, n_features = array.shape
        if not n_rows or not n_features:
            raise ValueError(f"The file has an array of shape {array.shape}; at least one row and column are needed.")
        if block_rows is not None and block_rows < 1:
            raise ValueError(f"block_rows={block_rows!r}; a block needs at least one row.")
        size = block_rows or max(1, BLOCK_BYTES // (n_features * array.dtype.itemsize))
        bounds = np.append(np.arange(0, n_rows, size), n_rows)
        if labels is not None:
            source = getattr(array, "filename", None)
            check_label_file(labels, [] if source is None else [source], n_rows)
        super().__init__(array, bounds, columns, labels=labels, checkpoint=checkpoint)


def describe_array(array: Array) -> str:
    """Return the shape, the type and the order of an array for a message."""
    if array.flags.c_contiguous:
        order = ""
    else:
        order = " in Fortran order, column after column" if array.flags.f_contiguous else ", not in C order"
    is_swapped = not array.dtype.isnative
    return f"shape {array.shape} and type {array.dtype}{' (not the native byte order)' if is_swapped else ''}{order}"


def as_plain(array: Array) -> str:
    """Return the code that makes rows of another type or order those that are read as they are."""
    is_single = array.dtype.kind == "f" and array.dtype.itemsize <= np.dtype(np.float32).itemsize
    return f"numpy.ascontiguousarray(X, dtype=numpy.{'float32' if is_single else 'float64'})"


class WriteBlocks:
    """A task that writes what is computed of a block, a label or more for every row, in its place."""

    def __init__(self, task: Task, out: Array, n_shared: int) -> None:
        self._task, self._out, self._n_shared = task, out, n_shared

    def __call__(self, block: Array, *arguments: Any) -> None:
        shared, (start, *own) = arguments[: self._n_shared], arguments[self._n_shared :]
        self._out[start : start + len(block)] = self._task(block, *shared, *own)


class MappedSource(NamedTuple):
    """Where the numbers of a memory map are."""

    path: str
    offset: int
    dtype: Any
    shape: tuple[int, ...]

    def open(self) -> Array:
        """Map them again."""
        return np.memmap(self.path, dtype=self.dtype, mode="r", offset=self.offset, shape=self.shape)


class MappedPages:
    """The pages of a memory-mapped file, which are given back to the system after use.

    They would stay in memory as long as the system has room, and count as memory of the process.
    """

    def __init__(self, array: Array) -> None:
        source = getattr(array, "_mmap", None)
        # Pages of a private copy must stay, since they may have been written.
        can_release = hasattr(mmap, "MADV_DONTNEED") and getattr(array, "mode", None) in ("r", "r+")
        self._map = source if can_release else None
        self.source: MappedSource | None = None
        if source is not None and getattr(array, "mode", None) in ("r", "r+"):
            first = np.frombuffer(source, dtype=np.uint8).__array_interface__["data"][0]
            self._offset = array.__array_interface__["data"][0] - first
            self._row_bytes = array.strides[0]
            self.source = self._locate(array)

    def _locate(self, array: Any) -> MappedSource | None:
        """Return the file of the map, and where in it the rows begin; None if it has no name."""
        if array.filename is None:
            return None
        # As NumPy maps files: from the last place that a map can begin at.
        start = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
        return MappedSource(str(array.filename), start + self._offset, array.dtype, array.shape)

    def take(self, array: Array, index: Indices) -> Array:
        """Return some rows of the array; a few at a time, as each can bring many pages into memory."""
        if self._map is None:
            return np.array(array[index])
        found = np.empty((len(index), *array.shape[1:]), dtype=array.dtype)
        for first in range(0, len(index), TAKEN_ROWS):
            part = index[first : first + TAKEN_ROWS]
            found[first : first + TAKEN_ROWS] = array[part]
            self.release(int(part.min()), int(part.max()) + 1)
        return found

    def release(self, start: int, stop: int) -> None:
        """Give back the pages of some rows."""
        if self._map is None:
            return
        # From the start of the first page on; a page that another thread still reads is read again.
        first = (self._offset + start * self._row_bytes) // mmap.PAGESIZE * mmap.PAGESIZE
        length = self._offset + stop * self._row_bytes - first
        self._map.madvise(mmap.MADV_DONTNEED, first, min(length, len(self._map) - first))
