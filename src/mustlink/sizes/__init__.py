"""Clusters of useful size: minimum and maximum sizes, balance, existential constraints, private publishing."""

from mustlink.sizes._assign import Assignment, assign
from mustlink.sizes._bounds import check_sizes
from mustlink.sizes._cost_blocks import CostBlocks
from mustlink.sizes._frequency_sensitive import FrequencySensitiveKMeans
from mustlink.sizes._size_constrained_kmeans import SizeConstrainedKMeans

__all__ = ["Assignment", "CostBlocks", "FrequencySensitiveKMeans", "SizeConstrainedKMeans", "assign", "check_sizes"]
