"""How the clusterers with sizes are checked."""

from __future__ import annotations

from typing import Any

from conformance import Case, k_means
from reference.size_constrained_kmeans import SlowSizeConstrainedKMeans


def sized_k_means(estimator: Any) -> Any:
    """k-means without bounds is scikit-learn's; with bounds, or for medians, it is the slow version."""
    is_plain = estimator.size_min is None and estimator.size_max is None and estimator.metric == "sqeuclidean"
    return k_means(estimator) if is_plain else SlowSizeConstrainedKMeans(estimator)


CASES: dict[str, Case] = {
    "BalancedClustering": Case(
        None,
        [
            {"refine": "moves", "balance": 0.5},
            {"metric": "cosine", "refine": None},
            {"populate": "greedy", "refine": "moves", "sampling": "coupon"},
        ],
        fails={
            f"check_sample_weight_equivalence_on_{kind}_data": "a heavy row is in one cluster, equal rows in several"
            for kind in ("dense", "sparse")
        },
    ),
    "SoftBalancedMixture": Case(
        None, [{"component": "vmf"}, {"temperature": 1.0, "start_temperature": 1.0}], fast={"max_iter": 5}
    ),
    "FrequencySensitiveKMeans": Case(
        None, [{"update": "none"}, {"update": "batch"}, {"metric": "cosine"}, {"metric": "cosine", "update": "stream"}]
    ),
    "SizeConstrainedKMeans": Case(
        sized_k_means,
        [
            {"size_min": 1, "init": "random"},
            {"init": "components", "n_init": 2},
            {"size_min": 8},
            {"metric": "manhattan", "size_min": 8},
        ],
    ),
    "ExistentialKMeans": Case(
        None, [{"method": "pivot", "pivot_min": 8}, {"method": "pivot", "heuristic": "lookahead"}, {"pivot_min": 10}]
    ),
}
