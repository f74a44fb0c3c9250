"""What Dask's workers compute of a block; nothing here needs Dask."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._sklearn_compat import one_thread
from mustlink._types import Array, Indices
from mustlink.blocks._blocked_rows import Task, join_results

__all__ = [
    "Arguments",
    "BlockForm",
    "call_on_block",
    "join_neighbors",
    "read_block",
    "read_partition",
    "take_rows",
    "task_name",
]


class Arguments:
    """Arguments that Dask passes on as they are: it looks for its own values inside lists, tuples and data classes."""

    def __init__(self, *values: Any) -> None:
        self.values = values


class BlockForm:
    """What Dask's metadata state of every block, and the type of the numbers that are computed with."""

    def __init__(
        self, n_blocks: int, n_features: int, given: Any, dtype: np.dtype[Any], names: list[Any] | None = None
    ) -> None:
        self.n_blocks, self.n_features, self.dtype = n_blocks, n_features, dtype
        # The type of an array, or the types of the columns of a data frame.
        self.given, self.names = given, names

    def name(self, number: int) -> str:
        """Return how a message names a block."""
        return f"block {number + 1:,} of {self.n_blocks:,}"


def read_block(block: Any, form: BlockForm, number: int, n_rows: int | None = None) -> Array:
    """Check that a block of an array is what the metadata state, and return its numbers in C order."""
    if not isinstance(block, np.ndarray):
        raise TypeError(
            f"X has a {type(block).__name__} as {form.name(number)}, and arrays of NumPy are expected; convert it with "
            "X.map_blocks."
        )
    expected = (block.shape[0] if n_rows is None else n_rows, form.n_features)
    if block.shape != expected or (len(block) and block.dtype != form.given):
        raise ValueError(
            f"X has an array of shape {block.shape} and type {block.dtype} as {form.name(number)}, but the metadata of "
            f"X state the shape {expected} and the type {form.given}; correct the function that makes the block, or "
            "the dtype, shape or meta that it is declared with."
        )
    if isinstance(block, np.ma.MaskedArray):
        block = np.ma.filled(block.astype(form.dtype), np.nan)
    return np.ascontiguousarray(block, dtype=form.dtype)


def read_partition(frame: Any, form: BlockForm, number: int) -> Array:
    """Check that a partition of a data frame is what the metadata state, and return its numbers in C order."""
    names = form.names or []
    if list(frame.columns) != names:
        raise ValueError(
            f"X has the columns {_few(frame.columns)} in {form.name(number)}, but the metadata of X state the columns "
            f"{_few(names)}; correct the function that makes the partition, or the meta that it is declared with."
        )
    # Partitions without rows often have lost their types.
    if not len(frame):
        return np.empty((0, form.n_features), dtype=form.dtype)
    for name, got, stated in zip(names, frame.dtypes, form.given, strict=True):
        if got != stated:
            raise ValueError(
                f"The column {name!r} of X has the type {got} in {form.name(number)}, but the metadata of X state "
                f"{stated}; correct the function that makes the partition, or the meta that it is declared with."
            )
    return np.ascontiguousarray(frame.to_numpy(dtype=form.dtype, na_value=np.nan))


def _few(names: Any, limit: int = 10) -> str:
    """Return names for a message, the first of them if there are many."""
    shown = ", ".join(map(repr, list(names)[:limit]))
    return f"{shown}, ... ({len(names)} in all)" if len(names) > limit else shown


def call_on_block(
    block: Any, work: Arguments, number: int, n_rows: int | None = None, own: Arguments | None = None
) -> Any:
    """Call a task on a block, on one thread."""
    task, form, shared = work.values
    with one_thread():
        try:
            read = read_block(block, form, number, n_rows)
            return task(read, *shared, *(() if own is None else own.values))
        except Exception as error:
            error.add_note(f"This was {form.name(number)} of X.")
            raise


def take_rows(block: Array, index: Indices) -> Array:
    """Return some rows of a block."""
    return block[index]


def join_neighbors(*results: Any) -> Any:
    """Add the results of neighboring blocks in pairs, then the sums in pairs, and so on."""
    level = list(results)
    while len(level) > 1:
        pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
        level = [join_results(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def task_name(task: Task) -> str:
    """Return the name of a task for Dask's dashboard: that of the function inside.

    With hyphens, as the dashboard takes tasks together whose names begin with the same words of letters.
    """
    for inner in ("task", "func"):
        if hasattr(task, inner):
            return task_name(getattr(task, inner))
    return str(getattr(task, "__name__", type(task).__name__)).strip("_<>").replace("_", "-")
