"""The clusterers that boosting can be given by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mustlink.catalogue import Entry

__all__ = ["BASES", "make_base"]

# The name, the class of scikit-learn, and its parameters; the number of clusters is set by who boosts it.
BASES: dict[str, tuple[str, str, dict[str, Any]]] = {
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


def make_base(name: str, entry: Entry) -> Any:
    """Make the clusterer of a name for a method that boosts one."""
    import importlib

    if not entry.boosts:
        raise ValueError(
            f"The method {entry.name} boosts no other clusterer, so that --base {name} says nothing to it."
        )
    if name in entry.own_estimators:
        return name
    if name not in BASES:
        known = ", ".join(dict.fromkeys([*entry.own_estimators, *BASES]))
        raise ValueError(f"There is no clusterer {name!r} to boost (--base); there are {known}.")
    module, class_name, parameters = BASES[name]
    return getattr(importlib.import_module(module), class_name)(**parameters)
