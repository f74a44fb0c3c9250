"""Rows for the benchmark of large tables: a file of NumPy, made block by block, and links between its rows."""

from __future__ import annotations

import pickle
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from mustlink.blocks import BlockedRows
from mustlink.blocks.core import join_results

N_CLASSES = 10
# Rows are drawn in pieces of this size, each from a seed of its own: a shorter table is the start of a longer one.
PIECE = 250_000


def make_rows(folder: Path, n_rows: int, n_features: int = 16) -> Path:
    """Write overlapping Gaussian clusters in single precision, unless the file is there already."""
    path = folder / f"rows-{n_rows}-{n_features}.npy"
    if not path.exists():
        rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, n_features))
        centers = 2.0 * np.random.default_rng(0).normal(size=(N_CLASSES, n_features))
        for start in range(0, n_rows, PIECE):
            part = rows[start : start + PIECE]
            classes, rng = piece_classes(start)
            noise = rng.normal(size=(PIECE, n_features))[: len(part)]
            part[:] = centers[classes[: len(part)]] + noise
        rows.flush()
    return path


def piece_classes(start: int) -> tuple[Any, np.random.Generator]:
    """Return the classes of the rows of a piece, and the generator that draws the rest of it."""
    rng = np.random.default_rng(1 + start // PIECE)
    return rng.integers(N_CLASSES, size=PIECE), rng


def draw_links(n_rows: int, n_links: int) -> Any:
    """Draw links between random rows, half of them must-links, by the true classes."""
    from mustlink import Constraints

    rng = np.random.default_rng(0)
    pairs = rng.integers(n_rows, size=(20 * n_links, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    is_must = classes_of(pairs[:, 0]) == classes_of(pairs[:, 1])
    must, cannot = pairs[is_must][: n_links // 2], pairs[~is_must][: n_links - n_links // 2]
    return Constraints(must_link=must, cannot_link=cannot)


def classes_of(rows: Any) -> Any:
    """Return the classes of some rows."""
    found = np.empty(len(rows), dtype=np.int64)
    piece = rows // PIECE
    for number in np.unique(piece):
        chosen = piece == number
        found[chosen] = piece_classes(int(number) * PIECE)[0][rows[chosen] % PIECE]
    return found


class CountedRows(BlockedRows):
    """Rows in blocks that count the passes over them, and the bytes that would travel if the blocks were elsewhere.

    `sent` counts the arguments that all blocks share once per pass, since a worker needs them once, and those of single
    blocks; `largest` is the size of the largest result of a block, `received` of the results of all blocks.
    """

    def __init__(self, rows: BlockedRows) -> None:
        super().__init__(rows.bounds, rows.n_features, rows.dtype, rows.columns, rows.checkpoint)
        self._rows = rows
        self.n_passes = self.sent = self.received = self.largest = 0

    def run(self, task: Any, *shared: Any, each: Any = None) -> list[Any]:
        results = self._rows.run(task, *shared, each=each)
        self._count(task, shared, each, results)
        return results

    def total(self, task: Any, *shared: Any, each: Any = None) -> Any:
        results = self.run(task, *shared, each=each)
        return reduce(join_results, results)

    def gather(self, index: Any) -> Any:
        found = self._rows.gather(index)
        self.received += found.nbytes
        return found

    def label(self, task: Any, *shared: Any, dtype: Any = np.int32, each: Any = None) -> Any:
        labels = self._rows.label(task, *shared, dtype=dtype, each=each)
        self._count(task, shared, each, [])
        return labels

    def derive(self, task: Any, *shared: Any, n_features: int, dtype: Any) -> BlockedRows:
        derived = CountedRows(self._rows.derive(task, *shared, n_features=n_features, dtype=dtype))
        self._count(task, shared, None, [])
        self.derived = derived
        return derived

    def _count(self, task: Any, shared: Any, each: Any, results: list[Any]) -> None:
        self.n_passes += 1
        self.sent += size_of((task, shared)) + size_of(each)
        sizes = [size_of(result) for result in results] or [0]
        self.received += sum(sizes)
        self.largest = max(self.largest, *sizes)


def size_of(value: Any) -> int:
    """Return the bytes that a value takes on its way to another process."""
    return len(pickle.dumps(value, protocol=5))
