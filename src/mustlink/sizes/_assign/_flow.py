"""The assignment by the minimum-cost flow of OR-tools."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats
from mustlink.errors import OptionError
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._assign._flow_network import build_network, read_flow
from mustlink.sizes._assign._paths import Solution
from mustlink.sizes._assign._terms import Terms

__all__ = ["solve_by_flow"]

# OR-tools counts costs in 64-bit integers; this leaves room for the sums of its own.
MAX_COST = 2.0**60


def solve_by_flow(costs: CostBlocks, terms: Terms, start: Floats | None = None) -> Solution:
    """Solve with costs rounded to integers, as fine as fits; a start is not used."""
    try:
        from ortools.graph.python import min_cost_flow
    except ImportError:
        raise OptionError('solver="flow" needs OR-tools', remedy="install_extra", extra="exact") from None
    if terms.weight is not None and (terms.weight != np.floor(terms.weight)).any():
        raise OptionError('solver="flow" needs whole weights; use solver="paths" or solver="lp" for others.')
    network = build_network(costs, terms)
    n_rows, k = network.shape
    # What is the same in all clusters does not matter, and would cost digits.
    extra = network.cost.copy()
    of_rows = extra[: n_rows * k].reshape(n_rows, k)
    of_rows -= of_rows.min(axis=1, keepdims=True)
    # OR-tools multiplies costs by the number of nodes, and adds them up over the flow.
    n_times = max(len(network.supply) + 1, int(network.supply[:n_rows].sum()))
    scaled = extra / (float(extra.max()) or 1.0) * (MAX_COST / n_times)
    solver = min_cost_flow.SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(
        network.tail, network.head, network.capacity.astype(np.int64), np.rint(scaled).astype(np.int64)
    )
    solver.set_nodes_supplies(np.arange(len(network.supply)), network.supply.astype(np.int64))
    status = solver.solve()
    if status != solver.OPTIMAL:
        raise AssertionError(f"OR-tools found no optimal flow: {status}.")
    return read_flow(network, solver.flows(np.arange(len(network.tail))), terms)
