"""How the spectral clusterers are checked."""

from __future__ import annotations

from typing import Any

from conformance import Case
from mustlink.spectral import NormalizedSpectralClustering


def normalized_spectral(estimator: Any) -> NormalizedSpectralClustering:
    return NormalizedSpectralClustering(estimator.n_clusters, random_state=0)


CASES = {
    "SpectralLearning": Case(
        normalized_spectral, [{"normalization": "symmetric"}, {"affinity": "full", "n_components": 2}]
    ),
    "ConstraintPropagation": Case(
        normalized_spectral, [{"alpha": 0.5, "cutoff": 0.1}, {"affinity": "full", "n_components": 2}]
    ),
    "ConstrainedSpectral": Case(
        normalized_spectral, [{"n_components": 10, "satisfaction": -0.5}, {"affinity": "full"}]
    ),
}
