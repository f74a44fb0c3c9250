"""The sorted matrix of co-clusters as a picture inside a page: its cells as a PNG image, its co-clusters as SVG."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from mustlink._sorted_cells import bin_sorted_matrix
from mustlink._spelling import count
from mustlink._types import Indices
from mustlink.report._svg import N_COLORS

__all__ = ["MatrixPicture", "draw_matrix", "make_matrix_picture"]

WIDTH, MIN_HEIGHT, MAX_HEIGHT = 760, 220, 620
MIN_NUMBERED = 14


@dataclass(frozen=True)
class MatrixPicture:
    """A 0/1 matrix with its rows and columns sorted by co-clusters.

    Parameters
    ----------
    shares : ndarray of shape (n_drawn_rows, n_drawn_columns)
        How full each pixel is, from 0 to 1.
    largest : float
        The fraction of ones of the fullest pixel.
    row_bounds, column_bounds : ndarray of int, shape (n_clusters + 1,)
        Where the rows and the columns of each co-cluster begin and end; those in none follow.
    shape : tuple of (int, int)
        The size of the matrix.

    Examples
    --------
    See :func:`make_matrix_picture`.
    """

    shares: Any
    largest: float
    row_bounds: Indices
    column_bounds: Indices
    shape: tuple[int, int]

    @property
    def caption(self) -> str:
        """What the picture shows."""
        n_rows, n_columns = self.shape
        text = (
            f"The {count(n_rows, 'row')} and {count(n_columns, 'column')}, sorted by co-cluster; within one, those "
            "with most ones in it come first. "
        )
        if self.shares.shape == self.shape:
            return f"{text}A filled cell is a 1."
        return f"{text}Several cells share a pixel, and the fullest has {self.largest:.0%} ones."


def make_matrix_picture(X: Any, row_labels: Any, column_labels: Any) -> MatrixPicture:
    """Sort a 0/1 matrix by its co-clusters, and count the ones of each pixel.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The matrix of 0 and 1.
    row_labels, column_labels : array-like of int
        The co-cluster of each row and of each column; -1 is none.

    Returns
    -------
    MatrixPicture

    Examples
    --------
    >>> from mustlink.report import make_matrix_picture
    >>> picture = make_matrix_picture([[0, 1, 1], [1, 0, 0], [0, 1, 1]], [1, 0, 1], [0, 1, 1])
    >>> picture.shares.tolist(), picture.row_bounds.tolist()
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]], [0, 1, 3])
    """
    rows, columns = np.asarray(row_labels), np.asarray(column_labels)
    n_clusters = int(max(rows.max(initial=-1), columns.max(initial=-1))) + 1
    cells = bin_sorted_matrix(X, rows, columns)
    largest = float(cells.density.max(initial=0.0))
    bounds = [
        np.searchsorted(np.where(side < 0, n_clusters, side)[order], np.arange(n_clusters + 1))
        for side, order in ((rows, cells.row_order), (columns, cells.column_order))
    ]
    shape = len(rows), len(columns)
    return MatrixPicture(cells.density / max(largest, 1e-12), largest, bounds[0], bounds[1], shape)


def draw_matrix(picture: MatrixPicture) -> str:
    """Draw a sorted matrix as SVG: the cells as an image, and a frame around each co-cluster."""
    n_rows, n_columns = picture.shape
    height = int(np.clip(WIDTH * n_rows / n_columns, MIN_HEIGHT, MAX_HEIGHT))
    image = base64.b64encode(_png(picture.shares)).decode("ascii")
    parts = [
        f'<svg class="matrix" viewBox="-2 -2 {WIDTH + 4} {height + 4}" role="img" '
        f'aria-label="{escape(picture.caption)}">',
        f'<image width="{WIDTH}" height="{height}" preserveAspectRatio="none" href="data:image/png;base64,{image}"/>',
    ]
    xs = picture.column_bounds / n_columns * WIDTH
    ys = picture.row_bounds / n_rows * height
    numbers = []
    for label in range(len(xs) - 1):
        x, y, width, tall = xs[label], ys[label], xs[label + 1] - xs[label], ys[label + 1] - ys[label]
        if width and tall:
            parts.append(
                f'<rect class="block s{label % N_COLORS}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                f'height="{tall:.1f}"/>'
            )
        if min(width, tall) >= MIN_NUMBERED:
            numbers.append(f'<text x="{x + width / 2:.1f}" y="{y + tall / 2:.1f}">{label}</text>')
    return "".join([*parts, '<g class="numbers">', *numbers, "</g></svg>"])


def _png(shares: Any) -> bytes:
    """Encode shares from 0 to 1 as an image of black, more or less transparent, to be seen on any background."""
    height, width = shares.shape
    pixels = np.zeros((height, 1 + 2 * width), dtype=np.uint8)
    pixels[:, 2::2] = np.round(255 * shares)
    # Gray with transparency, 8 bits each, no filter: the first byte of each line.
    header = struct.pack(">IIBBBBB", width, height, 8, 4, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(pixels.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
