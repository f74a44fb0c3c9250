"""Coherence of must-links and cannot-links in space (Davidson, Wagstaff and Basu, PKDD 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

# Combinations of links compared at a time.
BLOCK = 4_000_000
# Fraction of the largest coordinate up to which an overlap counts as rounding.
TOLERANCE = 1e-12


def coherence(X: Any, links: Constraints, max_links: int, random_state: Any) -> float:
    """Return the fraction of (must-link, cannot-link) combinations whose segments do not overlap along each other."""
    if len(links.must_link) == 0 or len(links.cannot_link) == 0:
        return float("nan")
    rng = check_random_state(random_state)
    must, cannot = (
        pairs if len(pairs) <= max_links else pairs[np.sort(rng.permutation(len(pairs))[:max_links])]
        for pairs in (links.must_link, links.cannot_link)
    )
    rows, position = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    must, cannot = np.split(position.reshape(-1, 2), [len(must)])
    X = X[rows].astype(np.float64)
    if not issparse(X):
        # Far from the origin, small differences are lost to rounding.
        X = X - X.mean(axis=0)
    n_coherent = 0
    step = max(1, BLOCK // len(cannot))
    for begin in range(0, len(must), step):
        some = must[begin : begin + step]
        apart = ~_overlaps(X, some, cannot) & ~_overlaps(X, cannot, some).T
        n_coherent += int(apart.sum())
    return n_coherent / (len(must) * len(cannot))


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
