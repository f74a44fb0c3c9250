"""Clustering of graphs: from signed advice on pairs, and of several clusterings."""

from mustlink.graph._consensus._estimator import ConsensusClustering
from mustlink.graph._correlation._estimator import CorrelationClustering
from mustlink.graph._signed_matrix import signed_matrix

__all__ = ["ConsensusClustering", "CorrelationClustering", "signed_matrix"]
