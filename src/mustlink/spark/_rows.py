"""Rows in a DataFrame of Spark: every partition is a block, and its passes run on the executors."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mustlink._types import Array, Indices
from mustlink.blocks import BlockedRows
from mustlink.blocks.core import join_results
from mustlink.errors import NumberTooLargeError
from mustlink.spark._columns import LABEL, Layout, find_columns
from mustlink.spark._ids import WantedIds, find_in_block
from mustlink.spark._packing import Pack, refuse_faults
from mustlink.spark._passes import (
    BlockTask,
    DeriveBlocks,
    EmitVectors,
    JoinResults,
    LabelBlocks,
    RunOnBlocks,
    RunOnIds,
    load_result,
)
from mustlink.spark._session import check_frame, name_missing_modules

__all__ = ["PackedRows", "SparkRows", "same_block"]

# A task holds a few copies of its block: as Arrow data in Java and in Python, and what is computed of it.
BLOCK_BYTES = 32 << 20
# So that a slow task does not hold up the others.
BLOCKS_PER_CORE = 2
# The results of more blocks are joined on the executors first, as the driver would otherwise receive and join them all.
MAX_BLOCKS_JOINED_BY_DRIVER = 64


class PackedRows(BlockedRows):
    """Blocks in a DataFrame of Spark with a row for every block: its number (block) and its numbers (data).

    The ids of the rows are in a DataFrame with a list for every block (block, ids).
    """

    def __init__(
        self,
        packed: Any,
        ids: Any,
        numbers: Sequence[int],
        bounds: Indices,
        n_features: int,
        dtype: Any,
        id_field: tuple[str, Any],
        columns: Sequence[str] | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        super().__init__(bounds, n_features, dtype, columns, checkpoint)
        self._packed, self._ids, self._id_field = packed, ids, id_field
        # Of partitions; those without rows are no blocks.
        self._numbers = list(numbers)
        self._kept: list[Any] = []

    def run(self, task: Any, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a function on every block.

        Parameters
        ----------
        task : callable
            As for :class:`mustlink.blocks.BlockedRows`; errors that it raises about its data are raised here.
        *shared : object
            Arguments that are the same for all blocks. They are sent with the task; Spark broadcasts them when they
            take more than 1 MB.
        each : sequence of tuple, default=None
            Further arguments, one tuple per block.

        Returns
        -------
        list
            The results in the order of the blocks.
        """
        return self._collect(self._results(self._packed, RunOnBlocks, task, shared, each))

    def total(self, task: Any, *shared: Any, each: Sequence[tuple[Any, ...]] | None = None) -> Any:
        """Join the results of a function on every block by ``+``; those of tuples are joined part by part.

        Parameters
        ----------
        task : callable
            As for `run`.
        *shared : object
            As for `run`.
        each : sequence of tuple, default=None
            As for `run`.

        Returns
        -------
        object
            The joined results. The order of the joins depends on the blocks alone.
        """
        if self.n_blocks <= MAX_BLOCKS_JOINED_BY_DRIVER:
            return super().total(task, *shared, each=each)
        from pyspark.sql import functions

        # Two levels: with n blocks, neither an executor nor the driver joins many more than sqrt(n) results.
        n_joined = int(np.ceil(np.sqrt(max(self._numbers) + 1)))
        results = self._results(self._packed, RunOnBlocks, task, shared, each)
        grouped = results.select(
            functions.floor(functions.col("block") / n_joined).cast("int").alias("group"), "block", "result"
        )
        joined = grouped.repartition(n_joined, "group").mapInArrow(JoinResults(), "block int, result binary")
        return reduce(join_results, self._collect(joined))

    def gather(self, index: Indices) -> Array:
        """Return some rows as an array.

        Parameters
        ----------
        index : ndarray of int
            The numbers of the rows, in any order.

        Returns
        -------
        ndarray of shape (len(index), n_features)
            In the order of `index`. Blocks without such rows are not read.
        """
        found = np.empty((len(index), self.n_features), dtype=self.dtype)
        for target, rows in self._take(self._packed, RunOnBlocks, np.asarray(index, dtype=np.intp)):
            found[target] = rows
        return found

    def ids_of(self, index: Indices) -> list[Any]:
        """Return the ids of some rows.

        Parameters
        ----------
        index : ndarray of int
            The numbers of the rows, in any order.

        Returns
        -------
        list
            In the order of `index`.
        """
        found = np.empty(len(index), dtype=object)
        for target, ids in self._take(self._ids, RunOnIds, np.asarray(index, dtype=np.intp)):
            found[target] = ids
        return found.tolist()

    def find_ids(self, names: Sequence[str]) -> list[tuple[Indices, list[Any]]]:
        """Find rows by ids as links write them.

        Parameters
        ----------
        names : sequence of str
            The ids.

        Returns
        -------
        list of (ndarray, list)
            For every block the places of the rows, and their ids.
        """
        wanted = WantedIds(list(names))
        return self._collect(self._results(self._ids, RunOnIds, find_in_block, (wanted,), None))

    def label(
        self, task: Any, *shared: Any, dtype: Any = np.int32, each: Sequence[tuple[Any, ...]] | None = None
    ) -> Any:
        """Return one integer for every row, by a function that returns those of a block.

        Parameters
        ----------
        task : callable
            As for `run`; returns an array of integers with one for every row of the block.
        *shared : object
            As for `run`.
        dtype : dtype, default=int32
            The type of the integers: Spark has those of 32 and of 64 bits.
        each : sequence of tuple, default=None
            As for `run`.

        Returns
        -------
        DataFrame
            Of Spark: ids and labels. It is computed when it is first used, and kept.
        """
        from pyspark.sql.types import IntegerType, LongType, StructField, StructType

        name, id_type = self._id_field
        is_wide = np.dtype(dtype).itemsize > 4
        schema = StructType([StructField(name, id_type), StructField(LABEL, LongType() if is_wide else IntegerType())])
        call = LabelBlocks(
            *self._arguments(task, shared, each),
            id=name,
            label=LABEL,
            label_type=np.dtype(np.int64 if is_wide else np.int32),
        )
        return _keep(self._with_ids().mapInArrow(call, schema))

    def derive(self, task: Any, *shared: Any, n_features: int, dtype: Any) -> PackedRows:
        """Return rows that a function computes of every block, kept on the executors.

        Parameters
        ----------
        task : callable
            Called as ``task(block, *shared)``; returns an array with a row for every row of the block.
        *shared : object
            As for `run`.
        n_features : int
            The number of columns that it returns.
        dtype : dtype
            The type of its numbers.

        Returns
        -------
        BlockedRows
            In the same blocks. They are computed when they are first used, and again if an executor is lost.
        """
        call = DeriveBlocks(
            *self._arguments(task, shared, None), derived_shape=n_features, derived_type=np.dtype(dtype)
        )
        derived = _keep(self._packed.select("block", "data").mapInArrow(call, "block int, data binary"))
        self._kept.append(derived)
        rows = PackedRows(
            derived,
            self._ids,
            self._numbers,
            self.bounds,
            n_features,
            dtype,
            self._id_field,
            checkpoint=self.checkpoint,
        )
        rows._kept = self._kept
        return rows

    def vectors(self, name: str = "features") -> Any:
        """Return the rows as vectors of MLlib.

        Parameters
        ----------
        name : str, default="features"
            The name of the column.

        Returns
        -------
        DataFrame
            Of Spark, with one column.
        """
        from pyspark.ml.functions import array_to_vector

        call = EmitVectors(*self._arguments(same_block, (), None))
        lists = self._packed.select("block", "data").mapInArrow(call, "values array<double>")
        return lists.select(array_to_vector("values").alias(name))

    def unpersist(self) -> None:
        """Release the memory that these rows, and all that was derived of them, take on the executors.

        What is used after that is computed again from the DataFrame that the rows were made of.
        """
        for frame in self._kept:
            frame.unpersist()

    def _take(self, frame: Any, kind: type[BlockTask], index: Indices) -> list[tuple[Indices, Any]]:
        """Return what is at some rows, and for which entries of the index, for every block that has such rows."""
        from pyspark.sql import functions

        parts = self.split(index, np.arange(len(index)))
        wanted = [place for place, (rows, _) in enumerate(parts) if len(rows)]
        if not wanted:
            return []
        chosen = frame.where(functions.col("block").isin([self._numbers[place] for place in wanted]))
        each = [(rows,) for rows, _ in parts]
        found = self._collect(self._results(chosen, kind, take_rows, (), each))
        return [(parts[place][1], rows) for place, rows in zip(wanted, found, strict=True)]

    def _results(
        self, frame: Any, kind: type[BlockTask], task: Any, shared: tuple[Any, ...], each: Sequence[Any] | None
    ) -> Any:
        """Return a DataFrame of the numbers of the blocks and the pickled results of a function."""
        content = "ids" if kind is RunOnIds else "data"
        call: Any = kind(*self._arguments(task, shared, each))
        return frame.select("block", content).mapInArrow(call, "block int, result binary")

    def _collect(self, results: Any) -> list[Any]:
        """Return results in the order of the blocks."""
        with name_missing_modules():
            found = results.collect()
        return [load_result(bytes(row.result)) for row in sorted(found, key=lambda row: row.block)]

    def _arguments(self, task: Any, shared: tuple[Any, ...], each: Sequence[tuple[Any, ...]] | None) -> tuple[Any, ...]:
        """Return the arguments of a task of Spark."""
        own = None if each is None else dict(zip(self._numbers, each, strict=True))
        return task, shared, own, self.n_features, self.dtype

    def _with_ids(self) -> Any:
        """Return the blocks with their ids; those of derived rows are moved to them, which is seldom needed."""
        if "ids" in self._packed.columns:
            return self._packed.select("block", "ids", "data")
        return self._packed.join(self._ids, "block").select("block", "ids", "data")

    def _refuse(self, number: int, bad: tuple[int, int, float], limit: float) -> None:
        """Raise the error for a number that cannot be computed with, with the id of its row."""
        try:
            super()._refuse(number, bad, limit)
        except ValueError as error:
            (id,) = self.ids_of(np.array([self.bounds[number] + bad[0]]))
            where = f"The row with the id {id!r} cannot be used. "
            if isinstance(error, NumberTooLargeError):
                raise error.with_problem(where + error.problem) from None
            raise ValueError(f"{where}{error}") from None


