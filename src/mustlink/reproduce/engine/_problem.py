"""The data and the links of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from mustlink._types import Array, Ints
from mustlink.constraints import Constraints
from mustlink.datasets import load
from mustlink.reproduce.engine._results import Run

DrawLinks = Callable[[Ints, Run], Constraints]


def standardize(X: Array) -> Array:
    """Scale every feature to mean 0 and variance 1."""
    scaled: Array = StandardScaler().fit_transform(X)
    return scaled


def principal_components(X: Array) -> Array:
    """Project images on their first 50 principal components."""
    reduced: Array = PCA(n_components=min(50, *X.shape), random_state=0).fit_transform(X)
    return reduced


def whiten_faces(X: Array) -> Array:
    """Center images, scale them to length 1, and half whiten their first 100 principal components.

    The light varies far more than the person, and the first components hold the light; dividing each component by
    the square root of its standard deviation reduces that.
    """
    centered = X - X.mean(axis=0)
    unit = centered / np.linalg.norm(centered, axis=1, keepdims=True)
    projected: Array = PCA(n_components=min(100, *X.shape), random_state=0).fit_transform(unit)
    return projected / np.sqrt(projected.std(axis=0))


@dataclass(frozen=True)
class DataSet:
    """A data set as a paper used it."""

    name: str  # for mustlink.datasets.load
    title: str  # its name in the paper
    prepare: Callable[[Array], Array] | None = None
    n_components: int = 0  # the number of directions that the paper keeps, where it needs one
    make: Callable[[], tuple[Array, Ints]] | None = None  # makes rows and classes of a synthetic set


@dataclass(frozen=True)
class Problem:
    """The input of a method, and the classes by which it is scored."""

    X: Array
    y: Ints
    links: Constraints
    n_clusters: int
    n_components: int
    seed: int
    amount: float = 0.0  # that of the run, for methods that ask for links
    shared_seed: int = 0  # the same for all methods of a trial
    noise: float = 0.0  # that of the run, for methods that know how many links are wrong


def draw_pairs(y: Ints, run: Run, *, balanced: bool = True) -> Constraints:
    """Draw as many pairs as the run has, half of them must-links if balanced, and flip a fraction of them."""
    if run.amount == 0:
        return Constraints()
    n_pairs = int(run.amount)
    return Constraints.sample(y, n_pairs=n_pairs, balanced=balanced, noise=run.noise, random_state=run.problem_seed)


@lru_cache(maxsize=16)
def _load(data: DataSet) -> tuple[Array, Ints]:
    """Load and prepare a data set once per process."""
    if data.make is not None:
        return data.make()
    bunch: Any = load(data.name)
    return bunch.data if data.prepare is None else data.prepare(bunch.data), bunch.target


def make_problem(run: Run, data: DataSet, draw: DrawLinks) -> Problem:
    """Draw the rows and the links of a run."""
    X, y = _load(data)
    if run.rows is not None and run.rows < len(y):
        rows = np.sort(np.random.RandomState(run.rows_seed).permutation(len(y))[: run.rows])
        X, y = X[rows], y[rows]
    n_clusters = len(np.unique(y))
    return Problem(X, y, draw(y, run), n_clusters, data.n_components, run.seed, run.amount, run.problem_seed, run.noise)
