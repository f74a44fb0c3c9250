"""Where pivots go at fixed centers: exact assignments, a first valid one, and moves on the pivot-movement graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from mustlink._types import Floats, Indices, Mask
from mustlink.errors import InfeasibleError, TooLargeError
from mustlink.kmeans.core import LinkRule
from mustlink.sizes._assign._assign import assign
from mustlink.sizes._assign._assignment import Assignment
from mustlink.sizes._existential._movement import Items, Schedule, schedule_moves
from mustlink.sizes._existential._requirements import Requirements

__all__ = ["ExactPlacement", "MovedPivots", "find_unstable"]

# The most entries of rows times clusters for which an integer program is solved.
MAX_PROGRAM = 20_000

# How exactly the solver of integer programs keeps to bounds, relative to the largest summand.
SOLVER_TOLERANCE = 1e-6

# The most nodes of the search tree of an integer program.
MAX_NODES = 1_000

# How many entries of rows and clusters more than rows are in the first integer program.
CORE = 200

# The status of an infeasible linear program.
LP_INFEASIBLE = 2

# Gains up to this share of the largest cost are ties.
TIE = 1e-12


class ExactPlacement(LinkRule):
    """The cheapest valid placement: flows for kinds of pivots, or an integer program where flows cannot state them."""

    def __init__(self, requirements: Requirements) -> None:
        super().__init__(requirements.rows, np.arange(len(requirements.rows)))
        self._needs = requirements.take(requirements.rows)
        self._before: dict[int, Assignment] = {}
        if self._needs.networks is None:
            _check_program(self._needs)

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        if self._needs.networks is None:
            return solve_program(costs, self._needs, previous)
        if previous is None:
            self._before.clear()
        return assign_kinds(costs, self._needs, self._before)


class MovedPivots(LinkRule):
    """Pivots that move from where they were along the pivot-movement graph, so that every step stays valid."""

    def __init__(self, requirements: Requirements, rng: np.random.RandomState, **options: Any) -> None:
        super().__init__(requirements.rows, np.arange(len(requirements.rows)))
        self._needs = requirements.take(requirements.rows)
        self._rng, self._options = rng, options

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        if previous is None:
            return first_placement(costs, self._needs)
        labels = np.array(previous)
        rows, nearest, gain = find_unstable(costs, labels)
        found = self._schedule(rows, labels, nearest, gain)
        moved = rows[found.moved > 0]
        labels[moved] = nearest[found.moved > 0]
        return labels

    def _schedule(self, rows: Indices, labels: Indices, nearest: Indices, gain: Floats) -> Schedule:
        """Build the graph of the pivots that are nearer to another center, and choose moves."""
        needs = self._needs
        member, group = needs.groups
        items = Items(
            labels[rows], nearest, gain, np.ones(len(rows), dtype=np.int64), group[rows], member, needs.values[rows]
        )
        sums = needs.checked_sums(labels)
        return schedule_moves(items, needs.count(labels), needs.minimum, self._rng, sums=sums, **self._options)


def find_unstable(costs: Floats, labels: Indices) -> tuple[Indices, Indices, Floats]:
    """Return the rows that are nearer to another cluster, that cluster, and what is gained by moving there."""
    nearest = costs.argmin(axis=1)
    own = np.take_along_axis(costs, labels[:, None], axis=1)[:, 0]
    gain = own - np.take_along_axis(costs, nearest[:, None], axis=1)[:, 0]
    rows = np.flatnonzero(gain > TIE * costs.max(initial=0.0))
    return rows, nearest[rows], gain[rows]


def first_placement(costs: Floats, needs: Requirements) -> Indices:
    """Return a valid placement to start from, the cheapest one where it can be computed."""
    if needs.networks is not None:
        return assign_kinds(costs, needs, {})
    if costs.size <= MAX_PROGRAM and "!=" not in needs.operators:
        return solve_program(costs, needs)
    return repair(costs.argmin(axis=1), costs, needs)


def assign_kinds(costs: Floats, needs: Requirements, before: dict[int, Assignment]) -> Indices:
    """Assign each kind of pivots, with the kind inside it, starting from the assignments before, which are replaced."""
    assert needs.limits is not None
    lowest, highest = needs.limits
    labels = np.empty(len(costs), dtype=np.intp)
    for kind, inner in (needs.networks or {}).items():
        mask = needs.is_pivot[:, kind]
        own = costs if mask.all() else costs[mask]
        terms: dict[str, Any] = {"size_min": lowest[:, kind], "size_max": np.minimum(highest[:, kind], len(own))}
        if inner is not None:
            terms |= {"pivots": needs.is_pivot[mask, inner], "pivot_min": lowest[:, inner]}
        before[kind] = assign(own, start=before.get(kind), **terms)
        labels[mask] = before[kind].labels
    return labels


def _check_program(needs: Requirements) -> None:
    """Refuse an integer program that is too large, or that cannot state a constraint."""
    n_entries = len(needs.is_pivot) * needs.n_clusters
    why = "kinds of pivots that share some of their rows, or sums over clusters,"
    if n_entries > MAX_PROGRAM:
        raise TooLargeError(
            f"With {why} method='flow' solves an integer program, here with {len(needs.is_pivot):,} rows times "
            f"{needs.n_clusters} clusters, and at most {MAX_PROGRAM:,} are allowed",
            remedy="pivot_method",
        )
    if "!=" in needs.operators:
        wording = needs.wordings[needs.n_kinds + list(needs.operators).index("!=")]
        raise InfeasibleError(f"method='flow' cannot state {wording!r}", remedy="pivot_method")


def solve_program(costs: Floats, needs: Requirements, previous: Indices | None = None) -> Indices:
    """Return the cheapest placement that satisfies all constraints, by an integer program.

    The program without integrality comes first. Its value is a lower bound, and that of a valid placement an upper
    bound. A row is in no cluster whose reduced cost exceeds their difference, so few entries are left to integer
    programs: a first one on the entries of least reduced cost for a good upper bound, and one that proves or improves
    it. If these end at `MAX_NODES`, the result is the cheapest placement known, at worst the previous one.
    """
    n_rows, n_clusters = costs.shape
    one_each = sparse.kron(sparse.eye_array(n_rows), np.ones((1, n_clusters)), format="csr")
    scale = np.maximum(1e-300, np.abs(needs.values).max(axis=0, initial=0.0))
    summands = np.column_stack([needs.is_pivot, needs.values / scale])
    in_cluster = sparse.kron(summands.T, sparse.eye_array(n_clusters), format="csr")
    lowest, highest = (limit.ravel() for limit in _limits(needs, needs.bound / scale))
    relaxed = linprog(
        costs.ravel(),
        A_ub=sparse.vstack([in_cluster[np.isfinite(highest)], -in_cluster[np.isfinite(lowest)]]),
        b_ub=np.concatenate([highest[np.isfinite(highest)], -lowest[np.isfinite(lowest)]]),
        A_eq=one_each,
        b_eq=np.ones(n_rows),
    )
    if relaxed.status == LP_INFEASIBLE:
        raise _no_placement(needs)
    if relaxed.x is None:
        reduced, lower_bound = np.zeros(costs.size), -np.inf
    else:
        reduced, lower_bound = np.asarray(relaxed.lower.marginals), float(relaxed.fun)
        previous = _cheapest(costs, previous, _try_repair(relaxed.x, costs, needs))
    best, solved = previous, np.zeros(costs.size, dtype=bool)
    rounding = TIE * n_rows * np.abs(costs).max(initial=0.0)
    core = np.partition(reduced, min(n_rows + CORE, costs.size) - 1)[min(n_rows + CORE, costs.size) - 1]
    while True:
        # What may be part of a cheaper placement than the best one known.
        is_open = reduced <= _total_cost(costs, best) - lower_bound + rounding
        if not (is_open & ~solved).any():
            break
        if not solved.any():
            is_open &= reduced <= core
        answer = milp(
            costs.ravel(),
            integrality=np.ones(costs.size),
            bounds=Bounds(0, is_open.astype(np.float64)),
            constraints=[LinearConstraint(one_each, 1, 1), LinearConstraint(in_cluster, lowest, highest)],
            options={"mip_rel_gap": 0.0, "node_limit": MAX_NODES},
        )
        solved |= is_open
        if answer.x is not None:
            # Bounds are kept up to the tolerance of the solver, and the last bit of it is repaired.
            best = _cheapest(costs, best, _try_repair(answer.x, costs, needs))
    if best is None:
        raise _no_placement(needs)
    return best


def _no_placement(needs: Requirements) -> InfeasibleError:
    """Return the error for constraints that cannot hold together."""
    return InfeasibleError(
        f"No {needs.n_clusters} clusters satisfy all constraints together: {', '.join(needs.wordings)}",
        remedy=("lower_pivot_min", "fewer_clusters", "drop_aggregate"),
    )


def _try_repair(solution: Floats, costs: Floats, needs: Requirements) -> Indices | None:
    """Return a valid placement near a solution of a program, None if moves lead to none."""
    try:
        return repair(np.asarray(solution).reshape(costs.shape).argmax(axis=1), costs, needs)
    except InfeasibleError:
        return None


def _total_cost(costs: Floats, labels: Indices | None) -> float:
    """Return what a placement costs; infinity for none."""
    return np.inf if labels is None else float(costs[np.arange(len(costs)), labels].sum())


def _cheapest(costs: Floats, *placements: Indices | None) -> Indices | None:
    """Return the cheapest placement, the first of equal ones; None if there is none."""
    return min(placements, key=lambda labels: _total_cost(costs, labels))


def _limits(needs: Requirements, bounds: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest value of every constraint in every cluster, constraints first."""
    lowest = np.full((needs.n_kinds + needs.n_sums, needs.n_clusters), -np.inf)
    highest = np.full_like(lowest, np.inf)
    lowest[: needs.n_kinds] = needs.minimum.T
    for j, (operator, bound) in enumerate(zip(needs.operators, bounds, strict=True)):
        beyond = SOLVER_TOLERANCE if operator in ("<", ">") else 0.0
        if operator in (">=", ">", "="):
            lowest[needs.n_kinds + j] = bound + beyond
        if operator in ("<=", "<", "="):
            highest[needs.n_kinds + j] = bound - beyond
    return lowest, highest


