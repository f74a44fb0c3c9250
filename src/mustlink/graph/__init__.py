"""Clustering of rows that are nodes of a graph."""

from mustlink.graph._connected_k_center import ConnectedKCenter
from mustlink.graph._connected_k_means import ConnectedKMeans
from mustlink.graph._net_scan import NetScan

__all__ = ["ConnectedKCenter", "ConnectedKMeans", "NetScan"]
