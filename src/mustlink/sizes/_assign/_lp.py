"""The assignment by the linear programming of HiGHS."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from mustlink._types import Floats
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._assign._flow_network import build_network, read_flow
from mustlink.sizes._assign._paths import Solution
from mustlink.sizes._assign._terms import Terms

__all__ = ["solve_by_lp"]


def solve_by_lp(costs: CostBlocks, terms: Terms, start: Floats | None = None) -> Solution:
    """Solve by the dual simplex method, whose solutions are vertices; a start is not used."""
    network = build_network(costs, terms)
    n_arcs, n_nodes = len(network.tail), len(network.supply)
    arcs = np.arange(n_arcs)
    leaving = sparse.csr_array((np.ones(n_arcs), (network.tail, arcs)), shape=(n_nodes, n_arcs))
    entering = sparse.csr_array((np.ones(n_arcs), (network.head, arcs)), shape=(n_nodes, n_arcs))
    # HiGHS has absolute tolerances.
    cost_scale = max(float(np.abs(network.cost).max()), 1e-300)
    amount_scale = max(float(network.supply[: network.shape[0]].max()), 1e-300)
    found = linprog(
        network.cost / cost_scale,
        A_eq=leaving - entering,
        b_eq=network.supply / amount_scale,
        bounds=np.stack([np.zeros(n_arcs), network.capacity / amount_scale], axis=1),
        method="highs-ds",
    )
    if found.status != 0:
        raise AssertionError(f"HiGHS found no optimal solution: {found.message}")
    return read_flow(network, found.x * amount_scale, terms)
