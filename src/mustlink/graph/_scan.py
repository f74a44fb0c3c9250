"""What NetScan and its k-means variant share: parameters, starts, growth of clusters, and the best of several runs."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions, is_array_like
from mustlink._spelling import count
from mustlink._types import Floats, Indices, Ints
from mustlink.base import check_table
from mustlink.graph._adjacency import Adjacency
from mustlink.graph._base import BaseConnected
from mustlink.graph._centers import farthest_first
from mustlink.graph._distances import Distances
from mustlink.graph._growth import grow_in_rounds, grow_smoothly

__all__ = ["BaseNetScan", "Grown", "Run", "least_gap"]

# With n_init="auto": the number of starts for up to so many rows, and for more.
MAX_SMALL_ROWS = 20_000
N_STARTS_SMALL = 10
N_STARTS_LARGE = 3


@dataclass(frozen=True)
class Grown:
    """Clusters that have grown, the radius at which each row was assigned, and its distance from the center."""

    labels: Ints
    thresholds: Floats
    distances: Floats


@dataclass(frozen=True)
class Run:
    """The best iteration of a run: clusters and the rows they grew from; the objective of every iteration."""

    grown: Grown
    seeds: Indices
    objective: list[float]
    best: float


class BaseNetScan(BaseConnected):
    """Base of the clusterers that grow connected clusters from centers and move the centers, in turn."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"euclidean", "cosine"})],
        "step": [StrOptions({"continuous", "published"}), Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"degree", "farthest"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    metric: str
    step: str | float
    init: str | ArrayLike
    n_init: int | Literal["auto"]
    max_iter: int
    verbose: int | bool
    random_state: Any

    n_iter_: int
    objective_: list[float]

    def _best_run(self, graph: Adjacency | None, distances: Distances, rng: np.random.RandomState) -> Run:
        """Make the runs, and return the one with the least objective."""
        n_runs = self._n_runs(distances.n_rows)
        # The average distance of all pairs, from a small sample (D-bar of the source).
        factor = 1.0 if isinstance(self.step, str) else float(self.step)
        step = 0.0 if self.step == "continuous" else factor * distances.average(rng)
        best: Run | None = None
        with progress(n_runs, type(self).__name__, shown=bool(self.verbose)) as advance:
            for number in range(n_runs):
                run = self._run(graph, distances, self._first_seeds(graph, distances, rng), step, rng)
                if best is None or run.best < best.best:
                    best = run
                advance(number + 1)
        assert best is not None
        return best

    def _n_runs(self, n_rows: int) -> int:
        """Return the number of starts; from given rows it is one."""
        if is_array_like(self.init):
            return 1
        if self.n_init != "auto":
            return int(self.n_init)
        return N_STARTS_SMALL if n_rows <= MAX_SMALL_ROWS else N_STARTS_LARGE

    def _run(
        self, graph: Adjacency | None, distances: Distances, seeds: Indices, step: float, rng: np.random.RandomState
    ) -> Run:
        """Grow clusters and move their centers in turn, and keep the best iteration."""
        objective: list[float] = []
        seen = {_digest(np.sort(seeds))}
        kept: tuple[Grown, Indices] | None = None
        lines = distances.from_rows(seeds)
        gap = least_gap(lines[:, seeds])
        for _ in range(self.max_iter):
            grown = self._grow(graph, lines, seeds, step, rng, gap)
            means = distances.means(grown.labels, self.n_clusters)
            lines = distances.from_points(means)
            value = self._value(grown, lines)
            if kept is None or value < min(objective):
                kept = grown, seeds
            objective.append(value)
            seeds = nearest_to_means(grown.labels, lines)
            centers, lines, gap = self._move(distances, seeds, means, lines)
            if _digest(centers) in seen:
                # Converged, or in a cycle.
                break
            seen.add(_digest(centers))
        assert kept is not None
        return Run(*kept, objective, min(objective))

    def _value(self, grown: Grown, lines: Floats) -> float:
        """Return the objective of clusters, whose means have these distances to all rows."""
        raise NotImplementedError

    def _move(self, distances: Distances, seeds: Indices, means: Floats, lines: Floats) -> tuple[Any, Floats, float]:
        """Return the next centers, their distances to all rows, and the least distance of two.

        `seeds` are the rows nearest to the `means`, which have the distances `lines` to all rows.
        """
        raise NotImplementedError

    def _grow(
        self,
        graph: Adjacency | None,
        lines: Floats,
        seeds: Indices,
        step: float,
        rng: np.random.RandomState,
        gap: float,
    ) -> Grown:
        """Grow clusters around centers whose distances to all rows are given; the least two centers are `gap` apart."""
        if self.step != "continuous":
            labels, thresholds = grow_in_rounds(graph, lines, seeds, gap / 2, step, rng)
        else:
            labels, thresholds = grow_smoothly(graph, lines, seeds)
        return Grown(labels, thresholds, lines[labels, np.arange(len(labels))])

    def _first_seeds(self, graph: Adjacency | None, distances: Distances, rng: np.random.RandomState) -> Indices:
        """Return the first center of every cluster."""
        if is_array_like(self.init):
            return _check_init(self.init, graph, distances.n_rows, self.n_clusters)
        n_rows, start = distances.n_rows, int(rng.randint(distances.n_rows))
        if self.init == "farthest":
            return farthest_first(graph, distances, self.n_clusters, start).centers
        if graph is None:
            return rng.choice(n_rows, self.n_clusters, replace=False)
        if graph.n_parts == 1:
            return _draw_by_degree(np.arange(n_rows), graph.degree, self.n_clusters, rng)
        # Farthest-first traversal gives each further center to the part with the largest radius.
        spread = farthest_first(graph, distances, self.n_clusters, start).centers
        shares = np.bincount(graph.part[spread], minlength=graph.n_parts)
        order = np.argsort(graph.part, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(graph.part))[:-1])
        drawn = [_draw_by_degree(rows, graph.degree, share, rng) for rows, share in zip(parts, shares, strict=True)]
        return np.concatenate(drawn)

    def _start(self) -> np.random.RandomState:
        """Return the source of randomness of a fit."""
        rng: np.random.RandomState = check_random_state(self.random_state)
        return rng

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        return check_table(self, X, reset=reset, accept_sparse="csr", order="C")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def least_gap(between: Floats) -> float:
    """Return the least distance of two centers; zero for a single one."""
    if len(between) == 1:
        return 0.0
    return float(between[~np.eye(len(between), dtype=bool)].min())


