"""Kernels of rows, in pieces that stay small, and the space that the rows of a kernel matrix span."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from mustlink._types import Array, Floats
from mustlink._warnings import warn_caller
from mustlink.errors import NumberTooLargeError

__all__ = [
    "Kernel",
    "KernelWithRows",
    "dense_kernel",
    "gamma_of_variance",
    "pieces",
    "scale_gamma",
    "spanned_basis",
]

# How many kernel values between new rows and known rows are held at a time (128 MB).
MAX_ENTRIES = 1 << 24
# An eigenvalue below minus this, relative to the largest, is not due to rounding.
NEGATIVE = 1e-6


@dataclass(frozen=True)
class Kernel:
    """A kernel of scikit-learn or a function, and its parameters."""

    metric: str | Callable[..., float]
    parameters: Mapping[str, Any]

    def __call__(self, X: Any, Y: Any) -> Array:
        """Return the kernel of every row of X with every row of Y.

        With a precomputed one, X are rows of the kernel matrix, and Y the numbers of some of its columns.
        """
        if isinstance(self.metric, str) and self.metric == "precomputed":
            found = X[:, Y]
            return np.asarray(found.toarray() if sparse.issparse(found) else found)
        return dense_kernel(X, Y, metric=self.metric, filter_params=isinstance(self.metric, str), **self.parameters)


@dataclass(frozen=True)
class KernelWithRows:
    """The kernel of rows with those of the fit, as their features."""

    kernel: Kernel
    rows: Any

    def transform(self, X: Any) -> Array:
        """Return the kernel of some rows with those of the fit."""
        return self.kernel(X, self.rows)


def scale_gamma(X: Any, kernel: object, weight: Floats | None = None) -> float:
    """Return the gamma that "scale" stands for, by the variance of all numbers of X together, as in scikit-learn.

    `weight` is that of each row: a row of weight two counts as two rows.
    """
    n_rows, n_features = X.shape
    share = np.full(n_rows, 1 / n_rows) if weight is None else weight / weight.sum()
    mean = _mean_of(X, share, 0.0, 1)
    variance = _mean_of(X, share, mean, 2)
    return gamma_of_variance(kernel, variance, variance + mean**2, n_features, X.dtype)


def _mean_of(X: Any, share: Floats, center: float, power: int) -> float:
    """Return the mean of a power of the differences from a center, in double precision."""
    if sparse.issparse(X):
        stored = sparse.csr_array(X, dtype=np.float64, copy=True)
        stored.sum_duplicates()
        n_stored = np.diff(stored.indptr)
        zeros = float(share @ (X.shape[1] - n_stored)) * (-center) ** power
        return (float(np.repeat(share, n_stored) @ (stored.data - center) ** power) + zeros) / X.shape[1]
    total = 0.0
    for rows in pieces(*X.shape):
        total += float(share[rows] @ (np.subtract(X[rows], center, dtype=np.float64) ** power).sum(axis=1))
    return total / X.shape[1]


def gamma_of_variance(kernel: object, variance: float, mean_square: float, n_features: int, dtype: Any) -> float:
    """Return the gamma that puts two rows an average distance apart at a moderate kernel value.

    It is one over the number of columns times the variance. The Laplacian kernel is of distances rather than their
    squares and takes the root of the variance; the chi-squared kernel does not depend on variances and takes 1, as in
    scikit-learn.
    """
    if isinstance(kernel, str) and kernel == "chi2":
        return 1.0
    # The variance of equal numbers is rounding. They have the same kernel value whatever the gamma.
    if not variance > (4 * np.finfo(dtype).eps) ** 2 * mean_square:
        return 1.0
    is_laplacian = isinstance(kernel, str) and kernel == "laplacian"
    gamma = float(1.0 / (n_features * (np.sqrt(variance) if is_laplacian else variance)))
    # Of rows so close to each other the squared distances vanish in this precision.
    return gamma if gamma <= float(np.finfo(dtype).max) else 1.0


def dense_kernel(X: Any, Y: Any, **parameters: Any) -> Array:
    """Return the kernel of every row of X with every row of Y; raise if sums of its values overflow."""
    # A power of large inner products may overflow although the rows are in the allowed range.
    with np.errstate(over="ignore"):
        found = pairwise_kernels(X, Y, **parameters)
    values = np.asarray(found.toarray() if sparse.issparse(found) else found)
    largest, limit = max(-values.min(), values.max()), np.finfo(values.dtype).max / (4 * values.size)
    if not largest <= limit:
        raise NumberTooLargeError(
            f"The kernel of two rows is as large as {largest:.3g}, and sums of such values overflow above {limit:.1g}; "
            "scale the columns, or reduce gamma and degree."
        )
    return values


def spanned_basis(inner: Array) -> Floats:
    """Return the matrix B for which the rows of K B have the inner products of the kernel matrix K.

    Its columns are eigenvectors over the root of their eigenvalues. A kernel that is not positive has no such matrix:
    its negative directions are left out with a warning, and it is refused if there are no others.
    """
    symmetric = inner.astype(np.float64)
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    rounding = len(values) * float(np.finfo(inner.dtype).eps)
    largest = max(float(values[-1]), 0.0)
    if values[0] < -max(NEGATIVE, rounding) * largest:
        _tell_of_negative(float(values[0]), float(values[-1]))
    # Directions of rounding errors only are left out too.
    kept = values > rounding * largest
    basis: Floats = vectors[:, kept] / np.sqrt(values[kept])
    return basis


def _tell_of_negative(smallest: float, largest: float) -> None:
    """Warn of a kernel that is not positive semidefinite, and refuse one without positive eigenvalues."""
    problem = (
        f"The kernel of the rows is not positive semidefinite: its eigenvalues range from {smallest:.3g} to "
        f"{largest:.3g}"
    )
    if not largest > 0:
        raise ValueError(f"{problem}; use another kernel, such as 'rbf'.")
    warn_caller(
        f"{problem}. Its negative part is left out; use another kernel, such as 'rbf', to avoid that.", UserWarning
    )


def pieces(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut rows into pieces that stay small with this many columns."""
    step = max(1, MAX_ENTRIES // max(n_columns, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
