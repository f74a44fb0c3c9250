"""Compiled moves of units between clusters that break no cannot-link.

The move of a unit from cluster a to b takes along its *chain*: the cannot-linked units in b go to a, those of them in a
go to b, and so on. No cannot-link breaks by it.

The cannot-linked neighbors of unit i are apart[starts[i]:starts[i + 1]]; those that are better, or have to be, in the
cluster of i are pulled[pull_starts[i]:pull_starts[i + 1]], with a `penalty` each. `bounds` has the minimum and maximum
sizes of the clusters. `labels`, the clusters of the units, and `filled`, the rows of units in each, are written.
Arrays are passed one by one: in tuples they take numba twice as long to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def misfit(filled: Any, bounds: Any, n_free: int, one_of: Any, labels: Any) -> int:
    """Return by how many rows the sizes cannot be kept, whatever the rows without links do, and add broken triples."""
    over, short, n_broken = 0, 0, 0
    for c in range(len(filled)):
        over += max(0, filled[c] - bounds[1, c])
        short += max(0, bounds[0, c] - filled[c])
    for t in range(len(one_of)):
        own = labels[one_of[t, 0]]
        n_broken += (own == labels[one_of[t, 1]]) == (own == labels[one_of[t, 2]])
    return over + max(0, short - n_free) + n_broken


@jit
def follow(
    starts: Any,
    apart: Any,
    pull_starts: Any,
    pulled: Any,
    penalty: Any,
    costs: Any,
    labels: Any,
    unit: int,
    target: int,
    drags: bool,
    chain: Any,
    mark: Any,
) -> Any:
    """Write the chain of a unit that moves to a cluster; return its length, and how costs and penalties change.

    With `drags`, units of the chain take along those that are pulled to them and in the same cluster. `mark` has the
    number of the last chain that each unit was in, and the number of chains at its end.
    """
    source, stamp = labels[unit], mark[-1] + 1
    mark[-1] = stamp
    mark[unit] = stamp
    chain[0] = unit
    length, place = 1, 0
    while place < length:
        moving = chain[place]
        place += 1
        own = labels[moving]
        opposite = target if own == source else source
        for p in range(starts[moving], starts[moving + 1]):
            if labels[apart[p]] == opposite and mark[apart[p]] != stamp:
                mark[apart[p]] = stamp
                chain[length] = apart[p]
                length += 1
        if drags:
            for p in range(pull_starts[moving], pull_starts[moving + 1]):
                if labels[pulled[p]] == own and mark[pulled[p]] != stamp:
                    mark[pulled[p]] = stamp
                    chain[length] = pulled[p]
                    length += 1
    change = 0.0
    for place in range(length):
        old = labels[chain[place]]
        new = target if old == source else source
        change += costs[chain[place], new] - costs[chain[place], old]
        for p in range(pull_starts[chain[place]], pull_starts[chain[place] + 1]):
            if mark[pulled[p]] != stamp:
                if labels[pulled[p]] == old:
                    change += penalty[p]
                elif labels[pulled[p]] == new:
                    change -= penalty[p]
    return length, change


@jit
def move(chain: Any, length: int, one: int, other: int, size: Any, labels: Any, filled: Any) -> None:
    """Move a chain between two clusters; a second time moves it back."""
    for place in range(length):
        unit = chain[place]
        old = labels[unit]
        new = other if old == one else one
        labels[unit] = new
        filled[old] -= size[unit]
        filled[new] += size[unit]


@jit
def move_two(
    starts: Any,
    apart: Any,
    pull_starts: Any,
    pulled: Any,
    penalty: Any,
    costs: Any,
    size: Any,
    bounds: Any,
    n_free: int,
    one_of: Any,
    order: Any,
    labels: Any,
    filled: Any,
    min_gain: float,
    max_partners: int,
    chains: Any,
    mark: Any,
    first: int,
    target: int,
    drags: bool,
) -> bool:
    """Move the chain of one unit, and a second chain if it takes two; return whether that helped.

    The unit is the one in place `first` of the order. A second chain leaves the cluster that the first one entered, for
    any other cluster.
    """
    n_units, n_clusters = costs.shape
    current = misfit(filled, bounds, n_free, one_of, labels)
    source = labels[order[first]]
    total, n_first, n_tried = 0.0, 0, 0
    for step in range(n_units):
        unit, is_partner = order[(first + step) % n_units], step > 0
        origin = labels[unit]
        if is_partner and origin != target:
            continue
        if n_tried > max_partners:
            break
        n_tried += 1
        for aim in range(n_clusters):
            if aim == origin or (not is_partner and aim != target):
                continue
            chain = chains[int(is_partner)]
            drag = drags and not is_partner
            length, change = follow(
                starts, apart, pull_starts, pulled, penalty, costs, labels, unit, aim, drag, chain, mark
            )
            if current == 0 and total + change >= -min_gain:
                # Among sizes that fit, only a move that gains by itself is worth making up for.
                if not is_partner:
                    return False
                continue
            move(chain, length, origin, aim, size, labels, filled)
            after = misfit(filled, bounds, n_free, one_of, labels)
            if after < current or (after == current and total + change < -min_gain):
                return True
            if is_partner:
                move(chain, length, origin, aim, size, labels, filled)
            else:
                total, n_first = change, length
    move(chains[0], n_first, source, target, size, labels, filled)
    return False


@jit
def improve(
    starts: Any,
    apart: Any,
    pull_starts: Any,
    pulled: Any,
    penalty: Any,
    costs: Any,
    size: Any,
    bounds: Any,
    n_free: int,
    one_of: Any,
    order: Any,
    labels: Any,
    filled: Any,
    min_gain: float,
    max_partners: int,
    max_moves: int,
) -> int:
    """Move chains, alone or two at a time, while that lowers the misfit, or the cost at no larger misfit.

    Units are visited in the given order, again and again. Returns the number of moves.
    """
    n_units, n_clusters = costs.shape
    chains, mark = np.empty((2, n_units), np.int64), np.zeros(n_units + 1, np.int64)
    n_moves, n_still, place = 0, 0, 0
    while n_still < n_units and n_moves < max_moves:
        unit, has_moved = order[place], False
        n_ways = 2 if pull_starts[unit] < pull_starts[unit + 1] else 1
        for way in range(n_ways * n_clusters):
            if labels[unit] != way // n_ways and not has_moved:
                has_moved = move_two(
                    starts,
                    apart,
                    pull_starts,
                    pulled,
                    penalty,
                    costs,
                    size,
                    bounds,
                    n_free,
                    one_of,
                    order,
                    labels,
                    filled,
                    min_gain,
                    max_partners,
                    chains,
                    mark,
                    place,
                    way // n_ways,
                    way % n_ways == 1,
                )
        n_moves += has_moved
        n_still = 0 if has_moved else n_still + 1
        place = (place + 1) % n_units
    return n_moves
