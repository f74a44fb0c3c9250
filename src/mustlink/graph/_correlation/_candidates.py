"""Clusterings by every method, and the best of several in every connected part."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mustlink._types import Floats, Indices
from mustlink.graph._correlation._linear_program import (
    Relaxation,
    SmallProblem,
    solve_exactly,
    solve_relaxation,
)
from mustlink.graph._correlation._local_search import compact
from mustlink.graph._correlation._rounding import grow_regions, round_by_balls, round_by_pivots
from mustlink.graph._correlation._semidefinite import round_by_hyperplanes, round_to_two, solve_semidefinite
from mustlink.graph._correlation._signed_graph import SignedGraph

# The constants c of region growing that are tried.
REGION_RATIOS = (2.1, 2.5, 3.0, 4.0)


def trivial_candidates(graph: SignedGraph) -> list[Indices]:
    """Return all singletons, and one cluster per part, split where a rule needs it."""
    nodes = np.arange(graph.n_nodes)
    return [nodes, graph.rules.split(graph.parts[1].copy(), nodes)]


def best_of_parts(graph: SignedGraph, candidates: Sequence[Indices]) -> Indices:
    """Return the best candidate of every connected part, the first of equals; no candidate joins two parts."""
    candidates = [compact(labels) for labels in candidates]
    gains = np.stack([graph.part_gains(labels) for labels in candidates])
    chosen = gains.argmax(axis=0)[graph.parts[1]]
    labels = np.stack(candidates)[chosen, np.arange(graph.n_nodes)]
    return np.unique(chosen * graph.n_nodes + labels, return_inverse=True)[1].astype(np.intp)


class PartSolver:
    """Solves one connected part of a graph by a method, and bounds the gain that any clustering of it can have.

    Attributes
    ----------
    graph : SignedGraph
        The part.
    labels : ndarray or None
        The clusters found; None if the method found none in its time.
    max_gain : float
        The bound.
    x : ndarray or None
        The distances of the linear program, where one was solved.
    """

    def __init__(self, graph: SignedGraph, n_draws: int, random_state: np.random.RandomState) -> None:
        self.graph = graph
        self._problem = SmallProblem.of(graph)
        self._n_draws = n_draws
        self._random_state = random_state
        self.labels: Indices | None = None
        self.max_gain = np.inf
        self.x: Floats | None = None

    def _relax(self) -> Relaxation:
        relaxed = solve_relaxation(self._problem)
        self.x, self.max_gain = relaxed.x, relaxed.gain
        return relaxed

    def _best(self, draw: Callable[[int], Indices]) -> Indices:
        """Return the best of several draws, split where a rule needs it."""
        nodes = np.arange(self.graph.n_nodes)
        drawn = [self.graph.rules.split(compact(draw(k)), nodes) for k in range(self._n_draws)]
        return drawn[int(np.argmax([self.gain_of(labels) for labels in drawn]))]

    def gain_of(self, labels: Indices) -> float:
        """Return the net weight inside clusters of the part."""
        return float(self._problem.net[labels[:, None] == labels].sum()) / 2

    def bound(self) -> None:
        """Solve the linear program for its bound alone."""
        self._relax()

    def lp_pivot(self) -> None:
        x = self._relax().x
        self.labels = self._best(lambda k: round_by_pivots(x, self._random_state))

    def lp_ball(self) -> None:
        x = self._relax().x
        self.labels = self._best(lambda k: round_by_balls(x, self._random_state))

    def region_growing(self) -> None:
        x = self._relax().x

        def grow(k: int) -> Indices:
            ratio = REGION_RATIOS[k % len(REGION_RATIOS)]
            return grow_regions(x, self._problem.net, ratio, self._random_state).labels

        self._n_draws *= len(REGION_RATIOS)
        self.labels = self._best(grow)

    def exact(self, time_limit: float | None) -> None:
        relaxed = self._relax()
        self.labels, self.max_gain = solve_exactly(self._problem, relaxed, time_limit)

    def agreement(self) -> None:
        units, self.max_gain = solve_semidefinite(self._problem, nonnegative=True)
        self.labels = self._best(lambda k: round_by_hyperplanes(units, self._random_state))

    def correlation(self) -> None:
        units, _ = solve_semidefinite(self._problem, nonnegative=False)
        self.labels = self._best(lambda k: round_to_two(units, self._random_state))
