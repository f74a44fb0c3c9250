"""Mixture components with weighted maximum likelihood: Gaussians, von Mises-Fisher densities, multinomials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import gammaln, ive

from mustlink._types import Floats
from mustlink.sizes._representatives import direction_of

__all__ = ["COMPONENTS", "Component", "log_bessel", "log_vmf_normalizer"]

# The minimum variance of a column, as a fraction of its variance in all rows.
MIN_VARIANCE = 1e-6
# The largest concentration per dimension: rows of one direction would have an infinite one.
MAX_CONCENTRATION = 1e4
# No component vanishes.
MIN_MASS = 1e-12
# What is added to the count of every column.
SMOOTHING = 1.0
# Up to this order scipy's Bessel function does not underflow at the arguments met here.
MAX_EXACT_ORDER = 50.0


class Component(ABC):
    """A family of densities, given by a mean and a scale for each component."""

    @staticmethod
    @abstractmethod
    def fit(X: Any, mass: Floats) -> tuple[Floats, Floats]:
        """Return the means and scales of largest likelihood, for rows with a mass in each component."""

    @staticmethod
    @abstractmethod
    def log_density(X: Any, means: Floats, scales: Floats) -> Floats:
        """Return the logarithm of each component's density at each row, up to a term that depends on the row alone."""


class Gaussian(Component):
    """Gaussians with a variance for each column."""

    @staticmethod
    def fit(X: Any, mass: Floats) -> tuple[Floats, Floats]:
        X = np.asarray(X, dtype=np.float64)
        share = mass / np.maximum(mass.sum(axis=0), MIN_MASS)
        means = share.T @ X
        variances = np.stack([share[:, c] @ np.square(X - means[c]) for c in range(len(means))])
        whole = X.var(axis=0)
        floor = MIN_VARIANCE * np.where(whole > 0, whole, whole.max() if whole.any() else 1.0)
        return means, variances + floor

    @staticmethod
    def log_density(X: Any, means: Floats, scales: Floats) -> Floats:
        X = np.asarray(X, dtype=np.float64)
        logs = -0.5 * np.log(scales).sum(axis=1) - 0.5 * X.shape[1] * np.log(2 * np.pi)
        columns = [-0.5 * (np.square(X - mean) / scale).sum(axis=1) for mean, scale in zip(means, scales, strict=True)]
        return np.stack(columns, axis=1) + logs


class VonMisesFisher(Component):
    """Densities on the unit sphere: a direction and a concentration."""

    @staticmethod
    def fit(X: Any, mass: Floats) -> tuple[Floats, Floats]:
        means = np.asarray((X.T @ (mass / np.maximum(mass.sum(axis=0), MIN_MASS))).T, dtype=np.float64)
        n_features = means.shape[1]
        length = np.minimum(np.sqrt(np.square(means).sum(axis=1)), 1.0 - 1e-9)
        directions, _ = direction_of(means)
        # The approximation of Banerjee, Dhillon, Ghosh and Sra (2005) to the solution of A_d(kappa) = length.
        concentrations = length * (n_features - length**2) / (1.0 - length**2)
        return directions, np.minimum(concentrations, MAX_CONCENTRATION * n_features)

    @staticmethod
    def log_density(X: Any, means: Floats, scales: Floats) -> Floats:
        normalizer = np.array([log_vmf_normalizer(means.shape[1], kappa) for kappa in scales])
        return np.asarray(X @ means.T, dtype=np.float64) * scales - normalizer


class Multinomial(Component):
    """Counts of words: a probability for each column, smoothed."""

    @staticmethod
    def fit(X: Any, mass: Floats) -> tuple[Floats, Floats]:
        counts = np.asarray((X.T @ mass).T, dtype=np.float64) + SMOOTHING
        return counts / counts.sum(axis=1, keepdims=True), np.ones(len(counts))

    @staticmethod
    def log_density(X: Any, means: Floats, scales: Floats) -> Floats:
        return np.asarray(X @ np.log(means).T, dtype=np.float64)


COMPONENTS: dict[str, type[Component]] = {"gaussian": Gaussian, "vmf": VonMisesFisher, "multinomial": Multinomial}


def log_bessel(order: float, argument: float) -> float:
    """Return the logarithm of the modified Bessel function of the first kind, also where the function underflows."""
    if order <= MAX_EXACT_ORDER:
        scaled = float(ive(order, argument))
        if scaled > 0:
            return float(np.log(scaled)) + argument
    # Debye's uniform expansion with its first correction.
    s = float(np.hypot(order, argument))
    correction = (3.0 / s - 5.0 * order**2 / s**3) / 24.0
    return float(
        s + order * np.log(argument / (order + s)) - 0.5 * np.log(2 * np.pi) - 0.5 * np.log(s) + np.log1p(correction)
    )


def log_vmf_normalizer(n_features: int, concentration: float) -> float:
    """Return log Z_d(kappa), by which exp(kappa x.mu) is divided to be a density on the unit sphere."""
    order = n_features / 2 - 1
    if concentration < 1e-9 * n_features:
        # The surface of the sphere.
        return float(np.log(2) + 0.5 * n_features * np.log(np.pi) - gammaln(n_features / 2))
    log_power = order * np.log(concentration)
    return float(0.5 * n_features * np.log(2 * np.pi) + log_bessel(order, concentration) - log_power)
