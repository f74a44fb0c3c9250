"""Feature models for classes that are known: multinomials and spherical Gaussians, in one linear form.

A row has the score ``x . A_c + b_c`` in a cluster: the expected logarithm of the density of its features, up to a term
of the row alone. Rows are sorted by their cell, so that a cell is a slice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mustlink._types import Array, Floats, Ints, Mask

__all__ = ["AUTO_LAM", "Family", "Gaussian", "Multinomial", "Scores", "divide_by_sums", "score_rows"]

# The default of lam.
AUTO_LAM = 0.3
# What is added to every probability, so that its logarithm is finite.
MIN_PROBABILITY = 1e-12


@dataclass(frozen=True)
class Scores:
    """The linear scores of clusters: of all rows, and of the rows of each cell."""

    slope: Floats  # (K, d)
    offset: Floats  # (K,)
    cell_slope: Floats  # (L, K, d)
    cell_offset: Floats  # (L, K)


class Family(ABC):
    """Rows with weights, grouped by cell, and how scores are estimated from memberships."""

    def __init__(self, X: Any, weight: Floats, cell: Ints, lam: float | None) -> None:
        self.X = X
        self.weight = weight
        self.n_rows, self.n_features = X.shape
        edges = np.searchsorted(cell, np.arange(int(cell[-1]) + 2))
        self.slices = [slice(start, stop) for start, stop in pairwise(edges)]
        self.cell = cell
        self._blocks = [X[block] for block in self.slices]
        self.lam = AUTO_LAM * self._scale_of_lam() if lam is None else lam
        self.baseline = self.score_all(self.estimate(np.ones((self.n_rows, 1))))[:, 0]

    @abstractmethod
    def _linear(self, sums: Floats, mass: Floats) -> tuple[Floats, Floats]:
        """Return slopes and offsets of clusters, given the weighted sums of their rows and their masses."""

    def _scale_of_lam(self) -> float:
        """Return by what the default of lam is multiplied."""
        return 1.0

    @abstractmethod
    def ceiling(self) -> Floats:
        """Return the score of every row in a cluster and cell of its own."""

    def sums(self, memberships: Floats) -> tuple[Floats, Floats]:
        """Return the weighted sums of rows and the mass of every cluster in every cell."""
        weighted = memberships * self.weight[:, None]
        sums = [_product(weighted[block], rows) for block, rows in zip(self.slices, self._blocks, strict=True)]
        return np.stack(sums), np.stack([weighted[block].sum(axis=0) for block in self.slices])

    def estimate(self, memberships: Floats) -> Scores:
        """Return the scores of largest likelihood, given P(c|x)."""
        return self._scores(*self.sums(memberships))

    def _scores(self, cell_sums: Floats, cell_mass: Floats) -> Scores:
        slope, offset = self._linear(cell_sums.sum(axis=0), cell_mass.sum(axis=0))
        cell_slope, cell_offset = self._linear(cell_sums, cell_mass)
        # A cluster without rows in a cell has the scores that it has elsewhere.
        is_empty = cell_mass <= 0
        cell_slope = np.where(is_empty[..., None], slope, cell_slope)
        return Scores(slope, offset, cell_slope, np.where(is_empty, offset, cell_offset))

    def gains(self, memberships: Floats) -> tuple[float, float]:
        """Return I(C;F|Z) and I(C;F); of Gaussians, the decrease of the variance within cells and of all rows."""
        within, overall = self._mean_scores(memberships)
        one_within, one_overall = self._mean_scores(np.ones((self.n_rows, 1)))
        return within - one_within, overall - one_overall

    def _mean_scores(self, memberships: Floats) -> tuple[float, float]:
        """Return the mean score of the rows in their cells, and overall."""
        sums, mass = self.sums(memberships)
        scores = self._scores(sums, mass)
        within = (sums * scores.cell_slope).sum() + (mass * scores.cell_offset).sum()
        overall = (sums.sum(axis=0) * scores.slope).sum() + (mass.sum(axis=0) * scores.offset).sum()
        return float(within), float(overall)

    def score_all(self, scores: Scores) -> Floats:
        """Return the exponent of every row and cluster: its score in the cell plus lam times its score overall."""
        found = np.empty((self.n_rows, len(scores.offset)))
        for place, (block, rows) in enumerate(zip(self.slices, self._blocks, strict=True)):
            slope = scores.cell_slope[place] + self.lam * scores.slope
            offset = scores.cell_offset[place] + self.lam * scores.offset
            found[block] = np.asarray(rows @ slope.T) + offset
        return found


class Multinomial(Family):
    """Counts: a row is its distribution over the columns."""

    def _linear(self, sums: Floats, mass: Floats) -> tuple[Floats, Floats]:
        mass = np.maximum(mass, np.finfo(float).tiny)[..., None]
        share = (sums / mass + MIN_PROBABILITY) / (1.0 + self.n_features * MIN_PROBABILITY)
        return np.log(share), np.zeros(mass.shape[:-1])

    def ceiling(self) -> Floats:
        logs = self.X.copy()
        if sparse.issparse(logs):
            logs.data = logs.data * np.log(logs.data)
            return (1.0 + self.lam) * np.asarray(logs.sum(axis=1)).ravel()
        return (1.0 + self.lam) * np.where(logs > 0, logs * np.log(np.where(logs > 0, logs, 1.0)), 0.0).sum(axis=1)


class Gaussian(Family):
    """Numbers: squared Euclidean distances to the means of clusters."""

    def _linear(self, sums: Floats, mass: Floats) -> tuple[Floats, Floats]:
        means = sums / np.maximum(mass, np.finfo(float).tiny)[..., None]
        return 2.0 * means, -np.square(means).sum(axis=-1)

    def _scale_of_lam(self) -> float:
        # The variance within cells as a share of all: however far the cells are apart, they cannot win by lam alone.
        squares = float(self.weight @ self._squares())
        within, overall = (squares - score for score in self._mean_scores(np.ones((self.n_rows, 1))))
        return min(within / overall, 1.0) if overall > 0 and within > 0 else 1.0

    def _squares(self) -> Floats:
        """Return the squared length of every row."""
        squares = self.X.multiply(self.X) if sparse.issparse(self.X) else np.square(self.X)
        return np.asarray(squares.sum(axis=1)).ravel()

    def ceiling(self) -> Floats:
        return (1.0 + self.lam) * self._squares()


def divide_by_sums(X: Any) -> tuple[Any, Mask]:
    """Return rows of counts as distributions over the columns, and which rows of X they are: those not zero."""
    total = np.asarray(X.sum(axis=1)).ravel()
    is_used = total > 0
    scale = 1.0 / total[is_used]
    X = X[is_used]
    if not sparse.issparse(X):
        return X * scale[:, None], is_used
    X = sparse.csr_array(X)
    X.eliminate_zeros()
    X.data *= np.repeat(scale, np.diff(X.indptr))
    return X, is_used


def score_rows(scores: Scores, X: Any, cell: Ints, lam: float) -> Floats:
    """Return the exponents of rows in any order; one of an unknown cell (-1) counts 1 + lam times overall."""
    found = (1.0 + lam) * (np.asarray(X @ scores.slope.T) + scores.offset)
    for place in range(len(scores.cell_offset)):
        rows = np.flatnonzero(cell == place)
        if len(rows):
            slope = scores.cell_slope[place] + lam * scores.slope
            offset = scores.cell_offset[place] + lam * scores.offset
            found[rows] = np.asarray(X[rows] @ slope.T) + offset
    return found


def _product(weighted: Array, rows: Any) -> Floats:
    """Return the weighted sums of rows, one for each cluster."""
    return np.asarray((rows.T @ weighted).T if sparse.issparse(rows) else weighted.T @ rows, dtype=np.float64)
