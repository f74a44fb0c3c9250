"""Metrics learned from links, as transformers to put before any clusterer."""

from mustlink.metric._base import LinkedMetricMixin, MahalanobisDistance
from mustlink.metric._dca import DCA
from mustlink.metric._itml import ITML
from mustlink.metric._mmc import MMC
from mustlink.metric._rca import RCA

__all__ = ["DCA", "ITML", "MMC", "RCA", "LinkedMetricMixin", "MahalanobisDistance"]
