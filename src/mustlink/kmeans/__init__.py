"""Clusterers of the k-means family that take links."""

from mustlink.kmeans._copkmeans import COPKMeans
from mustlink.kmeans._pckmeans import PCKMeans
from mustlink.kmeans._seededkmeans import SeededKMeans

__all__ = ["COPKMeans", "PCKMeans", "SeededKMeans"]
