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
    from mustlink.kmeans import COPKMeans, PCKMeans, SeededKMeans

__all__ = [
    "BoostBaseClustering",
    "BoostCluster",
    "BoostedConstrainedKMeans",
    "COPKMeans",
    "CoAssociation",
    "Constraints",
    "DistBoost",
    "PCKMeans",
    "PriorityCOPKMeans",
    "SeededKMeans",
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
    "Constraints": "mustlink.constraints",
    "PCKMeans": "mustlink.kmeans",
    "SeededKMeans": "mustlink.kmeans",
}
_SUBMODULES = (
    "base",
    "boosting",
    "catalogue",
    "constraints",
    "datasets",
    "errors",
    "estimator_checks",
    "kmeans",
    "metrics",
    "plot",
    "report",
    "reproduce",
    "selection",
    "spectral",
    "tables",
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"mustlink.{name}")
    raise AttributeError(f"module 'mustlink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES])
