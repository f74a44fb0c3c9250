"""Do the links agree with each other in space? (Davidson, Wagstaff and Basu, PKDD 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

BLOCK = 4_000_000
"""Pairs of links compared at a time."""

TOLERANCE = 1e-12
"""The share of the largest coordinate up to which an overlap counts as rounding."""


def coherence(
    X: Any,
    must_link: NDArray[np.int64],
    cannot_link: NDArray[np.int64],
    max_links: int,
    random_state: Any,
) -> float:
    """Share of the pairs (must-link, cannot-link) whose segments do not overlap along each other."""
    if len(must_link) == 0 or len(cannot_link) == 0:
        return float("nan")
    rng = check_random_state(random_state)
    must_link, cannot_link = (
        pairs if len(pairs) <= max_links else pairs[np.sort(rng.permutation(len(pairs))[:max_links])]
        for pairs in (must_link, cannot_link)
    )
    X, must_link, cannot_link = _ends(X, must_link, cannot_link)
    n_coherent = 0
    step = max(1, BLOCK // len(cannot_link))
    for begin in range(0, len(must_link), step):
        some = must_link[begin : begin + step]
        apart = ~_overlaps(X, some, cannot_link) & ~_overlaps(X, cannot_link, some).T
        n_coherent += int(apart.sum())
    return n_coherent / (len(must_link) * len(cannot_link))


def _ends(
    X: Any, must_link: NDArray[np.int64], cannot_link: NDArray[np.int64]
) -> tuple[Any, NDArray[np.intp], NDArray[np.intp]]:
    """Take the rows that stand in links, in double precision, and renumber the links.

    Dense rows are moved to the middle, because far from the origin small differences drown in rounding.
    """
    rows, position = np.unique(np.concatenate([must_link, cannot_link]), return_inverse=True)
    must_position, cannot_position = np.split(position.reshape(-1, 2), [len(must_link)])
    points = X[rows].astype(np.float64)
    return points if issparse(points) else points - points.mean(axis=0), must_position, cannot_position


def _overlaps(X: Any, segments: NDArray[np.intp], onto: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for each segment whether its projection onto the line of another overlaps that other one."""
    origin = X[onto[:, 0]]
    direction = X[onto[:, 1]] - origin
    squared = direction.multiply(direction) if issparse(direction) else direction**2
    length = np.sqrt(np.asarray(squared.sum(axis=1)).ravel())
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    offset = (origin.multiply(direction) if issparse(direction) else origin * direction).sum(axis=1)
    offset = np.asarray(offset).ravel() * scale
    t1, t2 = (_dense(X[segments[:, end]] @ direction.T) * scale - offset for end in (0, 1))
    overlap = np.minimum(np.maximum(t1, t2), length) - np.maximum(np.minimum(t1, t2), 0)
    # Segments that only touch, or meet at a right angle, leave a rounding error and no overlap.
    extent = abs(X).max()
    return np.asarray(overlap > TOLERANCE * extent)


def _dense(product: Any) -> NDArray[np.floating]:
    return np.asarray(product.toarray() if issparse(product) else product)
