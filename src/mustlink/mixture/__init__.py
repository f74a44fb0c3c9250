"""Gaussian mixtures with must-link and cannot-link constraints."""

from mustlink.mixture._constrained_mixture import ConstrainedMixture, MixtureLinks

__all__ = ["ConstrainedMixture", "MixtureLinks"]