class SparkRows(PackedRows):
    """Rows of a DataFrame of Spark, as X of the clusterers that take rows in blocks.

    The rows are numbered by block and, within a block, by id. They are kept on the executors, in memory and on disk,
    until `unpersist` is called.

    Parameters
    ----------
    df : DataFrame
        Of Spark, with a column of ids and columns of numbers.
    id : str, default="id"
        The column of the ids: whole numbers or strings, all different.
    columns : sequence of str, default=None
        The columns of the features; None is all but the ids. If all are float, smallint or tinyint, numbers are
        float32, else float64.
    n_partitions : int, default=None
        The number of blocks, some of which may have no rows; None is two for every core of the cluster, and more if a
        block would have more than 32 MB.
    checkpoint : path, default=None
        A folder in which boosting keeps every round of tables with more than 50,000 rows, to go on after a failure.
        Trials are run again, and codes are computed again. The files stay after the fit and may be deleted.

    See Also
    --------
    cluster : Clusters the rows of a DataFrame with links between ids.

    Notes
    -----
    The blocks must have the same rows in the same order in every pass, also where an executor was lost and its blocks
    are made again. So the block of a row is a hash of its id, and the rows of a block are sorted by id. A DataFrame
    whose cells differ each time that it is computed, such as by ``rand()`` without a seed, must be written to disk
    first.

    Examples
    --------
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> from mustlink import PCKMeans
    >>> from mustlink.spark import SparkRows
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> df = spark.createDataFrame([("a", 0.0), ("b", 1.0), ("c", 8.0), ("d", 9.0)], "id string, x double")
    ... # doctest: +SKIP
    >>> rows = SparkRows(df)  # doctest: +SKIP
    >>> rows.shape  # doctest: +SKIP
    (4, 1)
    >>> labels = PCKMeans(n_clusters=2, random_state=0).fit(rows).labels_  # doctest: +SKIP
    >>> labels.columns, labels.select("label").distinct().count()  # doctest: +SKIP
    (['id', 'label'], 2)
    """

    def __init__(
        self,
        df: Any,
        id: str = "id",
        columns: Sequence[str] | None = None,
        *,
        n_partitions: int | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        session = check_frame(df)
        layout = find_columns(df, id, columns)
        packed = _pack(df, layout, n_partitions or _count_partitions(df, session, layout))
        try:
            with name_missing_modules():
                found = packed.select("block", "n_rows", "fault").collect()
            faults = [fault for row in found if row.fault is not None for fault in pickle.loads(bytes(row.fault))]
            refuse_faults(faults, layout.id, layout.columns)
            if not found:
                _refuse_empty(layout)
        except BaseException:
            packed.unpersist()
            raise
        found.sort(key=lambda row: row.block)
        super().__init__(
            packed,
            packed.select("block", "ids"),
            [row.block for row in found],
            np.append(0, np.cumsum([row.n_rows for row in found])),
            len(layout.columns),
            layout.dtype,
            (layout.id, layout.id_type),
            layout.columns,
            checkpoint,
        )
        self._kept.append(packed)


def take_rows(block: Any, places: Indices) -> Any:
    """Return some rows of a block, or some of its ids."""
    if isinstance(block, np.ndarray):
        return block[places]
    return block.take(places).to_pylist()


def same_block(block: Array) -> Array:
    """Return a block as it is."""
    return block


def _pack(df: Any, layout: Layout, n_partitions: int) -> Any:
    """Return a DataFrame with a row for every block, which is kept.

    The number of partitions is given and the partition is a hash of the id, so that Spark neither joins partitions as
    it sees fit nor deals rows out in the order in which they arrive, which differs from run to run.
    """
    rows = layout.select(df).repartition(n_partitions, "id").sortWithinPartitions("id")
    schema = f"block int, n_rows long, fault binary, ids array<{layout.id_type.simpleString()}>, data binary"
    return _keep(rows.mapInArrow(Pack(len(layout.columns), layout.dtype), schema))


def _keep(frame: Any) -> Any:
    """Return a DataFrame that is kept in memory and on disk once it is computed."""
    from pyspark import StorageLevel

    return frame.persist(StorageLevel.MEMORY_AND_DISK)


def _count_partitions(df: Any, session: Any, layout: Layout) -> int:
    """Return into how many partitions the rows are dealt."""
    n_rows = df.count()
    if not n_rows:
        _refuse_empty(layout)
    # Spark Connect does not tell the number of cores.
    context = getattr(session, "sparkContext", None)
    if context is None:
        enough = int(session.conf.get("spark.sql.shuffle.partitions"))
    else:
        enough = BLOCKS_PER_CORE * context.defaultParallelism
    return max(min(enough, n_rows), -(-n_rows * layout.row_bytes // BLOCK_BYTES))


def _refuse_empty(layout: Layout) -> NoReturn:
    """Raise the error for a DataFrame without rows."""
    raise ValueError(f"df has no rows, only the columns {', '.join([layout.id, *layout.columns][:8])}.")
