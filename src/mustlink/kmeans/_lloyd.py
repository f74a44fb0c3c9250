"""Lloyd's loop with a part of the rows bound by constraints.

Most rows are free: they go to the nearest centre. The rest are bound. Bound rows come in items (single rows, or whole
must-link components), and each clusterer has its own rule for where the items go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink._rows import Assignment, RowBlocks
from mustlink._types import Floats

Labels = NDArray[np.intp]

NEXT_TO_NOTHING = 1e-150


class NoPlacement(Exception):  # noqa: N818  (a turn of the search, not an error that a user meets)
    """A rule found no place for its items in this run; another start may do better."""


class BoundRows:
    """The rows that constraints bind, in items, and the rule by which the items find their clusters.

    The base class is the rule of items that never move, and of no items at all.

    Parameters
    ----------
    table : RowBlocks
        All rows.
    weight : ndarray of shape (n_rows,)
        The weights of all rows.
    rows : ndarray of shape (n_bound,)
        The bound rows.
    item : ndarray of shape (n_bound,)
        The item of each bound row.
    fixed : ndarray of shape (n_items,), default=None
        The cluster of each item, for items that never move.
    """

    data_factor = 1.0
    """How much a squared distance counts in the objective."""

    def __init__(
        self,
        table: RowBlocks,
        weight: Floats,
        rows: NDArray[np.intp],
        item: NDArray[np.intp],
        fixed: Labels | None = None,
    ) -> None:
        self.rows, self.item = rows, item
        self.n_items = int(item.max()) + 1 if item.size else 0
        self.fixed = fixed
        self.means: RowBlocks | None = None
        self.scatter = 0.0
        if self.n_items:
            bound = table.take(rows)
            self.weight: Floats = np.bincount(item, weight[rows], self.n_items).astype(np.float64)
            self.means = bound.averages(item, self.n_items, weight[rows])
            self.scatter = float(bound.scatter(item, self.means, weight[rows]).sum())

    def costs(self, centers: Floats) -> Floats:
        """Return the weighted squared distance of each item to each centre, without the scatter inside items."""
        assert self.means is not None
        # Items of no weight count next to nothing rather than nothing, so that they still go where they are near.
        return np.maximum(self.weight, NEXT_TO_NOTHING)[:, None] * self.means.squared_distances(centers)

    def place(self, costs: Floats, previous: Labels | None) -> Labels:
        """Return the cluster of each item, given what it costs in each and where it was."""
        assert self.fixed is not None
        return self.fixed.copy()

    def try_another_order(self) -> None:
        """Prepare for another run after one that found no place for the items."""

    def penalty(self, labels: Labels) -> float:
        """Return what the objective adds for broken links."""
        return 0.0

    def pull(self, labels: Labels, free: Assignment) -> None:
        """Add to the sums of the clusters what a rule lets rows contribute to clusters they are not in."""

    def n_broken(self, labels: Labels) -> int:
        """Return how many links a hard rule had to break; a run with fewer is better whatever its objective."""
        return 0

    def movers(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first item of all that may move as one into an empty cluster, and how many items each has."""
        return np.arange(self.n_items), np.ones(self.n_items, dtype=np.intp)

    def items_of(self, mover: int) -> NDArray[np.intp]:
        """Return the items that move together."""
        return np.array([mover])

    def gain_of_leaving(self, labels: Labels, own_cost: Floats) -> Floats:
        """Return how far the objective falls if a mover goes into an empty cluster whose centre is then its mean."""
        return np.full(self.n_items, -np.inf)


@dataclass
class Step:
    """One assignment: free rows with their nearest centres, items as their rule says."""

    free: Assignment
    items: Labels
    own_cost: Floats
    inertia: float
    objective: float


@dataclass
class Run:
    """What one run of the loop comes to."""

    labels: NDArray[np.int32]
    centers: Floats
    inertia: float
    n_iter: int
    n_broken: int
    objective: list[float] = field(default_factory=list)

    def beats(self, other: Run | None) -> bool:
        """Whether to keep this run rather than the other."""
        if other is None:
            return True
        return (self.n_broken, self.objective[-1]) < (other.n_broken, other.objective[-1])


def lloyd(
    table: RowBlocks,
    weight: Floats,
    bound: BoundRows,
    centers: Floats,
    *,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None],
) -> Run:
    """Assign and average in turn until no label changes, the centres stand still, or `max_iter` is reached.

    The stopping rules and their order are those of scikit-learn's KMeans, so that without bound rows the two agree.
    """
    free_weight = weight.copy()
    free_weight[bound.rows] = 0.0
    objective: list[float] = []
    previous: NDArray[np.int32] | None = None
    items: Labels | None = None
    n_iter, settled = 0, False
    while n_iter < max_iter and not settled:
        n_iter += 1
        step = _assign(table, free_weight, bound, centers, items)
        objective.append(step.objective)
        report(n_iter, step.objective)
        labels, items = step.free.labels, step.items
        settled = previous is not None and bool(np.array_equal(labels, previous))
        moved = _fill_empty_clusters(table, free_weight, bound, step, centers)
        new_centers = _means(table, step.free, centers)
        shift = float(np.square(new_centers - centers).sum())
        centers = new_centers
        if not settled and shift <= tol:
            break
        previous = None if moved else labels
    if not settled:
        step = _assign(table, free_weight, bound, centers, items)
        objective.append(step.objective)
    return Run(step.free.labels, centers, step.inertia, n_iter, bound.n_broken(step.items), objective)


