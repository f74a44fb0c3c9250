"""How known columns enter a model, of a fit or of new rows: as cells, or as predictors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.alternative._known import KnownColumn, KnownNumbers, KnownSplit, check_finite, columns_of, is_constant

__all__ = ["Layout"]

# Cells of several splits with fewer rows are merged with another.
MIN_CELL = 5


@dataclass(frozen=True)
class Layout:
    """The columns that are known, and the cells of the Cartesian product of their classes.

    `classes` has the names of each split's classes, and None for a column of numbers, of which `means` and `scales` are
    used. `combinations` are the classes that occur together, and `cell_of` their cells.
    """

    classes: list[Array | None]
    means: Floats
    scales: Floats
    combinations: Ints
    cell_of: Ints

    @classmethod
    def of(cls, columns: list[KnownColumn], n_clusters: int) -> Self:
        """Return the layout of known columns.

        A cell of several splits with no more rows than clusters, or fewer than 5, is merged with the largest of the
        cells that differ from it in the fewest splits. The classes of a single split stay as they are.
        """
        classes = [column.classes if isinstance(column, KnownSplit) else None for column in columns]
        moments = [_moments(column) for column in columns]
        means, scales = np.array(moments).reshape(-1, 2).T
        splits = [column.codes for column in columns if isinstance(column, KnownSplit)]
        if not splits:
            return cls(classes, means, scales, np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64))
        combinations, sizes = np.unique(np.column_stack(splits), axis=0, return_counts=True)
        target = np.arange(len(combinations))
        if sum(isinstance(column, KnownSplit) and not is_constant(column) for column in columns) > 1:
            target = _merge_small(combinations, sizes, max(MIN_CELL, n_clusters + 1))
        cell_of = np.unique(target, return_inverse=True)[1].astype(np.int64)
        return cls(classes, means, scales, combinations, cell_of)

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return int(self.cell_of.max()) + 1

    def cells(self, columns: list[KnownColumn], n_rows: int) -> Ints:
        """Return the cell of each row; -1 for classes that did not occur together."""
        splits = [column.codes for column in columns if isinstance(column, KnownSplit)]
        if not splits:
            return np.zeros(n_rows, dtype=np.int64)
        both = np.concatenate([self.combinations, np.column_stack(splits)])
        place = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        cell = np.full(int(place.max()) + 1, -1, dtype=np.int64)
        cell[place[: len(self.combinations)]] = self.cell_of
        return cell[place[len(self.combinations) :]]

    def design(self, columns: list[KnownColumn], n_rows: int) -> Floats:
        """Return the predictors of a linear model: 1, every class as 0 or 1, and standardized numbers."""
        parts = [np.ones((n_rows, 1))]
        for place, column in enumerate(columns):
            if isinstance(column, KnownNumbers):
                parts.append(self._standardize(column, place))
            else:
                names = self.classes[place]
                assert names is not None
                parts.append((column.codes[:, None] == np.arange(len(names))).astype(np.float64))
        return np.concatenate(parts, axis=1)

    def numbers(self, columns: list[KnownColumn], n_rows: int) -> Floats:
        """Return the standardized numbers alone, one column each."""
        parts = [
            self._standardize(column, place) for place, column in enumerate(columns) if isinstance(column, KnownNumbers)
        ]
        return np.concatenate([np.empty((n_rows, 0)), *parts], axis=1)

    def _standardize(self, column: KnownNumbers, place: int) -> Floats:
        """Return a column of numbers with the mean and the scale that it had in the fit."""
        return np.asarray((column.values - self.means[place]) / self.scales[place])[:, None]

    def read(self, known: Any, n_rows: int) -> list[KnownColumn]:
        """Return the known columns of new rows, in which a class that did not occur in the fit is -1."""
        given = columns_of(known, n_rows)
        if len(given) != len(self.classes):
            raise ValueError(
                f"known has {count(len(given), 'column')}, and the fit was with {len(self.classes)}; new rows need the "
                "same."
            )
        found: list[KnownColumn] = []
        for (column, where), names in zip(given, self.classes, strict=True):
            if names is None:
                values = np.asarray(column, dtype=np.float64)
                check_finite(values, where)
                found.append(KnownNumbers(values))
            else:
                found.append(KnownSplit(np.asarray(pd.Index(names).get_indexer(column), dtype=np.int64), names))
        return found


def _moments(column: KnownColumn) -> tuple[float, float]:
    """Return the mean and the standard deviation of numbers; 0 and 1 of classes."""
    if isinstance(column, KnownSplit):
        return 0.0, 1.0
    scale = float(column.values.std())
    return float(column.values.mean()), scale if scale > 0 else 1.0


def _merge_small(combinations: Ints, sizes: Ints, min_size: int) -> Indices:
    """Return the large combination that each combination is merged with, itself if it is large."""
    large = np.flatnonzero(sizes >= min_size)
    if not len(large):
        large = np.array([int(sizes.argmax())])
    target = np.arange(len(sizes))
    for small in np.setdiff1d(target, large):
        n_different = (combinations[large] != combinations[small]).sum(axis=1)
        target[small] = large[np.lexsort((-sizes[large], n_different))[0]]
    return target
