"""Boost Base Clustering (BBC)."""

from mustlink.boosting._bbc._bbc import BoostBaseClustering

__all__ = ["BoostBaseClustering"]
