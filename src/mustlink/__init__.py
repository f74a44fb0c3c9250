"""Clustering data the way a person means it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mustlink._version import __version__

if TYPE_CHECKING:
    from mustlink.boosting import (
        BoostBaseClustering,
        BoostCluster,
        BoostedConstrainedKMeans,
        CoAssociation,
        DistBoost,
        PriorityCOPKMeans,
    )
    from mustlink.constraints import Constraints
    from mustlink.density import ConstrainedHDBSCAN
    from mustlink.hierarchy import ConstrainedLinkage, PartitionThenLink, SeededSingleLink
    from mustlink.kmeans import LCVQE, COPKMeans, HMRFKMeans, KernelKMeans, MPCKMeans, PCKMeans, SeededKMeans
    from mustlink.metric_learning import DCA, ITML, MMC, RCA
    from mustlink.spectral import ConstrainedSpectral, SpectralLearning

__all__ = [
    "DCA",
    "ITML",
    "LCVQE",
    "MMC",
    "RCA",
    "BoostBaseClustering",
    "BoostCluster",
    "BoostedConstrainedKMeans",
    "COPKMeans",
    "CoAssociation",
    "ConstrainedHDBSCAN",
    "ConstrainedLinkage",
    "ConstrainedSpectral",
    "Constraints",
    "DistBoost",
    "HMRFKMeans",
    "KernelKMeans",
    "MPCKMeans",
    "PCKMeans",
    "PartitionThenLink",
    "PriorityCOPKMeans",
    "SeededKMeans",
    "SeededSingleLink",
    "SpectralLearning",
    "__version__",
]

# Loaded at first use, so that the command answers --help before numba and scikit-learn are read.
_HOME = {
    "BoostBaseClustering": "mustlink.boosting",
    "BoostCluster": "mustlink.boosting",
    "BoostedConstrainedKMeans": "mustlink.boosting",
    "CoAssociation": "mustlink.boosting",
    "DistBoost": "mustlink.boosting",
    "PriorityCOPKMeans": "mustlink.boosting",
    "COPKMeans": "mustlink.kmeans",
    "HMRFKMeans": "mustlink.kmeans",
    "MPCKMeans": "mustlink.kmeans",
    "KernelKMeans": "mustlink.kmeans",
    "LCVQE": "mustlink.kmeans",
    "ConstrainedHDBSCAN": "mustlink.density",
    "ConstrainedLinkage": "mustlink.hierarchy",
    "PartitionThenLink": "mustlink.hierarchy",
    "SeededSingleLink": "mustlink.hierarchy",
    "ConstrainedSpectral": "mustlink.spectral",
    "Constraints": "mustlink.constraints",
    "DCA": "mustlink.metric_learning",
    "ITML": "mustlink.metric_learning",
    "MMC": "mustlink.metric_learning",
    "RCA": "mustlink.metric_learning",
    "PCKMeans": "mustlink.kmeans",
    "SeededKMeans": "mustlink.kmeans",
    "SpectralLearning": "mustlink.spectral",
}
_SUBMODULES = (
    "active",
    "base",
    "boosting",
    "catalogue",
    "constraints",
    "datasets",
    "density",
    "errors",
    "estimator_checks",
    "hierarchy",
    "kmeans",
    "metric_learning",
    "metrics",
    "plot",
    "report",
    "reproduce",
    "selection",
    "spectral",
    "tables",
    "workflow",
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"mustlink.{name}")
    raise AttributeError(f"module 'mustlink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES])
