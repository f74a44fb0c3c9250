"""Where centres start: k-means++, the neighbourhoods that must-links make, rows drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import RowBlocks
from mustlink._types import Floats
from mustlink.constraints import Constraints

MOST_RUNS = 10
"""How many runs are made by default from random rows, as in scikit-learn, or while no run succeeds."""


@dataclass(frozen=True)
class Start:
    """A way to make starting centres.

    `is_random` says whether each call of `centers` makes new ones, `n_runs` how many runs are made from it by default.
    """

    centers: Callable[[], Floats]
    is_random: bool
    n_runs: int = 1


def given_centers(centers: Floats) -> Start:
    """Start from centres that are there already."""
    return Start(lambda: centers, is_random=False)


def random_rows(table: RowBlocks, weight: Floats, n_clusters: int, rng: np.random.RandomState) -> Start:
    """Start from different rows drawn at random, heavier ones more likely."""
    order = table.order_by_content()

    def centers() -> Floats:
        mass = weight.copy()
        drawn = []
        for _ in range(n_clusters):
            drawn.append(int(_draw(mass, order, 1, rng)[0]))
            mass[drawn] = 0.0
        return table.rows(np.array(drawn))

    return Start(centers, is_random=True, n_runs=MOST_RUNS)


def from_seeds(
    table: RowBlocks, weight: Floats, seeds: NDArray[np.intp], n_clusters: int, rng: np.random.RandomState
) -> Start:
    """Start from the means of seeded rows, and go on by k-means++ where they do not suffice.

    `seeds` holds the cluster of each seeded row, numbered without gaps, and -1 for all others.
    """
    means = _seed_means(table, weight, seeds)
    if len(means) == n_clusters:
        return given_centers(means)
    order = table.order_by_content()
    return Start(lambda: _k_means_plus_plus(table, weight, order, n_clusters, rng, means), is_random=True)


def _seed_means(table: RowBlocks, weight: Floats, seeds: NDArray[np.intp]) -> Floats:
    """Return the weighted mean of the seeded rows of each cluster."""
    seeded = np.flatnonzero(seeds >= 0)
    if seeded.size == 0:
        return np.empty((0, table.n_features))
    n_groups = int(seeds.max()) + 1
    return table.take(seeded).averages(seeds[seeded], n_groups, weight[seeded]).rows(slice(None))


def _k_means_plus_plus(
    table: RowBlocks,
    weight: Floats,
    order: NDArray[np.intp],
    n_clusters: int,
    rng: np.random.RandomState,
    given: Floats,
) -> Floats:
    """Add rows far from the centres so far until there are `n_clusters`.

    A row is drawn with a chance in proportion to its weight times its squared distance to the nearest centre. As
    in scikit-learn, 2 + log(k) rows are drawn each time and the one that lowers the inertia most is kept.
    """
    centers = list(given)
    closest = np.ones(table.n_rows) if not centers else _nearest(table, given)
    n_trials = 2 + int(np.log(n_clusters))
    while len(centers) < n_clusters:
        drawn = _draw(weight * closest, order, n_trials if centers else 1, rng)
        candidates = table.rows(drawn)
        if centers:
            candidates = candidates[[_best_candidate(table, weight, closest, candidates)]]
            np.minimum(closest, _nearest(table, candidates), out=closest)
        else:
            closest = _nearest(table, candidates)
        centers.append(candidates[0])
    return np.array(centers)


def _draw(mass: Floats, order: NDArray[np.intp], size: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw rows in proportion to their mass, or any rows where there is none.

    The rows are lined up in the given order, which depends on their content. So a row of weight two is as likely to
    be met as two equal rows, and the same rows are drawn however they are numbered.
    """
    reached = np.cumsum(mass[order])
    if not reached[-1] > 0:
        return order[rng.randint(len(mass), size=size)]
    place = np.searchsorted(reached, rng.random_sample(size) * reached[-1], side="right")
    # Rounding may carry a draw beyond the last row that has any mass.
    return order[np.minimum(place, np.searchsorted(reached, reached[-1]))]


