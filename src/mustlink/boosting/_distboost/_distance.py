"""The learned distance: weighted mixtures on whitened principal directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.decomposition import PCA

from mustlink._types import Array, Floats
from mustlink.boosting._distboost._weak_mixture import WeakMixture

__all__ = ["Directions", "Ensemble", "embed"]

# A direction with less than this fraction of the largest variance is a rounding error.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Directions:
    """The leading principal directions, scaled to variance one along each."""

    mean: Floats
    axes: Floats  # (n_features, n_directions), divided by the standard deviation along them

    @classmethod
    def of(cls, X: Array, max_directions: int, rng: np.random.RandomState) -> Self:
        """Find the directions; equal rows have none, and get one of zeros."""
        mean = X.mean(axis=0, dtype=np.float64)
        if not np.ptp(X, axis=0).any():
            return cls(mean, np.zeros((X.shape[1], 1)))
        # Far from the origin, products that are not centered lose the digits that vary.
        components = PCA(n_components=min(max_directions, *X.shape), random_state=rng).fit(X - mean)
        variance = components.explained_variance_
        kept = np.flatnonzero(variance > RANK_TOLERANCE * variance[0])
        return cls(mean, components.components_[kept].T / np.sqrt(variance[kept]))

    def project(self, X: Array) -> Floats:
        """Return the rows in these directions."""
        return np.asarray((X - self.mean) @ self.axes)


@dataclass(frozen=True)
class Ensemble:
    """Mixtures with their weights, which together are a distance.

    A mixture maps a row to a vector z of memberships, and to its total s; its hypothesis about two rows is
    2 z.z' - s s', between -1 and 1.
    """

    directions: Directions
    mixtures: list[WeakMixture]
    alphas: Floats
    soft: bool  # whether z holds all memberships, or only the largest

    @property
    def n_features(self) -> int:
        """The number of features: all components of all mixtures."""
        return sum(mixture.n_components for mixture in self.mixtures)

    def features(self, X: Array) -> tuple[Floats, Floats]:
        """Return z of all mixtures side by side, and s, both times the roots of the weights."""
        points = self.directions.project(X)
        vectors, totals = zip(*(embed(mixture, points, self.soft) for mixture in self.mixtures), strict=True)
        root = np.sqrt(self.alphas)
        return np.hstack([r * z for r, z in zip(root, vectors, strict=True)]), np.column_stack(totals) * root

    def distances(self, one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Floats:
        """Return sum_t alpha_t (1 - h_t) / 2 for all rows of the one and of the other, given their features."""
        likeness = 2 * one[0] @ other[0].T - one[1] @ other[1].T
        return np.maximum(0.5 * (self.alphas.sum() - likeness), 0.0)


def embed(mixture: WeakMixture, points: Floats, soft: bool) -> tuple[Floats, Floats]:
    """Return the vectors z of the points in a mixture, and their totals s."""
    probability = mixture.memberships(points)
    if soft:
        return probability, np.ones(len(points))
    likeliest = np.argmax(probability, axis=1)[:, None]
    confidence = np.take_along_axis(probability, likeliest, axis=1)
    vectors = np.zeros_like(probability)
    np.put_along_axis(vectors, likeliest, confidence, axis=1)
    return vectors, confidence[:, 0]
