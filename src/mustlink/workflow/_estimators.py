"""The clusterers that boosting can be given by name."""

from __future__ import annotations

import importlib
from typing import Any

from mustlink.catalogue import Entry
from mustlink.errors import OptionError

__all__ = ["ESTIMATORS", "make_boosted_estimator"]

# The name, the class of scikit-learn, and its parameters; the boosting clusterer sets the number of clusters.
ESTIMATORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "kmeans": ("sklearn.cluster", "KMeans", {"n_init": 3}),
    "spectral": ("sklearn.cluster", "SpectralClustering", {"affinity": "nearest_neighbors"}),
    "average": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "average"}),
    "complete": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "complete"}),
    "single": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "single"}),
    "ward": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "ward"}),
    "mixture": ("sklearn.mixture", "GaussianMixture", {"reg_covar": 1e-3}),
    "birch": ("sklearn.cluster", "Birch", {}),
    "hdbscan": ("sklearn.cluster", "HDBSCAN", {"copy": True}),
    "affinity": ("sklearn.cluster", "AffinityPropagation", {}),
}


def make_boosted_estimator(name: str, entry: Entry) -> Any:
    """Make the clusterer of a name for a method that boosts one, or refuse the name."""
    if not entry.boosts:
        raise OptionError(f"The method {entry.name} boosts no other clusterer; {name!r} cannot be used with it.")
    if name in entry.own_estimators:
        return name
    if name not in ESTIMATORS:
        known = ", ".join(dict.fromkeys([*entry.own_estimators, *ESTIMATORS]))
        raise OptionError(f"There is no clusterer {name!r} to boost; use one of {known}.")
    module, class_name, parameters = ESTIMATORS[name]
    return getattr(importlib.import_module(module), class_name)(**parameters)
