"""How the clusterers with sizes are checked."""

from __future__ import annotations

from conformance import Case, k_means

CASES: dict[str, Case] = {
    "BalancedClustering": Case(
        None,
        [
            {"refine": "moves", "balance": 0.5},
            {"metric": "cosine", "refine": None},
            {"populate": "greedy", "refine": "moves", "sampling": "book"},
        ],
        fails={
            f"check_sample_weight_equivalence_on_{kind}_data": "a heavy row is in one cluster, equal rows in several"
            for kind in ("dense", "sparse")
        },
    ),
    "FrequencySensitiveKMeans": Case(
        None, [{"update": "none"}, {"update": "batch"}, {"metric": "cosine"}, {"metric": "cosine", "update": "stream"}]
    ),
    "SizeConstrainedKMeans": Case(k_means, [{"size_min": 1, "init": "random"}, {"init": "components", "n_init": 2}]),
    "ExistentialKMeans": Case(
        None, [{"method": "pivot", "pivot_min": 8}, {"method": "pivot", "heuristic": "lookahead"}, {"pivot_min": 10}]
    ),
}
