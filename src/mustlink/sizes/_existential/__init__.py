"""Existential constraints: every cluster needs enough rows of a kind."""

from mustlink.sizes._existential._existential_kmeans import ExistentialKMeans

__all__ = ["ExistentialKMeans"]
