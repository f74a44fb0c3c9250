"""A 0/1 matrix in the order of its co-clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from mustlink._plot_style import COLORS, DARK, GRAY, pyplot
from mustlink._sorted_cells import SortedCells, bin_sorted_matrix
from mustlink._types import Floats

__all__ = ["sorted_matrix"]

# A label needs this fraction of the side.
MIN_LABELED = 0.03


def sorted_matrix(X: Any, row_labels: ArrayLike, column_labels: ArrayLike, *, ax: Any = None) -> Any:
    """Draw a 0/1 matrix with its rows and columns sorted by co-cluster.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Zeros and ones.
    row_labels : array-like of shape (n_rows,)
        The co-cluster of every row; -1 is none, drawn last.
    column_labels : array-like of shape (n_columns,)
        The co-cluster of every column; -1 is none, drawn last.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        Ones whose row and column are in the same co-cluster have its color, all others are gray. Lines separate
        co-clusters; within one, rows and columns with most ones in it come first. Of more than 800 rows or columns, the
        fraction of ones in parts of the matrix is drawn.

    See Also
    --------
    mustlink.CDKMeans : Co-clustering with constraints.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from mustlink import CDKMeans, plot
    >>> X = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]]
    >>> model = CDKMeans(2, random_state=0).fit(X)
    >>> ax = plot.sorted_matrix(X, model.row_labels_, model.column_labels_)
    >>> ax.get_images()[0].get_array().shape
    (4, 4, 3)
    >>> matplotlib.pyplot.close(ax.figure)
    """
    plt = pyplot()
    ones = check_array(X, accept_sparse=True, dtype=np.float64)
    sides = [np.asarray(labels) for labels in (row_labels, column_labels)]
    for name, labels, size in zip(("row_labels", "column_labels"), sides, ones.shape, strict=True):
        if labels.shape != (size,) or labels.dtype.kind not in "iu":
            raise ValueError(f"{name} must be {size} cluster numbers, one for each, -1 for none.")
    if ax is None:
        _, ax = plt.subplots(figsize=_figure_size(*ones.shape), layout="constrained")
    cells = bin_sorted_matrix(ones, *sides)
    orders = cells.row_order, cells.column_order
    ax.imshow(_image(cells, sides), interpolation="nearest", aspect="auto", extent=_extent(*ones.shape))
    for labels, order, axis in zip(sides, orders, (ax.yaxis, ax.xaxis), strict=True):
        _mark_clusters(ax, labels[order], axis)
    ax.set(xlabel="columns by co-cluster", ylabel="rows by co-cluster")
    return ax


def _figure_size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Return a width and a height that show the shape of the matrix, within bounds."""
    ratio = min(2.0, max(0.5, n_columns / n_rows))
    return 5.0 * ratio**0.5, 5.0 / ratio**0.5


def _extent(n_rows: int, n_columns: int) -> tuple[float, float, float, float]:
    """Return the borders of the image: the first row is on top, and numbers are in the middle of cells."""
    return -0.5, n_columns - 0.5, n_rows - 0.5, -0.5


def _image(cells: SortedCells, sides: list[Any]) -> Floats:
    """Return the colors of the cells, or of parts of many cells, in the order of the co-clusters."""
    amount = cells.density
    label = [
        labels[order][(np.arange(n_parts) * 2 + 1) * len(order) // (2 * n_parts)]
        for order, labels, n_parts in zip((cells.row_order, cells.column_order), sides, amount.shape, strict=True)
    ]
    # The densest parts of a large sparse matrix are as strong as a 1.
    amount = np.minimum(amount / max(np.quantile(amount[amount > 0], 0.95), 1e-12), 1.0) if amount.any() else amount
    shared = (label[0][:, None] == label[1][None, :]) & (label[0] >= 0)[:, None]
    palette = np.array([_rgb(color) for color in (*COLORS, GRAY)])
    color = palette[np.where(shared, label[0][:, None] % len(COLORS), len(COLORS))]
    return np.asarray(1.0 - amount[..., None] * (1.0 - color), dtype=np.float64)


def _rgb(color: str) -> tuple[float, ...]:
    """Return the three parts of a color, from 0 to 1."""
    return tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _mark_clusters(ax: Any, labels: Any, axis: Any) -> None:
    """Draw lines between the co-clusters of one side, and write their numbers."""
    draw = ax.axhline if axis is ax.yaxis else ax.axvline
    starts = np.flatnonzero(np.diff(labels)) + 1
    for place in starts:
        draw(place - 0.5, color=DARK, linewidth=0.6)
    bounds = np.concatenate([[0], starts, [len(labels)]])
    large = np.diff(bounds) >= MIN_LABELED * len(labels)
    names = ["none" if label == -1 else str(label) for label in labels[bounds[:-1]]]
    middle = (bounds[:-1] + bounds[1:] - 1) / 2
    axis.set_ticks(middle[large], [name for name, is_shown in zip(names, large, strict=True) if is_shown])
    axis.set_tick_params(length=0)
