"""Clusters of a minimum size from a clustered sample: sample, cluster, populate, refine."""

from mustlink.sizes._balanced._estimator import BalancedClustering
from mustlink.sizes._balanced._sample_size import balanced_sample_size

__all__ = ["BalancedClustering", "balanced_sample_size"]
