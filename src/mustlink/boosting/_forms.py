"""The forms of the representation that a round gives to the base: which directions, and how long each.

Every form is a function of the weighted links only. `_coordinates.py` says in which coordinates they are seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

__all__ = ["Directions", "Form", "LinkGeometry"]

Floats = NDArray[np.float64]
Kind = Literal["projection", "difference", "whitened", "ridged"]
# An eigenvalue below this share of the largest is rounding, and no direction.
POSITIVE = 1e-12
# The share of the covariance that the whitened form adds to the scatter of the must-links.
COVARIANCE_RIDGE = 0.1


@dataclass(frozen=True)
class LinkGeometry:
    """The links as points in space, in the coordinates of the linked part.

    Attributes
    ----------
    must, cannot : pair of ndarray of shape (m, n_dims)
        The two ends of every link.
    spread : float
        The variance per dimension, trace(cov X) / dim.
    covariance : ndarray of shape (n_dims, n_dims) or None
        That of all rows, for the whitened form.
    """

    must: tuple[Floats, Floats]
    cannot: tuple[Floats, Floats]
    spread: float
    covariance: Floats | None = None

    @property
    def n_dims(self) -> int:
        """The number of coordinates."""
        return self.must[0].shape[1]

    def scatter(self, must_weight: Floats, cannot_weight: Floats) -> tuple[Floats, Floats]:
        """Return the mean outer products of the differences, of must-links and of cannot-links."""
        return (
            mean_outer(self.must[0] - self.must[1], must_weight),
            mean_outer(self.cannot[0] - self.cannot[1], cannot_weight),
        )

    def products(self, must_weight: Floats, cannot_weight: Floats) -> Floats:
        """Return X T X' of the paper, T being symmetric with entries that sum to one for either kind of link."""
        total = np.zeros((self.n_dims, self.n_dims))
        for sign, (a, b), weight in ((1, self.must, must_weight), (-1, self.cannot, cannot_weight)):
            if weight.sum() > 0:
                total += sign * (a * (weight / weight.sum())[:, None]).T @ b
        return (total + total.T) / 2


@dataclass(frozen=True)
class Directions:
    """A linear map into the representation of a round.

    Attributes
    ----------
    matrix : ndarray of shape (n_dims, s)
        Of the linked part; the eigenvectors, each times the square root of its eigenvalue.
    values : ndarray of shape (s,)
        The eigenvalues, descending.
    rest_value : float
        The eigenvalue of every direction at right angles to the linked part.
    rest_factor : float
        What those directions are multiplied with.
    """

    matrix: Floats
    values: Floats
    rest_value: float = 0.0
    rest_factor: float = 0.0


@dataclass(frozen=True)
class Form:
    """One way to turn weighted links into directions.

    Attributes
    ----------
    kind : str
        "projection" (the paper's X T X'), "difference", "whitened" (against must-link scatter and covariance) or
        "ridged" (against must-link scatter and an isotropic ridge).
    ridge : float
        The weight of the ridge, in units of the variance per dimension ("ridged").
    identity : float
        How much of the identity is added to the matrix of spectral norm one.
    """

    kind: Kind
    ridge: float = 1.0
    identity: float = 0.1

    @property
    def label(self) -> str:
        """A short name for reports."""
        return f"ridged({self.ridge:g}, {self.identity:g})" if self.kind == "ridged" else self.kind

    def directions(self, links: LinkGeometry, must_weight: Floats, cannot_weight: Floats) -> Directions:
        """Return the positive directions; there may be none."""
        if self.kind == "projection":
            return positive_part(links.products(must_weight, cannot_weight), self.identity)
        together, apart = links.scatter(must_weight, cannot_weight)
        if self.kind == "difference":
            return positive_part(apart - together, self.identity)
        if self.kind == "whitened":
            assert links.covariance is not None
            whitener, beyond = inverse_root(together + COVARIANCE_RIDGE * links.covariance, 0.0)
        else:
            whitener, beyond = inverse_root(together, self.ridge * links.spread)
        # Must-links alone say which directions to shrink, which the whitening does; none is to be dropped for them.
        contrast = apart - together if cannot_weight.sum() > 0 else np.zeros_like(together)
        white = positive_part(whitener @ contrast @ whitener, self.identity)
        return Directions(whitener @ white.matrix, white.values, white.rest_value, white.rest_factor * beyond)


def mean_outer(differences: Floats, weight: Floats) -> Floats:
    """Return the weighted mean of d d'; zero if nothing has weight."""
    total = weight.sum()
    share = weight / total if total > 0 else weight
    return (differences * share[:, None]).T @ differences


def inverse_root(matrix: Floats, ridge: float) -> tuple[Floats, float]:
    """Return (matrix + ridge I)^(-1/2), and what it does to directions the matrix does not know."""
    values, vectors = eigh(matrix)
    # A null direction without a ridge would be stretched without bound; it is dropped instead.
    shifted = np.maximum(values, 0) + ridge
    usable = shifted > POSITIVE * shifted.max(initial=0.0)
    root = np.where(usable, 1 / np.sqrt(np.where(usable, shifted, 1.0)), 0.0)
    return (vectors * root) @ vectors.T, 1 / np.sqrt(ridge) if ridge > 0 else 0.0


def positive_part(matrix: Floats, identity: float) -> Directions:
    """Return the positive eigenpairs of matrix / norm + identity I; without identity the matrix stays as it is."""
    values, vectors = eigh(matrix)
    largest = np.abs(values).max(initial=0.0)
    if identity > 0:
        values = values / (largest if largest > 0 else 1.0) + identity
    keep = np.flatnonzero(values > POSITIVE * max(np.abs(values).max(initial=0.0), 1e-300))[::-1]
    return Directions(vectors[:, keep] * np.sqrt(values[keep]), values[keep], identity, float(np.sqrt(identity)))
