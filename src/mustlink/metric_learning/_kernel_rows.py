"""Rows as a kernel sees them: coordinates whose inner products are the kernel, and the kernel of new rows with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from mustlink._types import Array, Floats
from mustlink.metric_learning._base import MahalanobisDistance

# An eigenvalue below minus this, relative to the largest, is not due to rounding.
NEGATIVE = 1e-6


@dataclass(frozen=True)
class KernelRows:
    """The kernel with some rows, or, for a precomputed kernel, the values of a matrix as they are."""

    kernel: str | Callable[..., float]
    parameters: dict[str, Any]
    rows: Any

    def __call__(self, X: Any) -> Array:
        """Return the kernel of every row of X with the rows."""
        if self.kernel == "precomputed":
            return np.asarray(X.toarray() if sparse.issparse(X) else X)
        is_known = isinstance(self.kernel, str)
        found = pairwise_kernels(X, self.rows, metric=self.kernel, filter_params=is_known, **self.parameters)
        return np.asarray(found.toarray() if sparse.issparse(found) else found)


@dataclass(frozen=True)
class KernelDistance(MahalanobisDistance):
    """The distance of two rows under a metric learned with a kernel: the map is of the kernel with some rows."""

    kernel_rows: KernelRows

    def __call__(self, a: ArrayLike, b: ArrayLike) -> float:
        values = self.kernel_rows(np.vstack([np.asarray(a), np.asarray(b)]))
        return float(np.linalg.norm(self.components @ (values[0] - values[1])))


def coordinates(gram: Floats) -> tuple[Floats, Floats]:
    """Return coordinates of rows whose inner products are a kernel matrix, and the map of kernel values to them."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    largest = max(float(values[-1]), 0.0)
    if values[0] < -NEGATIVE * largest or largest == 0.0 > values[0]:
        raise ValueError(
            f"The kernel of the rows is not positive semidefinite: its eigenvalues range from {values[0]:.3g} to "
            f"{values[-1]:.3g}; use another kernel, such as 'rbf'."
        )
    kept = values > largest * len(values) * np.finfo(np.float64).eps
    root = np.sqrt(values[kept])
    return vectors[:, kept] * root, (vectors[:, kept] / root).T
