"""Clusters of any shape where rows are dense, with links on the tree of densities."""

from mustlink.density._hdbscan import ConstrainedHDBSCAN

__all__ = ["ConstrainedHDBSCAN"]
