"""Scatter matrices of linked rows, with every feature scaled to unit variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from mustlink._types import Floats, Indices, Ints
from mustlink.metric_learning._base import dense_rows


@dataclass(frozen=True)
class Units:
    """The features that are not constant, and their standard deviations, which make results independent of units."""

    columns: Indices
    scale: Floats
    n_features: int

    @classmethod
    def of(cls, X: Any) -> Self:
        """Compute the standard deviations of a dense or sparse X."""
        if sparse.issparse(X):
            low, high = min_max_axis(X, axis=0)
            scale = np.sqrt(mean_variance_axis(X.astype(np.float64), axis=0)[1])
        else:
            low, high, scale = X.min(axis=0), X.max(axis=0), X.std(axis=0, dtype=np.float64)
        columns = np.flatnonzero((high > low) & (scale > 0))
        return cls(columns, scale[columns], X.shape[1])

    def rows(self, X: Any, index: Indices | Ints) -> Floats:
        """Return some rows in these units."""
        return dense_rows(X, index)[:, self.columns] / self.scale

    def differences(self, X: Any, pairs: Ints) -> Floats:
        """Return the difference of the two rows of each pair in these units."""
        return self.rows(X, pairs[:, 0]) - self.rows(X, pairs[:, 1])

    def of_all_features(self, components: Floats) -> Floats:
        """Return a linear map of rows in these units as one of the rows of X; constant features get zeros."""
        full = np.zeros((len(components), self.n_features))
        full[:, self.columns] = components / self.scale
        return full


@dataclass(frozen=True)
class WithinComponents:
    """The rows of the must-link components of two and more rows.

    `rows` are their numbers, `residual` is each row minus the mean of its component, `number` its component, `size` the
    number of rows of each component.
    """

    rows: Indices
    residual: Floats
    number: Indices
    size: Indices

    @classmethod
    def of(cls, X: Any, component: Indices, units: Units) -> Self:
        """Center the rows of each component."""
        size = np.bincount(component)
        rows = np.flatnonzero(size[component] > 1)
        rows = rows[np.argsort(component[rows], kind="stable")]
        found, number = np.unique(component[rows], return_inverse=True)
        points = units.rows(X, rows)
        return cls(rows, points - group_means(points, number, len(found))[number], number, size[found])

    @property
    def n_independent(self) -> int:
        """The number of linearly independent differences of the components, at most."""
        return len(self.number) - len(self.size)


def group_means(points: Floats, group: Indices, n_groups: int) -> Floats:
    """Return the mean of the rows of each group."""
    size = np.bincount(group, minlength=n_groups)
    member = sparse.csr_array((1.0 / size[group], (group, np.arange(len(group)))), shape=(n_groups, len(group)))
    return np.asarray(member @ points)


def default_shrinkage(n_features: int, n_independent: int) -> float:
    """Return the shrinkage that gives the identity the weight of one difference for each feature."""
    return n_features / (n_features + n_independent)


def shrink(scatter: Floats, shrinkage: float | str, n_independent: int, dtype: Any) -> Floats:
    """Mix a multiple of the identity, of the same trace, into a scatter matrix of `n_independent` differences.

    With "auto" the identity has the weight of one difference for each feature. A scatter of zero becomes the identity.
    """
    n_features = len(scatter)
    mean = np.trace(scatter) / n_features
    if mean <= 0:
        return np.eye(n_features)
    share = default_shrinkage(n_features, n_independent) if isinstance(shrinkage, str) else float(shrinkage)
    if share == 0 and _is_singular(scatter, dtype):
        raise ValueError(
            f"The scatter of the must-linked rows is singular in {n_features} features, and shrinkage=0 needs its "
            'inverse; give more must-links, reduce the features with PCA, or use shrinkage="auto".'
        )
    return (1.0 - share) * scatter + share * mean * np.eye(n_features)


def _is_singular(scatter: Floats, dtype: Any) -> bool:
    """Return whether a scatter matrix is singular within the precision of X."""
    spread = np.sqrt(np.diag(scatter))
    if not (spread > 0).all():
        return True
    smallest = np.linalg.eigvalsh(scatter / np.outer(spread, spread))[0]
    return bool(smallest <= 100 * len(scatter) * np.finfo(dtype).eps)
