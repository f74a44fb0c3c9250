"""How the k-means clusterers are checked."""

from __future__ import annotations

from conformance import Case, k_means

CASES = {
    "COPKMeans": Case(k_means, [{"init": "components", "order": "random"}, {"init": "random", "order": "given"}]),
    "PCKMeans": Case(k_means, [{"init": "k-means++", "penalty": 1000.0}, {"penalty": 0.0}]),
    "SeededKMeans": Case(k_means, [{"constrained": True}]),
    "LCVQE": Case(k_means, [{"init": "k-means++", "penalty": 1.0}, {"init": "random", "penalty": 0.0}]),
    "PriorityCOPKMeans": Case(k_means, [{"init": "random"}]),
    "KernelKMeans": Case(
        None,
        [
            {"approximation": "nystroem"},
            {"kernel": "linear", "init": "k-means++", "penalty": 100.0},
            {"local_search": False},
        ],
    ),
    "HMRFKMeans": Case(
        None,
        [
            {"distortion": "cosine"},
            {"distortion": "i-divergence"},
            {"learn_metric": False, "init": "k-means++", "penalty": 100.0},
        ],
    ),
    "MPCKMeans": Case(
        None,
        [
            {"metric": "full", "penalty": 100.0},
            {"shared_metric": False},
            {"metric": "full", "shared_metric": False, "init": "k-means++"},
        ],
    ),
}
