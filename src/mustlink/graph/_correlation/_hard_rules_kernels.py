"""Compiled hash table of how many rows of a key (a source, or a group of rows to keep apart) each cluster holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def find_slot(slots: Any, entry: int) -> Any:
    """Return the place of an entry in an open-addressing table, or the free place where it belongs."""
    mask = len(slots) - 1
    mixed = np.uint64(entry) * np.uint64(11400714819323198485)
    place = np.int64((mixed >> np.uint64(20)) & np.uint64(mask))
    while slots[place] != -1 and slots[place] != entry:
        place = (place + 1) & mask
    return place


@jit
def add_keys(node: int, cluster: int, sign: int, key_indptr: Any, keys: Any, key_count: Any, table: Any) -> int:
    """Add the keys of a node to a cluster, or remove them (`sign` -1); return how many new entries the table has.

    Row 0 of `table` has the entries, cluster times the number of keys plus key, and row 1 the counts; the last entry of
    both is the number of keys.
    """
    n_new = 0
    n_keys = table[0, -1]
    slots, held = table[0, :-1], table[1, :-1]
    for e in range(key_indptr[node], key_indptr[node + 1]):
        entry = cluster * n_keys + keys[e]
        place = find_slot(slots, entry)
        if slots[place] == -1:
            slots[place] = entry
            n_new += 1
        held[place] += sign * key_count[e]
    return n_new


@jit
def has_room(node: int, cluster: int, key_indptr: Any, keys: Any, key_count: Any, key_max: Any, table: Any) -> bool:
    """Return whether a cluster can take a node without holding too many rows of a key."""
    n_keys = table[0, -1]
    slots, held = table[0, :-1], table[1, :-1]
    for e in range(key_indptr[node], key_indptr[node + 1]):
        place = find_slot(slots, cluster * n_keys + keys[e])
        if slots[place] != -1 and held[place] + key_count[e] > key_max[keys[e]]:
            return False
    return True


@jit
def count_keys(labels: Any, key_indptr: Any, keys: Any, key_count: Any, table: Any) -> int:
    """Fill the table with the keys of all nodes in their clusters; return how many entries it has."""
    table[0, :-1] = -1
    table[1, :-1] = 0
    n_used = 0
    for node in range(len(labels)):
        n_used += add_keys(node, labels[node], 1, key_indptr, keys, key_count, table)
    return n_used


@jit
def find_impossible(indptr: Any, indices: Any, key_indptr: Any, keys: Any, key_count: Any, key_max: Any) -> Any:
    """Return which edges join two nodes that hold too many rows of one key together."""
    impossible = np.zeros(len(indices), np.bool_)
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            a, b = key_indptr[u], key_indptr[v]
            while a < key_indptr[u + 1] and b < key_indptr[v + 1]:
                if keys[a] == keys[b]:
                    if key_count[a] + key_count[b] > key_max[keys[a]]:
                        impossible[e] = True
                        break
                    a += 1
                    b += 1
                elif keys[a] < keys[b]:
                    a += 1
                else:
                    b += 1
    return impossible


@jit
def split_clusters(
    labels: Any,
    order: Any,
    apart_indptr: Any,
    apart_indices: Any,
    key_indptr: Any,
    keys: Any,
    key_count: Any,
    key_max: Any,
    table: Any,
) -> Any:
    """Split clusters that break a hard rule: each node, in order, goes to the first part of its cluster with room.

    `table` is an empty table with room for the keys of all nodes. Return labels from 0 on.
    """
    n_nodes = len(labels)
    # The parts of a cluster are a list: its first part, and the next one of every part.
    first = np.full(n_nodes, -1, np.int64)
    after = np.full(n_nodes, -1, np.int64)
    blocked = np.full(n_nodes, -1, np.int64)
    part_of = np.full(n_nodes, -1, np.int64)
    table[0, :-1] = -1
    table[1, :-1] = 0
    n_parts = 0
    for node in order:
        for e in range(apart_indptr[node], apart_indptr[node + 1]):
            if part_of[apart_indices[e]] >= 0:
                blocked[part_of[apart_indices[e]]] = node
        last, part = -1, first[labels[node]]
        while part >= 0 and (
            blocked[part] == node or not has_room(node, part, key_indptr, keys, key_count, key_max, table)
        ):
            last, part = part, after[part]
        if part < 0:
            part = n_parts
            n_parts += 1
            if last < 0:
                first[labels[node]] = part
            else:
                after[last] = part
        part_of[node] = part
        add_keys(node, part, 1, key_indptr, keys, key_count, table)
    return part_of
