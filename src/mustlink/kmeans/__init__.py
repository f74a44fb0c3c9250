"""k-means with must-link and cannot-link constraints."""

from mustlink.kmeans._copkmeans import COPKMeans
from mustlink.kmeans._hmrfkmeans import HMRFKMeans
from mustlink.kmeans._kernelkmeans import KernelKMeans
from mustlink.kmeans._lcvqe import LCVQE
from mustlink.kmeans._mpckmeans import MPCKMeans
from mustlink.kmeans._pckmeans import PCKMeans
from mustlink.kmeans._prioritycop import PriorityCOPKMeans, PriorityLinks
from mustlink.kmeans._seededkmeans import SeededKMeans

__all__ = [
    "LCVQE",
    "COPKMeans",
    "HMRFKMeans",
    "KernelKMeans",
    "MPCKMeans",
    "PCKMeans",
    "PriorityCOPKMeans",
    "PriorityLinks",
    "SeededKMeans",
]
