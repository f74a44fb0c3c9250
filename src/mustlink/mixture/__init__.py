"""Gaussian mixtures with must-link and cannot-link constraints."""

from mustlink.mixture._constrained import ConstrainedGaussianMixture

__all__ = ["ConstrainedGaussianMixture"]
