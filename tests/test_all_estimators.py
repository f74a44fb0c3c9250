"""Every clusterer of the catalogue keeps the promises of scikit-learn and of mustlink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks as parametrize_with_checks_of_scikit_learn

import mustlink
from mustlink.catalogue import CATALOGUE, Entry, all_clusterers
from mustlink.estimator_checks import parametrize_with_checks
from mustlink.estimator_checks._cases import is_hard
from mustlink.spectral import NormalizedSpectralClustering


def k_means(estimator: Any) -> KMeans:
    return KMeans(
        estimator.n_clusters,
        init=getattr(estimator, "init", "k-means++"),
        n_init=1,
        max_iter=estimator.max_iter,
        tol=getattr(estimator, "tol", 0.0),
        random_state=0,
    )


def hdbscan(estimator: Any) -> HDBSCAN:
    return HDBSCAN(cluster_selection_method=estimator.cluster_selection_method, copy=True)


def normalized_spectral(estimator: Any) -> NormalizedSpectralClustering:
    return NormalizedSpectralClustering(estimator.n_clusters, random_state=0)


def linked(estimator: Any) -> AgglomerativeClustering:
    return AgglomerativeClustering(estimator.n_clusters, linkage=getattr(estimator, "linkage", "single"))


# What each clusterer is without links. One that is nothing known then stands here with None.
UNCONSTRAINED: dict[str, Callable[[Any], Any] | None] = {
    "BoostBaseClustering": None,
    "BoostCluster": None,
    "BoostedConstrainedKMeans": k_means,
    "COPKMeans": k_means,
    "ConstrainedHDBSCAN": hdbscan,
    "ConstrainedLinkage": linked,
    "PartitionThenLink": linked,
    "SeededSingleLink": linked,
    "DistBoost": None,
    "HMRFKMeans": None,
    "KernelKMeans": None,
    "LCVQE": k_means,
    "MPCKMeans": None,
    "PCKMeans": k_means,
    "PriorityCOPKMeans": k_means,
    "SeededKMeans": k_means,
    "ConstrainedSpectral": normalized_spectral,
    "SpectralLearning": normalized_spectral,
}

# Other parameters than the defaults, which change what the links do.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "BoostBaseClustering": [{"estimator": "average"}],
    "BoostCluster": [{"metric": "ridged"}],
    "BoostedConstrainedKMeans": [{"priorities": "random", "init_per_round": False}],
    "DistBoost": [
        {"finish": "average", "hypothesis": "posterior", "cannot_links": "ignore", "unlabeled_fraction": None}
    ],
    "PriorityCOPKMeans": [{"init": "random"}],
    "COPKMeans": [{"init": "neighbourhoods", "order": "random"}, {"init": "random", "order": "given"}],
    "PCKMeans": [{"init": "k-means++", "penalty": 1000.0}, {"penalty": 0.0}],
    "ConstrainedLinkage": [{"linkage": "ward"}, {"linkage": "complete", "propagation": "klein"}],
    "PartitionThenLink": [{"linkage": "average", "n_parts": 20}],
    "ConstrainedHDBSCAN": [{"enforce": "soft"}, {"cluster_selection_method": "leaf"}],
    "KernelKMeans": [
        {"approximation": "nystroem"},
        {"kernel": "linear", "init": "k-means++", "penalty": 100.0},
        {"local_search": False},
    ],
    "HMRFKMeans": [
        {"distortion": "cosine"},
        {"distortion": "i-divergence"},
        {"learn_metric": False, "init": "k-means++", "penalty": 100.0},
    ],
    "MPCKMeans": [
        {"metric": "full", "penalty": 100.0},
        {"shared_metric": False},
        {"metric": "full", "shared_metric": False, "init": "k-means++"},
    ],
    "LCVQE": [{"init": "k-means++", "penalty": 1.0}, {"init": "random", "penalty": 0.0}],
    "SeededKMeans": [{"constrained": True}],
    "ConstrainedSpectral": [{"n_components": 10, "satisfaction": -0.5}, {"affinity": "full"}],
    "SpectralLearning": [{"normalization": "symmetric"}, {"affinity": "full", "n_components": 2}],
}

# Fewer rounds, so that the checks, which fit some hundred times, stay quick.
FEWER_ROUNDS: dict[str, dict[str, Any]] = {
    "BoostBaseClustering": {"n_rounds": 3},
    "BoostCluster": {"n_rounds": 4, "n_masks": 2},
    "BoostedConstrainedKMeans": {"n_rounds": 10},
    "DistBoost": {"n_rounds": 3},
}

ESTIMATORS = [
    clusterer(**FEWER_ROUNDS.get(name, {}), **parameters)
    for name, clusterer in all_clusterers()
    for parameters in [{}, *VARIANTS.get(name, [])]
]


# Some tables of scikit-learn's checks have fewer different rows than n_clusters; its own KMeans warns of them as well.
@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks_of_scikit_learn(
    [clusterer(**FEWER_ROUNDS.get(name, {})) for name, clusterer in all_clusterers()]
)
def test_promises_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


# Soft methods that say how far they came are not wrong for saying so.
@pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning")
@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, unconstrained=lambda estimator: UNCONSTRAINED.get(type(estimator).__name__))
def test_promises_of_mustlink(estimator: Any, check: Any) -> None:
    check(estimator)


def test_of_every_clusterer_is_said_what_it_is_without_links() -> None:
    assert set(UNCONSTRAINED) == {name for name, _ in all_clusterers()}
    assert set(VARIANTS) <= set(UNCONSTRAINED)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_the_catalogue_calls_hard_what_the_checks_take_for_hard(entry: Entry) -> None:
    assert is_hard(entry.load()()) == (entry.kind == "hard")


def test_every_exported_clusterer_is_in_the_catalogue() -> None:
    exported = {name for name in mustlink.__all__ if hasattr(getattr(mustlink, name), "fit_predict")}
    assert exported <= {name for name, _ in all_clusterers()}
