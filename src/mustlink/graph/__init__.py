"""Clustering of graphs: connected clusters, clusters from signed advice on pairs, and consensus of clusterings."""

from mustlink.graph._connected_k_center import ConnectedKCenter
from mustlink.graph._connected_k_means import ConnectedKMeans
from mustlink.graph._consensus._estimator import ConsensusClustering
from mustlink.graph._correlation._estimator import CorrelationClustering
from mustlink.graph._net_scan import NetScan
from mustlink.graph._signed_matrix import signed_matrix

__all__ = [
    "ConnectedKCenter",
    "ConnectedKMeans",
    "ConsensusClustering",
    "CorrelationClustering",
    "NetScan",
    "signed_matrix",
]
