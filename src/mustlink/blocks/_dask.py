"""Rows in Dask's arrays and data frames: every chunk is a block, and its passes run where the chunk is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Array, Indices
from mustlink.blocks._blocked_rows import BlockedRows, Task
from mustlink.blocks._dask_collections import check_client, client_of, import_dask, is_local, read_collection
from mustlink.blocks._dask_tasks import Arguments, BlockForm, call_on_block, join_neighbors, take_rows, task_name

__all__ = ["DaskRows", "distinct_in_dask"]

# How many neighboring results are joined at once, by one task or in the end here; fewer make more tasks, each of which
# takes Dask about a millisecond.
JOINED_AT_ONCE = 8

# Shared arguments go into every task if all copies are no larger; otherwise workers send them to each other, which
# takes some milliseconds more.
MAX_COPIED_BYTES = 1 << 20


class DaskRows(BlockedRows):
    """Rows in a Dask array or data frame, in the blocks that it has.

    ``fit`` and ``predict`` create it from a collection by themselves. If there is a client of Dask's distributed
    scheduler, its workers hold the rows in memory from the first pass on, and each pass runs where the rows are; what a
    worker that fails has held is computed again. Without one, threads of this process compute the chunks again in every
    pass, unless they are in memory.

    Parameters
    ----------
    X : dask.array.Array of shape (n_rows, n_features) or dask.dataframe.DataFrame
        Of numbers; float32 stays, others become float64. Columns in several chunks are joined. The lengths of chunks
        that Dask does not know, such as those of every data frame, are computed in one more pass.
    checkpoint : path, default=None
        A folder in which boosting keeps every round of tables with more than 50,000 rows, to go on after a failure.
        Trials are run again, and codes are computed again. The files stay after the fit and may be deleted.

    Examples
    --------
    >>> import numpy as np
    >>> import dask.array as da
    >>> from mustlink import PCKMeans
    >>> from mustlink.blocks import DaskRows
    >>> X = da.from_array(np.array([[0.0], [1.0], [8.0], [9.0]]), chunks=(3, 1))
    >>> DaskRows(X)
    DaskRows(4 x 1 numbers of float64 in 2 blocks)
    >>> labels = PCKMeans(n_clusters=2, random_state=0).fit(X).labels_
    >>> labels.chunks
    ((3, 1),)
    >>> labels.compute()
    array([1, 1, 0, 0], dtype=int32)
    """

    def __init__(self, X: Any, *, checkpoint: str | Path | None = None) -> None:
        read = read_collection(X)
        self._client, self._blocks, self._is_kept = read.client, read.blocks, read.is_kept
        # Workers release persisted chunks once no reference to the collection remains.
        self._collection = X if read.is_kept else None
        self._is_local = read.client is not None and is_local(read.client)
        self._lengths = self._count_rows(read.form) if read.lengths is None else np.asarray(read.lengths, dtype=np.intp)
        self._describe(read.form, read.columns, checkpoint)

    def _describe(self, form: BlockForm, columns: list[str] | None, checkpoint: str | Path | None) -> None:
        """Set the shape; blocks without rows are none of these blocks, since tasks need not work on them."""
        self._form = form
        self._numbers = np.flatnonzero(self._lengths)
        bounds = np.concatenate([[0], np.cumsum(self._lengths[self._numbers])])
        super().__init__(bounds, form.n_features, form.dtype, columns, checkpoint)

    def run(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        self._keep_blocks()
        return self._compute(self._call(task, shared, each))

    def total(self, task: Task, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> Any:
        self._keep_blocks()
        level, depth, name = self._call(task, shared, each), 0, f"mustlink-join-{uuid4().hex}"
        join = import_dask().delayed(join_neighbors, pure=False)
        # One task for the last results would wait for them to get from worker to worker, which takes longer.
        while len(level) > JOINED_AT_ONCE:
            depth += 1
            parts = [level[place : place + JOINED_AT_ONCE] for place in range(0, len(level), JOINED_AT_ONCE)]
            level = [join(*part, dask_key_name=(name, depth, number)) for number, part in enumerate(parts)]
        return join_neighbors(*self._compute(level))

    def gather(self, index: Indices) -> Array:
        self._keep_blocks()
        index = np.asarray(index, dtype=np.intp)
        parts = self.split(index)
        touched = [block for block, (places,) in enumerate(parts) if len(places)]
        found = self._compute(self._call(take_rows, (), parts, touched))
        rows = np.empty((len(index), self.n_features), dtype=self.dtype)
        # The blocks return the rows in this order.
        rows[np.argsort(index, kind="stable")] = np.concatenate([rows[:0], *found])
        return rows

    def label(
        self, task: Task, *shared: Any, dtype: Any = np.int32, each: Sequence[tuple[Any, ...]] | None = None
    ) -> Any:
        # A single pass, as that of `predict`, needs no rows in the memory of the workers.
        kept = self._persist(self._call(CastLabels(task, dtype), shared, each))
        name = kept[0].key[0] if kept else f"mustlink-labels-{uuid4().hex}"
        chunks = {(name, number): np.empty(0, dtype=dtype) for number in range(len(self._lengths))}
        for block in kept:
            chunks[block.key] = dict(block.dask)[block.key]
        return import_dask().array.Array(chunks, name, (tuple(self._lengths.tolist()),), dtype=dtype)

    def derive(self, task: Task, *shared: Any, n_features: int, dtype: Any) -> DaskRows:
        self._keep_blocks()
        derived = object.__new__(DaskRows)
        derived._client, derived._is_local, derived._is_kept = self._client, self._is_local, True
        derived._blocks = self._persist(self._call(task, shared))
        derived._lengths = np.diff(self.bounds)
        derived._describe(BlockForm(self.n_blocks, n_features, np.dtype(dtype), np.dtype(dtype)), None, self.checkpoint)
        return derived

    def compute_table(self, function: Task, n_features: int, dtype: Any) -> Any:
        """Return a Dask array of what a function computes of every block, a row for every row; computed on demand.

        Parameters
        ----------
        function : callable
            Called on every block.
        n_features : int
            The number of columns that it returns.
        dtype : dtype
            The type of its numbers.

        Returns
        -------
        dask.array.Array of shape (n_rows, n_features)
            In the chunks of the rows.
        """
        array = import_dask().array
        sizes = np.diff(self.bounds).tolist()
        calls = zip(self._call(function, ()), sizes, strict=True)
        return array.concatenate([array.from_delayed(call, (size, n_features), dtype) for call, size in calls])

    def _name_block(self, number: int) -> str:
        return self._form.name(int(self._numbers[number]))

    def _count_rows(self, form: BlockForm) -> Indices:
        """Return the number of rows of every block, computed where the blocks are."""
        self._keep_blocks()
        name = f"mustlink-count-{uuid4().hex}"
        count = import_dask().delayed(len, pure=False)
        calls = [count(block, dask_key_name=(name, number)) for number, block in enumerate(self._blocks)]
        return np.array(self._compute(calls), dtype=np.intp)

    def _keep_blocks(self) -> None:
        """Let the workers hold the blocks in memory, if there are workers."""
        if self._client is not None and not self._is_kept:
            self._blocks, self._is_kept = self._persist(self._blocks), True

    def _call(
        self,
        task: Task,
        shared: tuple[Any, ...],
        each: Sequence[tuple[Any, ...]] | None = None,
        chosen: Sequence[int] | None = None,
    ) -> list[Any]:
        """Return delayed calls of a task on all blocks or chosen ones."""
        delayed, token = import_dask().delayed, uuid4().hex
        work = self._share(Arguments(task, self._form, shared), f"mustlink-shared-{token}")
        name, call = f"mustlink-{task_name(task)}-{token}", delayed(call_on_block, pure=False)
        calls = []
        for block in range(self.n_blocks) if chosen is None else chosen:
            number = int(self._numbers[block])
            own = None if each is None else Arguments(*each[block])
            size = int(self._lengths[number])
            calls.append(call(self._blocks[number], work, number, size, own, dask_key_name=(name, number)))
        return calls

    def _share(self, work: Arguments, name: str) -> Any:
        """Return arguments of all calls; large ones as one value of the graph, which each worker gets once."""
        if self._client is None:
            return work
        # Comes with Dask.
        import cloudpickle

        if len(cloudpickle.dumps(work)) * self.n_blocks <= MAX_COPIED_BYTES:
            return work
        # A value of the graph, unlike one that is scattered, is sent again if a worker fails.
        return import_dask().delayed(work, name=name, traverse=False)

    def _compute(self, calls: list[Any]) -> list[Any]:
        """Return the results of delayed calls; an interrupt cancels those that have not begun."""
        with self._settings():
            # Gathering through the scheduler costs some milliseconds.
            options = {"direct": True} if self._is_local else {}
            return list(import_dask().compute(*calls, scheduler=self._client, **options))

    def _persist(self, calls: list[Any]) -> list[Any]:
        """Return delayed values whose results stay with the workers, or in memory where there are none."""
        with self._settings():
            return list(import_dask().persist(*calls, scheduler=self._client))

    @contextmanager
    def _settings(self) -> Iterator[None]:
        """Set what Dask computes with."""
        with ExitStack() as stack:
            # The limit of BLAS is one of the process: set here, it stands until the last of its threads is done.
            stack.enter_context(one_blas_thread())
            if self._client is not None:
                check_client(self._client)
                # Dask warns of large arguments, since it cannot see that they are one value of the graph.
                no_warning = {"distributed.admin.large-graph-warning-threshold": "1TB"}
                stack.enter_context(import_dask().config.set(no_warning))
            yield


class CastLabels:
    """A task that returns labels of a given type."""

    def __init__(self, task: Task, dtype: Any) -> None:
        self.task, self._dtype = task, dtype

    def __call__(self, block: Array, *arguments: Any) -> Array:
        return np.asarray(self.task(block, *arguments), dtype=self._dtype)


def distinct_in_dask(labels: Any) -> Array:
    """Return the distinct values of a Dask array of labels, found where they are."""
    client, _ = client_of(labels)
    return np.asarray(import_dask().array.unique(labels).compute(scheduler=client))
