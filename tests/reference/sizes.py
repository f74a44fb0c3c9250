"""Assignments to clusters of bounded sizes: by trying everything, by expanded columns, and as a linear program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, linprog

from reference.feasibility import all_assignments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def cheapest_by_trying(costs: Floats, lowest: Ints, highest: Ints) -> float:
    """Return the least cost over all assignments that keep the bounds."""
    n_rows, n_clusters = costs.shape
    labels = all_assignments(n_rows, n_clusters)
    sizes = np.stack([(labels == cluster).sum(axis=1) for cluster in range(n_clusters)], axis=1)
    kept = ((sizes >= lowest) & (sizes <= highest)).all(axis=1)
    return float(costs[np.arange(n_rows), labels[kept]].sum(axis=1).min())


def cheapest_by_expansion(costs: Floats, lowest: Ints) -> float:
    """Return the least cost under minimum sizes: a column once per row of its minimum, and the cheapest one."""
    n_rows, n_clusters = costs.shape
    copies = np.repeat(np.arange(n_clusters), lowest)
    free = np.repeat(costs.min(axis=1)[:, None], n_rows - len(copies), axis=1)
    square = np.hstack([costs[:, copies], free])
    return float(square[linear_sum_assignment(square)].sum())


def linear_program(costs: Floats, lowest: Ints, highest: Ints) -> tuple[float, Floats]:
    """Return the least cost of the linear program, and its solution as an array of shares."""
    n_rows, n_clusters = costs.shape
    of_row = np.kron(np.eye(n_rows), np.ones(n_clusters))
    of_cluster = np.kron(np.ones(n_rows), np.eye(n_clusters))
    found = linprog(
        costs.ravel(),
        A_ub=np.vstack([-of_cluster, of_cluster]),
        b_ub=np.concatenate([-lowest, highest]),
        A_eq=of_row,
        b_eq=np.ones(n_rows),
        method="highs-ds",
    )
    assert found.status == 0, found.message
    return float(found.fun), found.x.reshape(n_rows, n_clusters)
