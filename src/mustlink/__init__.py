"""Clustering data the way a person means it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mustlink._version import __version__

if TYPE_CHECKING:
    from mustlink.constraints import Constraints
    from mustlink.kmeans import COPKMeans, PCKMeans, SeededKMeans

__all__ = ["COPKMeans", "Constraints", "PCKMeans", "SeededKMeans", "__version__"]

# Loaded at first use, so that the command answers --help before numba and scikit-learn are read.
_HOME = {
    "COPKMeans": "mustlink.kmeans",
    "Constraints": "mustlink.constraints",
    "PCKMeans": "mustlink.kmeans",
    "SeededKMeans": "mustlink.kmeans",
}
_SUBMODULES = (
    "base",
    "catalogue",
    "constraints",
    "datasets",
    "errors",
    "estimator_checks",
    "kmeans",
    "metrics",
    "report",
    "selection",
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
