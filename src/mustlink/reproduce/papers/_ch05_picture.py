"""The picture of chapter 5: the image, and the regions that are found with links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mustlink._plot_style import COLORS, pyplot
from mustlink._types import Array
from mustlink.reproduce.engine._matching import match_clusters
from mustlink.reproduce.papers._ch05_data import IMAGE_SIZE, N_SITES, SITE_STEP, mondrian_image, mondrian_regions

# The borders of the regions in pixels: across and down.
BORDERS = (((0, 512), (200, 200)), ((300, 300), (0, 200)), ((180, 180), (200, 512)), ((380, 380), (200, 512)))


def draw_segments(segments: Mapping[str, Sequence[int]]) -> Any:
    """Draw the image, and the found regions of all sites under the title of each, with the true borders."""
    n_panels = 1 + len(segments)
    figure, grid = pyplot().subplots(1, n_panels, figsize=(2.3 * n_panels, 2.6), squeeze=False, layout="constrained")
    for axes in grid.flat:
        axes.set_axis_off()
    first, *others = grid.flat
    first.set_title("image", fontsize=10)
    first.imshow(mondrian_image(), cmap="gray")
    for axes, (title, labels) in zip(others, segments.items(), strict=True):
        axes.set_title(title, fontsize=10)
        axes.imshow(_colored(np.array(labels)), extent=(0, IMAGE_SIZE, IMAGE_SIZE, 0), interpolation="nearest")
        for across, down in BORDERS:
            axes.plot(across, down, color="black", linewidth=0.8)
    return figure


def _colored(labels: Array) -> Array:
    """Return the colors of all sites; each cluster has that of the region it is matched to."""
    from matplotlib.colors import to_rgb

    at_sites = SITE_STEP // 2 + SITE_STEP * np.arange(N_SITES)
    y = mondrian_regions()[np.ix_(at_sites, at_sites)].ravel()
    palette = np.array([to_rgb(color) for color in COLORS])
    return np.asarray(palette[match_clusters(y, labels) % len(palette)].reshape(N_SITES, N_SITES, 3))
