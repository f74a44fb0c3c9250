"""Compiled successive shortest paths on a network of clusters.

The nodes are the clusters; a second node for each cluster where some rows are pivots, through which the pivots
pass; and the sink, the last. A move of a row is an edge between two clusters of its kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mustlink._jit import jit
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.sizes._assign._moves_kernels import Moves, pop, push

# Why a run of paths ended.
BALANCED, TAKEN, UNKNOWN_MOVE, UNKNOWN_ROW, NO_PATH = range(5)


class Rows(NamedTuple):
    """Where the rows are.

    `weight` (integer) and `per_unit` (one over the weight as given) are empty where every row counts once, and `kind`
    (1 for pivots) where there are no pivots. Rows that have moved have a place in a table, -1 otherwise: their
    `costs`, and their `amount` in every cluster.
    """

    label: Ints
    weight: Ints
    per_unit: Floats
    kind: NDArray[np.uint8]
    place: NDArray[np.int32]
    costs: Floats
    amount: Ints


class Network(NamedTuple):
    """The flow from every cluster to the sink and its bounds, and the same for pivots on their way to a cluster.

    `excess` is what flows into a node beyond what flows out of it, `potential` the price of a unit there.
    """

    flow: Ints
    lowest: Ints
    highest: Ints
    pivot_flow: Ints
    pivot_min: Ints
    excess: Ints
    potential: Floats


@jit
def assign_cheapest(costs: Array, start: int, rows: Rows, potential: Floats, gaps: Floats) -> None:
    """Assign a block of rows to the cheapest cluster at the given potentials.

    Also write by how much the next cluster is more expensive, for a unit of the row.
    """
    n_clusters = costs.shape[1]
    for place in range(len(costs)):
        row = start + place
        base = n_clusters * rows.kind[row] if len(rows.kind) else 0
        weight = 1.0
        if len(rows.weight):
            weight = 1.0 / rows.per_unit[row] if rows.weight[row] > 0 else 0.0
        best = 0
        least = float(costs[place, 0]) - weight * potential[base]
        following = np.inf
        for cluster in range(1, n_clusters):
            value = float(costs[place, cluster]) - weight * potential[base + cluster]
            if value < least:
                best, least, following = cluster, value, least
            elif value < following:
                following = value
        rows.label[row] = best
        gaps[row] = (following - least) / weight if weight > 0.0 else np.inf


@jit
def collect_moves(costs: Array, numbers: Indices, rows: Rows, moves: Moves) -> None:
    """Add the moves of some rows, given by their numbers, that cost less than the bounds."""
    n_clusters = costs.shape[1]
    has_weight, has_kind = len(rows.weight) > 0, len(rows.kind) > 0
    label, weight, per_unit, kind, bound = rows.label, rows.weight, rows.per_unit, rows.kind, moves.bound
    for place in range(len(costs)):
        row = numbers[place]
        if has_weight and weight[row] == 0:
            continue
        if rows.place[row] >= 0:
            for cluster in range(n_clusters):
                if rows.amount[rows.place[row], cluster] > 0:
                    add_moves(costs[place], row, cluster, rows, moves)
            continue
        # Most rows have no such move; the loop that finds this has no branches and is compiled to vector instructions.
        own = float(costs[place, label[row]])
        scale = per_unit[row] if has_weight else 1.0
        first = n_clusters * (label[row] + (n_clusters * kind[row] if has_kind else 0))
        has_move = False
        for other in range(n_clusters):
            has_move |= (float(costs[place, other]) - own) * scale < bound[first + other]
        if has_move:
            add_moves(costs[place], row, label[row], rows, moves)


@jit
def add_moves(costs: Array, row: int, cluster: int, rows: Rows, moves: Moves) -> None:
    """Add the moves of one row out of a cluster that cost less than the bounds."""
    n_clusters = len(costs)
    node = cluster + (n_clusters * rows.kind[row] if len(rows.kind) else 0)
    per_unit = rows.per_unit[row] if len(rows.weight) else 1.0
    own = float(costs[cluster])
    for other in range(n_clusters):
        cost = (float(costs[other]) - own) * per_unit
        if cost < moves.bound[node * n_clusters + other] and other != cluster:
            push(moves, node * n_clusters + other, cost, row)


@jit
def refresh(pair: int, n_clusters: int, rows: Rows, moves: Moves) -> None:
    """Find the cheapest move of a pair: its cost and row, or the bound and -1 if the move is unknown."""
    cluster = (pair // n_clusters) % n_clusters
    while moves.root[pair] >= 0:
        row = moves.row[moves.root[pair]]
        place = rows.place[row]
        if rows.amount[place, cluster] > 0 if place >= 0 else rows.label[row] == cluster:
            break
        pop(moves, pair)
    root = moves.root[pair]
    if root >= 0 and moves.cost[root] <= moves.bound[pair]:
        moves.length[pair], moves.mover[pair] = moves.cost[root], moves.row[root]
    else:
        moves.length[pair], moves.mover[pair] = moves.bound[pair], -1


@jit
def refresh_shortened(costs: Array, row: int, node: int, rows: Rows, moves: Moves) -> None:
    """Refresh the pairs that a row new at a node may have shortened."""
    n_clusters = len(costs)
    per_unit = rows.per_unit[row] if len(rows.weight) else 1.0
    own = costs[node % n_clusters]
    for other in range(n_clusters):
        pair = node * n_clusters + other
        if (costs[other] - own) * per_unit < moves.length[pair] and other != node % n_clusters:
            refresh(pair, n_clusters, rows, moves)


@jit
def is_balanced(excess: Ints) -> bool:
    """Return whether no node has an excess."""
    largest = 0
    for node in range(len(excess)):
        largest = max(largest, excess[node])
    return largest == 0


@jit
def relax(node: int, other: int, step: float, potential: Floats, distance: Floats, before: Ints) -> None:
    """Shorten the way to a node by an edge, if it does."""
    # Rounding errors must not make an edge negative.
    reached = distance[node] + max(0.0, step + potential[node] - potential[other])
    if reached < distance[other]:
        distance[other], before[other] = reached, node


@jit
def relax_edges(node: int, network: Network, moves: Moves, distance: Floats, before: Ints) -> None:
    """Shorten the ways to the neighbors of a node."""
    n_clusters = len(network.flow)
    sink = len(network.excess) - 1
    potential = network.potential
    if node == sink:
        for cluster in range(n_clusters):
            if network.flow[cluster] > network.lowest[cluster]:
                relax(node, cluster, 0.0, potential, distance, before)
        return
    base = n_clusters if node >= n_clusters else 0
    for cluster in range(n_clusters):
        relax(node, base + cluster, moves.length[node * n_clusters + cluster], potential, distance, before)
    if base > 0:
        relax(node, node - n_clusters, 0.0, potential, distance, before)
        return
    if network.flow[node] < network.highest[node]:
        relax(node, sink, 0.0, potential, distance, before)
    if sink > n_clusters and network.pivot_flow[node] > network.pivot_min[node]:
        relax(node, node + n_clusters, 0.0, potential, distance, before)


@jit
def shortest_paths(network: Network, moves: Moves, distance: Floats, before: Ints, ends: Ints) -> int:
    """Find the shortest paths from nodes with an excess to as many as `ends` of those that lack rows (Dijkstra).

    Returns how many there are; `ends` has their last nodes, the nearest first, and `before` the others.
    """
    # Loops rather than expressions of arrays, which take seconds to compile.
    n_nodes = len(network.excess)
    final = np.empty(n_nodes, dtype=np.bool_)
    for node in range(n_nodes):
        distance[node] = 0.0 if network.excess[node] > 0 else np.inf
        final[node], before[node] = False, -1
    n_found = 0
    while True:
        node, nearest = -1, np.inf
        for other in range(n_nodes):
            if distance[other] < nearest and not final[other]:
                node, nearest = other, distance[other]
        if node < 0:
            return n_found
        final[node] = True
        if network.excess[node] < 0:
            ends[n_found] = node
            n_found += 1
            if n_found == len(ends):
                return n_found
        relax_edges(node, network, moves, distance, before)


@jit
def path_amount(last: int, before: Ints, network: Network, rows: Rows, moves: Moves) -> int:
    """Return how much can be moved along a path; -1 if a move is unknown, -2 - row if the costs of a row are."""
    n_clusters = len(network.flow)
    sink = len(network.excess) - 1
    amount = -network.excess[last]
    unknown = 0
    node = last
    while before[node] >= 0:
        other = before[node]
        if node == sink:
            amount = min(amount, network.highest[other] - network.flow[other])
        elif other == sink:
            amount = min(amount, network.flow[node] - network.lowest[node])
        elif node // n_clusters == other // n_clusters:
            row = moves.mover[other * n_clusters + node % n_clusters]
            if row < 0:
                return -1
            if rows.place[row] < 0:
                unknown = -2 - row
            else:
                amount = min(amount, rows.amount[rows.place[row], other % n_clusters])
        elif other < node:
            amount = min(amount, network.pivot_flow[other] - network.pivot_min[other])
        node = other
    return unknown if unknown < 0 else min(amount, network.excess[node])


@jit
def move_along(
    last: int,
    before: Ints,
    amount: int,
    network: Network,
    rows: Rows,
    moves: Moves,
) -> None:
    """Move rows along a path."""
    n_clusters = len(network.flow)
    sink = len(network.excess) - 1
    network.excess[last] += amount
    node = last
    while before[node] >= 0:
        other = before[node]
        if node == sink:
            network.flow[other] += amount
        elif other == sink:
            network.flow[node] -= amount
        elif node // n_clusters != other // n_clusters:
            network.pivot_flow[min(node, other)] += amount if other > node else -amount
        else:
            old, new = other % n_clusters, node % n_clusters
            row = moves.mover[other * n_clusters + new]
            place = rows.place[row]
            was_there = rows.amount[place, new] > 0
            rows.amount[place, old] -= amount
            rows.amount[place, new] += amount
            rows.label[row] = new
            if not was_there:
                add_moves(rows.costs[place], row, new, rows, moves)
                refresh_shortened(rows.costs[place], row, node, rows, moves)
            for pair in range(other * n_clusters, (other + 1) * n_clusters):
                if moves.mover[pair] == row:
                    refresh(pair, n_clusters, rows, moves)
        node = other
    network.excess[node] -= amount


@jit
def is_apart(last: int, before: Ints, used: Mask) -> bool:
    """Return whether a path has no node in common with those used, and mark its nodes as used."""
    node = last
    while node >= 0:
        if used[node]:
            return False
        node = before[node]
    node = last
    while node >= 0:
        used[node] = True
        node = before[node]
    return True


@jit
def take_paths(network: Network, rows: Rows, moves: Moves, n_paths: int, max_ends: int) -> tuple[int, int]:
    """Move rows along shortest paths; return why it ended, and the row whose costs are needed.

    A search finds up to `max_ends` paths, of which those are taken that have no nodes in common: all edges on the
    shortest paths cost nothing at the potentials that follow from the search.
    """
    n_clusters = len(network.flow)
    n_nodes = len(network.excess)
    distance = np.empty(n_nodes)
    before = np.empty(n_nodes, dtype=np.int64)
    ends = np.empty(max_ends, dtype=np.int64)
    used = np.empty(n_nodes, dtype=np.bool_)
    for pair in range(len(moves.root)):
        refresh(pair, n_clusters, rows, moves)
    for _ in range(n_paths):
        if is_balanced(network.excess):
            return BALANCED, -1
        n_found = shortest_paths(network, moves, distance, before, ends)
        if n_found == 0:
            return NO_PATH, -1
        amount = path_amount(ends[0], before, network, rows, moves)
        if amount == -1:
            return UNKNOWN_MOVE, -1
        if amount < 0:
            return UNKNOWN_ROW, -2 - amount
        for node in range(n_nodes):
            network.potential[node] += min(distance[node], distance[ends[n_found - 1]])
            used[node] = False
        for place in range(n_found):
            amount = path_amount(ends[place], before, network, rows, moves)
            if amount > 0 and is_apart(ends[place], before, used):
                move_along(ends[place], before, amount, network, rows, moves)
    return TAKEN, -1
