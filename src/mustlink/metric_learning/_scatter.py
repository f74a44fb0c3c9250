"""Scatter matrices of linked rows, in units in which every column of the table has the variance one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink.constraints import Constraints
from mustlink.metric_learning._base import Floats, dense_rows


@dataclass(frozen=True)
class Units:
    """The columns of a table that are not constant, and their standard deviations.

    What is learned does not depend on the unit of a column; in these units the arithmetic does not either.
    """

    columns: NDArray[np.intp]
    scale: Floats
    n_features: int

    @classmethod
    def of(cls, X: Any) -> Self:
        """Measure a dense or sparse table."""
        if sparse.issparse(X):
            high, low = (np.asarray(extreme.todense()).ravel() for extreme in (X.max(axis=0), X.min(axis=0)))
            mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
            mean_square = np.asarray(X.astype(np.float64).multiply(X).mean(axis=0)).ravel()
            scale = np.sqrt(np.clip(mean_square - mean**2, 0.0, None))
        else:
            high, low, scale = X.max(axis=0), X.min(axis=0), X.std(axis=0, dtype=np.float64)
        columns = np.flatnonzero((high > low) & (scale > 0))
        return cls(columns, scale[columns], X.shape[1])

    def rows(self, X: Any, index: NDArray[Any]) -> Floats:
        """Return some rows in these units."""
        return dense_rows(X, index)[:, self.columns] / self.scale

    def differences(self, X: Any, pairs: NDArray[np.int64]) -> Floats:
        """Return the difference of the two rows of each pair in these units, pairs of equal rows with the rest."""
        return self.rows(X, pairs[:, 0]) - self.rows(X, pairs[:, 1])

    def of_all_features(self, components: Floats) -> Floats:
        """Write a map of rows in these units as one of the table's; constant columns play no part in it."""
        full = np.zeros((len(components), self.n_features))
        full[:, self.columns] = components / self.scale
        return full


@dataclass(frozen=True)
class Chunklets:
    """The rows of the must-link components of two rows and more.

    `residual` is each row less the mean of its component, `number` its component, and `size` how many rows that has.
    """

    residual: Floats
    number: NDArray[np.intp]
    size: NDArray[np.intp]

    @classmethod
    def of(cls, X: Any, links: Constraints, units: Units) -> Self:
        """Find the components and centre their rows."""
        component = links.components(X.shape[0])
        rows = np.flatnonzero(np.bincount(component)[component] > 1)
        _, number = np.unique(component[rows], return_inverse=True)
        size = np.bincount(number)
        points = units.rows(X, rows)
        return cls(points - group_means(points, number, len(size))[number], number, size)

    @property
    def n_known(self) -> int:
        """How many independent differences the components hold."""
        return len(self.number) - len(self.size)


def group_means(points: Floats, group: NDArray[np.intp], n_groups: int) -> Floats:
    """Return the mean of the rows of each group."""
    size = np.bincount(group, minlength=n_groups)
    member = sparse.csr_array((1.0 / size[group], (group, np.arange(len(group)))), shape=(n_groups, len(group)))
    return np.asarray(member @ points)


def regular(scatter: Floats, shrinkage: float | str, n_known: int, dtype: Any) -> Floats:
    """Mix a round scatter of the same trace into a scatter matrix that is made of `n_known` independent differences.

    With "auto" the round scatter counts as much as one difference for each feature. Without any scatter it is the
    round one of the variance one.
    """
    n_features = len(scatter)
    mean = np.trace(scatter) / n_features
    if mean <= 0:
        return np.eye(n_features)
    share = n_features / (n_features + n_known) if isinstance(shrinkage, str) else float(shrinkage)
    if share == 0 and _is_singular(scatter, dtype):
        raise ValueError(
            f"The scatter of the must-linked rows is singular in {n_features} features, so that there is no metric "
            'without shrinkage; give more must-links, reduce the table with PCA, or use shrinkage="auto".'
        )
    return (1.0 - share) * scatter + share * mean * np.eye(n_features)


def _is_singular(scatter: Floats, dtype: Any) -> bool:
    """Tell whether a scatter matrix has no inverse that the precision of the table could tell from noise."""
    spread = np.sqrt(np.diag(scatter))
    if not (spread > 0).all():
        return True
    least = np.linalg.eigvalsh(scatter / np.outer(spread, spread))[0]
    return bool(least <= 100 * len(scatter) * np.finfo(dtype).eps)
