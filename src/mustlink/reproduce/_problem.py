"""The data and the links of a cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from mustlink.constraints import Constraints
from mustlink.datasets import load
from mustlink.reproduce._cell import Cell

__all__ = ["DataSet", "Problem", "as_it_is", "faces", "leading_directions", "pose", "standardised"]

Floats = NDArray[Any]


def as_it_is(X: Floats) -> Floats:
    """Leave the features as they are."""
    return X


def standardised(X: Floats) -> Floats:
    """Bring every feature to mean 0 and variance 1."""
    scaled: Floats = StandardScaler().fit_transform(X)
    return scaled


def leading_directions(X: Floats) -> Floats:
    """Keep the 50 directions in which images vary most."""
    reduced: Floats = PCA(n_components=min(50, *X.shape), random_state=0).fit_transform(X)
    return reduced


def faces(X: Floats) -> Floats:
    """Images without their mean, of length 1, in 100 principal directions that are half whitened.

    The light varies far more than the person does, and the leading directions hold the light; dividing each
    direction by the square root of its standard deviation lessens that.
    """
    centred = X - X.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    directions = PCA(n_components=min(100, *X.shape), random_state=0)
    projected: Floats = directions.fit_transform(unit)
    return projected / np.sqrt(projected.std(axis=0))


@dataclass(frozen=True)
class DataSet:
    """A data set as a paper used it."""

    name: str  # for mustlink.datasets.load
    title: str  # what the paper calls it
    prepare: Callable[[Floats], Floats] = as_it_is
    n_components: int | None = None  # the number of directions the paper keeps


@dataclass(frozen=True)
class Problem:
    """What a method gets to see, and the classes it is scored by."""

    X: Floats
    y: NDArray[np.int64]
    links: Constraints
    n_clusters: int
    n_components: int | None
    seed: int
    amount: float = 0.0  # that of the cell, for what asks instead of getting links
    shared_seed: int = 0  # the same for all methods of a trial


@lru_cache(maxsize=16)
def prepared(data: DataSet) -> tuple[Floats, NDArray[np.int64]]:
    """Load and prepare a data set once per process."""
    bunch: Any = load(data.name)
    return data.prepare(bunch.data), bunch.target


def pose(cell: Cell, data: DataSet, draw: Callable[[NDArray[np.int64], Cell], Constraints]) -> Problem:
    """Draw the rows and the links of a cell."""
    X, y = prepared(data)
    if cell.rows is not None and cell.rows < len(y):
        rows = np.sort(np.random.RandomState(cell.rows_seed).permutation(len(y))[: cell.rows])
        X, y = X[rows], y[rows]
    return Problem(X, y, draw(y, cell), len(np.unique(y)), data.n_components, cell.seed, cell.amount, cell.problem_seed)
