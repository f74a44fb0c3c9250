"""What a task of Spark does with the blocks of its partition; functions for ``mapInArrow``."""

from __future__ import annotations

import gc
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial, reduce
from typing import Any

import numpy as np

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Array
from mustlink.blocks.core import join_results

__all__ = ["DeriveBlocks", "EmitVectors", "JoinResults", "LabelBlocks", "RunOnBlocks", "RunOnIds", "load_result"]

# What a function raises about its data; Spark would try it again in vain, and wrap it in a trace.
LASTING = (ValueError, TypeError, LookupError, ArithmeticError)


class BlockTask:
    """A function on the blocks of a partition, with its arguments.

    It is sent in the closure of the task. Spark broadcasts a closure of more than 1 MB by itself, once to every
    executor.
    """

    def __init__(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        each: dict[int, tuple[Any, ...]] | None,
        n_features: int,
        dtype: np.dtype[Any],
    ) -> None:
        self._task, self._shared, self._each = task, shared, each
        self._n_features, self._dtype = n_features, dtype

    def _blocks(self, batch: Any) -> Iterator[tuple[int, int, Array]]:
        """Yield the place of every block in a batch, its number and its rows, which are not copied."""
        for place, number in enumerate(batch.column("block").to_pylist()):
            cells = np.frombuffer(batch.column("data")[place].as_buffer(), dtype=self._dtype)
            # Compiled functions expect aligned arrays; only a second block of a batch could begin elsewhere.
            yield place, number, np.require(cells.reshape(-1, self._n_features), requirements="A")

    def _compute(self, block: Any, number: int) -> Any:
        """Call the function on a block."""
        exempt_modules()
        with one_blas_thread():
            return self._task(block, *self._shared, *(() if self._each is None else self._each[number]))


@cache
def exempt_modules() -> None:
    """Exempt what is in memory now from garbage collection, once in every process.

    A Python worker of Spark collects garbage after every task. With all modules of the package in memory that takes
    longer than many a pass.
    """
    gc.freeze()


class RunOnBlocks(BlockTask):
    """Emit the number of every block and the pickled result of the function."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for _, number, block in self._blocks(batch):
                yield _emit_result(number, partial(self._compute, block, number))


class RunOnIds(BlockTask):
    """Emit the number of every block and the pickled result of the function, which is called on its ids."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for place, number in enumerate(batch.column("block").to_pylist()):
                ids = batch.column("ids")[place].values
                yield _emit_result(number, partial(self._compute, ids, number))


class LabelBlocks(BlockTask):
    """Emit the id of every row and the integer that the function returns for it."""

    def __init__(self, *arguments: Any, id: str, label: str, label_type: np.dtype[Any]) -> None:
        super().__init__(*arguments)
        self._id, self._label, self._label_type = id, label, label_type

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for place, number, block in self._blocks(batch):
                labels = np.asarray(self._compute(block, number)).astype(self._label_type)
                ids = batch.column("ids")[place].values
                yield pa.RecordBatch.from_arrays([ids, pa.array(labels)], names=[self._id, self._label])


class DeriveBlocks(BlockTask):
    """Emit blocks with other columns, which the function computes."""

    def __init__(self, *arguments: Any, derived_shape: int, derived_type: np.dtype[Any]) -> None:
        super().__init__(*arguments)
        self._derived_shape, self._derived_type = derived_shape, derived_type

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for _, number, block in self._blocks(batch):
                derived = np.ascontiguousarray(self._compute(block, number), dtype=self._derived_type)
                yield _emit("data", number, derived.reshape(len(block), self._derived_shape).tobytes())


class EmitVectors(BlockTask):
    """Emit every row as a list of numbers, in small batches."""

    batch_rows = 10_000

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for _, number, block in self._blocks(batch):
                for start in range(0, len(block), self.batch_rows):
                    rows = np.asarray(self._compute(block[start : start + self.batch_rows], number), dtype=np.float64)
                    offsets = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)
                    lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(rows.ravel()))
                    yield pa.RecordBatch.from_arrays([lists], names=["values"])


class JoinResults:
    """Join the results of blocks, group by group, each in the order of its blocks."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        groups = defaultdict(list)
        for batch in batches:
            for group, number, result in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                groups[group].append((number, result))
        for group, results in sorted(groups.items()):
            yield _emit_result(group, partial(_join_in_order, results))


def _join_in_order(results: list[tuple[int, bytes]]) -> Any:
    """Join the pickled results of blocks."""
    return reduce(join_results, (load_result(result) for _, result in sorted(results)))


def load_result(pickled: Any) -> Any:
    """Return a result that a task has sent, or raise the error that it sent instead."""
    result, error = pickle.loads(pickled)
    if error is not None:
        raise error
    return result


def _emit_result(number: int, compute: Callable[[], Any]) -> Any:
    """Return a batch with the number of a block and a pickled result, or the error that was raised."""
    answer: tuple[Any, Exception | None]
    try:
        answer = compute(), None
    except LASTING as error:
        answer = None, error
    return _emit("result", number, pickle.dumps(answer))


def _emit(name: str, number: int, content: bytes) -> Any:
    """Return a batch with the number of a block and a binary cell."""
    import pyarrow as pa

    cells = {"block": pa.array([number], pa.int32()), name: pa.array([content], pa.binary())}
    return pa.RecordBatch.from_pydict(cells)
