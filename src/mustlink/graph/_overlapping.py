"""The k-center problem with connected clusters that may overlap: its optimum, a lower bound of the disjoint one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from mustlink._types import Floats, Indices

__all__ = ["cover_with", "least_covering_radius", "packing_bound"]


def cover_with(reach: Floats, n_clusters: int, radius: float) -> Indices | None:
    """Return at most so many rows that together reach all within a radius; None if there are none (set cover).

    Parameters
    ----------
    reach : ndarray of shape (n_rows, n_rows)
        The reach of every row.
    n_clusters : int
        The most centers.
    radius : float
        The radius.

    Returns
    -------
    ndarray of shape (n_centers,) or None
        The least centers that do.
    """
    n_rows = len(reach)
    covers = sparse.csr_array((reach <= radius).T.astype(np.float64))
    found = milp(
        np.ones(n_rows),
        constraints=LinearConstraint(covers, lb=1.0),
        integrality=np.ones(n_rows),
        bounds=Bounds(0.0, 1.0),
    )
    centers = np.flatnonzero(found.x > 0.5)
    return centers if len(centers) <= n_clusters else None


def least_covering_radius(reach: Floats, n_clusters: int) -> tuple[float, Indices]:
    """Return the least radius at which so many centers reach all rows, and the centers.

    Parameters
    ----------
    reach : ndarray of shape (n_rows, n_rows)
        The reach of every row.
    n_clusters : int
        The number of centers, at least that of the connected parts.

    Returns
    -------
    radius : float
        One of the values of `reach`.
    centers : ndarray
        At most `n_clusters` rows.
    """
    radii = np.unique(reach[np.isfinite(reach)])
    low, high = 0, len(radii) - 1
    centers = cover_with(reach, n_clusters, radii[high])
    assert centers is not None
    while low < high:
        middle = (low + high) // 2
        found = cover_with(reach, n_clusters, radii[middle])
        if found is None:
            low = middle + 1
        else:
            high, centers = middle, found
    return float(radii[high]), centers


def packing_bound(reach: Floats, n_clusters: int, first: Indices) -> float:
    """Return a lower bound of the radius: the first above one at which more rows than clusters share no center.

    Parameters
    ----------
    reach : ndarray of shape (n_rows, n_rows)
        The reach of every row.
    n_clusters : int
        The number of clusters.
    first : ndarray
        Rows that are far from each other, with which packings begin.

    Returns
    -------
    float
        The bound. It needs no triangle inequality.
    """
    radii = np.unique(reach[np.isfinite(reach)])
    low, high = -1, len(radii) - 1
    while low + 1 < high:
        middle = (low + high) // 2
        if _has_packing(reach <= radii[middle], n_clusters, first):
            low = middle
        else:
            high = middle
    return float(radii[low + 1])


def _has_packing(reaches: Floats, n_clusters: int, first: Indices) -> bool:
    """Whether more rows than clusters are found, no two of which one center reaches."""
    is_open = np.ones(len(reaches), dtype=bool)
    for _ in range(n_clusters + 1):
        if not is_open.any():
            return False
        early = first[is_open[first]]
        row = int(early[0] if len(early) else is_open.argmax())
        is_open &= ~reaches[reaches[:, row]].any(axis=0)
    return True
