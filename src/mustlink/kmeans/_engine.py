"""The loop of constrained k-means: assign rows, fill empty clusters, update centers, until nothing changes.

A *geometry* compares rows with centers and updates the centers, and the metric where one is learned. A *rule* places
the linked rows. All other rows are free: they go to the nearest center.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mustlink._progress import progress
from mustlink._rows import Assignment, RowBlocks
from mustlink._spelling import count
from mustlink._types import Floats, Indices, Mask
from mustlink.blocks import BlockedRows
from mustlink.errors import InfeasibleError
from mustlink.kmeans._rules import LinkRule, NoPlacement
from mustlink.kmeans._seeding import DEFAULT_RUNS, Start

__all__ = ["Euclidean", "Geometry", "MovableRows", "Run", "State", "Step", "assign", "best_of_runs", "iterate"]

Report = Callable[[int, float], None]

# The weight of a unit of weight zero in its costs: it still goes where it is near.
MIN_WEIGHT = 1e-150
EVERY = slice(None)
# A run whose objective is lower by less has found the same clusters, up to rounding in single precision.
MIN_RELATIVE_GAIN = 1e-7


@dataclass(frozen=True)
class State:
    """The centers, the metric where one is learned, and what the next assignment starts from where it needs that."""

    centers: Floats
    metric: Any = None
    previous: Any = None


@dataclass
class Step:
    """One assignment: the cluster of every row and of every unit, and its cost.

    `found` is what the geometry needs to update the centers.
    """

    labels: Any  # NDArray[np.int32]; a geometry of rows elsewhere has labels of its own
    found: Any
    units: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    unit_cost: Floats = field(default_factory=lambda: np.empty(0))
    inertia: float = 0.0
    objective: float = 0.0


class MovableRows(NamedTuple):
    """Rows that can move into an empty cluster, their clusters, and how far they are from the centers of these."""

    rows: Indices
    labels: NDArray[np.integer]
    distance: Floats


@dataclass
class Run:
    """The result of one run; `found` is what its last assignment found."""

    labels: Any  # as in a step
    n_iter: int
    objective: list[float]
    state: State = State(np.empty((0, 0)))
    inertia: float = 0.0
    n_broken: int = 0
    found: Any = None


class Geometry(ABC):
    """How rows are compared with centers, and the rule for the rows that are not free.

    What a step finds here is the cost of every row in its cluster, an array of shape (n_rows,).
    """

    # Whether an empty cluster is restarted at another row; otherwise it keeps its center.
    fills_empty_clusters = True

    def __init__(self, n_rows: int, rule: LinkRule) -> None:
        self.rule = rule
        self.is_free: Mask = np.ones(n_rows, dtype=bool)
        self.is_free[rule.rows] = False

    @abstractmethod
    def nearest(self, state: State) -> tuple[NDArray[np.int32], Any]:
        """Return the nearest cluster of every row, and what an update needs."""

    @abstractmethod
    def unit_costs(self, state: State) -> Floats:
        """Return the cost of every unit of the rule in every cluster."""

    def label_units(self, step: Step) -> None:
        """Give the rows of the rule the labels of their units."""
        step.labels[self.rule.rows] = step.units[self.rule.unit]

    def has_same_labels(self, step: Step, previous: Step) -> bool:
        """Whether two steps label all rows alike."""
        return np.array_equal(step.labels, previous.labels)

    def place_units(self, state: State, previous: Indices | None) -> tuple[Indices, Floats]:
        """Return the cluster of every unit, and its cost there."""
        costs = self.unit_costs(state)
        units = self.rule.place(costs, previous)
        return units, costs[np.arange(len(units)), units]

    @abstractmethod
    def update(self, step: Step, state: State) -> State:
        """Return the centers, and the metric, that are best for the labels; an empty cluster keeps its center."""

    def finish(self, step: Step, state: State) -> State:
        """Return the state to keep after the last step, whose labels are those of the step before."""
        return state

    def link_penalties(self, state: State) -> Floats | None:
        """Return what broken links cost under the metric, where the metric decides on that."""
        return None

    def prior(self, state: State) -> float:
        """Return what the metric adds to the objective."""
        return 0.0

    def add_units(self, step: Step) -> None:
        """Enter the units, after they have been placed, into what an update needs."""
        step.found[self.rule.rows] = step.unit_cost[self.rule.unit]

    def inertia(self, step: Step) -> float:
        """Return the cost of all rows in their clusters."""
        return float(step.found.sum())

    def counts(self, step: Step, n_clusters: int) -> Floats | Indices:
        """Return the weight of every cluster."""
        return np.bincount(step.labels, minlength=n_clusters)

    def distances_to_own(self, step: Step, state: State) -> tuple[Floats, Floats]:
        """Return how far every row, and every unit, is from the center of its cluster."""
        return step.found, step.unit_cost.copy()

    def movable_rows(self, step: Step, state: State) -> tuple[MovableRows, Floats]:
        """Return the free rows that can move into an empty cluster, and how far every unit is from its center."""
        distance, unit_distance = self.distances_to_own(step, state)
        rows = np.flatnonzero(self.is_free)
        return MovableRows(rows, step.labels[rows], distance[rows]), unit_distance

    def free_counts(self, step: Step, n_clusters: int) -> Indices:
        """Return the number of free rows of every cluster."""
        return np.bincount(step.labels[self.is_free], minlength=n_clusters)

    def noise(self, state: State) -> float:
        """Return which gain in distance can be rounding."""
        return 0.0

    def move_row(self, step: Step, row: int, c: int) -> None:
        """Enter a move of a free row into an empty cluster."""
        step.found[row] = 0.0
        step.labels[row] = c

    def move_units(self, step: Step, units: Indices, c: int) -> None:
        """Enter a move of units into an empty cluster."""
        step.unit_cost[units] = 0.0


class Euclidean(Geometry):
    """Squared distances of weighted rows; what a step finds is an `Assignment`. A unit is the mean of its rows."""

    def __init__(self, rows: RowBlocks, weight: Floats, rule: LinkRule) -> None:
        super().__init__(rows.n_rows, rule)
        self.is_free &= weight > 0
        self._rows: Any = rows
        self._free_weight = np.where(self.is_free, weight, 0.0)
        self._average_units(rows, weight)

    def _average_units(self, rows: RowBlocks | BlockedRows, weight: Floats) -> None:
        """Compute the means of the units, their weights, and the scatter inside them."""
        rule, ruled = self.rule, rows.take(self.rule.rows)
        self._weight: Floats = np.bincount(rule.unit, weight[rule.rows], rule.n_units).astype(np.float64)
        self._means, self._scatter = ruled, 0.0
        # Where every row is a unit of its own, the rows are the means.
        if rule.n_units and not np.array_equal(rule.unit, np.arange(len(rule.rows))):
            self._means = ruled.averages(rule.unit, rule.n_units, weight[rule.rows])
            self._scatter = float(ruled.scatter(rule.unit, self._means, weight[rule.rows]).sum())

    def nearest(self, state: State) -> tuple[NDArray[np.int32], Assignment]:
        found = self._rows.assign(state.centers, self._free_weight)
        return found.labels, found

    def unit_costs(self, state: State, part: slice = EVERY) -> Floats:
        """Return the weighted squared distances of the means of the units, without the scatter inside units."""
        means = self._means if part == EVERY else RowBlocks(self._means.X[part])
        costs = means.squared_distances(state.centers)
        costs *= np.maximum(self._weight[part], MIN_WEIGHT)[:, None]
        return costs

    def place_units(self, state: State, previous: Indices | None) -> tuple[Indices, Floats]:
        units, cost = np.empty(self.rule.n_units, dtype=np.intp), np.empty(self.rule.n_units)
        for part in self.rule.parts(len(state.centers)):
            costs = self.unit_costs(state, part)
            units[part] = self.rule.place_part(part, costs, None if previous is None else previous[part])
            cost[part] = costs[np.arange(len(costs)), units[part]]
        return units, cost

    def add_units(self, step: Step) -> None:
        step.found.add(self._means.X, np.arange(self.rule.n_units), step.units, self._weight)
        pulled = self.rule.pulled_units(step.units)
        if pulled is not None:
            units, clusters, shares = pulled
            step.found.add(self._means.X, units, clusters, self._weight[units] * shares)

    def inertia(self, step: Step) -> float:
        return float(step.found.inertia) + float(step.unit_cost.sum()) + self._scatter

    def counts(self, step: Step, n_clusters: int) -> Floats:
        return np.asarray(step.found.counts)

    def update(self, step: Step, state: State) -> State:
        found, centers = step.found, state.centers.copy()
        filled = found.counts > 0
        centers[filled] = found.origin + found.sums[filled] / found.counts[filled, None]
        # Rounded to the precision of X: `predict` then uses exactly the centers that labeled the rows.
        return State(centers.astype(self._rows.dtype).astype(np.float64))

    def finish(self, step: Step, state: State) -> State:
        # The same means up to rounding, and what scikit-learn's KMeans keeps.
        return self.update(step, state)

    def distances_to_own(self, step: Step, state: State) -> tuple[Floats, Floats]:
        return self._free_weight * self._rows.distances_to_own(state.centers, step.labels), step.unit_cost.copy()

    def noise(self, state: State) -> float:
        rounding = 32 * np.finfo(self._rows.dtype).eps * np.abs(state.centers).max()
        return float(self._free_weight.max(initial=1.0) * self._rows.n_features * rounding**2)

    def move_row(self, step: Step, row: int, c: int) -> None:
        step.found.move(self._rows.rows(np.array([row])), self._free_weight[[row]], step.labels[row], c)
        step.labels[row] = c

    def move_units(self, step: Step, units: Indices, c: int) -> None:
        step.found.move(self._means.rows(units), self._weight[units], step.units[units[0]], c)


def iterate(
    geometry: Geometry,
    state: State,
    report: Report,
    *,
    max_iter: int,
    shift: float = -1.0,
    min_iter: int = 1,
    decrease: float | None = None,
) -> Run:
    """Assign and update in turn.

    A run ends after `max_iter` iterations; when the squared shift of all centers falls to `shift`, from the iteration
    `min_iter` on; and when no label changes or, where `decrease` is given, the objective falls by no more than this
    share of it. Without a rule, these conditions and their order are those of scikit-learn's KMeans.
    """
    objective: list[float] = []
    previous: Step | None = None
    units: Indices | None = None
    is_settled = False
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        step = assign(geometry, state, units)
        objective.append(step.objective)
        report(n_iter, step.objective)
        moved = fill_empty_clusters(geometry, step, state)
        if not moved and previous is not None:
            if decrease is None:
                is_settled = geometry.has_same_labels(step, previous)
            else:
                is_settled = objective[-2] - objective[-1] <= decrease * objective[-2]
        if is_settled:
            state = geometry.finish(step, state)
            break
        updated = geometry.update(step, state)
        shifted = float(np.square(updated.centers - state.centers).sum())
        state, units = updated, step.units
        if shifted <= shift and n_iter >= min_iter:
            break
        previous = None if moved else step
    if not is_settled:
        step = assign(geometry, state, units)
        objective.append(step.objective)
    n_broken = geometry.rule.n_broken(step.units)
    return Run(step.labels, n_iter, objective, state, step.inertia, n_broken, step.found)


def assign(geometry: Geometry, state: State, previous: Indices | None) -> Step:
    """Give free rows their nearest cluster, place the units, and compute the objective."""
    rule = geometry.rule
    step = Step(*geometry.nearest(state))
    if rule.n_units:
        penalties = geometry.link_penalties(state)
        if penalties is not None:
            rule.set_penalties(penalties)
        step.units, step.unit_cost = geometry.place_units(state, previous)
        geometry.label_units(step)
        geometry.add_units(step)
    step.inertia = geometry.inertia(step)
    penalty = rule.penalty(step.units) if rule.n_units else 0.0
    step.objective = rule.data_factor * step.inertia + penalty + geometry.prior(state)
    return step


def fill_empty_clusters(geometry: Geometry, step: Step, state: State) -> bool:
    """Move the row or units whose leaving lowers the objective most into each empty cluster; return whether any moved.

    Only moves that lower the objective by more than rounding are made, and none that empties another cluster.
    """
    if not geometry.fills_empty_clusters:
        return False
    rule, n_clusters = geometry.rule, len(state.centers)
    empty = np.flatnonzero(geometry.counts(step, n_clusters) == 0)
    if empty.size == 0:
        return False
    (rows, labels, distance), unit_distance = geometry.movable_rows(step, state)
    gain_rows = rule.data_factor * distance
    members = geometry.free_counts(step, n_clusters) + np.bincount(step.units, minlength=n_clusters)
    noise = geometry.noise(state)
    first, size = rule.movers()
    for n_moved, c in enumerate(empty):
        gain_movers = rule.gain_of_leaving(step.units, unit_distance, int(c))
        gain_movers[members[step.units[first]] <= size] = -np.inf
        gain_rows[members[labels] < 2] = -np.inf
        best_row, best = gain_rows.max(initial=-np.inf), gain_movers.max(initial=-np.inf)
        if max(best_row, best) <= noise:
            return n_moved > 0
        if best > best_row:
            units = rule.units_of(int(np.argmax(gain_movers)))
            geometry.move_units(step, units, int(c))
            members[[step.units[units[0]], c]] += [-len(units), len(units)]
            # At most this, now that the center is their own mean; they must not move again.
            step.units[units], unit_distance[units] = c, 0.0
            geometry.label_units(step)
        else:
            place = int(np.argmax(gain_rows))
            geometry.move_row(step, int(rows[place]), int(c))
            members[[labels[place], c]] += [-1, 1]
            labels[place], gain_rows[place] = c, -np.inf
    return True


def is_better(run: Run, best: Run) -> bool:
    """Return whether a run breaks fewer links that must be kept than the best so far, or as many at a lower objective.

    Runs to the same clusters differ by rounding, also between rows in memory and in blocks: the first one stays.
    """
    lower = best.objective[-1] - MIN_RELATIVE_GAIN * abs(best.objective[-1])
    return run.n_broken < best.n_broken or (run.n_broken == best.n_broken and run.objective[-1] < lower)


def best_of_runs(
    estimator: Any,
    make_run: Callable[[Any, Report], Run],
    start: Start,
    on_failure: Callable[[], None] | None = None,
    best: Run | None = None,
) -> Run:
    """Make as many runs as the `n_init` of a clusterer asks for, and return the best of them and of a run made before.

    While none finds a placement, more are made.
    """
    n_runs, max_runs = start.n_runs, DEFAULT_RUNS
    if estimator.n_init != "auto":
        # From the same centers every run has the same result.
        n_runs, max_runs = (int(estimator.n_init) if start.is_random else 1), int(estimator.n_init)
    number = 0
    while number < n_runs or (best is None and number < max_runs):
        number += 1
        title = f"{type(estimator).__name__}, run {number}"
        try:
            with progress(estimator.max_iter, title, shown=estimator.verbose) as report:
                run = make_run(start.draw(), report)
        except NoPlacement:
            if on_failure is not None:
                on_failure()
            continue
        if best is None or is_better(run, best):
            best = run
    if best is None:
        raise InfeasibleError(
            f"No clustering that keeps all links was found in {count(number, 'run')}, and whether one exists is not "
            "known",
            remedy=("more_starts", "more_clusters", "relax", "soft_method"),
        )
    return best
