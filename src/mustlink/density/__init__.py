"""Density-based clustering with must-link and cannot-link constraints."""

from mustlink.density._hdbscan import ConstrainedHDBSCAN

__all__ = ["ConstrainedHDBSCAN"]