def repair(labels: Indices, costs: Floats, needs: Requirements) -> Indices:
    """Move rows, one at a time, until all constraints hold: least additional cost for what a move repairs.

    Every move brings the constraints nearer to holding, all together. A way that first leads away from that is not
    found.
    """
    labels = np.array(labels)
    scale = np.concatenate([np.ones(needs.n_kinds), np.maximum(np.abs(needs.values).max(axis=0), needs.slack)])
    counts, totals = needs.count(labels), needs.total(labels)
    while (short := needs.shortfall(counts, totals) / scale).any():
        move = _best_repair(labels, costs, needs, counts, totals, scale, int(short.sum(axis=1).argmax()))
        if move is None:
            broken = ", ".join(needs.broken(labels))
            raise InfeasibleError(
                f"No {needs.n_clusters} clusters that satisfy {broken} were found, and whether they exist is not known",
                remedy=("lower_pivot_min", "fewer_clusters", "drop_aggregate"),
            )
        row, cluster = move
        for table, part in ((counts, needs.is_pivot[row]), (totals, needs.values[row])):
            table[labels[row]] -= part
            table[cluster] += part
        labels[row] = cluster
    return labels


def _best_repair(
    labels: Indices,
    costs: Floats,
    needs: Requirements,
    counts: Any,
    totals: Floats,
    scale: Floats,
    worst: int,
) -> tuple[int, int] | None:
    """Return the row and its new cluster of the best move into or out of the worst cluster; None if none repairs."""
    inside = labels == worst
    rows = np.concatenate([np.flatnonzero(~inside), np.repeat(np.flatnonzero(inside), needs.n_clusters)])
    target = np.concatenate([np.full((~inside).sum(), worst), np.tile(np.arange(needs.n_clusters), inside.sum())])
    differs: Mask = labels[rows] != target
    rows, target = rows[differs], target[differs]
    source = labels[rows]
    marks, values = needs.is_pivot[rows].astype(np.int64), needs.values[rows]
    before = needs.shortfall(counts, totals) / scale
    after = needs.shortfall(counts[source] - marks, totals[source] - values, source)
    after = after + needs.shortfall(counts[target] + marks, totals[target] + values, target)
    repaired = (before[source] + before[target] - after / scale).sum(axis=1)
    useful = np.flatnonzero(repaired > 1e-9)
    if useful.size == 0:
        return None
    extra = costs[rows[useful], target[useful]] - costs[rows[useful], source[useful]]
    # Moves that save cost come first, then those with the least cost per repair.
    best = useful[np.argmin(np.where(extra > 0, extra / repaired[useful], extra))]
    return int(rows[best]), int(target[best])
