"""Where runs start: k-means++, must-link components far apart, rows drawn at random, given centers.

What k-means in a kernel shares takes functions that return distances in place of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._rows import RowBlocks
from mustlink._types import Floats, Indices
from mustlink.constraints import Constraints
from mustlink.kmeans._rules import LinkedRows

# How many runs are made by default from random rows, as in scikit-learn, or while no run succeeds.
DEFAULT_RUNS = 10


@dataclass(frozen=True)
class Start:
    """A way to draw a starting point.

    `is_random` is whether each call of `draw` gives another one, `n_runs` how many runs are made from it by default.
    """

    draw: Callable[[], Any]
    is_random: bool = False
    n_runs: int = 1

    def map(self, change: Callable[[Any], Any]) -> Start:
        """Return the start whose drawn points are changed by a function."""
        return Start(lambda: change(self.draw()), self.is_random, self.n_runs)


def start_at_random_rows(rows: RowBlocks, weight: Floats, n_clusters: int, rng: np.random.RandomState) -> Start:
    """Start from different rows drawn at random, heavier ones more likely."""
    order = rows.order_by_content()

    def centers() -> Floats:
        mass = weight.copy()
        drawn: list[int] = []
        for _ in range(n_clusters):
            drawn.append(int(draw_rows(mass, order, 1, rng)[0]))
            mass[drawn] = 0.0
        return rows.rows(np.array(drawn))

    return Start(centers, is_random=True, n_runs=DEFAULT_RUNS)


def start_at_seeds(
    rows: RowBlocks, weight: Floats, seeds: Indices, n_clusters: int, rng: np.random.RandomState
) -> Start:
    """Start from the means of seeded rows, and add centers by k-means++ where they are too few.

    `seeds` holds the cluster of each seeded row, numbered without gaps, and -1 for all others.
    """
    means = _seed_means(rows, weight, seeds)
    if len(means) == n_clusters:
        return Start(lambda: means)
    order = rows.order_by_content()

    def centers() -> Floats:
        closest = rows.nearest_distances(means) if len(means) else None
        n_drawn = n_clusters - len(means)
        drawn = draw_far_rows(
            lambda index: rows.squared_distances(rows.rows(index)), weight, order, closest, n_drawn, n_clusters, rng
        )
        return np.concatenate([means, rows.rows(drawn)])

    return Start(centers, is_random=True)


def draw_far_rows(
    distances_to: Callable[[Indices], Floats],
    weight: Floats,
    order: Indices,
    closest: Floats | None,
    n_drawn: int,
    n_clusters: int,
    rng: np.random.RandomState,
) -> Indices:
    """Draw rows far from each other by k-means++.

    A row is drawn with a chance in proportion to its weight times its squared distance to the nearest center. As in
    scikit-learn, 2 + log(k) rows are drawn each time and the one that lowers the inertia most is kept. `distances_to`
    returns the squared distances of all rows to some rows, `order` lists the rows in an order that does not depend on
    how they are numbered, and `closest` is the squared distance of every row to the nearest center so far, if any.
    """
    drawn = np.empty(n_drawn, dtype=np.intp)
    n_trials = 2 + int(np.log(n_clusters))
    for place in range(n_drawn):
        if place:
            latest = distances_to(drawn[place - 1 : place])[:, 0]
            closest = latest if closest is None else np.minimum(closest, latest)
        if closest is None:
            drawn[place] = draw_rows(weight, order, 1, rng)[0]
        else:
            trials = draw_rows(weight * closest, order, n_trials, rng)
            nearest = distances_to(trials)
            # In place: a new array of this size takes longer than the comparison.
            np.minimum(closest[:, None], nearest, out=nearest)
            drawn[place] = trials[np.argmin(weight @ nearest)]
    return drawn


def draw_rows(mass: Floats, order: Indices, size: int, rng: np.random.RandomState) -> Indices:
    """Draw rows in proportion to their mass, or any rows where there is none.

    The rows are lined up in the given order, which depends on their content. A row of weight two is then as likely to
    be drawn as two equal rows, and the same rows are drawn however they are numbered.
    """
    reached = np.cumsum(mass[order])
    if not reached[-1] > 0:
        return order[rng.randint(len(mass), size=size)]
    place = np.searchsorted(reached, rng.random_sample(size) * reached[-1], side="right")
    # Rounding can carry a draw beyond the last row that has any mass.
    return order[np.minimum(place, np.searchsorted(reached, reached[-1]))]


def component_seeds(rows: RowBlocks, weight: Floats, linked: LinkedRows, n_clusters: int) -> Indices:
    """Choose must-link components as seeds, and number their rows by cluster; -1 is every other row.

    With as many components of two and more rows as clusters, or more, they are taken by a farthest-first traversal,
    from the heaviest on, in which distance counts by the weight of the component. With fewer, all are taken, then a
    row that is cannot-linked to each of them, if there is one.
    """
    indptr, grouped, number = linked.groups
    if grouped.size == 0:
        return np.full(rows.n_rows, -1, dtype=np.intp)
    grouped, group, n_groups = linked.rows[grouped], number[grouped], len(indptr) - 1
    mass = np.bincount(group, weight[grouped], n_groups).astype(np.float64)
    means = rows.take(grouped).averages(group, n_groups, weight[grouped])
    middle = np.average(means.rows(slice(None)), axis=0, weights=mass if mass.any() else None)
    seeds = seed_farthest_first(
        linked,
        lambda latest: np.sqrt(means.squared_distances(means.rows(np.array([latest])))[:, 0]),
        means.squared_distances(middle[None])[:, 0],
        mass,
        n_clusters,
    )
    return add_row_apart(rows, linked.given, seeds, n_clusters)


def seed_farthest_first(
    linked: LinkedRows, distances_to: Callable[[int], Floats], outlying: Floats, mass: Floats, n_clusters: int
) -> Indices:
    """Choose the heaviest component, then repeatedly the one for which mass times distance to those chosen is largest.

    The rows of the chosen components are numbered in the order of the choice; -1 is every other row. `distances_to`
    returns the distance of all components to one of them. Of several heaviest components the first is the one farthest
    from the middle of all, by the distances `outlying`, however they are numbered.
    """
    chosen = [int(np.lexsort((outlying, mass))[-1])]
    nearest = np.full(len(mass), np.inf)
    while len(chosen) < min(n_clusters, len(mass)):
        np.minimum(nearest, distances_to(chosen[-1]), out=nearest)
        reach = mass * nearest
        reach[chosen] = -1.0
        chosen.append(int(np.argmax(reach)))
    cluster_of = np.full(len(mass), -1, dtype=np.intp)
    cluster_of[chosen] = np.arange(len(chosen))
    grouped = linked.groups.rows
    seeds = np.full(linked.n_samples, -1, dtype=np.intp)
    seeds[linked.rows[grouped]] = cluster_of[linked.groups.number[grouped]]
    return seeds


def add_row_apart(rows: RowBlocks, links: Constraints, seeds: Indices, n_clusters: int) -> Indices:
    """Add to the seeds a row that is cannot-linked to every seeded cluster, if there is one and a cluster is left.

    Of several such rows, the one farthest from the means of all seeded clusters is taken.
    """
    apart = rows_apart(links, seeds, n_clusters)
    if apart.size:
        means = _seed_means(rows, np.ones(rows.n_rows), seeds)
        distance = rows.take(apart).squared_distances(means).min(axis=1)
        seeds[apart[np.argmax(distance)]] = len(means)
    return seeds


def rows_apart(links: Constraints, seeds: Indices, n_clusters: int) -> Indices:
    """Return the rows cannot-linked to every seeded cluster; none if no cluster is seeded, or all are."""
    n_seeded = int(seeds.max()) + 1
    if not 0 < n_seeded < n_clusters:
        return np.empty(0, dtype=np.intp)
    pairs = np.concatenate([links.cannot_link, links.cannot_link[:, ::-1]])
    pairs = pairs[(seeds[pairs[:, 0]] < 0) & (seeds[pairs[:, 1]] >= 0)]
    met = np.unique(np.column_stack([pairs[:, 0], seeds[pairs[:, 1]]]), axis=0)
    rows, n_met = np.unique(met[:, 0], return_counts=True)
    return rows[n_met == n_seeded]


def _seed_means(rows: RowBlocks, weight: Floats, seeds: Indices) -> Floats:
    """Return the weighted mean of the seeded rows of each cluster."""
    seeded = np.flatnonzero(seeds >= 0)
    if seeded.size == 0:
        return np.empty((0, rows.n_features))
    n_seeded = int(seeds.max()) + 1
    return rows.take(seeded).averages(seeds[seeded], n_seeded, weight[seeded]).rows(slice(None))
