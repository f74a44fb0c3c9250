"""Lines and images of the figures of chapter 4."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._types import Floats, Ints
from mustlink.reproduce.engine._matching import match_clusters
from mustlink.reproduce.papers._ch04_data import texture_regions


def draw_points(X: Floats, y: Ints, axes: Any) -> None:
    """Draw the rows, a marker per class."""
    for number in np.unique(y):
        axes.plot(*X[y == number].T, ".x"[number], color="0.6", markersize=3)


def draw_ellipse(mean: Floats, covariance: Floats, axes: Any) -> None:
    """Draw a Gaussian as the ellipse at two standard deviations."""
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = 2 * np.linalg.cholesky(covariance) @ np.array([np.cos(angle), np.sin(angle)])
    axes.plot(*(mean[:, None] + circle), color="C3", linewidth=1.4)


def draw_labels(labels: Ints, axes: Any) -> None:
    """Draw the clusters of the blocks, each in the color of the texture it has most blocks of, and the borders."""
    regions = texture_regions()
    texture = match_clusters(regions.ravel(), labels).reshape(regions.shape)
    axes.imshow(texture, cmap="viridis", vmin=0, vmax=3, interpolation="nearest")
    for row, column in np.argwhere(regions[1:] != regions[:-1]):
        axes.plot([column - 0.5, column + 0.5], [row + 0.5, row + 0.5], color="white", linewidth=1.2)
    for row, column in np.argwhere(regions[:, 1:] != regions[:, :-1]):
        axes.plot([column + 0.5, column + 0.5], [row - 0.5, row + 0.5], color="white", linewidth=1.2)
