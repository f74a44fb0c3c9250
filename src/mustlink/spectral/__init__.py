"""Clustering by the eigenvectors of a graph."""

from __future__ import annotations

from mustlink.spectral._rotation import rotate_to_indicators

__all__ = ["rotate_to_indicators"]
