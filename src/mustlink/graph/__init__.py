"""Clustering of rows that are nodes of a graph."""

from mustlink.graph._connected_k_center import ConnectedKCenter

__all__ = ["ConnectedKCenter"]
