"""Clustering data the way a person means it.

Classes and submodules are loaded at first use, so that the command answers ``--help`` before scikit-learn and numba are
read. ``__init__.pyi`` lists the same names for type checkers and editors; ``make tables`` writes it.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from mustlink._version import __version__ as __version__
from mustlink.catalogue import CATALOGUE, CLASSIFIERS, METRIC_LEARNERS, OTHER_INPUTS

# Where each public name is loaded from: everything in the catalogue, and what is no estimator.
_HOME = {
    "CoAssociation": "mustlink.boosting",
    "Constraints": "mustlink.constraints",
    "bind": "mustlink.binding",
    "publish": "mustlink.sizes",
    **{entry.class_name: entry.module for entry in (*CATALOGUE, *OTHER_INPUTS, *METRIC_LEARNERS, *CLASSIFIERS)},
}
_SUBMODULES = {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"mustlink.{name}")
    raise AttributeError(f"module 'mustlink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES})
