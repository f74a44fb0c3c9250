"""Assignments to clusters of bounded sizes: by trying everything, by expanded columns, and as a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, linprog, milp

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


def integer_program(
    costs: Floats,
    lowest: NDArray[Any],
    highest: NDArray[Any],
    *,
    weight: Floats | None = None,
    pivots: NDArray[np.bool_] | None = None,
    pivot_min: Ints | None = None,
    apart: Ints | None = None,
    apart_max: int = 1,
    fractional: bool = False,
) -> float | None:
    """Return the least cost under all conditions, by HiGHS; None if there is no assignment."""
    n_rows, n_clusters = costs.shape
    of_cluster = np.eye(n_clusters)
    rules = [
        (np.kron(np.eye(n_rows), np.ones(n_clusters)), np.ones(n_rows), np.ones(n_rows)),
        (np.kron(np.ones(n_rows) if weight is None else weight, of_cluster), lowest - 1e-9, highest + 1e-9),
    ]
    if pivots is not None:
        rules.append((np.kron(pivots.astype(float), of_cluster), pivot_min, np.full(n_clusters, np.inf)))
    if apart is not None:
        for group in set(apart.tolist()) - {-1}:
            members = (apart == group).astype(float)
            rules.append((np.kron(members, of_cluster), np.zeros(n_clusters), np.full(n_clusters, apart_max)))
    found = milp(
        costs.ravel(),
        integrality=np.full(costs.size, 0 if fractional else 1),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(*rule) for rule in rules],
        options={"mip_rel_gap": 0.0},
    )
    return float(found.fun) if found.status == 0 else None
