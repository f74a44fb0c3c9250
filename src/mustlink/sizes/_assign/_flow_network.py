"""The assignment as a minimum-cost flow, arc by arc, for general solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mustlink._types import Array, Floats, Ints
from mustlink.base import check_fits
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._assign._paths import Solution, round_to_bounds
from mustlink.sizes._assign._terms import Terms

__all__ = ["FlowNetwork", "build_network", "read_flow"]

# The most arcs from rows to clusters, all of which are held.
MAX_ARCS = 1 << 25
# A smaller share of a row in a cluster is none.
MIN_SHARE = 1e-6
# Prices that differ by less, relative to the costs, are the same.
ROUNDING = 1e-13


@dataclass(frozen=True)
class FlowNetwork:
    """Arcs and nodes: the rows, the clusters, the sink, then nodes for pivots, or for a group in a cluster.

    The first ``n_rows * n_clusters`` arcs lead from rows to clusters, or to the nodes before them. What leaves a
    node is `supply` more than what enters it.
    """

    shape: tuple[int, int]
    tail: Ints
    head: Ints
    capacity: Array
    cost: Floats
    supply: Array


def build_network(costs: CostBlocks, terms: Terms) -> FlowNetwork:
    """Return the network of an assignment; costs are per unit of weight."""
    n_rows, k = costs.shape
    check_fits('solver="flow" or "lp"', (n_rows, k), MAX_ARCS, 'use solver="paths"')
    cluster, sink = n_rows + np.arange(k), n_rows + k
    per_unit = np.ones(n_rows) if terms.weight is None else terms.weight
    is_weightless = per_unit == 0
    cost = costs.rows(slice(None)) / np.where(is_weightless, 1.0, per_unit)[:, None]
    target = np.broadcast_to(cluster, (n_rows, k)).copy()
    tails, heads, capacities, n_nodes = [cluster], [np.full(k, sink)], [terms.highest - terms.lowest], sink + 1
    demand = terms.lowest.copy()
    extra = np.zeros(0, dtype=demand.dtype)
    if terms.pivots is not None and terms.pivot_min is not None:
        # The node of a cluster for pivots keeps as many as the cluster needs, and hands on the others.
        target[terms.pivots] += k + 1
        tails, heads, capacities = [*tails, cluster + k + 1], [*heads, cluster], [*capacities, np.full(k, n_rows)]
        extra = -terms.pivot_min
        demand = np.maximum(demand - terms.pivot_min, 0)
        capacities[0] = terms.highest - np.maximum(terms.lowest, terms.pivot_min)
    if terms.apart is not None:
        grouped = terms.apart >= 0
        target[grouped] = n_nodes + terms.apart[grouped, None] * k + np.arange(k)
        n_groups = int(terms.apart.max(initial=-1)) + 1
        tails.append(n_nodes + np.arange(n_groups * k))
        heads.append(np.tile(cluster, n_groups))
        capacities.append(np.full(n_groups * k, terms.apart_max))
        extra = np.zeros(n_groups * k, dtype=demand.dtype)
    supply = np.concatenate([per_unit if terms.weight is not None else np.ones(n_rows, dtype=np.int64), -demand, extra])
    supply = np.insert(supply, sink, -supply.sum())
    return FlowNetwork(
        (n_rows, k),
        np.concatenate([np.repeat(np.arange(n_rows), k), *tails]),
        np.concatenate([target.ravel(), *heads]),
        np.concatenate([np.repeat(supply[:n_rows], k), *capacities]),
        np.concatenate([cost.ravel(), np.zeros(sum(map(len, tails)))]),
        supply,
    )


def read_flow(network: FlowNetwork, flow: Array, terms: Terms) -> Solution:
    """Return the labels of an optimal flow, and the prices that prove it."""
    n_rows, k = network.shape
    amount = flow[: n_rows * k].reshape(n_rows, k)
    labels = amount.argmax(axis=1)
    weightless = network.supply[:n_rows] == 0
    labels[weightless] = network.cost[: n_rows * k].reshape(n_rows, k)[weightless].argmin(axis=1)
    shares = np.where(amount > MIN_SHARE * network.supply[:n_rows, None], amount, 0)
    split = np.flatnonzero((shares > 0).sum(axis=1) > 1)
    potential = _potentials(network, flow)
    prices = potential[n_rows : n_rows + k] - potential[n_rows + k]
    sizes = _snap(amount.sum(axis=0), terms) if terms.weight is not None else np.bincount(labels, minlength=k)
    prices = round_to_bounds(prices, sizes, terms.lowest, terms.highest)
    if terms.pivots is not None and terms.pivot_min is not None:
        of_pivots = potential[n_rows + k + 1 :] - potential[n_rows + k]
        n_pivots = np.bincount(labels[terms.pivots], minlength=k)
        of_pivots = np.where(n_pivots > terms.pivot_min, prices, np.maximum(prices, of_pivots))
        prices = np.concatenate([prices, of_pivots])
    return Solution(labels, prices, True, split, shares[split])


def _snap(sizes: Floats, terms: Terms) -> Floats:
    """Return sums of weights that are a bound but for rounding as this bound."""
    margin = MIN_SHARE * max(float(sizes.sum()), 1e-300)
    for bound in (terms.lowest, terms.highest):
        sizes = np.where(np.abs(sizes - bound) <= margin, bound, sizes)
    return sizes


def _potentials(network: FlowNetwork, flow: Array) -> Floats:
    """Return prices of the nodes at which no arc that is left would lower the cost (Bellman and Ford)."""
    slack = MIN_SHARE * np.maximum(1, network.capacity)
    can_grow, can_shrink = flow < network.capacity - slack, flow > slack
    tail = np.concatenate([network.tail[can_grow], network.head[can_shrink]])
    head = np.concatenate([network.head[can_grow], network.tail[can_shrink]])
    cost = np.concatenate([network.cost[can_grow], -network.cost[can_shrink]])
    tolerance = ROUNDING * float(np.abs(cost).max(initial=0.0))
    potential = np.zeros(len(network.supply))
    for _ in range(len(potential)):
        nearer = potential.copy()
        np.minimum.at(nearer, head, potential[tail] + cost)
        if (nearer >= potential - tolerance).all():
            break
        potential = nearer
    return potential
