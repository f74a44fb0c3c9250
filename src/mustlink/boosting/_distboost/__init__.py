"""DistBoost."""

from mustlink.boosting._distboost._distboost import DistBoost

__all__ = ["DistBoost"]
