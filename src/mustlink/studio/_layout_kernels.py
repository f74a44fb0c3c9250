"""Compiled spring embedding: repulsion by a quad-tree, springs, and Runge-Kutta steps of the fourth order."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# A cell with at most so many rows is not divided.
LEAF_SIZE = 8
# Rows that are closer, in pixels, repel each other as at this distance.
MIN_DISTANCE = 0.01
# Radians between the directions in which rows at one place are pushed apart: the golden angle repeats none.
GOLDEN_ANGLE = 2.399963229728653


@jit
def direction_apart(i: Any, j: Any) -> Any:
    """Return a unit vector from row j to row i for rows at one place, the opposite one for j and i."""
    angle = GOLDEN_ANGLE * (min(i, j) + 31.0 * max(i, j))
    sign = 1.0 if i > j else -1.0
    return sign * np.cos(angle), sign * np.sin(angle)


@jit
def split_cell(P: Any, order: Any, first: Any, last: Any, middle: Any, spare: Any) -> Any:
    """Sort the rows of a cell by quadrant, keep their order within each, and return where the quadrants begin."""
    begins = np.zeros(5, dtype=np.int64)
    for place in range(first, last):
        row = order[place]
        begins[1 + (P[row, 0] > middle[0]) + 2 * (P[row, 1] > middle[1])] += 1
    begins[0] = first
    for quadrant in range(4):
        begins[quadrant + 1] += begins[quadrant]
    fill = begins[:4].copy()
    for place in range(first, last):
        row = order[place]
        quadrant = (P[row, 0] > middle[0]) + 2 * (P[row, 1] > middle[1])
        spare[fill[quadrant]] = row
        fill[quadrant] += 1
    order[first:last] = spare[first:last]
    return begins


@jit
def measure_cell(P: Any, order: Any, first: Any, last: Any) -> Any:
    """Return the mean of the rows of a cell, the middle of the smallest square around them, and its width."""
    total, low, high = np.zeros(2), np.full(2, np.inf), np.full(2, -np.inf)
    for place in range(first, last):
        for k in range(2):
            value = P[order[place], k]
            total[k] += value
            low[k], high[k] = min(low[k], value), max(high[k], value)
    return total / (last - first), low + (high - low) / 2, max(high[0] - low[0], high[1] - low[1])


@jit
def build_tree(P: Any, order: Any) -> Any:
    """Build a quad-tree: cell v has the rows of `order` from cells[v, 0] up to cells[v, 1].

    Cells come before their parts, and cells[v, 2] is the next cell that is no part of v. Every cell is the smallest
    square around its rows, so that a division always separates some, and there are at most 2 n - 1 cells. Also returns
    the mean of the rows of each cell, its width, and whether it is a leaf.
    """
    n_rows = len(P)
    cells = np.empty((2 * n_rows, 3), dtype=np.int64)
    mean, width = np.empty((2 * n_rows, 2)), np.empty(2 * n_rows)
    is_leaf = np.ones(2 * n_rows, dtype=np.bool_)
    spare = np.empty(n_rows, dtype=np.int64)
    stack = np.empty((2 * n_rows + 4, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1], height, n_cells = 0, n_rows, 1, 0
    while height:
        height -= 1
        first, last = stack[height]
        cell = n_cells
        n_cells += 1
        cells[cell, 0], cells[cell, 1] = first, last
        mean[cell], middle, width[cell] = measure_cell(P, order, first, last)
        if last - first <= LEAF_SIZE or width[cell] == 0.0:
            continue
        begins = split_cell(P, order, first, last, middle, spare)
        # Rows that only rounding keeps in one quadrant stay a leaf.
        if (begins[1:] - begins[:-1]).max() == last - first:
            continue
        is_leaf[cell] = False
        for quadrant in range(3, -1, -1):
            if begins[quadrant + 1] > begins[quadrant]:
                stack[height, 0], stack[height, 1] = begins[quadrant], begins[quadrant + 1]
                height += 1
    for cell in range(n_cells - 1, -1, -1):
        after = cell + 1
        while after < n_cells and cells[after, 0] < cells[cell, 1]:
            after = cells[after, 2]
        cells[cell, 2] = after
    return cells[:n_cells], mean[:n_cells], width[:n_cells], is_leaf[:n_cells]


@jit
def add_repulsion(P: Any, order: Any, theta: Any, repulsion: Any, force: Any) -> None:
    """Add to the force on every row that of all others, far cells as one; with theta 0 the exact sum."""
    cells, mean, width, is_leaf = build_tree(P, order)
    n_cells, closest = len(cells), MIN_DISTANCE**2
    for place in range(len(P)):
        i = order[place]
        cell = 0
        while cell < n_cells:
            first, last = cells[cell, 0], cells[cell, 1]
            if is_leaf[cell]:
                for other in range(first, last):
                    j = order[other]
                    if j == i:
                        continue
                    dx, dy = P[i, 0] - P[j, 0], P[i, 1] - P[j, 1]
                    squared = dx * dx + dy * dy
                    if squared < closest:
                        distance = np.sqrt(squared)
                        if distance > 0:
                            dx, dy = dx / distance, dy / distance
                        else:
                            dx, dy = direction_apart(i, j)
                        strength = repulsion / closest
                    else:
                        strength = repulsion / (squared * np.sqrt(squared))
                    force[i, 0] += strength * dx
                    force[i, 1] += strength * dy
                cell = cells[cell, 2]
                continue
            dx, dy = P[i, 0] - mean[cell, 0], P[i, 1] - mean[cell, 1]
            squared = dx * dx + dy * dy
            # A cell never stands for the row itself.
            is_outside = place < first or place >= last
            if is_outside and width[cell] * width[cell] < theta * theta * squared and squared > closest:
                strength = repulsion * (last - first) / (squared * np.sqrt(squared))
                force[i, 0] += strength * dx
                force[i, 1] += strength * dy
                cell = cells[cell, 2]
            else:
                cell += 1


@jit
def add_springs(P: Any, edges: Any, strength: Any, length: Any, force: Any) -> None:
    """Add the forces of the springs along edges, equal and opposite at both ends."""
    for edge in range(len(edges)):
        a, b = edges[edge]
        dx, dy = P[b, 0] - P[a, 0], P[b, 1] - P[a, 1]
        distance = np.sqrt(dx * dx + dy * dy)
        if distance > 0:
            dx, dy = dx / distance, dy / distance
        else:
            dx, dy = direction_apart(b, a)
        pull = strength * (distance - length)
        force[a, 0] += pull * dx
        force[a, 1] += pull * dy
        force[b, 0] -= pull * dx
        force[b, 1] -= pull * dy


@jit
def add_anchors(P: Any, group: Any, anchors: Any, strength: Any, length: Any, force: Any) -> None:
    """Add the forces of springs to the anchor of the group of each row; -1 is no group. Anchors never move."""
    for i in range(len(P)):
        if group[i] < 0:
            continue
        dx, dy = anchors[group[i], 0] - P[i, 0], anchors[group[i], 1] - P[i, 1]
        distance = np.sqrt(dx * dx + dy * dy)
        if distance > 0:
            dx, dy = dx / distance, dy / distance
        else:
            # As many directions as rows, so that rows placed on an anchor leave it on all sides.
            dx, dy = direction_apart(i, -1)
        pull = strength * (distance - length)
        force[i, 0] += pull * dx
        force[i, 1] += pull * dy


@jit
def sum_forces(P: Any, order: Any, edges: Any, group: Any, anchors: Any, constants: Any) -> Any:
    """Return the force on every row, without drag: repulsion, springs along edges, and springs to anchors.

    The constants are repulsion, theta, strength of edges, strength of anchors, length of all springs.
    """
    force = np.zeros_like(P)
    add_repulsion(P, order, constants[1], constants[0], force)
    add_springs(P, edges, constants[2], constants[4], force)
    add_anchors(P, group, anchors, constants[3], constants[4], force)
    return force


@jit
def limit_speed(V: Any, limit: Any) -> Any:
    """Shorten the velocities above a limit, and return the highest speed that is left."""
    highest = 0.0
    for i in range(len(V)):
        speed = np.sqrt(V[i, 0] ** 2 + V[i, 1] ** 2)
        if speed > limit:
            V[i] *= limit / speed
            speed = limit
        highest = max(highest, speed)
    return highest


@jit
def accelerate(
    P: Any, V: Any, is_free: Any, order: Any, edges: Any, group: Any, anchors: Any, constants: Any, drag: Any
) -> Any:
    """Return the acceleration of every row of mass 1, drag included; none for pinned rows."""
    force = sum_forces(P, order, edges, group, anchors, constants)
    for i in range(len(P)):
        for k in range(2):
            force[i, k] = force[i, k] - drag * V[i, k] if is_free[i] else 0.0
    return force


@jit
def step(
    P: Any, V: Any, is_free: Any, order: Any, edges: Any, group: Any, anchors: Any, constants: Any, motion: Any
) -> Any:
    """Move the free rows by one Runge-Kutta step; return the highest speed, and the highest gain of speed per step.

    The motion is drag, speed limit, time step, and the canvas: lowest x and y, highest x and y.
    """
    drag, limit, time = motion[0], motion[1], motion[2]
    forces = (is_free, order, edges, group, anchors, constants, drag)
    v1 = V.copy()
    a1 = accelerate(P, v1, *forces)
    v2 = V + time / 2 * a1
    limit_speed(v2, limit)
    a2 = accelerate(P + time / 2 * v1, v2, *forces)
    v3 = V + time / 2 * a2
    limit_speed(v3, limit)
    a3 = accelerate(P + time / 2 * v2, v3, *forces)
    v4 = V + time * a3
    limit_speed(v4, limit)
    a4 = accelerate(P + time * v3, v4, *forces)
    gain = 0.0
    for i in range(len(P)):
        if not is_free[i]:
            continue
        for k in range(2):
            V[i, k] += time / 6 * (a1[i, k] + 2 * a2[i, k] + 2 * a3[i, k] + a4[i, k])
            P[i, k] += time / 6 * (v1[i, k] + 2 * v2[i, k] + 2 * v3[i, k] + v4[i, k])
            low, high = motion[3 + k], motion[5 + k]
            held = (P[i, k] <= low and V[i, k] < 0) or (P[i, k] >= high and V[i, k] > 0)
            P[i, k] = min(max(P[i, k], low), high)
            if held:
                V[i, k] = 0.0
            else:
                gain = max(gain, time * abs(a4[i, k]))
    return limit_speed(V, limit), gain


@jit
def settle(
    P: Any,
    is_free: Any,
    edges: Any,
    group: Any,
    anchors: Any,
    constants: Any,
    motion: Any,
    min_speed: Any,
    max_steps: Any,
) -> Any:
    """Move the rows from rest until no speed is above a minimum or about to be; return the number of steps."""
    V = np.zeros_like(P)
    order = np.arange(len(P))
    for n_steps in range(max_steps):
        speed, gain = step(P, V, is_free, order, edges, group, anchors, constants, motion)
        if speed < min_speed and gain < min_speed:
            return n_steps + 1
    return max_steps
