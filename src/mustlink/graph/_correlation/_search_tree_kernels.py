"""Compiled search tree of cluster editing: two nodes are merged, or kept apart for good."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

MERGE, SEPARATE, BRANCH = 1, 2, 3
# Of pairs that cost equally much on their cheaper side, that with the larger sum is taken.
TIE = 1e-3


@jit
def merge_pair(net: Any, held: Any, limit: Any, n_nodes: int, u: int, v: int, member: Any) -> float:
    """Merge node `v` into `u`, in place, and give its number to the last node; return what that costs.

    Where one of the two is rather with a node and the other is not, the lesser weight is lost. Nodes that hold too many
    rows of a key together with the merged one are kept apart from it.
    """
    cost = max(-net[u, v], 0.0)
    last = n_nodes - 1
    for x in range(n_nodes):
        if x != u and x != v:
            if (net[u, x] > 0) != (net[v, x] > 0):
                cost += min(abs(net[u, x]), abs(net[v, x]))
            net[u, x] += net[v, x]
            net[x, u] = net[u, x]
    for key in range(len(limit)):
        held[u, key] += held[v, key]
        for x in range(n_nodes):
            if x != u and x != v and held[u, key] > 0 and held[x, key] > 0 and held[u, key] + held[x, key] > limit[key]:
                cost += max(net[u, x], 0.0)
                net[u, x] = net[x, u] = -np.inf
        held[v, key] = held[last, key]
    for x in range(n_nodes):
        net[v, x] = net[last, x]
    for x in range(n_nodes):
        net[x, v] = net[x, last]
    net[v, v] = 0.0
    for row in range(len(member)):
        if member[row] == v:
            member[row] = u
        elif member[row] == last:
            member[row] = v
    return cost


@jit
def pack_dense(net: Any, n_nodes: int, enough: float) -> float:
    """Return the weight of packed inconsistent triangles of a full matrix, at least `enough` of it if there is."""
    left = np.abs(net[:n_nodes, :n_nodes])
    packed = 0.0
    for u in range(n_nodes):
        for v in range(n_nodes):
            if net[u, v] <= 0 or left[u, v] <= 0:
                continue
            for w in range(v + 1, n_nodes):
                if net[u, w] > 0 and net[v, w] < 0 and left[u, w] > 0 and left[v, w] > 0:
                    amount = min(left[u, v], left[u, w], left[v, w])
                    packed += amount
                    for a, b in ((u, v), (u, w), (v, w)):
                        left[a, b] -= amount
                        left[b, a] = left[a, b]
                    if left[u, v] <= 0:
                        break
        if packed >= enough:
            break
    return packed


@jit
def judge_pair(net: Any, n_nodes: int, u: int, v: int) -> Any:
    """Return the least cost of keeping two nodes apart, that of merging them, and how much their weights differ."""
    apart, merged, difference = net[u, v], 0.0, 0.0
    for x in range(n_nodes):
        if x != u and x != v:
            a, b = net[u, x], net[v, x]
            if a > 0 and b > 0:
                apart += min(a, b)
            elif a > 0 or b > 0:
                merged += min(abs(a), abs(b))
            if a != b:
                difference += abs(a - b)
    return apart, merged, difference


@jit
def find_pair(net: Any, has_keys: bool, n_nodes: int, cost: float, enough: float) -> Any:
    """Return what to do with which pair: the first that a rule applies to, else that where both sides cost most.

    Two nodes that others do not tell apart by more than twice their weight are merged: of two clusters, one of them can
    move to that of the other without a loss, if no key keeps it from that.
    """
    best, u, v = -1.0, -1, -1
    for a in range(n_nodes):
        for b in range(a + 1, n_nodes):
            if net[a, b] <= 0:
                continue
            apart, merged, difference = judge_pair(net, n_nodes, a, b)
            if cost + apart >= enough or (2.0 * net[a, b] >= difference and not has_keys):
                return MERGE, a, b
            if cost + merged >= enough:
                return SEPARATE, a, b
            score = min(apart, merged) + TIE * (apart + merged)
            if score > best:
                best, u, v = score, a, b
    return BRANCH, u, v


@jit
def reduce_pairs(net: Any, held: Any, limit: Any, n_nodes: int, member: Any, cost: float, enough: float) -> Any:
    """Merge and keep apart where one of the two cannot be better; return the nodes, the cost, and a pair to branch on.

    Without a pair, -1, no positive weight is left. `enough` is the cost from which on no better clustering is left.
    """
    while cost < enough:
        rule, u, v = find_pair(net, len(limit) > 0, n_nodes, cost, enough)
        if rule == BRANCH:
            return n_nodes, cost, u, v
        if rule == MERGE:
            cost += merge_pair(net, held, limit, n_nodes, u, v, member)
            n_nodes -= 1
        else:
            cost += net[u, v]
            net[u, v] = net[v, u] = -np.inf
    return n_nodes, cost, -1, -1


@jit
def search_tree(
    nets: Any,
    helds: Any,
    limit: Any,
    members: Any,
    sizes: Any,
    costs: Any,
    top: int,
    least: float,
    margin: float,
    found: Any,
    n_steps: int,
) -> Any:
    """Visit nodes of the tree, the last of the stack first; return the height of the stack, the least cost, and steps.

    The stack has full matrices, the keys of nodes, the node of every row, the number of nodes and the cost. Only a cost
    that is below `least` by `margin` is better, and its clusters are put into `found`. A height of -1 is a full stack.
    """
    for step in range(n_steps):
        if top == 0:
            return top, least, step
        top -= 1
        net, held, member = nets[top], helds[top], members[top]
        n_nodes, cost, u, v = reduce_pairs(net, held, limit, sizes[top], member, costs[top], least - margin)
        if cost >= least - margin:
            continue
        if u < 0:
            least = cost
            found[:] = member
            continue
        if cost + pack_dense(net, n_nodes, least - margin - cost) >= least - margin:
            continue
        if top + 2 > len(nets):
            return -1, least, step
        nets[top + 1, :n_nodes, :n_nodes] = net[:n_nodes, :n_nodes]
        helds[top + 1], members[top + 1] = held, member
        costs[top] = cost + net[u, v]
        sizes[top] = n_nodes
        net[u, v] = net[v, u] = -np.inf
        costs[top + 1] = cost + merge_pair(nets[top + 1], helds[top + 1], limit, n_nodes, u, v, members[top + 1])
        sizes[top + 1] = n_nodes - 1
        top += 2
    return top, least, n_steps
