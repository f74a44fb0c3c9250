"""Rotate eigenvectors until each row lies along one axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from mustlink.spectral._rotation_kernels import turn_to_axes

__all__ = ["rotate_to_indicators"]


def rotate_to_indicators(
    vectors: ArrayLike, *, sample_weight: ArrayLike | None = None, max_sweeps: int = 100, tol: float = 1e-9
) -> tuple[NDArray[np.float64], float]:
    """Rotate vectors so that each row lies as nearly as possible along one axis.

    The eigenvectors of a graph's Laplacian span the indicators of its clusters, but are some rotation of them. This
    finds the rotation back. The cluster of a row is then the column of its largest entry.

    Parameters
    ----------
    vectors : array-like of shape (n_samples, n_vectors)
        Eigenvectors as columns. Rows of any length; a row of zeros has no direction and is left out of the cost.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, not negative; 1 if None.
    max_sweeps : int, default=100
        The most rounds over all pairs of axes.
    tol : float, default=1e-9
        A round that lowers the cost by no more than this share is the last.

    Returns
    -------
    rotated : ndarray of shape (n_samples, n_vectors)
        The vectors times an orthogonal matrix. The sign of a column is such that the rows which lie along it are
        positive on the whole.
    quality : float
        Between 0 and 1. It is 1 if every row lies along an axis, 0 if the entries of every row are equally large.

    Notes
    -----
    The cost is that of Zelnik-Manor and Perona: the sum over rows and columns of :math:`Z_{ij}^2 / \\max_j Z_{ij}^2`.
    They follow its gradient over all angles at once; here the planes of two axes are turned one at a time, each to
    its best angle, so that the cost never rises and there is no step to choose. Two starts are tried, the vectors as
    given and a basis of rows that are as orthogonal as can be, and the cheaper end is kept. The quality runs over the
    whole interval from 0 to 1, whatever the number of vectors.

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
        raise ValueError(f"There are {n_rows} rows but {weight.size} weights for them; give one each.")
    if not (weight >= 0).all():
        raise ValueError("sample_weight must hold numbers that are not negative.")
    # The length of a row does not change under rotation, so that rows of length 1 have the same cost.
    length = np.linalg.norm(V, axis=1)
    mass = np.where(length > 0, weight, 0.0)
    total = mass.sum()
    if n_vectors == 1 or total == 0:
        return _with_signs(V.copy(), mass), 1.0
    directions = V / np.where(length > 0, length, 1.0)[:, None]
    ends = [
        (turn_to_axes(turned, mass, max_sweeps, tol), turned)
        for turned in (directions.copy(), np.ascontiguousarray(directions @ _basis_of_rows(directions, mass)))
    ]
    cost, turned = min(ends, key=lambda end: end[0])
    quality = 1.0 - (cost / total - 1.0) / (n_vectors - 1.0)
    return _with_signs(turned * length[:, None], mass), float(np.clip(quality, 0.0, 1.0))


def _basis_of_rows(directions: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the orthogonal matrix nearest to as many rows as there are columns, each far from those before it."""
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


def _with_signs(rotated: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn columns round, in place, so that the rows which lie along them are positive on the whole."""
    column = np.abs(rotated).argmax(axis=1)
    largest = rotated[np.arange(len(rotated)), column]
    side = np.bincount(column, weights=mass * largest, minlength=rotated.shape[1])
    rotated *= np.where(side < 0, -1.0, 1.0)
    return rotated
