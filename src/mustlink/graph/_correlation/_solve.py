"""Solution of a signed graph by a method, part by part, with a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mustlink._progress import progress
from mustlink._spelling import count
from mustlink._types import Floats, Indices, Mask
from mustlink._warnings import warn_caller
from mustlink.errors import TooLargeError
from mustlink.graph._correlation._candidates import PartSolver, best_of_parts, trivial_candidates
from mustlink.graph._correlation._local_search import compact, improve, pivot
from mustlink.graph._correlation._packing import pack_triangles
from mustlink.graph._correlation._signed_graph import SignedGraph

Method: TypeAlias = Literal["auto", "pivot", "lp_pivot", "lp_ball", "region_growing", "sdp", "local", "exact"]

# The most nodes of a part for a linear program, which has a number for every pair of them, and for a semidefinite one.
MAX_LP_NODES = 150
MAX_SDP_NODES = 100
# "auto" solves parts of up to so many nodes exactly if a short search can, and bounds others by a linear program, the
# smallest first, while they are few and all of them together have few pairs: about a second.
AUTO_NODES = 40
AUTO_PAIRS = 2_000
AUTO_PARTS = 100
# The number of starts below a number of weights.
STARTS = ((100_000, 10), (1_000_000, 3))
# The number of draws of a rounding.
N_DRAWS = 20
# A gain that is smaller than a bound by less than this fraction is as large.
ROUNDING = 1e-9


@dataclass(frozen=True)
class SolverOptions:
    """The parameters of the estimator that say how to solve."""

    method: Method
    objective: Literal["disagreement", "correlation"]
    local_search: bool
    n_init: int | Literal["auto"]
    time_limit: float | None
    verbose: int


class Solution(NamedTuple):
    """Clusters of the nodes, the largest gain over singletons of every part, distances of parts, and visited nodes."""

    labels: Indices
    max_gain: Floats
    distances: list[tuple[Indices, Floats]] | None
    n_visited: int


def solve(graph: SignedGraph, options: SolverOptions, random_state: np.random.RandomState) -> Solution:
    """Cluster the nodes of a graph."""
    max_gain = _positive_weight(graph) - pack_triangles(graph)
    distances, n_visited = None, 0
    if options.method == "pivot":
        n_starts = _n_starts(graph, options)
        labels = best_of_parts(graph, [pivot(graph, random_state) for _ in range(n_starts)])
    elif options.method in ("auto", "local"):
        labels = _search(graph, options, random_state)
    else:
        labels, distances, n_visited = _solve_parts(graph, options, max_gain, random_state)
    if options.method == "auto":
        labels, n_visited = _close_gaps(graph, options, labels, max_gain, random_state)
    elif options.local_search and options.method != "local":
        labels = best_of_parts(graph, [labels, *trivial_candidates(graph)])
        labels = improve(graph, labels, random_state)
    return Solution(compact(labels), max_gain, distances, n_visited)


def expand_distances(graph: SignedGraph, distances: list[tuple[Indices, Floats]], component: Indices) -> Floats:
    """Return the distances of all pairs of rows: 1 between parts, 0 in a part that needed no program."""
    part = graph.parts[1]
    x = (part[:, None] != part).astype(float)
    for nodes, of_part in distances:
        x[np.ix_(nodes, nodes)] = of_part
    return x[component][:, component]


def _search(graph: SignedGraph, options: SolverOptions, random_state: np.random.RandomState) -> Indices:
    """Search from singletons and from pivots, and take the best of every part."""
    found = []
    n_starts = _n_starts(graph, options)
    with progress(n_starts, "Local search", shown=options.verbose) as advance:
        for start in range(n_starts):
            first = np.arange(graph.n_nodes) if start == 0 else pivot(graph, random_state)
            found.append(improve(graph, first, random_state))
            advance()
    return best_of_parts(graph, [*found, *trivial_candidates(graph)])


def _solve_parts(
    graph: SignedGraph, options: SolverOptions, max_gain: Floats, random_state: np.random.RandomState
) -> tuple[Indices, list[tuple[Indices, Floats]] | None, int]:
    """Solve every part by itself; `max_gain` is updated."""
    labels = trivial_candidates(graph)[1]
    # One cluster is the best of a part that has all its positive weight inside.
    is_open = _is_below(graph.part_gains(labels), _positive_weight(graph))
    if options.method == "exact":
        labels = best_of_parts(graph, [labels, _search(graph, options, random_state)])
        is_open &= _is_below(graph.part_gains(labels), max_gain)
    parts = np.flatnonzero(is_open)
    members = _members(graph, parts)
    _refuse_large(max(map(len, members), default=0), options)
    distances, n_stopped, n_visited = [], 0, 0
    with progress(len(parts), "Connected parts", shown=options.verbose) as advance:
        for part, nodes in zip(parts.tolist(), members, strict=True):
            solver = PartSolver(graph.take(nodes), _n_draws(options), random_state)
            _run(solver, options, compact(labels[nodes]))
            max_gain[part] = min(max_gain[part], solver.max_gain)
            n_stopped += options.method == "exact" and not solver.is_optimal
            n_visited += solver.n_visited
            assert solver.labels is not None
            _relabel(labels, nodes, solver.labels)
            if solver.x is not None:
                distances.append((nodes, solver.x))
            advance()
    if n_stopped:
        warn_caller(
            f"The least disagreement of {count(n_stopped, 'connected part')} was not found in {options.time_limit} s; "
            "the best found may not be the least, and ratio_ says by how much at most. Increase time_limit.",
            ConvergenceWarning,
        )
    # Parts that an exact search closes have no distances.
    is_relaxed = options.method != "exact" and len(distances) == len(parts)
    return labels, distances if is_relaxed else None, n_visited


def _close_gaps(
    graph: SignedGraph,
    options: SolverOptions,
    labels: Indices,
    max_gain: Floats,
    random_state: np.random.RandomState,
) -> tuple[Indices, int]:
    """Solve small parts exactly, or bound them, where it is not known that nothing better exists."""
    n_nodes = np.bincount(graph.parts[1])
    parts = np.flatnonzero(_is_below(graph.part_gains(labels), max_gain) & (n_nodes <= AUTO_NODES))
    parts = parts[np.argsort(n_nodes[parts], kind="stable")][:AUTO_PARTS]
    parts = parts[np.cumsum(n_nodes[parts] * (n_nodes[parts] - 1) // 2) <= AUTO_PAIRS]
    n_visited = 0
    for part, nodes in zip(parts.tolist(), _members(graph, parts), strict=True):
        solver = PartSolver(graph.take(nodes), 1, random_state)
        solver.exact(compact(labels[nodes]), options.time_limit, max_visited=0)
        max_gain[part] = min(max_gain[part], solver.max_gain)
        n_visited += solver.n_visited
        assert solver.labels is not None
        _relabel(labels, nodes, solver.labels)
    return labels, n_visited


def _run(solver: PartSolver, options: SolverOptions, known: Indices) -> None:
    """Solve a part, of which a clustering is known, by the method."""
    if options.method == "exact":
        solver.exact(known, options.time_limit)
    elif options.method == "sdp":
        solver.agreement() if options.objective == "disagreement" else solver.correlation()
    else:
        {
            "lp_pivot": solver.lp_pivot,
            "lp_ball": solver.lp_ball,
            "region_growing": solver.region_growing,
        }[options.method]()


def _refuse_large(n_nodes: int, options: SolverOptions) -> None:
    """Refuse a program with too many pairs."""
    limit = MAX_SDP_NODES if options.method == "sdp" else MAX_LP_NODES
    if n_nodes > limit:
        raise TooLargeError(
            f'method="{options.method}" needs a program with {count(n_nodes * (n_nodes - 1) // 2, "pair")} for '
            f"{n_nodes:,} rows or must-link components that positive weights connect, and at most {limit:,} such rows "
            "are allowed",
            remedy="too_large",
            instead='use method="auto" or method="local"',
        )


def _n_starts(graph: SignedGraph, options: SolverOptions) -> int:
    """Return the number of starts of pivot and of local search."""
    if options.n_init != "auto":
        return int(options.n_init)
    return next((n_starts for n_entries, n_starts in STARTS if graph.weights.nnz < n_entries), 1)


def _n_draws(options: SolverOptions) -> int:
    """Return the number of draws of a rounding."""
    return N_DRAWS if options.n_init == "auto" else int(options.n_init)


def _members(graph: SignedGraph, parts: Indices) -> list[Indices]:
    """Return the nodes of some parts, ascending in each."""
    part = graph.parts[1]
    by_part = np.argsort(part, kind="stable")
    starts = np.searchsorted(part[by_part], np.arange(graph.parts[0] + 1))
    return [by_part[starts[number] : starts[number + 1]] for number in parts.tolist()]


def _relabel(labels: Indices, nodes: Indices, new: Indices) -> None:
    """Give the nodes of a whole part new clusters, in place, with numbers that no other part has."""
    _, first, cluster = np.unique(new, return_index=True, return_inverse=True)
    labels[nodes] = len(labels) + nodes[first[cluster]]


def _positive_weight(graph: SignedGraph) -> Floats:
    """Return the positive net weight of every part."""
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.weights.indptr))
    is_positive = graph.net > 0
    n_parts, part = graph.parts
    return np.bincount(part[row[is_positive]], weights=graph.net[is_positive], minlength=n_parts) / 2


def _is_below(gains: Floats, bounds: Floats) -> Mask:
    """Return which gains are below their bounds by more than rounding."""
    return gains < bounds - ROUNDING * np.maximum(bounds, 1e-300)
