"""Links from pinned rows: those near each other belong together, those far from each other do not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mustlink._types import Ints
from mustlink.hierarchy import SeededSingleLink

__all__ = ["Positions", "pin_components", "pin_links", "place_around"]

Positions = Mapping[int, tuple[float, float]]

# Several rows that are dropped together are within this fraction of eps of the drop.
DROP_RADIUS = 0.4
NONE_JOINED: Mapping[int, int] = {}
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def pin_components(pins: Positions, eps: float, joined: Mapping[int, int] = NONE_JOINED) -> list[list[int]]:
    """Return the connected components of the pinned rows that are nearer than `eps` to each other, or joined.

    This is single linkage of the positions, cut at `eps`, so that memory does not grow with the number of near pairs.
    The rows of a component are in ascending order, and the components in the order of their first rows.
    """
    rows = sorted(pins)
    if len(rows) < 2:
        return [[row] for row in rows]
    tree = SeededSingleLink().fit(np.array([pins[row] for row in rows]))
    near = tree.tree_[tree.tree_lengths_ < eps]
    place_of = {row: place for place, row in enumerate(rows)}
    joins = np.array([(place_of[a], place_of[b]) for a, b in joined.items()], dtype=np.int64).reshape(-1, 2)
    one, other = np.concatenate([near, joins]).T
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(len(rows), len(rows)))
    components: dict[int, list[int]] = {}
    for row, component in zip(rows, connected_components(graph, directed=False)[1].tolist(), strict=True):
        components.setdefault(component, []).append(row)
    return list(components.values())


def pin_links(components: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return the must-links along each component, and a cannot-link between the first rows of each two components."""
    together = [pair for rows in components for pair in pairwise(rows)]
    first = np.array([rows[0] for rows in components], dtype=np.int64)
    i, j = np.triu_indices(len(first), k=1)
    return np.array(together, dtype=np.int64).reshape(-1, 2), np.column_stack([first[i], first[j]])


def place_around(rows: Sequence[int], x: float, y: float, eps: float) -> dict[int, tuple[float, float]]:
    """Return positions of rows on a small spiral around a point, so near that they are one component."""
    if len(rows) == 1:
        return {rows[0]: (x, y)}
    placed = {}
    for place, row in enumerate(rows):
        radius = DROP_RADIUS * eps * math.sqrt(place / len(rows))
        angle = place * GOLDEN_ANGLE
        placed[row] = (x + radius * math.cos(angle), y + radius * math.sin(angle))
    return placed
