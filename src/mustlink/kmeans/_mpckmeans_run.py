"""One run of MPCKMeans on standardised columns: labels, means and metrics in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mustlink._rows import RowBlocks
from mustlink._types import Floats
from mustlink.kmeans._mpckmeans_links import MeasuredLinks
from mustlink.kmeans._mpckmeans_metrics import Labels, Metrics


@dataclass
class Step:
    """One assignment: the cluster of every row, of the linked rows again, what each row costs, and the objective."""

    labels: Labels
    linked: NDArray[np.intp]
    own_cost: Floats
    objective: float


@dataclass
class Run:
    """What one run comes to."""

    labels: Labels
    centers: Floats
    metrics: Metrics
    n_iter: int
    objective: list[float]


@dataclass(frozen=True)
class Rules:
    """When a run stops, how little a variance may be, and how centres are rounded."""

    max_iter: int
    tol: float
    least_variance: float
    rounded: Callable[[Floats], Floats]


def run(
    table: RowBlocks,
    links: MeasuredLinks,
    centers: Floats,
    metrics: Metrics,
    rules: Rules,
    report: Callable[[int, float], None],
) -> Run:
    """Assign rows, average, and learn the metrics in turn, until no label changes or the centres stand still."""
    links.measure(metrics)
    objective: list[float] = []
    previous: Labels | None = None
    linked: NDArray[np.intp] | None = None
    n_iter, settled = 0, False
    while n_iter < rules.max_iter and not settled:
        n_iter += 1
        step = assign(table, links, centers, metrics, linked)
        objective.append(step.objective)
        report(n_iter, step.objective)
        settled = previous is not None and bool(np.array_equal(step.labels, previous))
        if settled:
            break
        log_det = np.broadcast_to(metrics.log_dets, len(centers))[step.labels]
        moved = fill_empty_clusters(step.labels, step.own_cost + log_det, 1e-9, links.rows, len(centers))
        linked = step.linked = step.labels[links.rows].astype(np.intp)
        new_centers, metrics = update(table, links, step, centers, metrics, rules)
        shift = float(np.square(new_centers - centers).sum())
        centers = new_centers
        links.measure(metrics)
        # In the first round the metrics have only begun to follow.
        if shift <= rules.tol and n_iter > 1:
            break
        previous = None if moved else step.labels
    if not settled:
        step = assign(table, links, centers, metrics, linked)
        objective.append(step.objective)
    return Run(step.labels, centers, metrics, n_iter, objective)


def assign(
    table: RowBlocks, links: MeasuredLinks, centers: Floats, metrics: Metrics, previous: NDArray[np.intp] | None
) -> Step:
    """Give rows without links their cheapest cluster, and place the linked rows among each other."""
    labels, own_cost = metrics.nearest(table, centers)
    if len(links.rows) == 0:
        return Step(labels, np.empty(0, dtype=np.intp), own_cost, float(own_cost.sum()))
    costs = metrics.costs(links.Z, centers)
    linked = links.place(costs, previous)
    labels[links.rows] = linked
    own_cost[links.rows] = costs[np.arange(len(linked)), linked]
    return Step(labels, linked, own_cost, float(own_cost.sum()) + links.penalty(linked))


def update(
    table: RowBlocks, links: MeasuredLinks, step: Step, centers: Floats, metrics: Metrics, rules: Rules
) -> tuple[Floats, Metrics]:
    """Return the means of the clusters, and the metrics that fit them and the broken links best.

    An empty cluster keeps its centre, and has the scatter of a cluster of one row.
    """
    counts, means, scatter = metrics.moments(table, step.labels, len(centers))
    if len(links.rows):
        scatter += links.scatter(step.linked, metrics)
    if len(metrics.matrices) == 1:
        scatter, mass = scatter.sum(axis=0, keepdims=True), np.array([float(table.n_rows)])
    else:
        mass = np.maximum(counts, 1)
    filled = counts[:, None] > 0
    return np.where(filled, rules.rounded(means), centers), metrics.from_scatter(scatter, mass, rules.least_variance)


def fill_empty_clusters(
    labels: Labels, distance: Floats, noise: float, linked_rows: NDArray[np.intp], n_clusters: int
) -> bool:
    """Move the row farthest from its centre into each empty cluster; say whether any moved.

    Rows without links go first. None goes that is alone in its cluster, or lies within `noise` of its centre.
    `labels` and `distance` are written.
    """
    members = np.bincount(labels, minlength=n_clusters)
    is_free = np.ones(len(labels), dtype=bool)
    is_free[linked_rows] = False
    moved = False
    for c in np.flatnonzero(members == 0):
        may_go = (members[labels] > 1) & (distance > noise)
        may_go &= is_free if (may_go & is_free).any() else True
        if not may_go.any():
            break
        row = int(np.argmax(np.where(may_go, distance, -np.inf)))
        members[[labels[row], c]] += [-1, 1]
        labels[row], distance[row] = c, 0.0
        moved = True
    return moved
