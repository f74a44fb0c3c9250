"""Spectral clustering with and without must-link and cannot-link constraints."""

from __future__ import annotations

from mustlink.spectral._constrained import ConstrainedSpectral
from mustlink.spectral._constraint_propagation import ConstraintPropagation
from mustlink.spectral._learning import SpectralLearning
from mustlink.spectral._normalized import NormalizedSpectralClustering
from mustlink.spectral._rotation import rotate_to_indicators

__all__ = [
    "ConstrainedSpectral",
    "ConstraintPropagation",
    "NormalizedSpectralClustering",
    "SpectralLearning",
    "rotate_to_indicators",
]
