"""The data sets of chapter 14 that can be made again, and its edges between rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from mustlink._types import Array, Floats, Ints
from mustlink.datasets import load

CIRCLES, OVERLAPPING, IRIS = "circles", "overlapping_circles", "iris_subset"
TITLES = {CIRCLES: "Circles", OVERLAPPING: "Overlapping Circles", IRIS: "Iris"}
N_ROWS = {CIRCLES: 120, OVERLAPPING: 100, IRIS: 99}
NONE, NEAREST, RANDOM = "no edges", "nearest neighbors", "probabilistic edges"
KINDS = (NONE, NEAREST, RANDOM)
RADIUS = 50.0
# The probabilities of an edge in a class, and between classes.
P_WITHIN, P_ACROSS = 0.20, 0.05


def in_disc(rng: np.random.Generator, n_points: int, center: Any) -> Floats:
    """Draw points from a disc."""
    angle, radius = rng.uniform(0, 2 * np.pi, n_points), RADIUS * np.sqrt(rng.uniform(size=n_points))
    return np.asarray(center) + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def draw_circles(rng: np.random.Generator) -> tuple[Array, Ints]:
    """50 points in each of two discs, and 20 between them, of the nearer class.

    As in the chapter, no row has its nearest neighbor in the other class: sets with such a row are drawn again.
    """
    while True:
        X, y = draw_discs(rng)
        a, b = draw_edges(NEAREST, X, y, rng).T
        if (y[a] == y[b]).all():
            return X, y


def draw_discs(rng: np.random.Generator) -> tuple[Array, Ints]:
    """50 points in each of two discs, and 20 between them, of the nearer class."""
    centers = np.array([[50.0, 50.0], [150.0, 150.0]])
    between: list[Array] = []
    while len(between) < 20:
        # The square between the centers.
        point = rng.uniform(50, 150, size=2)
        if np.linalg.norm(centers - point, axis=1).min() > RADIUS:
            between.append(point)
    outliers = np.array(between)
    nearest = np.linalg.norm(outliers[:, None] - centers, axis=2).argmin(axis=1)
    X = np.concatenate([in_disc(rng, 50, centers[0]), in_disc(rng, 50, centers[1]), outliers])
    return X, np.concatenate([np.repeat([0, 1], 50), nearest])


def draw_overlapping(rng: np.random.Generator) -> tuple[Array, Ints]:
    """25 points in each of four discs, whose centers are on a circle of their radius."""
    angles = np.radians([45, 135, 225, 315])
    X = [in_disc(rng, 25, (RADIUS * np.cos(angle), RADIUS * np.sin(angle))) for angle in angles]
    return np.concatenate(X), np.repeat(np.arange(4), 25)


def draw_iris(rng: np.random.Generator) -> tuple[Array, Ints]:
    """33 rows of each class."""
    bunch: Any = load("iris")
    rows = [rng.permutation(np.flatnonzero(bunch.target == name))[:33] for name in range(3)]
    chosen = np.concatenate(rows)
    return bunch.data[chosen], bunch.target[chosen]


DRAW: dict[str, Callable[[np.random.Generator], tuple[Array, Ints]]] = {
    CIRCLES: draw_circles,
    OVERLAPPING: draw_overlapping,
    IRIS: draw_iris,
}


def draw_edges(kind: str, X: Array, y: Ints, rng: np.random.Generator) -> Ints:
    """Return the edges of one kind: none, each row with its nearest neighbor, or at random by the classes."""
    if kind == NONE:
        return np.zeros((0, 2), dtype=np.int64)
    if kind == NEAREST:
        nearest = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(return_distance=False)[:, 0]
        return np.unique(np.sort(np.column_stack([np.arange(len(X)), nearest]), axis=1), axis=0)
    a, b = np.triu_indices(len(y), k=1)
    kept = rng.uniform(size=len(a)) < np.where(y[a] == y[b], P_WITHIN, P_ACROSS)
    return np.column_stack([a[kept], b[kept]])
