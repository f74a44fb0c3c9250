"""Metric learning from must-link and cannot-link constraints: transformers to use before any clusterer."""

from mustlink.metric_learning._base import BaseLinkedMetric, MahalanobisDistance
from mustlink.metric_learning._cannotlink import CannotLinkMetric
from mustlink.metric_learning._dca import DCA
from mustlink.metric_learning._itml import ITML
from mustlink.metric_learning._mmc import MMC
from mustlink.metric_learning._rca import RCA

__all__ = ["DCA", "ITML", "MMC", "RCA", "BaseLinkedMetric", "CannotLinkMetric", "MahalanobisDistance"]