def _nearest(table: RowBlocks, centers: Floats) -> Floats:
    """Return the squared distance of every row to the nearest centre."""
    return np.concatenate(table.map_pieces(lambda _, piece: piece.squared_distances(centers).min(axis=1)))


def _best_candidate(table: RowBlocks, weight: Floats, closest: Floats, candidates: Floats) -> int:
    """Return which candidate would lower the inertia most."""

    def inertia(rows: slice, piece: RowBlocks) -> Floats:
        return np.asarray(weight[rows] @ np.minimum(closest[rows, None], piece.squared_distances(candidates)))

    return int(np.argmin(sum(table.map_pieces(inertia))))


def neighbourhood_seeds(table: RowBlocks, weight: Floats, links: Constraints, n_clusters: int) -> NDArray[np.intp]:
    """Choose rows that tell where clusters are, and number them by cluster; -1 is every other row.

    A neighbourhood is a must-link component of two rows or more. With as many as clusters or more, they are taken
    by a farthest-first traversal, from the heaviest on, in which distance counts by the weight of the
    neighbourhood. With fewer, all are taken, then a row that is cannot-linked to each of them, if there is one.
    """
    seeds = np.full(table.n_rows, -1, dtype=np.intp)
    component = links.components(table.n_rows)
    linked = np.flatnonzero(np.bincount(component)[component] > 1)
    if linked.size == 0:
        return seeds
    _, group = np.unique(component[linked], return_inverse=True)
    n_groups = int(group.max()) + 1
    mass = np.bincount(group, weight[linked], n_groups).astype(np.float64)
    means = table.take(linked).averages(group, n_groups, weight[linked])
    chosen = _farthest_first(means, mass, min(n_clusters, n_groups))
    cluster_of = np.full(n_groups, -1, dtype=np.intp)
    cluster_of[chosen] = np.arange(len(chosen))
    seeds[linked] = cluster_of[group]
    return with_row_apart(table, links, seeds, n_clusters)


def with_row_apart(table: RowBlocks, links: Constraints, seeds: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """Add to the seeds a row that is cannot-linked to every seeded cluster, if there is one and a cluster is left.

    Of several such rows, the one farthest from all seeded rows' clusters is taken.
    """
    n_groups = int(seeds.max()) + 1
    if not 0 < n_groups < n_clusters:
        return seeds
    apart = _rows_apart_from_all(links, seeds, n_groups)
    if apart.size:
        means = _seed_means(table, np.ones(table.n_rows), seeds)
        distance = table.take(apart).squared_distances(means).min(axis=1)
        seeds[apart[np.argmax(distance)]] = n_groups
    return seeds


def _farthest_first(points: RowBlocks, mass: Floats, n_chosen: int) -> list[int]:
    """Take the heaviest point, then again and again the one for which mass times distance to those taken is largest.

    Of several heaviest points the first is the one farthest from the middle of all, however they are numbered.
    """
    middle = np.average(points.rows(slice(None)), axis=0, weights=mass if mass.any() else None)
    outlying = points.squared_distances(middle[None])[:, 0]
    chosen = [int(np.lexsort((outlying, mass))[-1])]
    nearest = np.full(points.n_rows, np.inf)
    while len(chosen) < n_chosen:
        latest = points.rows(np.array(chosen[-1:]))
        np.minimum(nearest, np.sqrt(points.squared_distances(latest)[:, 0]), out=nearest)
        reach = mass * nearest
        reach[chosen] = -1.0
        chosen.append(int(np.argmax(reach)))
    return chosen


def _rows_apart_from_all(links: Constraints, seeds: NDArray[np.intp], n_groups: int) -> NDArray[np.int64]:
    """Return the rows outside the neighbourhoods that are cannot-linked to every one of them."""
    pairs = np.concatenate([links.cannot_link, links.cannot_link[:, ::-1]])
    pairs = pairs[(seeds[pairs[:, 0]] < 0) & (seeds[pairs[:, 1]] >= 0)]
    met = np.unique(np.column_stack([pairs[:, 0], seeds[pairs[:, 1]]]), axis=0)
    rows, n_met = np.unique(met[:, 0], return_counts=True)
    return rows[n_met == n_groups]