def nearest_to_means(labels: Ints, lines: Floats) -> Indices:
    """Return the row of each cluster that is nearest to its mean, from the distances of all means to all rows."""
    order = np.lexsort([lines[labels, np.arange(len(labels))], labels])
    return order[np.searchsorted(labels[order], np.arange(len(lines)))]


def _digest(centers: Any) -> bytes:
    """Return a short code of centers, as those of all iterations would be much to keep."""
    return sha256(centers.tobytes()).digest()


def _draw_by_degree(rows: Indices, degree: Ints, n_drawn: int, rng: np.random.RandomState) -> Indices:
    """Draw different rows of a connected part with probability proportional to their degree."""
    if n_drawn == len(rows):
        return rows
    weight = degree[rows].astype(np.float64)
    return rng.choice(rows, n_drawn, replace=False, p=weight / weight.sum())


def _check_init(init: Any, graph: Adjacency | None, n_rows: int, n_clusters: int) -> Indices:
    """Validate row numbers that are given as first centers."""
    seeds = np.asarray(init)
    if seeds.shape != (n_clusters,) or seeds.dtype.kind not in "iu":
        raise ValueError(
            f"init must be a name or the row numbers of {count(n_clusters, 'first center')}, got an array of the "
            f"shape {seeds.shape} and the type {seeds.dtype}."
        )
    if len(np.unique(seeds)) < n_clusters or seeds.min() < 0 or seeds.max() >= n_rows:
        raise ValueError(f"init must be different row numbers from 0 to {n_rows - 1}, got {seeds.tolist()}.")
    if graph is not None:
        missing = np.setdiff1d(graph.part, graph.part[seeds])
        if len(missing):
            row = int(np.flatnonzero(graph.part == missing[0])[0])
            raise ValueError(f"init has no row of the connected part of row {row}; every part needs a center.")
    return seeds.astype(np.intp)
