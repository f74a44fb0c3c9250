"""Compiled loops over sets of rows of which a cluster may hold only so many: papers, sources, cannot-links.

The sets of a cluster are a linked list: ``head[cluster]`` is its first node, ``follow[node]`` the next one, -1 ends it.
A node holds the number of a set, and how many rows of the cluster are in that set; rows that are `alike`, with one
number from 0 on, count once. ``seen``, one number per set, is all 0 between calls.
"""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit
from mustlink._union_find_kernels import find_root


@jit
def is_apart(one, other, sets):  # type: ignore[no-untyped-def]
    """Return whether a merge of two clusters would put too many rows of a set into one."""
    head, follow, set_of, n_in_set, alike, capacity, seen = sets
    node = head[one]
    while node >= 0:
        # With 1 added, so that 0 is none.
        seen[set_of[node]] = node + 1
        node = follow[node]
    found = False
    node = head[other]
    while node >= 0 and not found:
        same = seen[set_of[node]] - 1
        if same >= 0 and n_in_set[node] + n_in_set[same] > capacity[set_of[node]]:
            found = alike[node] < 0 or alike[node] != alike[same]
        node = follow[node]
    node = head[one]
    while node >= 0:
        seen[set_of[node]] = 0
        node = follow[node]
    return found


@jit
def join_sets(one, other, sets):  # type: ignore[no-untyped-def]
    """Add the sets of one cluster to those of another, which keeps its number."""
    head, follow, set_of, n_in_set, alike, _, seen = sets
    last = -1
    node = head[one]
    while node >= 0:
        seen[set_of[node]] = node + 1
        last = node
        node = follow[node]
    node = head[other]
    head[other] = -1
    while node >= 0:
        after = follow[node]
        same = seen[set_of[node]] - 1
        if same < 0:
            follow[node] = -1
            if last < 0:
                head[one] = node
            else:
                follow[last] = node
            last = node
        elif alike[node] < 0:
            n_in_set[same] += n_in_set[node]
        node = after
    node = head[one]
    while node >= 0:
        seen[set_of[node]] = 0
        node = follow[node]


@jit
def join_in_order(left, right, parent, sets):  # type: ignore[no-untyped-def]
    """Join the clusters of pairs of rows, one after the other, where no set forbids it.

    Returns the clusters that each pair joined, by their smallest rows; -1 where they were one already, and -2 where a
    set forbids it.
    """
    joined = np.empty((len(left), 2), np.int64)
    for place in range(len(left)):
        one, other = find_root(parent, left[place]), find_root(parent, right[place])
        if one > other:
            one, other = other, one
        if one == other:
            joined[place] = -1
        elif is_apart(one, other, sets):
            joined[place] = -2
        else:
            parent[other] = one
            join_sets(one, other, sets)
            joined[place, 0], joined[place, 1] = one, other
    return joined


@jit
def are_apart(left, right, sets):  # type: ignore[no-untyped-def]
    """Return which pairs of clusters a set forbids to merge."""
    found = np.empty(len(left), np.bool_)
    for place in range(len(left)):
        found[place] = is_apart(left[place], right[place], sets)
    return found
