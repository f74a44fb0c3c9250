"""Mean and spread of columns, joined from block to block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mustlink._rows import read_only
from mustlink._types import Array, Floats
from mustlink.blocks._moments_kernels import column_moments

__all__ = ["Moments", "inspect_block"]


@dataclass(frozen=True)
class Moments:
    """The number of rows, and of every column the mean, the sum of squared deviations from it, and the range."""

    n_rows: int
    mean: Floats
    squares: Floats
    lowest: Floats
    highest: Floats
    bad: tuple[int, int, float] | None = None  # row, column and value of a number that cannot be computed with

    @property
    def variance(self) -> Floats:
        """The variance of every column."""
        return self.squares / self.n_rows

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows (Chan, Golub and LeVeque)."""
        n_rows = self.n_rows + other.n_rows
        share = other.n_rows / max(n_rows, 1)
        apart = other.mean - self.mean
        squares = self.squares + other.squares + np.square(apart) * (share * self.n_rows)
        lowest, highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        return Moments(n_rows, self.mean + apart * share, squares, lowest, highest)


def inspect_block(block: Array, limit: float) -> Moments:
    """Compute the moments of a block, and find its first number that is not finite or above a limit."""
    n_rows, n_features = block.shape
    if not n_rows:
        nothing = np.zeros(n_features)
        return Moments(0, nothing, nothing, nothing + np.inf, nothing - np.inf)
    mean, squares, lowest, highest = column_moments(read_only(block))
    if np.isfinite(mean).all() and ((lowest >= -limit) & (highest <= limit)).all():
        return Moments(n_rows, mean, squares, lowest, highest)
    row, column = np.unravel_index(int(np.argmax(~(np.abs(block) <= limit))), block.shape)
    nothing = np.zeros(n_features)
    return Moments(n_rows, nothing, nothing, nothing, nothing, (int(row), int(column), float(block[row, column])))
