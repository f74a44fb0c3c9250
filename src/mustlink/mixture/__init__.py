"""Gaussian mixtures with must-link and cannot-link constraints."""

from mustlink.mixture._constrained_mixture import ConstrainedEM, FittedMixture

__all__ = ["ConstrainedEM", "FittedMixture"]
