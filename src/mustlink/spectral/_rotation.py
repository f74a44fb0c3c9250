"""Rotation of eigenvectors towards cluster indicators."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from mustlink._types import Floats
from mustlink.spectral._rotation_kernels import align_with_axes

__all__ = ["rotate_to_indicators"]


def rotate_to_indicators(
    vectors: ArrayLike, *, sample_weight: ArrayLike | None = None, max_sweeps: int = 100, tol: float = 1e-9
) -> tuple[Floats, float]:
    """Rotate eigenvectors to align each row with one axis as closely as possible.

    The eigenvectors of a graph's Laplacian are a rotation of the indicators of its clusters. This finds the inverse
    rotation. The cluster of a row is then the column of its largest entry.

    Parameters
    ----------
    vectors : array-like of shape (n_samples, n_vectors)
        Eigenvectors as columns. Rows of zeros do not contribute to the cost.
    sample_weight : array-like of shape (n_samples,), default=None
        Nonnegative weights of the rows; 1 if None.
    max_sweeps : int, default=100
        The maximum number of rounds over all pairs of axes.
    tol : float, default=1e-9
        Stops when a round reduces the cost by at most this fraction.

    Returns
    -------
    rotated : ndarray of shape (n_samples, n_vectors)
        The vectors times an orthogonal matrix. The sign of a column makes the sum of the entries of the rows aligned
        with it positive.
    quality : float
        From 0, if all entries of every row have the same absolute value, to 1, if every row is aligned with an axis.

    Notes
    -----
    The cost is that of Zelnik-Manor and Perona: the sum over rows and columns of :math:`Z_{ij}^2 / \\max_j Z_{ij}^2`.
    They use gradient descent over all angles; here the planes of two axes are rotated one at a time, each by its
    optimal angle, so the cost never increases and there is no step size. There are two starts, the vectors as given and
    a basis of nearly orthogonal rows, of which the better result is returned.

    References
    ----------
    L. Zelnik-Manor, P. Perona, "Self-tuning spectral clustering", NIPS 17 (2004), 1601-1608.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.spectral import rotate_to_indicators
    >>> indicators = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> rotated, quality = rotate_to_indicators(indicators @ turn)
    >>> bool(quality > 0.999999)
    True
    >>> np.abs(rotated).round(3).argmax(axis=1).tolist() in ([0, 0, 1], [1, 1, 0])
    True
    """
    V = check_array(vectors, dtype=np.float64, order="C", input_name="vectors")
    n_rows, n_vectors = V.shape
    weight = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has {weight.size} entries for {n_rows} rows; give one per row.")
    if not (weight >= 0).all():
        raise ValueError("sample_weight must not be negative.")
    # Rotation does not change the lengths of rows, and the cost does not depend on them.
    length = np.linalg.norm(V, axis=1)
    mass = np.where(length > 0, weight, 0.0)
    total = mass.sum()
    if n_vectors == 1 or total == 0:
        return _with_signs(V.copy(), mass), 1.0
    directions = V / np.where(length > 0, length, 1.0)[:, None]
    ends = [
        (align_with_axes(turned, mass, max_sweeps, tol), turned)
        for turned in (directions.copy(), np.ascontiguousarray(directions @ _basis_of_rows(directions, mass)))
    ]
    cost, turned = min(ends, key=lambda end: end[0])
    quality = 1.0 - (cost / total - 1.0) / (n_vectors - 1.0)
    return _with_signs(turned * length[:, None], mass), float(np.clip(quality, 0.0, 1.0))


def _basis_of_rows(directions: Floats, mass: Floats) -> Floats:
    """Return the orthogonal matrix nearest to a choice of rows, each nearly orthogonal to those before it."""
    n_vectors = directions.shape[1]
    chosen = np.empty((n_vectors, n_vectors))
    overlap = np.where(mass > 0, 0.0, np.inf)
    row = int(np.argmax(mass > 0))
    for k in range(n_vectors):
        chosen[k] = directions[row]
        overlap += np.abs(directions @ directions[row])
        row = int(np.argmin(overlap))
    left, _, right = np.linalg.svd(chosen.T)
    return left @ right


def _with_signs(rotated: Floats, mass: Floats) -> Floats:
    """Change the signs of columns, in place, to make the sum of their aligned rows positive."""
    column = np.abs(rotated).argmax(axis=1)
    largest = rotated[np.arange(len(rotated)), column]
    side = np.bincount(column, weights=mass * largest, minlength=rotated.shape[1])
    rotated *= np.where(side < 0, -1.0, 1.0)
    return rotated
