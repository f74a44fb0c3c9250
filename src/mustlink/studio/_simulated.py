"""A simulated person, who knows the groups and drags one row after another to the corner of its group."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mustlink._types import Floats, Ints, Mask
from mustlink.studio._actions import Move
from mustlink.studio._engine import Engine
from mustlink.studio._layout import SpringLayout

__all__ = ["SimulatedUser"]

# The distance of the corners, where groups are built, from the edges of the canvas, in pixels.
MARGIN = 100.0


class SimulatedUser:
    """Simulated user of an engine, who moves rows to the corners of their groups (desJardins and others).

    Parameters
    ----------
    engine : Engine
        The engine, with a layout. Its `eps` decides which moved rows belong together.
    target : array-like of shape (n_rows,)
        The group of every row, as the user knows it.
    pick : {"farthest", "random"}, default="farthest"
        The row that is moved next, of those that have not been moved: the one that is farthest from the corner of its
        group on the map, or any.
    offset : float, default=20.0
        A row is placed at its corner, plus a random number between -offset and offset in x and in y.
    random_state : int, RandomState or None, default=None
        Draws rows and offsets.

    Attributes
    ----------
    corners : ndarray of shape (n_groups, 2)
        The place of every group, for the values of `target` in ascending order.
    is_moved : ndarray of shape (n_rows,)
        Whether each row was moved.

    Raises
    ------
    ValueError
        If corners are so close to each other that rows of two groups could be nearer than `eps`.

    See Also
    --------
    SpringLayout : A layout for the engine.

    Notes
    -----
    Two groups are built in opposite corners of the canvas, up to four in its corners, more at even distances along its
    edges. That only rows are picked that were not moved before, and the size of the offset, are our choices.

    References
    ----------
    M. desJardins, J. MacGlashan and J. Ferraioli, "Interactive visual clustering for relational data", chapter 14 of
    S. Basu, I. Davidson and K. Wagstaff (editors), "Constrained Clustering", 2009.

    Examples
    --------
    >>> from mustlink.studio import Engine, SimulatedUser, SpringLayout
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], [0, 0, 0, 1, 1, 1]
    >>> engine = Engine(X, eps=227.0, method="instant", layout=SpringLayout(6, random_state=0))
    >>> user = SimulatedUser(engine, y, random_state=0)
    >>> [user.move() in range(6) for _ in range(4)]
    [True, True, True, True]
    >>> user.n_moved
    4
    """

    def __init__(
        self,
        engine: Engine,
        target: ArrayLike,
        *,
        pick: Literal["farthest", "random"] = "farthest",
        offset: float = 20.0,
        random_state: Any = None,
    ) -> None:
        if not isinstance(engine.layout, SpringLayout):
            raise ValueError("The simulated user needs an engine with a layout; pass layout=SpringLayout(...) to it.")
        if pick not in ("farthest", "random"):
            raise ValueError(f"pick must be 'farthest' or 'random'; got {pick!r}.")
        names, group = np.unique(np.asarray(target), return_inverse=True)
        if len(group) != len(engine.labels):
            raise ValueError(f"target has {len(group)} entries, but the engine has {len(engine.labels)} rows.")
        self._engine, self._layout, self._pick, self._offset = engine, engine.layout, pick, float(offset)
        self._group: Ints = group.astype(np.int64)
        self._random = check_random_state(random_state)
        self.corners = place_corners(len(names), self._layout.size)
        self.is_moved: Mask = np.zeros(len(group), dtype=np.bool_)
        _check_spacing(self.corners, engine.state.eps + 2 * math.sqrt(2) * self._offset)

    @property
    def n_moved(self) -> int:
        """How many rows were moved."""
        return int(self.is_moved.sum())

    def move(self) -> int | None:
        """Move the next row to the corner of its group.

        Returns
        -------
        int or None
            The row; None if all were moved.
        """
        if self.is_moved.all():
            return None
        row = self._choose()
        x, y = self.corners[self._group[row]] + self._random.uniform(-self._offset, self._offset, size=2)
        self._engine.apply(Move((row,), float(x), float(y)))
        self.is_moved[row] = True
        return row

    def read_map(self) -> Ints:
        """Return the group of every row as it is seen on the map, that of the nearest corner.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        away = self._layout.positions[:, None] - self.corners
        nearest: Ints = np.linalg.norm(away, axis=2).argmin(axis=1).astype(np.int64)
        return nearest

    def _choose(self) -> int:
        """Return the row to move next."""
        open_rows = np.flatnonzero(~self.is_moved)
        if self._pick == "random":
            return int(self._random.choice(open_rows))
        away = self._layout.positions[open_rows] - self.corners[self._group[open_rows]]
        return int(open_rows[np.linalg.norm(away, axis=1).argmax()])


def place_corners(n_groups: int, size: tuple[float, float]) -> Floats:
    """Return a place for every group: up to four in the corners of a canvas, more along its edges."""
    low, high = np.full(2, MARGIN), np.array(size) - MARGIN
    if n_groups <= 4:
        corners = np.array([low, high, (high[0], low[1]), (low[0], high[1])])
        return corners[:n_groups]
    width, height = high - low
    along = np.arange(n_groups) * 2 * (width + height) / n_groups
    ends = np.cumsum([0.0, width, height, width, height])
    x = np.interp(along, ends, [low[0], high[0], high[0], low[0], low[0]])
    y = np.interp(along, ends, [low[1], low[1], high[1], high[1], low[1]])
    return np.column_stack([x, y])


def _check_spacing(corners: Floats, needed: float) -> None:
    """Raise if two corners are too close to keep their groups apart."""
    gaps = np.linalg.norm(corners[:, None] - corners, axis=2)[np.triu_indices(len(corners), k=1)]
    if len(gaps) and gaps.min() <= needed:
        raise ValueError(
            f"Two corners are {gaps.min():.0f} pixels apart, and rows of different groups need more than {needed:.0f}; "
            "use a larger canvas, or a smaller eps or offset."
        )
