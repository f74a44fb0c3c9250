"""Clusterings by every method, and the best of several in every connected part."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from mustlink._types import Floats, Indices
from mustlink.graph._correlation._linear_program import (
    Relaxation,
    SmallProblem,
    labels_of,
    solve_relaxation,
)
from mustlink.graph._correlation._local_search import compact
from mustlink.graph._correlation._rounding import grow_regions, round_by_balls, round_by_pivots
from mustlink.graph._correlation._search_tree import SearchTree, weight_unit
from mustlink.graph._correlation._semidefinite import round_by_hyperplanes, round_to_two, solve_semidefinite
from mustlink.graph._correlation._signed_graph import SignedGraph

# The constants c of region growing that are tried.
REGION_RATIOS = (2.1, 2.5, 3.0, 4.0)
# So many nodes of the search tree, times the cube of the nodes of the graph, are visited before the linear program.
FIRST_WORK = 300_000_000
# A gain may miss a multiple of the weight unit by this fraction of it.
ROUNDING = 1e-6


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
        The clusters found.
    max_gain : float
        The bound.
    is_optimal : bool
        Whether the clusters are known to be the best.
    n_visited : int
        How many nodes of a search tree were visited.
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
        self.is_optimal = False
        self.n_visited = 0

    def _relax(self, ends: float | None = None) -> Relaxation:
        relaxed = solve_relaxation(self._problem, ends)
        self.x, self.max_gain = relaxed.x if relaxed.is_finished else None, relaxed.gain
        return relaxed

    def _best(self, draw: Callable[[int], Indices]) -> Indices:
        """Return the best of several draws, split where a rule needs it."""
        nodes = np.arange(self.graph.n_nodes)
        drawn = [self.graph.rules.split(compact(draw(k)), nodes) for k in range(self._n_draws)]
        return drawn[int(np.argmax([self.gain_of(labels) for labels in drawn]))]

    def gain_of(self, labels: Indices) -> float:
        """Return the net weight inside clusters of the part."""
        return float(self._problem.net[labels[:, None] == labels].sum()) / 2

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

    def exact(self, known: Indices, time_limit: float | None, max_visited: float = np.inf) -> None:
        """Improve a known clustering to the best: by a short search, by the linear program, by a long search."""
        ends = None if time_limit is None else time.monotonic() + time_limit
        tree = SearchTree(self._problem, self.gain_of(known))
        tree.visit(FIRST_WORK // self.graph.n_nodes**3, ends)
        self.labels = known if tree.labels is None else tree.labels
        self.is_optimal = tree.is_finished
        if not self.is_optimal:
            self._relax_to_whole(ends)
        if not self.is_optimal:
            tree.visit(max_visited, ends)
            self.labels = self.labels if tree.labels is None else tree.labels
            self.is_optimal = tree.is_finished
        if self.is_optimal:
            self.max_gain = self.gain_of(self.labels)
        self.n_visited = tree.n_visited

    def _relax_to_whole(self, ends: float | None) -> None:
        """Bound the gain by the linear program, and take its clusters if they are whole."""
        relaxed = self._relax(ends)
        unit = weight_unit(self._problem)
        if unit:
            self.max_gain = min(self.max_gain, unit * np.floor(relaxed.gain / unit + ROUNDING))
        if relaxed.is_whole:
            self.labels = labels_of(relaxed.x)
        assert self.labels is not None
        self.is_optimal = self.gain_of(self.labels) >= self.max_gain - ROUNDING * abs(self.max_gain)

    def agreement(self) -> None:
        units, self.max_gain = solve_semidefinite(self._problem, nonnegative=True)
        self.labels = self._best(lambda k: round_by_hyperplanes(units, self._random_state))

    def correlation(self) -> None:
        units, _ = solve_semidefinite(self._problem, nonnegative=False)
        self.labels = self._best(lambda k: round_to_two(units, self._random_state))