def _assign(table: RowBlocks, free_weight: Floats, bound: BoundRows, centers: Floats, previous: Labels | None) -> Step:
    """Label all rows, add the items to the sums of their clusters, and reckon the objective."""
    free = table.assign(centers, free_weight)
    if bound.n_items == 0:
        nothing = np.empty(0, dtype=np.intp)
        return Step(free, nothing, np.empty(0), free.inertia, bound.data_factor * free.inertia)
    assert bound.means is not None
    costs = bound.costs(centers)
    items = bound.place(costs, previous)
    own_cost = costs[np.arange(bound.n_items), items]
    free.labels[bound.rows] = items[bound.item]
    shape = (len(centers), bound.n_items)
    member = sparse.csr_array((bound.weight, (items, np.arange(bound.n_items))), shape=shape)
    sums = member @ bound.means.X
    counts = np.bincount(items, bound.weight, len(centers))
    free.counts[:] += counts
    free.sums[:] += (sums.toarray() if bound.means.is_sparse else sums) - counts[:, None] * free.origin
    bound.pull(items, free)
    inertia = free.inertia + float(own_cost.sum()) + bound.scatter
    return Step(free, items, own_cost, inertia, bound.data_factor * inertia + bound.penalty(items))


def _means(table: RowBlocks, free: Assignment, centers: Floats) -> Floats:
    """Return the means of the clusters; an empty one keeps its centre."""
    filled = free.counts > 0
    means = centers.copy()
    means[filled] = free.origin + free.sums[filled] / free.counts[filled, None]
    # Rounded to the precision of the table at once, so that `predict` meets the very centres that labelled the rows.
    return means.astype(table.dtype).astype(np.float64)


def _fill_empty_clusters(table: RowBlocks, free_weight: Floats, bound: BoundRows, step: Step, centers: Floats) -> bool:
    """Move the row or item whose leaving lowers the objective most into each empty cluster; say whether any moved.

    Only moves that lower the objective by more than rounding are made, and none that empties another cluster.
    """
    free = step.free
    empty = np.flatnonzero(free.counts == 0)
    if empty.size == 0:
        return False
    gain_rows = bound.data_factor * free_weight * _distance_to_own(table, centers, free.labels)
    members = np.bincount(free.labels[free_weight > 0], minlength=len(centers))
    members += np.bincount(step.items, minlength=len(centers))
    rounding = 32 * np.finfo(table.dtype).eps * np.abs(centers).max()
    noise = free_weight.max(initial=1.0) * table.n_features * rounding**2
    first, size = bound.movers()
    for n_moved, c in enumerate(empty):
        gain_movers = bound.gain_of_leaving(step.items, step.own_cost)
        gain_movers[members[step.items[first]] <= size] = -np.inf
        gain_rows[members[free.labels] < 2] = -np.inf
        row = int(np.argmax(gain_rows))
        most = gain_movers.max(initial=-np.inf)
        if max(gain_rows[row], most) <= noise:
            return n_moved > 0
        if most > gain_rows[row]:
            _move_items(bound, step, bound.items_of(int(np.argmax(gain_movers))), int(c), members)
        else:
            change = free_weight[row] * (table.rows(np.array([row]))[0] - free.origin)
            _move_sums(free, free.labels[row], int(c), change, free_weight[row])
            members[[free.labels[row], c]] += [-1, 1]
            free.labels[row], gain_rows[row] = c, -np.inf
    return True


def _move_items(bound: BoundRows, step: Step, items: NDArray[np.intp], c: int, members: NDArray[np.intp]) -> None:
    """Move items of one cluster into the empty cluster c."""
    assert bound.means is not None
    old, weight = step.items[items[0]], bound.weight[items]
    change = weight @ (bound.means.rows(items) - step.free.origin)
    _move_sums(step.free, old, c, change, weight.sum())
    members[[old, c]] += [-len(items), len(items)]
    step.items[items] = c
    # At most this, now that the centre is their own mean; more would have them move again.
    step.own_cost[items] = 0.0
    step.free.labels[bound.rows] = step.items[bound.item]


def _move_sums(free: Assignment, old: int, new: int, change: Floats, weight: float) -> None:
    """Take rows out of the sums of one cluster and put them into those of another."""
    free.sums[old] -= change
    free.counts[old] -= weight
    free.sums[new] += change
    free.counts[new] += weight


def _distance_to_own(table: RowBlocks, centers: Floats, labels: NDArray[np.int32]) -> Floats:
    """Return the squared distance of each row to the centre of its cluster."""

    def own(rows: slice, piece: RowBlocks) -> Floats:
        return piece.squared_distances(centers)[np.arange(piece.n_rows), labels[rows]]

    return np.concatenate(table.map_pieces(own))
