"""Spring-embedded layout of rows and edges in the plane, with pinned rows and springs to the centers of groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mustlink._types import Array, Floats, Ints, Mask
from mustlink.studio._layout_kernels import settle, sum_forces

__all__ = ["SpringConstants", "SpringLayout"]


@dataclass(frozen=True)
class SpringConstants:
    """Constants of the spring-embedded layout.

    Lengths are in pixels, times in milliseconds, and every row has mass 1. The chapter gives only the strengths of both
    kinds of springs; the others are those of the Prefuse toolkit, which its authors used.

    Parameters
    ----------
    edge_strength : float, default=2e-5
        The force of a spring along an edge, per pixel that it is too long.
    group_strength : float, default=4e-5
        The same for the spring from a row to the center of its group; 0 for a layout without groups.
    length : float, default=50.0
        The length at which a spring has no force.
    repulsion : float, default=1.0
        The repulsion between two rows, times their squared distance.
    drag : float, default=0.01
        The force against a movement, per speed.
    theta : float, default=0.9
        Rows in a square are one, for rows farther away than its width divided by this; with 0 repulsion is summed over
        all pairs.
    speed_limit : float, default=1.0
        The highest speed.
    time_step : float, default=50.0
        The longest step of the integration. Rows with many edges need shorter ones, see :class:`SpringLayout`.
    min_speed : float, default=1e-3
        The layout is settled when no speed is higher, nor would be after a further step from rest.
    max_steps : int, default=150
        The layout stops after so many steps, settled or not; with 0 only pinned rows change their places.

    Examples
    --------
    >>> from mustlink.studio import SpringConstants
    >>> SpringConstants().group_strength / SpringConstants().edge_strength
    2.0
    """

    edge_strength: float = 2e-5
    group_strength: float = 4e-5
    length: float = 50.0
    repulsion: float = 1.0
    drag: float = 0.01
    theta: float = 0.9
    speed_limit: float = 1.0
    time_step: float = 50.0
    min_speed: float = 1e-3
    max_steps: int = 150

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            is_positive = name in ("speed_limit", "time_step")
            if not isinstance(value, Real) or not math.isfinite(value) or value < 0 or (is_positive and value == 0):
                sign = "positive" if is_positive else "at least 0"
                raise ValueError(f"{name} must be a finite number and {sign}; got {value!r}.")
        if not isinstance(self.max_steps, int | np.integer):
            raise ValueError(f"max_steps must be an integer; got {self.max_steps!r}.")


class SpringLayout:
    """Spring-embedded layout with pinned rows (desJardins, MacGlashan and Ferraioli).

    All rows repel each other, edges are springs, and so are the ways from a row to the center of its group, which is
    the mean position of the pinned rows of the group. Pinned rows do not move, but exert forces.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    edges : array-like of shape (n_edges, 2), default=()
        Pairs of rows. An edge that is given twice is one edge.
    size : (float, float), default=(1024.0, 768.0)
        Width and height of the canvas in pixels, which no row leaves; x is from 0 to the width.
    constants : SpringConstants, default=None
        The constants; None for those of the chapter.
    positions : array-like of shape (n_rows, 2), default=None
        Where the rows start; None for random places on the canvas.
    random_state : int, RandomState or None, default=None
        Draws the places where the rows start.

    Attributes
    ----------
    constants : SpringConstants
        The constants.
    edges : ndarray of shape (n_edges, 2)
        The edges, each once, the smaller row first.
    positions : ndarray of shape (n_rows, 2)
        Where the rows are; read-only.
    size : (float, float)
        Width and height of the canvas.

    See Also
    --------
    Engine : Uses a layout after every move.

    Notes
    -----
    The movement is integrated by Runge-Kutta steps of the fourth order, from rest at every call of :meth:`settle`. A
    step is at most `time_step` long, and at most 2 divided by the highest frequency that the springs can have, beyond
    which the integration would not be stable. Repulsion is computed with a quad-tree (Barnes and Hut), in time
    proportional to n log n. Rows at one place are pushed apart in directions that depend on their numbers, so that a
    layout can be repeated.

    The source does not say that rows are held on the canvas, but rows without an edge would never stop. Where the
    source prints a repulsion of magnitude 1 / D, its text says inverse square, which is computed here.

    References
    ----------
    M. desJardins, J. MacGlashan and J. Ferraioli, "Interactive visual clustering for relational data", chapter 14 of
    S. Basu, I. Davidson and K. Wagstaff (editors), "Constrained Clustering", 2009.

    Examples
    --------
    >>> from mustlink.studio import SpringLayout
    >>> layout = SpringLayout(3, [(0, 1), (1, 2)], random_state=0)
    >>> layout.pin({0: (100, 100)})
    >>> n_steps = layout.settle()
    >>> layout.positions[0]
    array([100., 100.])
    """

    def __init__(
        self,
        n_rows: int,
        edges: ArrayLike = (),
        *,
        size: tuple[float, float] = (1024.0, 768.0),
        constants: SpringConstants | None = None,
        positions: ArrayLike | None = None,
        random_state: Any = None,
    ) -> None:
        if not isinstance(n_rows, int | np.integer) or n_rows < 1:
            raise ValueError(f"n_rows must be an integer of at least 1; got {n_rows!r}.")
        if len(size) != 2 or not all(math.isfinite(length) and length > 0 for length in size):
            raise ValueError(f"size must be a positive width and height; got {size!r}.")
        self.constants = SpringConstants() if constants is None else constants
        self.size = (float(size[0]), float(size[1]))
        self.edges = _check_edges(edges, int(n_rows))
        if positions is None:
            start = check_random_state(random_state).uniform(size=(n_rows, 2)) * self.size
        else:
            start = np.array(positions, dtype=np.float64)
            if start.shape != (n_rows, 2) or not np.isfinite(start).all():
                raise ValueError(
                    f"positions must be finite and of shape ({n_rows}, 2); got an array of shape {start.shape}."
                )
        self._positions: Floats = np.clip(start, 0.0, self.size)
        self._is_free: Mask = np.ones(n_rows, dtype=np.bool_)

    @property
    def positions(self) -> Floats:
        """Where the rows are, as a read-only array of shape (n_rows, 2)."""
        shown = self._positions.view()
        shown.flags.writeable = False
        return shown

    def pin(self, pins: Mapping[int, tuple[float, float]]) -> None:
        """Pin these rows to these places, and free all others.

        Parameters
        ----------
        pins : mapping from int to (float, float)
            The place of every pinned row, in pixels; also outside of the canvas.
        """
        rows = np.array(list(pins), dtype=np.int64)
        places = np.array(list(pins.values()), dtype=np.float64).reshape(-1, 2)
        if len(rows) and (rows.min() < 0 or rows.max() >= len(self._positions)):
            raise ValueError(f"The rows are 0 to {len(self._positions) - 1}; got pins of {sorted(pins)}.")
        if not np.isfinite(places).all():
            raise ValueError("The places of pinned rows must be finite.")
        self._is_free[:] = True
        self._is_free[rows] = False
        self._positions[rows] = places

    def settle(self, labels: ArrayLike | None = None) -> int:
        """Move the rows that are not pinned until they come to rest.

        Parameters
        ----------
        labels : array-like of shape (n_rows,), default=None
            The group of every row, -1 for none. A spring pulls each row to the mean of the pinned rows of its group;
            groups without a pinned row have none. None for no groups.

        Returns
        -------
        int
            The number of steps that were made; if it is ``constants.max_steps``, the layout may not be at rest.
        """
        group, anchors = self._find_anchors(labels)
        constants = self.constants
        motion = np.array([constants.drag, constants.speed_limit, self._stable_step(group), 0.0, 0.0, *self.size])
        n_steps: int = settle(
            self._positions,
            self._is_free,
            self.edges,
            group,
            anchors,
            self._force_constants(),
            motion,
            constants.min_speed,
            constants.max_steps,
        )
        return n_steps

    def forces(self, labels: ArrayLike | None = None) -> Floats:
        """Return the forces on all rows where they are, without drag, those on pinned rows included.

        Parameters
        ----------
        labels : array-like of shape (n_rows,), default=None
            As in :meth:`settle`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
        """
        order = np.arange(len(self._positions))
        group, anchors = self._find_anchors(labels)
        found: Floats = sum_forces(self._positions, order, self.edges, group, anchors, self._force_constants())
        return found

    def _force_constants(self) -> Floats:
        """Return the constants of the forces in the order of the kernel."""
        known = self.constants
        return np.array([known.repulsion, known.theta, known.edge_strength, known.group_strength, known.length])

    def _find_anchors(self, labels: ArrayLike | None) -> tuple[Ints, Floats]:
        """Return for every row the number of its anchor, -1 for none, and the anchors: means of the pinned rows."""
        n_rows = len(self._positions)
        group: Ints = np.full(n_rows, -1, dtype=np.int64)
        if labels is None:
            return group, np.zeros((0, 2))
        given: Array = np.asarray(labels)
        if given.shape != (n_rows,):
            raise ValueError(f"labels must have an entry for each of the {n_rows} rows; got shape {given.shape}.")
        pinned = ~self._is_free & (given >= 0)
        names, place = np.unique(given[pinned], return_inverse=True)
        counts = np.bincount(place, minlength=len(names))
        sums = [np.bincount(place, self._positions[pinned, k], minlength=len(names)) for k in range(2)]
        if len(names):
            nearest = np.minimum(np.searchsorted(names, given), len(names) - 1)
            group = np.where(names[nearest] == given, nearest, -1).astype(np.int64)
        return group, (np.array(sums) / counts).T.copy()

    def _stable_step(self, group: Ints) -> float:
        """Return the longest time step with which the stiffest row is integrated in a stable way."""
        degree = np.bincount(self.edges.ravel(), minlength=len(self._positions))
        # No eigenvalue of the springs is above twice the strength of the springs of one row.
        strength = 2 * degree * self.constants.edge_strength + (group >= 0) * self.constants.group_strength
        stiffest = float(strength.max())
        return min(self.constants.time_step, 2 / math.sqrt(stiffest)) if stiffest > 0 else self.constants.time_step


def _check_edges(edges: ArrayLike, n_rows: int) -> Ints:
    """Return the edges as pairs of rows, each once, or raise if one has no such row."""
    pairs: Array = np.asarray(edges)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"edges must be pairs of row numbers; got an array of {pairs.dtype} of shape {pairs.shape}.")
    unknown = (pairs < 0) | (pairs >= n_rows)
    if unknown.any():
        a, b = pairs[unknown.any(axis=1)][0]
        raise ValueError(f"The edge ({a}, {b}) has a row that does not exist; the rows are 0 to {n_rows - 1}.")
    same = pairs[:, 0] == pairs[:, 1]
    if same.any():
        raise ValueError(f"Row {pairs[same][0, 0]} has an edge to itself; leave it out.")
    return np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int64)
