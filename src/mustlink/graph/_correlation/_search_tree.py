"""Exact correlation clustering of few nodes by a search tree, as in weighted cluster editing."""

from __future__ import annotations

import time

import numpy as np

from mustlink._types import Indices
from mustlink.graph._correlation._linear_program import SmallProblem
from mustlink.graph._correlation._search_tree_kernels import search_tree

# The most numbers in the matrices of the stack.
MAX_STACK = 20_000_000
# About so many steps of innermost loops between two looks at the clock.
WORK = 5_000_000
# A cost that is smaller by less than this fraction is not smaller.
ROUNDING = 1e-9


class SearchTree:
    """Search for a clustering that is better than one that is known.

    In every node of the tree, the pair of nodes is taken for which both decisions cost most: it is merged to one node,
    whose weights are the sums, or separated for good. What that costs at once and the packed triangles of the rest are
    a bound. With weights of 1 and -1 for all pairs this is cluster editing, and the disagreement its budget.

    Attributes
    ----------
    labels : ndarray or None
        The best clustering that was found; None if none is better than the known one.
    is_finished : bool
        Whether no better one exists.
    n_visited : int
        How many nodes of the tree were visited.
    """

    def __init__(self, problem: SmallProblem, gain: float) -> None:
        n_nodes = problem.n_nodes
        net = np.where(problem.apart, -np.inf, problem.net)
        counted = problem.limit > 1
        height = min(n_nodes * (n_nodes + 1) // 2 + 2, MAX_STACK // max(n_nodes, 1) ** 2)
        self._limit = problem.limit[counted].astype(float)
        self._nets = np.empty((height, n_nodes, n_nodes))
        self._helds = np.empty((height, n_nodes, len(self._limit)))
        self._members = np.empty((height, n_nodes), dtype=np.intp)
        self._sizes, self._costs = np.empty(height, dtype=np.intp), np.empty(height)
        self._nets[0], self._helds[0], self._members[0] = net, problem.held[:, counted], np.arange(n_nodes)
        self._sizes[0], self._costs[0], self._top = n_nodes, 0.0, 1
        self._least = float(problem.net[(net > 0)].sum()) / 2 - gain
        unit = weight_unit(problem)
        self._margin = unit * (1 - 1e-6) if unit else ROUNDING * max(self._least, float(np.abs(problem.net).max()))
        self._found = np.full(n_nodes, -1, dtype=np.intp)
        self.n_visited = 0

    @property
    def is_finished(self) -> bool:
        """Whether the whole tree was visited."""
        return self._top == 0

    @property
    def labels(self) -> Indices | None:
        """The best clustering that was found, if it is better than the known one."""
        return self._found if self._found[0] >= 0 else None

    def visit(self, max_visited: float, ends: float | None = None) -> None:
        """Visit nodes until so many were visited in all, or until a time of the monotonic clock."""
        n_steps = max(1, WORK // self._nets.shape[1] ** 3)
        while self._top > 0 and self.n_visited < max_visited and (ends is None or time.monotonic() < ends):
            self._top, self._least, n_done = search_tree(
                self._nets,
                self._helds,
                self._limit,
                self._members,
                self._sizes,
                self._costs,
                self._top,
                self._least,
                self._margin,
                self._found,
                int(min(n_steps, max_visited - self.n_visited)),
            )
            self.n_visited += n_done


def weight_unit(problem: SmallProblem) -> float:
    """Return the least weight if all weights are multiples of it, else 0; rounding is no weight."""
    weights = np.abs(problem.net[~problem.apart])
    weights = weights[weights > ROUNDING * weights.max(initial=0.0)]
    if not len(weights):
        return 0.0
    unit = float(weights.min())
    multiples = weights / unit
    return unit if bool((np.abs(multiples - multiples.round()) < ROUNDING).all()) else 0.0
