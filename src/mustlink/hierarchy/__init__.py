"""Hierarchical clustering with must-link and cannot-link constraints."""

from __future__ import annotations

from mustlink.hierarchy._constrainedlinkage import ConstrainedLinkage
from mustlink.hierarchy._partitionthenlink import PartitionThenLink
from mustlink.hierarchy._seededsinglelink import SeededSingleLink

__all__ = ["ConstrainedLinkage", "PartitionThenLink", "SeededSingleLink"]
