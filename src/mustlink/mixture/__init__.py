"""Gaussian mixtures with must-link and cannot-link constraints."""

from mustlink.mixture._constrained import ConstrainedGaussianMixture
from mustlink.mixture._constrained_mixture import ConstrainedEM, FittedMixture

__all__ = ["ConstrainedEM", "ConstrainedGaussianMixture", "FittedMixture"]
