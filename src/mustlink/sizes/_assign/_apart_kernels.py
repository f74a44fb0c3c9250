"""Compiled successive shortest paths where a cluster has room for few rows of a group.

A group changes as one: it gives a row to a cluster that has room for it and takes one from another, by a chain of moves
of its own rows through clusters where it has no room left. A row without a group is a group of its own. The heaps of
moves hold states of groups; a group that changes has a new state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mustlink._jit import jit
from mustlink._types import Array, Floats, Ints
from mustlink.sizes._assign._assign_kernels import (
    BALANCED,
    NO_PATH,
    TAKEN,
    UNKNOWN_MOVE,
    Network,
    is_balanced,
    shortest_paths,
)
from mustlink.sizes._assign._moves_kernels import Moves, pop, push

# Chains that differ by less, relative to the costs, are equally long.
ROUNDING = 1e-13


class Groups(NamedTuple):
    """The rows of every group, ``members[first[group] : first[group + 1]]``, and the cluster of every row.

    A cluster has `room` for so many rows of a group. `state` is the state of every group, and `group` that of every
    state; `n_states` is the number of states so far.
    """

    costs: Array
    label: Ints
    members: Ints
    first: Ints
    room: int
    state: Ints
    group: Ints
    n_states: Ints


class Chains(NamedTuple):
    """The chains of one group: for every pair of clusters the length, the next cluster, and the row that moves there.

    `n_rows` is the number of rows in every cluster. The arrays are used again for every group.
    """

    length: Floats
    following: Ints
    mover: Ints
    n_rows: Ints


@jit
def find_chains(group: int, groups: Groups, n_placed: int, chains: Chains) -> None:
    """Find the shortest chains of the first rows of a group that are placed (Floyd and Warshall)."""
    n_clusters = groups.costs.shape[1]
    for one in range(n_clusters):
        chains.n_rows[one] = 0
        for other in range(n_clusters):
            chains.length[one, other] = np.inf
    scale = 0.0
    for place in range(groups.first[group], groups.first[group] + n_placed):
        row = groups.members[place]
        own = groups.label[row]
        chains.n_rows[own] += 1
        for other in range(n_clusters):
            cost = float(groups.costs[row, other]) - float(groups.costs[row, own])
            scale = max(scale, abs(cost))
            if cost < chains.length[own, other] and other != own:
                chains.length[own, other] = cost
                chains.following[own, other], chains.mover[own, other] = other, row
    for middle in range(n_clusters):
        if chains.n_rows[middle] < groups.room:
            continue
        for one in range(n_clusters):
            if one == middle or chains.n_rows[one] == 0:
                continue
            for other in range(n_clusters):
                length = chains.length[one, middle] + chains.length[middle, other]
                if other != one and other != middle and length < chains.length[one, other] - ROUNDING * scale:
                    chains.length[one, other] = length
                    chains.following[one, other] = chains.following[one, middle]


@jit
def move_chain(one: int, other: int, groups: Groups, chains: Chains) -> None:
    """Move rows of a group along a chain."""
    while one != other:
        following = chains.following[one, other]
        groups.label[chains.mover[one, following]] = following
        one = following


@jit
def place_groups(begin: int, end: int, groups: Groups, potential: Floats, sizes: Ints, chains: Chains) -> None:
    """Assign the rows of some groups at the least cost for the given potentials, one row after the other."""
    n_clusters = groups.costs.shape[1]
    for group in range(begin, end):
        for n_placed in range(groups.first[group + 1] - groups.first[group]):
            find_chains(group, groups, n_placed, chains)
            row = groups.members[groups.first[group] + n_placed]
            least, entered, left = np.inf, -1, -1
            for other in range(n_clusters):
                if chains.n_rows[other] >= groups.room:
                    continue
                for one in range(n_clusters):
                    if one == other or chains.n_rows[one] >= groups.room:
                        chain = 0.0 if one == other else chains.length[one, other]
                        cost = float(groups.costs[row, one]) + chain - potential[other]
                        if cost < least:
                            least, entered, left = cost, one, other
            move_chain(entered, left, groups, chains)
            groups.label[row] = entered
            sizes[left] += 1


@jit
def add_chains(begin: int, end: int, groups: Groups, moves: Moves, chains: Chains) -> None:
    """Add the chains of some groups to the heaps of moves."""
    n_clusters = groups.costs.shape[1]
    for group in range(begin, end):
        find_chains(group, groups, groups.first[group + 1] - groups.first[group], chains)
        for one in range(n_clusters):
            for other in range(n_clusters):
                if chains.n_rows[one] > 0 and chains.n_rows[other] < groups.room and one != other:
                    push(moves, one * n_clusters + other, chains.length[one, other], groups.state[group])


@jit
def refresh_chain(pair: int, groups: Groups, moves: Moves) -> None:
    """Find the shortest chain of a pair: its length and the state of its group."""
    while moves.root[pair] >= 0:
        state = moves.row[moves.root[pair]]
        if groups.state[groups.group[state]] == state:
            break
        pop(moves, pair)
    root = moves.root[pair]
    if root >= 0 and moves.cost[root] <= moves.bound[pair]:
        moves.length[pair], moves.mover[pair] = moves.cost[root], moves.row[root]
    else:
        moves.length[pair], moves.mover[pair] = moves.bound[pair], -1


@jit
def list_path(last: int, before: Ints, path: Ints) -> int:
    """Write the nodes of a path in order; return their number."""
    n_nodes = 1
    node = last
    while before[node] >= 0:
        node = before[node]
        n_nodes += 1
    node = last
    for place in range(n_nodes - 1, -1, -1):
        path[place] = node
        node = before[node]
    return n_nodes


@jit
def join_chains(n_nodes: int, groups: Groups, moves: Moves, chains: Chains, path: Ints, mover: Ints) -> int:
    """Replace the part of a path between two chains of one group by a single chain, where that is no longer.

    Two chains that meet could not both be moved. Writes the state that moves along each edge, -1 for edges of the sink;
    returns the number of nodes that are left, 0 if a move is unknown.
    """
    n_clusters = groups.costs.shape[1]
    for place in range(n_nodes - 1):
        mover[place] = -1
        if path[place] < n_clusters and path[place + 1] < n_clusters:
            mover[place] = moves.mover[path[place] * n_clusters + path[place + 1]]
            if mover[place] < 0:
                return 0
    place = 0
    while place < n_nodes - 1:
        for later in range(n_nodes - 2, place, -1):
            if mover[later] < 0 or mover[later] != mover[place]:
                continue
            length = 0.0
            for edge in range(place, later + 1):
                if mover[edge] >= 0:
                    length += moves.length[path[edge] * n_clusters + path[edge + 1]]
            group = groups.group[mover[place]]
            find_chains(group, groups, groups.first[group + 1] - groups.first[group], chains)
            single = chains.length[path[place], path[later + 1]]
            if single <= length + 1e-9 * (abs(length) + abs(single)):
                n_removed = later - place
                for edge in range(place + 1, n_nodes - n_removed):
                    path[edge] = path[edge + n_removed]
                    mover[edge] = mover[edge + n_removed] if edge + n_removed < n_nodes - 1 else -1
                n_nodes -= n_removed
                break
        place += 1
    return n_nodes


@jit
def change_groups(n_nodes: int, path: Ints, mover: Ints, network: Network, groups: Groups, chains: Chains) -> None:
    """Move rows along a path, and give the groups that changed a new state."""
    sink = len(network.excess) - 1
    network.excess[path[0]] -= 1
    network.excess[path[n_nodes - 1]] += 1
    for place in range(n_nodes - 1):
        if path[place + 1] == sink:
            network.flow[path[place]] += 1
        elif path[place] == sink:
            network.flow[path[place + 1]] -= 1
        else:
            group = groups.group[mover[place]]
            find_chains(group, groups, groups.first[group + 1] - groups.first[group], chains)
            move_chain(path[place], path[place + 1], groups, chains)
            groups.state[group] = groups.n_states[0]
            groups.group[groups.n_states[0]] = group
            groups.n_states[0] += 1


@jit
def take_group_paths(
    network: Network, groups: Groups, moves: Moves, chains: Chains, path: Ints, mover: Ints, n_paths: int
) -> int:
    """Move rows along shortest paths; return why it ended."""
    n_clusters = groups.costs.shape[1]
    n_pairs = n_clusters * n_clusters
    distance = np.empty(n_clusters + 1)
    before = np.empty(n_clusters + 1, dtype=np.int64)
    ends = np.empty(1, dtype=np.int64)
    for pair in range(n_pairs):
        refresh_chain(pair, groups, moves)
    for _ in range(n_paths):
        if is_balanced(network.excess):
            return BALANCED
        if shortest_paths(network, moves, distance, before, ends) == 0:
            return NO_PATH
        last = ends[0]
        n_nodes = list_path(last, before, path)
        n_nodes = join_chains(n_nodes, groups, moves, chains, path, mover)
        # A path of n_clusters + 1 nodes has at most n_clusters new states.
        if n_nodes == 0 or groups.n_states[0] + n_clusters > len(groups.group):
            return UNKNOWN_MOVE
        for node in range(n_clusters + 1):
            network.potential[node] += min(distance[node], distance[last])
        change_groups(n_nodes, path, mover, network, groups, chains)
        for place in range(n_nodes - 1):
            if mover[place] >= 0:
                group = groups.group[mover[place]]
                add_chains(group, group + 1, groups, moves, chains)
        for pair in range(n_pairs):
            root = moves.root[pair]
            state = moves.mover[pair]
            is_stale = state >= 0 and groups.state[groups.group[state]] != state
            if is_stale or (root >= 0 and moves.cost[root] < moves.length[pair]):
                refresh_chain(pair, groups, moves)
    return TAKEN
