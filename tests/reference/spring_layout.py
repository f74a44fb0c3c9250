"""The spring-embedded layout of chapter 14, written from its formulas, pair by pair."""

from __future__ import annotations

import numpy as np


def net_forces(positions, edges, anchors, *, g, c_edge, c_group, length):
    """Sum repulsion and springs on each row; anchors maps a row to the fixed place it is tied to."""
    force = np.zeros_like(positions)
    for i in range(len(positions)):
        for j in range(len(positions)):
            if i != j:
                difference = positions[i] - positions[j]
                force[i] += g * difference / np.linalg.norm(difference) ** 3
    for a, b in edges:
        pull = spring(positions[a], positions[b], c_edge, length)
        force[a] += pull
        force[b] -= pull
    for row, place in anchors.items():
        force[row] += spring(positions[row], np.asarray(place), c_group, length)
    return force


def spring(here, there, strength, length):
    """The force of a spring on its end `here`."""
    distance = np.linalg.norm(there - here)
    return strength * (distance - length) * (there - here) / distance


def limited(velocity, limit):
    """Shorten velocities above the limit."""
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    return velocity * np.where(speed > limit, limit / np.maximum(speed, 1e-300), 1.0)


def runge_kutta(positions, velocities, free, find_forces, *, drag, limit, time, size):
    """One step of the fourth order; rows that are not free stay, and all stay on the canvas."""

    def accelerations(place, velocity):
        return np.where(free[:, None], find_forces(place) - drag * velocity, 0.0)

    v1 = velocities
    a1 = accelerations(positions, v1)
    v2 = limited(velocities + time / 2 * a1, limit)
    a2 = accelerations(positions + time / 2 * v1, v2)
    v3 = limited(velocities + time / 2 * a2, limit)
    a3 = accelerations(positions + time / 2 * v2, v3)
    v4 = limited(velocities + time * a3, limit)
    a4 = accelerations(positions + time * v3, v4)
    moved = positions + time / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    velocities = velocities + time / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    held = ((moved <= 0) & (velocities < 0)) | ((moved >= size) & (velocities > 0))
    moved = np.clip(moved, 0, size)
    return np.where(free[:, None], moved, positions), limited(np.where(held, 0.0, velocities), limit)
