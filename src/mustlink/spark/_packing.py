"""The rows of a partition as one block: the features in one binary cell, the ids in one list.

A pass then hands over each block as it is, without a conversion of its cells.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._spelling import count
from mustlink._types import Array

__all__ = ["Fault", "Pack", "block_number", "refuse_faults"]

MAX_SHOWN = 3


@dataclass(frozen=True)
class Fault:
    """What is wrong with some rows of a partition: the kind, the number of cells or rows, the first of them."""

    kind: str
    n_cells: int
    ids: list[Any]
    column: int = -1


class Pack:
    """Put the rows of a partition, sorted by id, into one row: block, n_rows, fault, ids and data."""

    def __init__(self, n_features: int, dtype: np.dtype[Any]) -> None:
        self._n_features, self._dtype = n_features, dtype

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        ids, parts = [], []
        faults: list[Fault] = []
        for batch in batches:
            if batch.num_rows:
                ids.append(batch.column(0))
                parts.append(self._as_block(batch, faults))
        if not ids:
            return
        joined = pa.chunked_array(ids).combine_chunks()
        if isinstance(joined, pa.ChunkedArray):
            joined = pa.concat_arrays(joined.chunks)
        faults = _faults_of_ids(joined) + faults
        # A table that is refused needs no room.
        data = b"" if faults else np.concatenate(parts).tobytes()
        cells = {
            "block": pa.array([block_number()], pa.int32()),
            "n_rows": pa.array([len(joined)], pa.int64()),
            "fault": pa.array([pickle.dumps(faults) if faults else None], pa.binary()),
            "ids": pa.ListArray.from_arrays([0, len(joined)], joined),
            "data": pa.array([data], pa.binary()),
        }
        yield pa.RecordBatch.from_pydict(cells)

    def _as_block(self, batch: Any, faults: list[Fault]) -> Array:
        """Return the features of a batch as an array in C order, and keep what is wrong with them."""
        block = np.empty((batch.num_rows, self._n_features), dtype=self._dtype)
        for place in range(self._n_features):
            column = batch.column(place + 1)
            block[:, place] = column.to_numpy(zero_copy_only=False)
            if column.null_count:
                empty = np.asarray(column.is_null())
                faults.append(_fault_of_cells("null", batch, empty, place))
                block[empty, place] = 0.0
        is_nan = np.isnan(block)
        with_nan = np.flatnonzero(is_nan.any(axis=0)).tolist()
        faults += [_fault_of_cells("NaN", batch, is_nan[:, place], place) for place in with_nan]
        return block


def block_number() -> int:
    """Return the number of the partition that this task works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _fault_of_cells(kind: str, batch: Any, is_bad: Array, column: int) -> Fault:
    """Return a fault of some cells of a column."""
    first = batch.column(0)[int(np.argmax(is_bad))].as_py()
    return Fault(kind, int(is_bad.sum()), [first], column)


def _faults_of_ids(ids: Any) -> list[Fault]:
    """Find ids that are null, and those that equal the one before; equal ids are neighbors, as ids are sorted."""
    import pyarrow.compute as pc

    if ids.null_count:
        return [Fault("no id", ids.null_count, [])]
    repeated = ids[1:].filter(pc.equal(ids[1:], ids[:-1]))
    if not len(repeated):
        return []
    return [Fault("repeated", len(repeated), pc.unique(repeated)[:MAX_SHOWN].to_pylist())]


def refuse_faults(faults: Sequence[Fault], id: str, columns: Sequence[str]) -> None:
    """Raise an error for what was found in all partitions, if anything was; ids first."""
    total: Counter[str] = Counter()
    for fault in faults:
        total[fault.kind] += fault.n_cells
    if total["no id"]:
        raise ValueError(f"The column of ids {id!r} is null in {count(total['no id'], 'row')}; every row needs an id.")
    if total["repeated"]:
        found = sorted(one for fault in faults if fault.kind == "repeated" for one in fault.ids)
        shown = ", ".join(map(repr, found[:MAX_SHOWN]))
        more = ", ..." if total["repeated"] > MAX_SHOWN else ""
        raise ValueError(
            f"{count(total['repeated'], 'row')} of df {'has' if total['repeated'] == 1 else 'have'} the id of another "
            f"row in the column {id!r}: {shown}{more}. Every row needs its own id."
        )
    for kind in ("null", "NaN"):
        if total[kind]:
            first = min((fault for fault in faults if fault.kind == kind), key=lambda fault: (fault.column, fault.ids))
            more = f", and {count(total[kind] - 1, 'other cell')}" if total[kind] > 1 else ""
            raise ValueError(
                f"df contains {kind}: column {columns[first.column]!r} of the row with the id {first.ids[0]!r}{more}. "
                "Fill in or remove missing values first, such as with df.na.fill or df.na.drop."
            )
